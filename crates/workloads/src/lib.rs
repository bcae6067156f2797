//! What is asked: streams, access patterns, arrivals, phases.

mod app;
mod arrival;
mod data;
mod files;
mod hotband;
mod offsets;
mod precondition;
mod random;
mod read;
mod read_script;
mod script;
mod sizes;
mod spec;
mod steps;
mod stream;
mod zipf;

pub use app::{App, AppIo, AppStream, Ended};
pub use arrival::{Arrival, ArrivalClock, Load};
pub use data::{Data, DataSpec};
pub use files::{FILE_BLOCK, FileLayout, Files, FilesSpec};
pub use hotband::{HotBand, HotBandSpec, check_bands};
pub use offsets::{OffsetSpec, Offsets};
pub use precondition::{Amount, Precondition};
pub use random::Random;
pub use script::{Cpu, NetworkSpec, ScriptSpec, StepSpec, Work};
pub use sizes::Sizes;
pub use spec::{Cursor, Phase, PhaseLength, PhaseScripts, RandomMode, RangeSpec, StreamSpec, Workload};
pub use stream::{Asked, Stream, StreamBounds};
