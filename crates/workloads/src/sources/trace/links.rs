//! Links from an I/O of a trace to the completion that it waited for.
//!
//! The rule: an I/O waits for the last completion among I/Os that were issued before it and completed by its time of
//! issue (that nanosecond counts as before); if several completed at the same nanosecond, for the one that was issued
//! last. Its think time is the time between that completion and its own issue. An I/O before which nothing was
//! completed waits for the beginning of the trace.
//!
//! Why the last completion alone, and not all before it: a program at queue depth 8 issues its next I/O when one of
//! eight is completed. Waiting for all earlier completions would make each I/O wait for the slowest of those, though
//! nothing in the program does, as soon as the machine completes in another order. The rule cannot see a program that
//! waits for several at once; it waits for the last of them.
//!
//! I/Os come in order of issue, so those that wait for one completion are adjacent, and those that wait for a later one
//! come after them. Only the I/Os outstanding in the recording are stored.

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

/// Finds the completion that each I/O waits for. Every I/O is passed in order of issue.
#[derive(Debug, Default)]
pub struct Links {
    /// I/Os that are outstanding in the recording, the next to be completed first.
    outstanding: BinaryHeap<Reverse<Answered>>,
    /// The answer that came last.
    last: Option<Answered>,
    /// I/Os passed so far.
    told: u64,
}

impl Links {
    /// Predecessor of the next I/O, issued at `issue` and completed at `done`. `over` receives the indices of those
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
