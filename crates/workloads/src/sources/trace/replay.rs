//! Issue time and result of each I/O of a trace.
//!
//! One heap holds due I/Os, by time and place in the trace; the read-ahead depends on the kind. At recorded times: one
//! I/O. As fast as possible: as many as fit into the depth. After completions: all I/Os that wait for a completion that
//! came, and one more. Reading stops at [`MOST_READ`] I/Os that were read and not issued yet: later ones may be issued
//! late, and the delay is reported with each I/O.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use hotband_units::{Instant, Span};
use rustc_hash::FxHashMap;

use super::file::{TraceError, TraceFile, TraceIo};
use super::links::{Link, Links};
use super::spec::Issue;

/// I/Os that may be read and not asked for: as many as may be outstanding in other loads. 6 MB.
const MOST_READ: usize = 65_536;

/// An I/O with the time at which it is to be requested, and its index in the trace.
#[derive(Clone, Copy, Debug)]
struct Due {
    at: Instant,
    index: u64,
    io: TraceIo,
}

impl Ord for Due {
    /// The greatest is the first that is due.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.index).cmp(&(self.at, self.index))
    }
}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Due {}

/// An I/O for which others may wait.
#[derive(Debug, Default)]
struct Awaited {
    /// Time when it was completed now.
    answered: Option<Instant>,
    /// I/Os that wait for it, and how long they think then.
    waiting: Vec<(u64, TraceIo, Span)>,
    /// Whether no I/O that is still to be read waits for this one.
    is_over: bool,
}

/// An I/O that was requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayIo {
    /// Given back when it is completed.
    pub token: u32,
    /// The I/O.
    pub io: TraceIo,
    /// Delay against its planned time.
    pub late: Span,
}

/// An I/O that was completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// The I/O as it was recorded.
    pub io: TraceIo,
    /// Time when it was requested now.
    pub asked: Instant,
}

/// An I/O that is outstanding.
#[derive(Clone, Copy, Debug)]
struct Outstanding {
    index: u64,
    replayed: Replayed,
}

/// A trace at work.
#[derive(Debug)]
pub struct Replay {
    trace: TraceFile,
    issue: Issue,
    speed: f64,
    /// Time when it began.
    origin: Instant,
    links: Links,
    /// The next I/O and its dependency, if one was read.
    next: Option<(u64, TraceIo, Link)>,
    /// I/Os read.
    read: u64,
    /// Due I/Os, and the number that wait for completions.
    due: BinaryHeap<Due>,
    waiting: usize,
    /// I/Os that were read and for which later ones may wait, by index. Only looked up, never walked through.
    awaited: FxHashMap<u64, Awaited>,
    /// The last, in the order of the recording, of the answers that came.
    latest: Option<(Instant, u64)>,
    /// Outstanding I/Os by token.
    outstanding: Vec<Option<Outstanding>>,
    free: Vec<u32>,
    /// Read error; no further I/Os are then issued.
    failed: Option<TraceError>,
}

impl Replay {
    /// A replay of `trace`, whose recorded times are divided by `speed`.
    pub fn new(trace: TraceFile, issue: Issue, speed: f64) -> Self {
        Self {
            trace,
            issue,
            speed,
            origin: Instant::ZERO,
            links: Links::default(),
            next: None,
            read: 0,
            due: BinaryHeap::new(),
            waiting: 0,
            awaited: FxHashMap::default(),
            latest: None,
            outstanding: Vec::new(),
            free: Vec::new(),
            failed: None,
        }
    }

    /// Begins the replay: `now` is the time zero of the trace.
    pub fn begin(&mut self, now: Instant) {
        self.origin = now;
        self.read_next();
        self.read_ahead(now);
    }

    /// Time when the next I/O is to be requested; none while all wait for answers.
    pub fn next_time(&self) -> Option<Instant> {
        self.due.peek().map(|due| due.at)
    }

    /// The next I/O that is due at `now`.
    pub fn ask(&mut self, now: Instant) -> Option<ReplayIo> {
        let Due { at, index, io } = self.due.peek().filter(|due| due.at <= now).copied()?;
        self.due.pop();
        let outstanding = Some(Outstanding { index, replayed: Replayed { io, asked: now } });
        let token = self.free.pop().unwrap_or_else(|| {
            self.outstanding.push(None);
            self.outstanding.len() as u32 - 1
        });
        self.outstanding[token as usize] = outstanding;
        self.read_ahead(now);
        Some(ReplayIo { token, io, late: now.since(at) })
    }

    /// An I/O that was requested is completed.
    ///
    /// # Panics
    /// If it is not outstanding.
    pub fn answered(&mut self, now: Instant, token: u32) -> Replayed {
        let taken = self.outstanding[token as usize].take();
        let Outstanding { index, replayed } = taken.expect("an I/O is answered once");
        self.free.push(token);
        if self.issue == Issue::AfterCompletion {
            self.let_go(now, index, replayed.io);
        }
        self.read_ahead(now);
        replayed
    }

    /// Return the error of reading the trace, if any.
    pub fn failed(&self) -> Option<&TraceError> {
        self.failed.as_ref()
    }

    /// Schedules the I/Os that depend on this one after their think times.
    fn let_go(&mut self, now: Instant, index: u64, io: TraceIo) {
        self.latest = self.latest.max(io.done().map(|done| (done, index)));
        let Some(awaited) = self.awaited.get_mut(&index) else { return };
        awaited.answered = Some(now);
        let waiting = std::mem::take(&mut awaited.waiting);
        if awaited.is_over {
            self.awaited.remove(&index);
        }
        self.waiting -= waiting.len();
        let due = waiting.into_iter().map(|(index, io, think)| Due { at: now + think, index, io });
        self.due.extend(due);
    }

    /// Reads the I/Os that may be due next.
    fn read_ahead(&mut self, now: Instant) {
        while let Some((index, io, link)) = self.next {
            let goes_on = match self.issue {
                Issue::Recorded => self.due.is_empty(),
                Issue::AsFastAsPossible { depth } => {
                    self.outstanding.len() - self.free.len() + self.due.len() < depth as usize
                }
                Issue::AfterCompletion => link.after <= self.latest && self.due.len() + self.waiting < MOST_READ,
            };
            if !goes_on {
                break;
            }
            match self.issue {
                Issue::Recorded => self.due.push(Due { at: self.origin + self.scaled(Span(io.issue.0)), index, io }),
                Issue::AsFastAsPossible { .. } => self.due.push(Due { at: now, index, io }),
                Issue::AfterCompletion => self.place(index, io, link),
            }
            self.read_next();
        }
    }

    /// An I/O waits for its completion, or is due if that came.
    fn place(&mut self, index: u64, io: TraceIo, link: Link) {
        let think = self.scaled(link.think);
        let since = match link.after {
            None => Some(self.origin),
            Some((_, after)) => {
                let awaited = self.awaited.get_mut(&after).expect("kept until no other I/O waits for it");
                if awaited.answered.is_none() {
                    awaited.waiting.push((index, io, think));
                    self.waiting += 1;
                }
                awaited.answered
            }
        };
        self.due.extend(since.map(|since| Due { at: since + think, index, io }));
    }

    /// Reads the next I/O and its dependency.
    fn read_next(&mut self) {
        self.next = None;
        let read = self.trace.next_io().unwrap_or_else(|error| {
            self.failed = Some(error);
            None
        });
        let Some(io) = read else { return };
        let index = self.read;
        self.read += 1;
        let mut link = Link { after: None, think: Span::ZERO };
        if self.issue == Issue::AfterCompletion {
            self.awaited.insert(index, Awaited::default());
            let done = io.done().expect("checked before the run: it has a latency");
            let awaited = &mut self.awaited;
            link = self.links.link(io.issue, done, |over| {
                if awaited.get(&over).is_some_and(|awaited| awaited.answered.is_some()) {
                    awaited.remove(&over);
                } else if let Some(awaited) = awaited.get_mut(&over) {
                    awaited.is_over = true;
                }
            });
        }
        self.next = Some((index, io, link));
    }

    /// A recorded time, at the speed of the replay.
    fn scaled(&self, time: Span) -> Span {
        // Exactly, where nothing is scaled: a float has 53 bits.
        if self.speed == 1.0 { time } else { Span((time.0 as f64 / self.speed).round() as u64) }
    }
}
