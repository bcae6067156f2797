//! Drive mechanisms, one folder each, and the parts they share in `parts`.
//!
//! A product of the catalog is a TOML file: `kind` names the mechanism, every other value is a table with
//! `value` (or `range`, whose middle is used), `source` and `confidence`.

pub mod black_box;
mod ceiling;
pub mod disk;
pub mod parts;
mod power;
mod sold;
pub mod ssd;

pub use black_box::BlackBox;
pub use black_box::params::BlackBoxParams;
pub use ceiling::{Both, Ceiling};
pub use disk::Disk;
pub use disk::actuators::MultiActuatorDisk;
pub use disk::params::{DiskParams, Exposes, OPTIONAL as DISK_OPTIONAL};
pub use disk::power::Writing;
pub use disk::smr::SmrDisk;
pub use hotband_machine::{Assumption, Product};
pub use parts::ftl::Refused;
pub use parts::seek::SeekCurves;
pub use sold::check_sold;
pub use ssd::Ssd;
pub use ssd::params::SsdParams;
