//! The driver loop, the clocks, the recorder and the record. The only code that decides when.

mod apps;
mod assemble;
mod caches;
mod catalog;
mod driver;
mod energy;
mod entropy_file;
#[doc(hidden)]
pub mod fuzzing;
mod inflight;
mod iolog;
mod network;
mod offer;
mod outline;
mod power_cut;
mod power_loss;
mod record;
mod record_apps;
mod record_limits;
mod record_scripts;
mod recorder;
mod repair;
mod repair_record;
mod run;
mod scripts;
mod side;
mod smart;
mod steady_watch;
mod steps;
mod untimed;
mod warm;

pub use assemble::assemble;
pub use caches::CacheSeries;
pub use catalog::Catalog;
pub use energy::PowerSeries;
/// The rule of steady state, for what judges records.
pub use hotband_workloads::{
    MOST_ROUNDS as STEADY_MOST_ROUNDS, RANGE_PCT as STEADY_RANGE_PCT, SLOPE_PCT as STEADY_SLOPE_PCT,
    WINDOW as STEADY_WINDOW, departure, steady_state,
};
pub use iolog::LOG_COLUMNS;
pub use offer::Offer;
pub use outline::{LayoutOutline, MemberOutline, outline, outline_json};
pub use power_loss::{Ledger, PowerLoss, StreamLoss};
pub use record::{Record, SCHEMA_VERSION};
pub use record_apps::{AppRecord, OperationRecord, OperationSeries};
pub use record_limits::LimitRecord;
pub use recorder::Series;
pub use repair::RepairRequest;
pub use repair_record::{FailureRecord, RebuildRecord, RepairRecord, ServiceRecord};
pub use run::{Control, Kept, Outcome, Request, Run, RunError};
pub use smart::SmartSeries;
pub use steady_watch::SteadyRecord;
pub use steps::Step;
