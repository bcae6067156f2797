//! Work in flight in a pool: I/Os of hosts, their parts in objects, and these at daemons.

use hotband_machine::{Entropy, Fault, Op, ServiceIo, Times};
use hotband_units::{Instant, Span};

/// An I/O of a host.
#[derive(Clone, Copy)]
pub(super) struct Io {
    pub token: u32,
    pub submitted: Instant,
    pub pieces: u32,
    pub fault: Option<Fault>,
}

/// The part of an I/O that lies in one object.
#[derive(Clone, Copy)]
pub(super) struct ObjectIo {
    pub io: u32,
    pub op: Op,
    pub object: u32,
    /// First byte in the object.
    pub within: u32,
    pub len: u32,
    pub entropy: Entropy,
    /// Daemons that have not committed yet, or of coded objects, not completed yet.
    pub waiting: u8,
    /// Shards from which the data of a coded object was requested, one bit each.
    pub asked: u64,
    /// Along the way that decided: processor, wires, disk.
    pub cpu: Span,
    pub wire: Span,
    pub disk: Times,
    pub fault: Option<Fault>,
}

/// A piece that the client's library has not sent yet.
#[derive(Clone, Copy)]
pub(super) struct HeldBack {
    pub io: u32,
    pub object: u32,
    pub within: u32,
    pub len: u32,
    pub asked: ServiceIo,
}

/// Task of a daemon for a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Task {
    /// The primary reads it, or has it written.
    Client,
    /// A copy or shard is written.
    Write,
    /// A shard is read for the primary.
    Read,
}

/// A piece at one daemon.
#[derive(Clone, Copy)]
pub(super) struct Sub {
    pub piece: u32,
    pub osd: u16,
    /// Copy of the group that the daemon has; the primary has copy 0.
    pub copy: u8,
    /// Task there.
    pub task: Task,
    /// First byte and length of its part of the object or shard.
    pub within: u32,
    pub len: u32,
    /// Place of the object on the daemon.
    pub slot: u32,
    pub cpu: Span,
    pub wire: Span,
    pub disk: Times,
    /// The data goes into the log first.
    pub deferred: bool,
}
