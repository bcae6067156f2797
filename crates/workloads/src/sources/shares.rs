//! The streams that a source draws from.

use crate::Random;
use crate::phase::Phase;
use crate::stream::Stream;

/// Streams by their shares; in a phase only those that it names.
#[derive(Clone, Debug)]
pub struct Shares {
    /// Indices of the streams and their shares.
    all: Vec<(usize, f64)>,
    /// Cumulative shares of the streams that run in this phase.
    active: Vec<(usize, f64)>,
    random: Random,
    /// Runs after which a stream is drawn again, on average; after each I/O by default.
    in_a_row: Option<f64>,
    /// The stream that was drawn last.
    last: Option<usize>,
    /// Root seed and number of the source, for generators of its own.
    path: (u64, usize),
}

impl Shares {
    /// Streams of the source with this number and their shares; `random` chooses among them.
    pub fn new(streams: Vec<(usize, f64)>, random: Random, seed: u64, number: usize) -> Self {
        Self { all: streams, active: Vec::new(), random, in_a_row: None, last: None, path: (seed, number) }
    }

    /// Like the above, but a stream is drawn again only when a run of it ended, after this many on average.
    pub fn in_a_row(mut self, runs: Option<f64>) -> Self {
        self.in_a_row = runs;
        self
    }

    /// All streams with their shares.
    pub fn all(&self) -> &[(usize, f64)] {
        &self.all
    }

    /// Lets those run that `phase` names.
    pub fn begin_phase(&mut self, phase: &Phase, streams: &[Stream]) {
        let mut upto = 0.0;
        let active =
            self.all.iter().filter(|(stream, _)| phase.runs(streams[*stream].name())).map(|(stream, share)| {
                // A stream of longer runs is drawn less often, so that shares are those of I/Os.
                upto += if self.in_a_row.is_some() { share * streams[*stream].runs_an_io() } else { *share };
                (*stream, upto)
            });
        self.active = active.collect();
        self.last = None;
    }

    /// Whether none of them runs.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.active.is_empty()
    }

    /// Return the generator of arrival times in `phase`.
    pub fn arrivals(&self, phase: &Phase) -> Random {
        let (seed, number) = self.path;
        Random::new(seed, &format!("arrivals.{number}.{}", phase.name))
    }

    /// Choose one of the running streams for the next I/O of `thread`.
    #[inline]
    pub fn choose(&mut self, streams: &mut [Stream], thread: usize) -> usize {
        if let [(only, _)] = self.active[..] { only } else { self.choose_among(streams, thread) }
    }

    fn choose_among(&mut self, streams: &mut [Stream], thread: usize) -> usize {
        let Some(runs) = self.in_a_row else { return self.draw() };
        let stays = |last: &usize| streams[*last].goes_on(thread) || self.random.unit() * runs >= 1.0;
        let chosen = self.last.filter(stays).unwrap_or_else(|| self.draw());
        self.last = Some(chosen);
        chosen
    }

    fn draw(&mut self) -> usize {
        let total = self.active.last().map_or(0.0, |(_, upto)| *upto);
        let at = self.random.unit() * total;
        let active = self.active.iter().find(|(_, upto)| at < *upto).or(self.active.last());
        active.map_or(0, |(stream, _)| *stream)
    }
}
