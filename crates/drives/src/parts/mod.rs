//! Parts from which mechanisms are assembled, each tested alone.

pub mod account;
pub mod admission;
pub mod compression;
pub mod dirty;
pub mod divisor;
pub mod flash;
pub(crate) mod forced_writes;
pub mod ftl;
pub mod geometry;
pub mod heat;
pub mod map_cache;
pub mod media_scan;
pub mod nand;
pub mod pcie;
pub mod pending;
pub mod port;
pub mod recovery;
pub mod rotation;
pub mod seek;
pub mod segments;
pub mod senses;
pub mod stalls;
