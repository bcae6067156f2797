//! Measured phases that follow one another: each has figures of its own, and all together those of the record.

use hotband_units::{Instant, Span};
use serde::Serialize;

use crate::probes::direction::Directions;
use crate::record::sections::{Sections, of_list};
use crate::record::summary::Summary;

/// A measured phase and its figures.
#[derive(Clone, Debug, Serialize)]
pub struct Step {
    /// Name of the phase.
    pub name: String,
    /// Threads of the closed loop in `[load]`, if there is one.
    pub threads: Option<u32>,
    /// Clients of the scripts, if the phase states them.
    pub clients: Option<u32>,
    /// When it began, since the measured time began.
    pub begin_ns: u64,
    /// Duration.
    pub duration_ns: u64,
    /// Its figures.
    pub summary: Summary,
    /// Sections of the sources.
    #[serde(flatten, serialize_with = "of_list")]
    pub sections: Sections,
}

/// State of a measured phase when it ends.
pub struct StepEnd {
    pub name: String,
    /// Threads of the closed loop in `[load]`, if there is one.
    pub threads: Option<u32>,
    /// Clients of the scripts, if the phase states them.
    pub clients: Option<u32>,
    /// Sections of the sources.
    pub sections: Sections,
}

/// Measurements of the steps so far.
#[derive(Default)]
pub struct Steps {
    pub done: Vec<Step>,
    /// Totals of all steps but the current one; empty in the first.
    before: Vec<Directions>,
    begin: Instant,
    /// Time when the first one began.
    first: Option<Instant>,
}

impl Steps {
    /// A step begins at `now`: what its predecessor measured, still in `streams`, is put away.
    pub fn begin(&mut self, now: Instant, streams: &[Directions]) {
        if !self.done.is_empty() {
            self.put_away(streams);
        }
        self.begin = now;
    }

    fn put_away(&mut self, streams: &[Directions]) {
        if self.before.is_empty() {
            self.before = streams.to_vec();
            return;
        }
        for (total, stats) in self.before.iter_mut().flatten().zip(streams.iter().flatten()) {
            total.add(stats);
        }
    }

    /// Puts the steps together: afterwards `streams` holds all that was measured.
    pub fn join(&mut self, streams: &mut Vec<Directions>) {
        if !self.before.is_empty() {
            self.put_away(streams);
            std::mem::swap(&mut self.before, streams);
            self.before.clear();
        }
    }

    /// Ends a step at `now` with the figures of `streams`; returns its length.
    pub fn end(&mut self, step: StepEnd, now: Instant, streams: &[Directions]) -> Span {
        let duration = now.since(self.begin);
        let StepEnd { name, threads, clients, sections } = step;
        let begin_ns = self.begin.since(*self.first.get_or_insert(self.begin)).0;
        let summary = Summary::new(streams, duration);
        self.done.push(Step { name, threads, clients, begin_ns, duration_ns: duration.0, summary, sections });
        duration
    }
}
