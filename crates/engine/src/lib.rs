//! The driver loop, the clocks, the recorder and the record. The only code that decides when.

mod bind;
mod build;
mod control;
mod drive;
mod events;
#[doc(hidden)]
pub mod fuzzing;
mod in_use;
mod keys;
mod live;
mod outcome;
mod parts;
mod power_cut;
mod probes;
mod record;
mod repair;
mod request;
mod run;
mod sources;
mod texts;
mod warm_up;

pub use build::assemble::{assemble, checked_drive};
pub use build::catalog::Catalog;
pub use build::ceiling::{MachineCeiling, Moved, ceiling};
pub use build::means::{Means, Use};
pub use build::offer::Offer;
pub use build::outline::{LayoutOutline, MemberOutline, outline, outline_json};
pub use build::told::{DriveTold, LayoutTold, MachineTold, WorkloadTold};
pub use control::{Control, Passed, RunError};
pub use drive::contents_cache::ContentsCache;
pub use events::check_texts as check_events;
pub use events::support::{EVENTS, On, ROWS as EVENT_ROWS, Why, supported};
/// The rule of steady state, for the code that judges records.
pub use hotband_workloads::{
    MOST_ROUNDS as STEADY_MOST_ROUNDS, RANGE_PCT as STEADY_RANGE_PCT, SLOPE_PCT as STEADY_SLOPE_PCT,
    WINDOW as STEADY_WINDOW, departure, steady_state,
};
pub use keys::{SET_KEYS, SetKey, set_keys};
pub use live::{Asked, Live};
pub use outcome::Outcome;
pub use probes::io_log::LOG_COLUMNS;
pub use probes::operations::{AppRecord, OperationRecord};
pub use probes::power_loss::{Held, Ledger, PowerLoss, StreamLoss};
pub use probes::probe::Findings;
pub use probes::repair::{FailureRecord, RebuildRecord, RepairRecord, ServiceRecord};
pub use probes::steady::SteadyRecord;
pub use probes::steps::Step;
pub use probes::table::{Column, Table, Tables, Text};
pub use record::limits::LimitRecord;
pub use record::sections::Sections;
pub use record::{Record, SCHEMA_VERSION};
pub use repair::RepairRequest;
pub use request::Request;
pub use run::{MachineState, Run};
pub use sources::trace::two::{TracesCompared, compare_traces};
/// TOML types in which workloads are described.
pub use toml::{Table as TomlTable, Value as TomlValue};

/// Compiles and tests the Rust code of CONTRIBUTING.
#[cfg(doctest)]
#[doc = include_str!("../../../CONTRIBUTING.md")]
struct Contributing;
