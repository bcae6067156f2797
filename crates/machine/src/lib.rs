//! The contract of a machine: I/Os in, completions out, a graph of volumes, layouts, links and drives between.
//!
//! No model lives here. A machine is driven through four calls: `capacity`, `submit`, `wake` and `advance`;
//! it is told the time and never asks for it.

mod answers;
mod building;
mod drive;
mod error;
mod events;
mod failure;
mod graph;
mod holdings;
mod host_queue;
mod io;
mod link;
mod locks;
mod mend;
mod plan;
mod power;
mod product;
mod random;
mod reader;
mod rebuild;
mod repair;
mod requests;
mod served;
mod service;
mod spec;
mod versions;

pub use building::{BuildError, Look, Stopped, unwatched};
pub use drive::{CacheState, Command, Counter, Done, Draw, Drive, Levels, Smart, UntimedWrite, Warmth};
pub use error::{SpecError, nearest};
pub use events::EventQueue;
pub use graph::{Machine, MachineParts, PartReport, Role, Target};
pub use io::{Completion, Entropy, Fault, Io, Op, Times};
pub use link::{Link, LinkSpec};
pub use plan::{Extent, Layout, Leg, MemberState, Placed, Plan, Redundancy};
pub use power::OnDrive;
pub use product::{Assumption, Product};
pub use random::Random;
pub use reader::{Section, is_share_or_percent, parse_toml, share_or_percent};
pub use rebuild::{JobReport, JobState};
pub use repair::{NoSpare, PhaseEnd, RepairReport, RepairSpec, SectorErrors, Service as ServiceLevel, Watch};
pub use service::{Asked, MemberCommand, Served, Service, ServiceOut};
pub use spec::{DriveSpec, LayoutSpec, MachineSpec, MemberRange, MemberRef, NodeRef, VolumeSpec, short_form};
pub use versions::Versions;
