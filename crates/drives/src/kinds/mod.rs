//! One file a mechanism.

pub mod disk;
pub mod disk_actuators;
mod disk_caches;
mod disk_commands;
mod disk_counters;
mod disk_media;
pub mod disk_params;
pub mod disk_power;
mod disk_set;
mod disk_shared;
mod power;
pub mod ssd;
pub mod ssd_params;
mod ssd_power;
mod ssd_smart;
mod ssd_work;
