//! What is asked: streams, access patterns, arrivals, phases.

mod arrival;
mod hotband;
mod offsets;
mod random;
mod read;
mod sizes;
mod spec;
mod steps;
mod stream;
mod zipf;

pub use arrival::{Arrival, ArrivalClock, Load};
pub use hotband::{HotBand, HotBandSpec, check_bands};
pub use offsets::{OffsetSpec, Offsets};
pub use random::Random;
pub use sizes::Sizes;
pub use spec::{Cursor, Phase, PhaseLength, RandomMode, RangeSpec, StreamSpec, Workload};
pub use stream::{Asked, Stream, StreamBounds};
