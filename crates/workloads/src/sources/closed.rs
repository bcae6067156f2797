//! A closed loop: a fixed number of I/Os outstanding, each slot asking again when its I/O is done.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hotband_units::{Instant, Span};

use super::shares::Shares;
use super::source::{Answer, Pace, PhaseStart, Source, SourceIo, Turns};
use crate::stream::Stream;

/// `threads` x `depth` slots; the token of an I/O is its slot.
pub struct ClosedLoop {
    shares: Shares,
    threads: u32,
    depth: u32,
    think: Span,
    /// Whether phases may change its threads: it is the loop of `[load]`.
    has_steps: bool,
    /// Slots from this one on are parked in this phase.
    slots: u32,
    /// Slots that wait for a phase in which one of their streams runs, the next one last.
    parked: Vec<u32>,
    /// Slots that ask now, the next one last.
    ready: Vec<u32>,
    /// Slots that think, by the time they ask again.
    thinking: BinaryHeap<Reverse<(Instant, u32)>>,
}

impl ClosedLoop {
    /// A loop of (threads, depth) over the streams of `shares`.
    pub fn new((threads, depth): (u32, u32), think: Span, shares: Shares, has_steps: bool) -> Self {
        Self {
            shares,
            threads,
            depth,
            think,
            has_steps,
            slots: u32::MAX,
            parked: (0..threads * depth).rev().collect(),
            ready: Vec::new(),
            thinking: BinaryHeap::new(),
        }
    }

    /// An I/O is done: the next one, if the slot neither thinks nor stops. Cost per I/O of a loop without pauses.
    #[inline]
    pub fn go_on(&mut self, now: Instant, slot: u32, streams: &mut [Stream]) -> Option<SourceIo> {
        if self.think == Span::ZERO {
            return self.ask(slot, streams);
        }
        self.thinking.push(Reverse((now + self.think, slot)));
        None
    }

    /// Whether its slots think between two I/Os.
    #[inline]
    pub fn thinks(&self) -> bool {
        self.think > Span::ZERO
    }

    #[inline]
    fn ask(&mut self, slot: u32, streams: &mut [Stream]) -> Option<SourceIo> {
        if self.shares.is_idle() || slot >= self.slots {
            self.parked.push(slot);
            return None;
        }
        // Most loops have a depth of one, and a division is dear.
        let thread = if self.depth == 1 { slot } else { slot / self.depth } as usize;
        let stream = self.shares.choose(streams, thread);
        let request = streams[stream].next(thread);
        Some(SourceIo { stream: stream as u32, token: slot, request })
    }
}

impl Source for ClosedLoop {
    fn begin_phase(&mut self, start: &PhaseStart) {
        if let (Some(threads), true) = (start.threads, self.has_steps) {
            self.slots = threads * self.depth;
        }
        self.shares.begin_phase(start.phase, start.streams);
        if !self.shares.is_idle() {
            let parked = std::mem::take(&mut self.parked);
            (self.ready, self.parked) = parked.into_iter().partition(|slot| *slot < self.slots);
        }
    }

    fn next_time(&self) -> Option<Instant> {
        self.thinking.peek().map(|Reverse((at, _))| *at)
    }

    fn wake(&mut self, now: Instant) {
        while let Some(Reverse((at, slot))) = self.thinking.peek().copied() {
            if at > now {
                break;
            }
            self.thinking.pop();
            self.ready.push(slot);
        }
        self.ready.reverse();
    }

    fn next_io(&mut self, _: Instant, streams: &mut [Stream]) -> Option<SourceIo> {
        while let Some(slot) = self.ready.pop() {
            let io = self.ask(slot, streams);
            if io.is_some() {
                return io;
            }
        }
        None
    }

    fn completed(&mut self, now: Instant, answer: Answer) {
        if self.thinks() {
            self.thinking.push(Reverse((now + self.think, answer.token)));
        } else {
            self.ready.push(answer.token);
        }
    }

    fn turns(&self) -> Option<Turns<'_>> {
        let pace = Pace::Outstanding(f64::from(self.threads) * f64::from(self.depth));
        Some(Turns { streams: self.shares.all(), pace, threads: self.threads as usize })
    }
}
