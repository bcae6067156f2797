//! Drive mechanisms, one file a mechanism in `kinds`, and the parts they share in `parts`.
//!
//! A product of the catalog is a TOML file: `kind` names the mechanism, every other value is a table with
//! `value` (or `range`, whose middle is used), `source` and `confidence`.

pub mod kinds;
pub mod parts;

pub use hotband_machine::{Assumption, Product};
pub use kinds::disk::Disk;
pub use kinds::disk_actuators::MultiActuatorDisk;
pub use kinds::disk_params::{DiskParams, Exposes};
pub use kinds::disk_power::Writing;
pub use kinds::ssd::Ssd;
pub use kinds::ssd_params::SsdParams;
pub use parts::ftl::Refused;
pub use parts::seek::SeekCurves;
