//! The driver loop, the clocks, the recorder and the record. The only code that decides when.

mod assemble;
mod caches;
mod catalog;
mod driver;
mod entropy_file;
#[doc(hidden)]
pub mod fuzzing;
mod inflight;
mod iolog;
mod network;
mod power_cut;
mod power_loss;
mod record;
mod record_scripts;
mod recorder;
mod run;
mod scripts;
mod side;
mod smart;
mod steps;
mod untimed;
mod warm;

pub use assemble::assemble;
pub use caches::CacheSeries;
pub use catalog::Catalog;
pub use iolog::LOG_COLUMNS;
pub use power_loss::{Ledger, PowerLoss, StreamLoss};
pub use record::{Record, SCHEMA_VERSION};
pub use recorder::Series;
pub use run::{Control, Outcome, Request, Run, RunError};
pub use smart::SmartSeries;
pub use steps::Step;
