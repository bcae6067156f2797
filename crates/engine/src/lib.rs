//! The driver loop, the clocks, the recorder and the record. The only code that decides when.

mod assemble;
mod catalog;
mod driver;
#[doc(hidden)]
pub mod fuzzing;
mod inflight;
mod iolog;
mod network;
mod record;
mod record_scripts;
mod recorder;
mod run;
mod scripts;
mod side;

pub use assemble::assemble;
pub use catalog::Catalog;
pub use iolog::LOG_COLUMNS;
pub use record::{Record, SCHEMA_VERSION};
pub use recorder::Series;
pub use run::{Control, Outcome, Request, Run, RunError};
