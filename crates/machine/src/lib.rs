//! The contract of a machine: I/Os in, completions out, a graph of volumes, layouts, links and drives between.
//!
//! No model lives here. A machine is driven through three calls: `submit`, `wake` and `advance`; it is told the time
//! and never asks for it.

mod agenda;
mod attempts;
mod building;
mod drive;
mod error;
mod event;
mod events;
mod executor;
mod failing;
mod failure;
mod graph;
mod holdings;
mod host_queue;
mod io;
mod link;
mod locks;
mod plan;
mod product;
mod random;
mod reader;
mod rebuild;
mod repair;
mod requests;
mod schedule;
mod served;
mod service;
mod slab;
mod spec;
mod transfer;
mod versions;
mod view;

pub use building::{BuildError, Look, Stopped, unwatched};
pub use drive::{CacheState, Command, Counter, Done, Draw, Drive, Levels, PartReport, Smart, UntimedWrite, Warmth};
pub use error::{SpecError, nearest};
pub use event::{Event, EventError, Part, SetError, What};
pub use events::{Class, EventQueue};
pub use graph::{Machine, MachineParts, Role, Volume};
pub use io::{Completion, Entropy, Fault, Io, Op, Times};
pub use link::{Link, LinkSpec};
pub use plan::{Extent, Layout, Leg, MemberState, Members, Placed, Plan, Redundancy};
pub use product::{Assumption, Product};
pub use random::Random;
pub use reader::{Section, is_share_or_percent, parse_toml, share_or_percent};
pub use rebuild::{JobReport, JobState};
pub use repair::{NoSpare, PhaseEnd, RepairReport, RepairSpec, SectorErrors, ServiceLevel, Watch};
pub use schedule::Expected;
pub use service::{MemberCommand, Served, Service, ServiceIo, ServiceOut};
pub use slab::Slab;
pub use spec::{DriveSpec, LayoutSpec, MachineSpec, MemberRange, MemberRef, NodeRef, VolumeSpec, short_form};
pub use versions::Versions;
pub use view::{DriveView, Drives, LayoutView, Layouts, OnDrive, RepairView};
