//! The drive's own connection: one transfer at a time towards the host.

use hotband_units::{Instant, Rate, Span};

/// A dedicated port of a given rate.
///
/// Leaves out: the command phase (part of the command overhead), and the overlap of media and wire within one
/// command: data crosses the wire when the whole command has been read.
#[derive(Clone, Copy, Debug)]
pub struct Port {
    rate: Rate,
    free_at: Instant,
}

impl Port {
    /// An idle port.
    pub fn new(rate: Rate) -> Self {
        Self { rate, free_at: Instant::ZERO }
    }

    /// Sends `bytes` that are ready at `ready`: when they have arrived.
    #[inline]
    pub fn send(&mut self, ready: Instant, bytes: u64) -> Instant {
        self.free_at = ready.max(self.free_at) + self.rate.time_for(bytes);
        self.free_at
    }

    /// Time that `bytes` take on an idle wire.
    #[inline]
    pub fn time_for(&self, bytes: u64) -> Span {
        self.rate.time_for(bytes)
    }
}
