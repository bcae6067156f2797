//! Bytes that came from a client and were not looked at yet.

use std::io;
use std::time::{Duration, Instant};

use super::wire::Wire;

/// Memory of a connection that reads and writes little: dozens of requests, or a write of the size that file systems
/// use, are received at once.
const USUAL: usize = 256 << 10;

/// What was received, in order.
pub struct Incoming {
    bytes: Vec<u8>,
    begin: usize,
    end: usize,
}

impl Default for Incoming {
    fn default() -> Self {
        Self { bytes: vec![0; USUAL], begin: 0, end: 0 }
    }
}

impl Incoming {
    /// What there is.
    pub fn have(&self) -> &[u8] {
        &self.bytes[self.begin..self.end]
    }

    /// The first so many bytes were looked at.
    pub fn consume(&mut self, count: usize) {
        self.begin += count;
        debug_assert!(self.begin <= self.end, "only what there is");
    }

    /// Receives some more of something that is `want` bytes long; how many. The memory grows with what really comes, not
    /// with what a client says will.
    ///
    /// # Errors
    /// What the socket says.
    pub fn fetch(&mut self, wire: &dyn Wire, want: usize, (watch, idle): (&mut Watch, bool)) -> io::Result<usize> {
        if self.begin + want > self.bytes.len() || self.begin == self.end {
            self.bytes.copy_within(self.begin..self.end, 0);
            self.end -= self.begin;
            self.begin = 0;
        }
        if self.end == self.bytes.len() {
            self.bytes.resize(want.min(2 * self.bytes.len()), 0);
        }
        let count = watch.receive(wire, &mut self.bytes[self.end..], idle)?;
        self.end += count;
        Ok(count)
    }

    /// Nothing came for a while: memory of long writes is given back.
    pub fn rest(&mut self) {
        if self.begin == self.end && self.bytes.len() > USUAL {
            *self = Self::default();
        }
    }
}

/// A client that asks again as soon as it is answered is watched for a moment before the thread goes to sleep: to wake it
/// takes longer than such a client, which moreover has to do it.
#[derive(Default)]
pub struct Watch {
    /// So often it is watched still, though it did not ask.
    trust: u32,
    /// Times that it was not watched.
    asleep: u32,
}

/// For so long: more than what a client takes from an answer to its next request (fio: 4 to 8 us where it is awake, 20 to
/// 40 us where its core has gone to sleep; with 12 us a host of two idle cores gave 19 k reads a second, with 60 us 40 k).
const MOMENT: Duration = Duration::from_micros(60);
/// So often in vain until it is not watched any more.
const PATIENCE: u32 = 8;
/// One that is not watched is tried again once in so many times, which makes a moment 1 us each.
const TRIED_EVERY: u32 = 64;

impl Watch {
    /// `idle` where nothing is under way: else the clock looks at the time meanwhile, and the client needs the other core.
    fn receive(&mut self, wire: &dyn Wire, buffer: &mut [u8], idle: bool) -> io::Result<usize> {
        if !idle {
            return wire.receive(buffer, true);
        }
        if self.trust == 0 && self.asleep < TRIED_EVERY {
            self.asleep += 1;
            return wire.receive(buffer, true);
        }
        self.asleep = 0;
        let begun = Instant::now();
        loop {
            match wire.receive(buffer, false) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                outcome => {
                    self.trust = PATIENCE;
                    return outcome;
                }
            }
            if begun.elapsed() > MOMENT {
                self.trust = self.trust.saturating_sub(1);
                return wire.receive(buffer, true);
            }
            std::hint::spin_loop();
        }
    }
}
