//! Workloads: streams, access patterns, arrivals, phases.

mod app;
mod app_keys;
mod app_spec;
mod bind;
mod bounds;
mod btree;
mod data;
mod files;
mod filesystem;
mod hotband;
mod limits;
mod load;
mod load_kind;
mod modelled;
mod most;
mod offsets;
mod patch;
mod phase;
mod precondition;
mod read;
mod read_script;
mod script;
mod set_keys;
mod sizes;
mod sources;
mod spec;
mod steady_state;
mod steps;
mod stream;
mod until;
mod untimed;
mod zipf;

pub use app::{App, AppIo, AppStream, AppVolume, Ended};
pub use app_spec::AppSpec;
pub use bind::check_bands;
pub use bounds::StreamBounds;
pub use btree::BTreeSpec;
pub use data::{Data, DataSpec};
pub use files::{FILE_BLOCK, FileLayout, Files, FilesSpec};
pub use filesystem::FileSystemSpec;
pub use hotband::{HotBand, HotBandSpec};
pub use hotband_machine::Random;
pub use limits::{Bound, LimitOp, LimitSpec};
pub use load::{Load, LoadSource};
pub use load_kind::{LoadKind, OtherLoad};
pub use modelled::Modelled;
pub use most::MOST_INTERVALS;
pub use offsets::{OffsetSpec, Offsets};
pub use phase::{Amount, Phase, PhaseScripts};
pub use precondition::Precondition;
pub use script::{Cpu, NetworkSpec, ScriptSpec, StepSpec, Work};
pub use set_keys::Settable;
pub use sizes::Sizes;
pub use sources::arrival::{Arrival, ArrivalClock};
pub use sources::closed::ClosedLoop;
pub use sources::open::OpenLoop;
pub use sources::shares::Shares;
pub use sources::source::{Answer, Pace, PhaseStart, Source, SourceIo, Turns};
pub use sources::trace::{
    Beyond, Issue, Link, Links, Placed, Placement, Replay, ReplayIo, Replayed, Selection, TraceError, TraceFile,
    TraceHead, TraceIo, TraceRows, TraceSpec, TraceStream, TraceTarget,
};
pub use spec::{Cursor, RangeSpec, StreamSpec, Workload};
pub use steady_state::{
    Departure, MOST_ROUNDS, RANGE_PCT, SLOPE_PCT, SteadyState, WINDOW, Window, departure, steady_state,
};
pub use stream::{IoRequest, RandomMode, Stream};
pub use until::Until;
pub use until::precise::Precision;
pub use until::steady::{Track, UntilSteady};
