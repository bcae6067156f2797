//! I/Os under way inside a machine: a slab of requests that keep their buffers, and where each came from.

use hotband_units::{Instant, Span};

use crate::io::{Entropy, Fault, Op, Times};
use crate::plan::{Extent, Leg};
use crate::spec::NodeRef;

/// Part that waits for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A host, which had let it wait for so long before.
    Host { tag: u64, volume: u16, waited: Span },
    /// A core of the host, which knows it by its work.
    Core { work: u32 },
    /// The request to which the leg belongs, with the member of its layout.
    Leg { parent: u32, member: u16 },
    /// A service, which knows it by its token.
    Service { layout: u32, token: u64 },
    /// A step of a rebuild, which makes `member` again.
    Rebuild { job: u32, step: u64, member: u16 },
}

/// Request to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    pub op: Op,
    pub offset: u64,
    pub len: u32,
    pub fua: bool,
    /// Number of the host's write, for drives that keep account.
    pub version: u64,
    pub entropy: Entropy,
}

impl Access {
    pub fn extent(&self) -> Extent {
        Extent { op: self.op, offset: self.offset, len: self.len }
    }
}

/// An I/O at a node of the graph. At a drive only the first three fields have a meaning.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub origin: Origin,
    pub node: NodeRef,
    pub submitted: Instant,
    pub access: Access,
    /// Legs of the current phase not yet done.
    pub pending: u32,
    /// Index in `legs` where the next phase begins.
    pub next_leg: u32,
    /// Time spent in the phases that are over, along the last leg of each.
    pub past: Times,
    pub fault: Option<Fault>,
    /// Drives may fail under it: it may have to be planned again (`Attempt`).
    pub guarded: bool,
    /// The whole plan, kept only if it has more than one phase or may be needed again.
    pub legs: Vec<Leg>,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            origin: Origin::Host { tag: 0, volume: 0, waited: Span::ZERO },
            node: NodeRef::Drive(0),
            submitted: Instant::ZERO,
            access: Access {
                op: Op::Read,
                offset: 0,
                len: 0,
                fua: false,
                version: 0,
                entropy: Entropy::INCOMPRESSIBLE,
            },
            pending: 0,
            next_leg: 0,
            past: Times::default(),
            fault: None,
            guarded: false,
            legs: Vec::new(),
        }
    }
}

impl Request {
    /// Enters a layout; none of its commands is done yet.
    pub fn enter(&mut self, access: Access) {
        self.access = access;
        self.past = Times::default();
        self.fault = None;
        self.guarded = false;
    }

    /// The layout that it is at.
    pub fn layout(&self) -> u32 {
        match self.node {
            NodeRef::Layout(layout) => layout,
            NodeRef::Drive(_) => unreachable!("only requests of layouts have phases, members and plans"),
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
    /// Reserves an unused entry.
    #[inline]
    pub fn take(&mut self, origin: Origin) -> u32 {
        if let Some(id) = self.free.pop() {
            self.all[id as usize].origin = origin;
            return id;
        }
        self.all.push(Request { origin, ..Request::default() });
        u32::try_from(self.all.len() - 1).expect("fewer than 2^32 I/Os are under way at once")
    }

    pub fn give_back(&mut self, id: u32) {
        self.free.push(id);
    }

    #[inline]
    pub fn get(&mut self, id: u32) -> &mut Request {
        &mut self.all[id as usize]
    }
}
