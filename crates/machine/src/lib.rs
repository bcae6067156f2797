//! The contract of a machine: I/Os in, completions out, a graph of volumes, layouts, links and drives between.
//!
//! No model lives here. A machine is driven through three calls: `submit`, `wake` and `advance`; it receives the time
//! and never reads a clock.

mod building;
mod contents;
mod drive;
mod event;
mod graph;
mod io;
mod plan;
mod random;
mod repair;
mod service;
mod spec;
mod versions;

pub use building::{BuildError, Look, MemoryError, Stopped, unwatched};
pub use contents::Carrier;
pub use drive::{
    CacheState, Command, Counter, Done, Draw, Drive, Levels, PartReport, Smart, UntimedWrite, Warmth, WriteCacheSetting,
};
pub use event::{Event, EventError, Part, SetError, What};
pub use graph::link::{Link, LinkSpec};
pub use graph::queue::{Class, EventQueue};
pub use graph::schedule::{Events, Expected, Outs};
pub use graph::slab::Slab;
pub use graph::view::{DriveView, Drives, LayoutView, Layouts, OnDrive, RepairView};
pub use graph::{Machine, MachineParts, Role, Volume};
pub use io::{Completion, Entropy, Fault, Io, Op, Times};
pub use plan::{Extent, Layout, Leg, MemberState, Members, Placed, Plan, Redundancy, StripeShape};
pub use random::Random;
pub use repair::rebuild::{JobReport, JobState};
pub use repair::{NoSpare, PhaseEnd, RepairReport, RepairSpec, SectorErrors, ServiceLevel, Watch};
pub use service::{MemberCommand, MemberRebuild, Served, Service, ServiceIo, ServiceOut};
pub use spec::error::{SpecError, nearest};
pub use spec::event::EventSpec;
pub use spec::file::{open_file, read_text, read_typed_bytes, read_typed_text};
pub use spec::host::{HostSpec, Spread};
pub use spec::product::{Assumption, Product, Rigour};
pub use spec::reader::{Section, is_share_or_percent, parse_toml, share_or_percent};
pub use spec::unit::{MOST_NAMESPACES, Unit, UnitName};
pub use spec::{DriveSpec, LayoutSpec, MachineSpec, MemberRange, MemberRef, NodeRef, VolumeSpec, short_form};
pub use versions::Versions;
