//! The driver loop, the clocks, the recorder and the record. The only code that decides when.

mod apps;
mod assemble;
mod caches;
mod catalog;
mod driver;
#[doc(hidden)]
pub mod fuzzing;
mod inflight;
mod iolog;
mod network;
mod power_cut;
mod power_loss;
mod record;
mod record_apps;
mod record_scripts;
mod recorder;
mod run;
mod scripts;
mod side;
mod steps;
mod warm;

pub use assemble::assemble;
pub use caches::CacheSeries;
pub use catalog::Catalog;
pub use iolog::LOG_COLUMNS;
pub use power_loss::{Ledger, PowerLoss, StreamLoss};
pub use record::{Record, SCHEMA_VERSION};
pub use record_apps::{AppRecord, OperationRecord, OperationSeries};
pub use recorder::Series;
pub use run::{Control, Outcome, Request, Run, RunError};
pub use steps::Step;
