//! I/Os under way inside a machine: a slab of requests that keep their buffers.

use hotband_units::{Instant, Span};

use crate::io::{Entropy, Fault, Op, Times};
use crate::plan::Leg;

/// "No request", "no layout", "no member".
pub(crate) const NONE: u32 = u32::MAX;

/// The parent of a command that a service sent; the request's tag is the service's token, its member the layout.
pub(crate) const SERVICE: u32 = u32::MAX - 1;

/// The parent of a step of a rebuild; the request's tag says which.
pub(crate) const REBUILD: u32 = u32::MAX - 2;

/// One I/O at one node of the graph: a host's, or a leg of a layout above.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// The host's tag; meaningful where there is no parent.
    pub tag: u64,
    /// The request whose leg this is.
    pub parent: u32,
    /// Which member of the parent's layout this node is.
    pub parent_member: u16,
    /// The layout that planned it; `NONE` on a drive.
    pub layout: u32,
    pub op: Op,
    pub fua: bool,
    /// Number of the host's write, for drives that keep account.
    pub version: u64,
    pub entropy: Entropy,
    pub submitted: Instant,
    /// The target of the host's I/O, and how long it waited in the host before.
    pub target: u16,
    pub held: Span,
    /// Legs of the current phase not yet done.
    pub pending: u32,
    /// Where in `legs` the next phase begins.
    pub next_leg: u32,
    /// Time spent in the phases that are over, along the last leg of each.
    pub past: Times,
    pub fault: Option<Fault>,
    /// The whole plan, kept only where it has more than one phase.
    pub legs: Vec<Leg>,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            tag: 0,
            parent: NONE,
            parent_member: 0,
            layout: NONE,
            op: Op::Read,
            fua: false,
            version: 0,
            entropy: Entropy::INCOMPRESSIBLE,
            submitted: Instant::ZERO,
            target: 0,
            held: Span::ZERO,
            pending: 0,
            next_leg: 0,
            past: Times::default(),
            fault: None,
            legs: Vec::new(),
        }
    }
}

/// Requests by index; freed entries are used again, last freed first.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    all: Vec<Request>,
    free: Vec<u32>,
}

impl Requests {
    /// A fresh entry, its leg buffer empty.
    pub fn take(&mut self) -> u32 {
        if let Some(id) = self.free.pop() {
            return id;
        }
        self.all.push(Request::default());
        u32::try_from(self.all.len() - 1).expect("fewer than 2^32 I/Os are under way at once")
    }

    pub fn give_back(&mut self, id: u32) {
        self.all[id as usize].legs.clear();
        self.free.push(id);
    }

    #[inline]
    pub fn get(&mut self, id: u32) -> &mut Request {
        &mut self.all[id as usize]
    }
}
