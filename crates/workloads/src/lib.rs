//! What is asked: streams, access patterns, arrivals, phases.

mod app;
mod app_spec;
mod arrival;
mod btree;
mod files;
mod filesystem;
mod hotband;
mod offsets;
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
pub use app_spec::{AppSpec, AppVolume};
pub use arrival::{Arrival, ArrivalClock, Load};
pub use btree::BTreeSpec;
pub use files::{FILE_BLOCK, FileLayout, Files, FilesSpec};
pub use filesystem::FileSystemSpec;
pub use hotband::{HotBand, HotBandSpec, check_bands};
pub use offsets::{OffsetSpec, Offsets};
pub use random::Random;
pub use script::{Cpu, NetworkSpec, ScriptSpec, StepSpec, Work};
pub use sizes::Sizes;
pub use spec::{Cursor, Phase, PhaseLength, PhaseScripts, RandomMode, RangeSpec, StreamSpec, Workload};
pub use stream::{Asked, Stream, StreamBounds};
