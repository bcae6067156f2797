//! From specs and the catalog to a machine, and its properties before a run.

pub mod assemble;
pub mod caches;
pub mod catalog;
pub mod ceiling;
pub mod entropy_file;
pub mod means;
pub mod offer;
pub mod outline;
mod roles;
pub mod told;
mod units;
