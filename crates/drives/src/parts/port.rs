//! The drive's own connection: one transfer at a time towards the host.

use hotband_units::{Instant, Rate, Span};

/// A dedicated port of a given rate.
///
/// Leaves out: the command phase (part of the command overhead), and the overlap of media and wire within one
/// command: data crosses the wire when the whole command has been read. Of several idle times between transfers that
/// are booked for later only the last is used.
#[derive(Clone, Copy, Debug)]
pub struct Port {
    rate: Rate,
    free_at: Instant,
    /// The wire is idle from here to there, before a transfer that is booked for later.
    idle: (Instant, Instant),
    /// The last length sent and its time: most commands are as long as the one before.
    last: (u64, Span),
}

impl Port {
    /// An idle port.
    pub fn new(rate: Rate) -> Self {
        Self { rate, free_at: Instant::ZERO, idle: (Instant::ZERO, Instant::ZERO), last: (0, Span::ZERO) }
    }

    /// Sends `bytes` that are ready at `ready`: when they have arrived.
    #[inline]
    pub fn send(&mut self, ready: Instant, bytes: u64) -> Instant {
        let time = self.time_for(bytes);
        // A read books its transfer when the arm begins it: until then, what memory answers goes first.
        let before = ready.max(self.idle.0) + time;
        if before <= self.idle.1 {
            self.idle.0 = before;
            return before;
        }
        if ready > self.free_at {
            self.idle = (self.free_at, ready);
        }
        self.free_at = ready.max(self.free_at) + time;
        self.free_at
    }

    /// Time that `bytes` take on an idle wire.
    #[inline]
    pub fn time_for(&mut self, bytes: u64) -> Span {
        if self.last.0 != bytes {
            self.last = (bytes, self.rate.time_for(bytes));
        }
        self.last.1
    }
}
