//! Links from an I/O of a trace to the completion that it waited for.
//!
//! The rule: an I/O waits for the one that was completed last of all that were requested before it and answered by the
//! time it was requested (at that nanosecond counts as before); of several answered at the same nanosecond, for the one
//! that was requested last. Its think time is what passed between that answer and its own issue. An I/O before which
//! nothing was completed waits for the beginning of the trace.
//!
//! Why the last answer alone, and not all before it: a program at queue depth 8 requests its next I/O when one of eight
//! is completed. Waiting for all that had been completed would make each I/O wait for the slowest of those, though
//! nothing in the program does, as soon as the machine answers in another order. The rule cannot see a program that
//! waits for several at once; it waits for the last of them.
//!
//! I/Os come in order of issue, so those that wait for one answer follow one another, and those that wait for a later
//! answer come after them. It stores the I/Os outstanding in the recording.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hotband_units::{Instant, Span};

/// When an I/O was completed and its index, by which answers are in order.
type Answered = (Instant, u64);

/// Completion that an I/O waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The answer: when it came, and the index of its I/O among all; none for the beginning of the trace.
    pub after: Option<(Instant, u64)>,
    /// Think time since then.
    pub think: Span,
}

/// Finds what each I/O waits for. Every I/O is told in order of issue.
#[derive(Debug, Default)]
pub struct Links {
    /// I/Os that are outstanding in the recording, the next to be completed first.
    outstanding: BinaryHeap<Reverse<Answered>>,
    /// The answer that came last.
    last: Option<Answered>,
    /// I/Os told so far.
    told: u64,
}

impl Links {
    /// Predecessor of the next I/O, issued at `issue` and completed at `done`. `over` is told the indices of those
    /// for which neither it nor any after it waits.
    pub fn link(&mut self, issue: Instant, done: Instant, mut over: impl FnMut(u64)) -> Link {
        while let Some(Reverse(answered)) = self.outstanding.peek().copied().filter(|Reverse((at, _))| *at <= issue) {
            self.outstanding.pop();
            if let Some((_, before)) = self.last.replace(answered) {
                over(before);
            }
        }
        self.outstanding.push(Reverse((done, self.told)));
        self.told += 1;
        let since = self.last.map_or(Instant::ZERO, |(at, _)| at);
        Link { after: self.last, think: issue.since(since) }
    }

    /// I/Os that are outstanding in the recording.
    pub fn outstanding(&self) -> usize {
        self.outstanding.len()
    }
}
