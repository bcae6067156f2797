//! A command inside a solid-state drive, and what happens to it next.

use hotband_machine::Command;
use hotband_units::{Instant, Span};

/// A command inside the drive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub command: Command,
    pub submitted: Instant,
    /// Time at which the controller began the command.
    pub begun: Instant,
    /// Time at which the flash was asked.
    pub asked: Instant,
    /// Parts that are still to come: pages of the mapping table first, then data.
    pub parts: u32,
    /// Time when the data is in the controller.
    pub ready: Instant,
    /// Time on flash of the last part, without waiting.
    pub flash: Span,
    pub channel: Span,
    /// Passes up to this number must be programmed first.
    pub until: u64,
}

impl Slot {
    /// A command with which the controller begins.
    #[inline]
    pub fn new(begun: Instant, command: Command, submitted: Instant) -> Self {
        let (flash, channel) = (Span::ZERO, Span::ZERO);
        Self { command, submitted, begun, asked: begun, parts: 0, ready: begun, flash, channel, until: 0 }
    }
}

/// Next step of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    /// A die has read a part of it: die and bytes.
    Part(u32, u32, u32),
    /// The command needs no flash, or its data has been received.
    Ready(u32),
    /// A die has read a part of the read-ahead: number of the chunk, die and bytes.
    Ahead(u32, u32, u32),
    /// A page of the mapping table, by the number of its load: a die has read it, or, without die,
    /// it is in the controller.
    Table(u32, Option<u32>),
    /// The host's flush has ended.
    Flushed,
    /// A core of the controller can begin with its next command.
    CoreFree(u32),
}

/// A read of one page whose location is not yet looked up.
#[derive(Clone, Copy, Debug)]
pub(super) struct PutOff {
    pub index: u32,
    pub page: u64,
    /// Time when its place is known.
    pub at: Instant,
    /// Number of its event.
    pub sequence: u64,
}
