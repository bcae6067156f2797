//! Tests of drives, each on a bench with round numbers. One program: a program a file takes several times as long to link.

mod black_box;
mod common;
mod disk_actuators;
mod disk_background;
mod disk_cache;
mod disk_flash;
mod disk_power;
mod disk_protected;
mod disk_timing;
mod disk_values;
mod draw;
mod ftl_laws;
mod ftl_theory;
mod smr;
mod ssd_cores;
mod ssd_flush;
mod ssd_mapping;
mod ssd_power;
mod ssd_pslc;
mod ssd_put_off;
mod ssd_read_ahead;
mod ssd_state;
mod ssd_tails;
mod ssd_timing;
