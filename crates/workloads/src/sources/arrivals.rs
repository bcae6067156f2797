//! Uneven arrivals: gaps of several lengths, at a rate that changes with time, whether or not earlier I/Os are done;
//! `arrivals = { gaps = { "50 us" = 80, "20 ms" = 20 }, every = "10 s", rates = [1.5, 0.5] }`.
//!
//! Each gap is exponential, its mean drawn by weight: a mixture of exponentials comes near to long-tailed gaps
//! (Feldmann & Whitt, "Fitting mixtures of exponentials to long-tail distributions", Performance Evaluation 31, 1998).
//! `rates` stretch the clock that gaps are counted on, piece by piece of `every`, and begin again after the last.
//!
//! Leaves out: that one gap has to do with the one before it, but for what `rates` say.

use std::sync::Arc;

use hotband_machine::{Section, SpecError};
use hotband_units::{Instant, Span};

use super::arriving::Arriving;
use super::shares::Shares;
use super::source::{Answer, Pace, PhaseStart, Source, SourceIo, Turns};
use crate::Random;
use crate::load_kind::{LoadKind, OtherLoad};
use crate::most::{self, WEIGHT_ACCEPTED};
use crate::stream::Stream;

/// Accepted form.
pub(crate) const LOOKS: &str = "{ gaps, every, rates }";

/// Shortest mean of all gaps, as the largest rate of an open loop: 10^9 I/Os a second.
const SHORTEST_MEAN: f64 = 1e-9;
/// Shortest piece: a millisecond, as an interval of the series.
const SHORTEST_PIECE: Span = Span(1_000_000);
/// Most pieces: a week of minutes.
const MOST_PIECES: usize = 10_080;
/// Largest factor of a rate, and the inverse of the smallest above zero.
const MOST_FACTOR: f64 = 1e6;

/// Gaps as specified in the text.
#[derive(Clone, Debug, PartialEq)]
struct Uneven {
    /// Mean gaps in seconds, and the cumulative share of each, the last share being 1.
    gaps: Vec<(f64, f64)>,
    /// Length of a piece in seconds, and the rate in each as a factor; one piece by default.
    every: f64,
    rates: Vec<f64>,
}

impl Uneven {
    /// Mean of all gaps in seconds, where the factor is 1.
    fn mean(&self) -> f64 {
        let mut before = 0.0;
        let parts = self.gaps.iter().map(|(gap, upto)| gap * (upto - std::mem::replace(&mut before, *upto)));
        parts.sum()
    }

    /// Seconds of a factor of 1 in all pieces together.
    fn round(&self) -> f64 {
        self.rates.iter().sum::<f64>() * self.every
    }

    /// The next gap in seconds, where the factor is 1.
    fn draw(&self, random: &mut Random) -> f64 {
        let share = if self.gaps.len() == 1 { 0.0 } else { random.unit() };
        let gap = self.gaps.iter().find(|(_, upto)| share < *upto).or(self.gaps.last());
        gap.map_or(0.0, |(mean, _)| mean * random.exponential())
    }

    /// When `gap` seconds of a factor of 1 have passed, as seconds since the phase began; it is `at` now.
    fn later(&self, at: f64, gap: f64) -> f64 {
        let pieces = self.rates.len() as f64;
        let rounds = (gap / self.round()).floor();
        let (mut at, mut left) = (at + rounds * pieces * self.every, gap - rounds * self.round());
        let mut piece = (at / self.every).floor();
        // A quotient that was rounded down to a piece that is over.
        piece += f64::from((piece + 1.0) * self.every <= at);
        // What is left is less than a round, so it passes within one and the rest of this piece.
        for _ in 0..=self.rates.len() {
            let (factor, end) = (self.rates[(piece % pieces) as usize], (piece + 1.0) * self.every);
            if left <= (end - at) * factor {
                return if factor > 0.0 { at + left / factor } else { at };
            }
            left -= (end - at) * factor;
            piece += 1.0;
            at = piece * self.every;
        }
        at
    }
}

/// Reads `arrivals = { ... }`.
pub(crate) fn read(section: Section) -> Result<OtherLoad, SpecError> {
    let gaps = read_gaps(&section)?;
    let (every, rates) = read_rates(&section)?;
    section.finish()?;
    Ok(OtherLoad(Arc::new(Uneven { gaps, every, rates })))
}

fn read_gaps(section: &Section) -> Result<Vec<(f64, f64)>, SpecError> {
    const ACCEPTED: &str = "expected mean gaps and weights, such as { \"50 us\" = 80, \"20 ms\" = 20 }";
    let value = section.value("gaps").ok_or_else(|| section.error("gaps", "", format!("missing: {ACCEPTED}")))?;
    let wrong = |value: String| section.error("gaps", value, ACCEPTED);
    let table = value.as_table().filter(|table| !table.is_empty()).ok_or_else(|| wrong(value.to_string()))?;
    let mut gaps = Vec::new();
    for (text, weight) in table {
        let gap: Span = text.parse().map_err(|_| wrong(text.clone()))?;
        let number = most::weight(weight).ok_or_else(|| section.error("gaps", weight.to_string(), WEIGHT_ACCEPTED))?;
        gaps.push((gap.as_secs_f64(), number));
    }
    let total: f64 = gaps.iter().map(|(_, weight)| weight).sum();
    if gaps.iter().map(|(gap, weight)| gap * weight / total).sum::<f64>() < SHORTEST_MEAN {
        return Err(section.error("gaps", value.to_string(), "expected gaps of at least 1 ns on average"));
    }
    let mut upto = 0.0;
    let cumulative = gaps.into_iter().map(|(gap, weight)| {
        upto += weight / total;
        (gap, upto)
    });
    Ok(cumulative.collect())
}

fn read_rates(section: &Section) -> Result<(f64, Vec<f64>), SpecError> {
    let (every, rates) = (section.quantity::<Span>("every")?, section.value("rates"));
    let (every, rates) = match (every, rates) {
        (None, None) => return Ok((1.0, vec![1.0])),
        (Some(every), Some(rates)) => (every, rates),
        (Some(_), None) => return Err(section.error("rates", "", "missing: factors of the rate in pieces of every")),
        (None, Some(_)) => return Err(section.error("every", "", "missing: the length of a piece of rates")),
    };
    if every < SHORTEST_PIECE {
        return Err(section.error("every", every.to_string(), "expected at least 1 ms"));
    }
    let accepted = format!("expected up to {MOST_PIECES} factors of the rate, 0 or 0.000001 to 1000000, not all 0");
    let factor = |value: &toml::Value| {
        let number = value.as_float().or_else(|| value.as_integer().map(|n| n as f64));
        number.filter(|n| *n == 0.0 || (1.0 / MOST_FACTOR..=MOST_FACTOR).contains(n))
    };
    let factors: Option<Vec<f64>> = rates.as_array().and_then(|list| list.iter().map(factor).collect());
    let factors = factors.filter(|all| all.len() <= MOST_PIECES && all.iter().any(|factor| *factor > 0.0));
    Ok((every.as_secs_f64(), factors.ok_or_else(|| section.error("rates", rates.to_string(), accepted))?))
}

impl LoadKind for Uneven {
    fn source(&self, shares: Shares) -> Box<dyn Source> {
        Box::new(Arrivals { uneven: self.clone(), arriving: Arriving::new(shares), clock: None, woken: Instant::ZERO })
    }
}

/// The source.
struct Arrivals {
    uneven: Uneven,
    arriving: Arriving,
    /// Clock; none in a phase in which no stream of the source runs.
    clock: Option<Clock>,
    /// Time up to which due I/Os may be taken.
    woken: Instant,
}

/// Time when the next I/O comes.
struct Clock {
    start: Instant,
    /// Seconds since then.
    next: f64,
    random: Random,
}

impl Clock {
    fn next(&self) -> Instant {
        self.start + Span::from_secs_f64(self.next)
    }

    fn step(&mut self, uneven: &Uneven) {
        let gap = uneven.draw(&mut self.random);
        self.next = uneven.later(self.next, gap);
    }
}

impl Source for Arrivals {
    fn begin_phase(&mut self, start: &PhaseStart) {
        self.arriving.begin_phase(start);
        if self.arriving.is_idle() {
            self.clock = None;
        } else if self.clock.is_none() {
            let mut clock = Clock { start: start.now, next: 0.0, random: self.arriving.times(start.phase) };
            clock.step(&self.uneven);
            self.clock = Some(clock);
        }
    }

    fn next_time(&self) -> Option<Instant> {
        self.clock.as_ref().map(Clock::next)
    }

    fn wake(&mut self, now: Instant) {
        self.woken = now;
    }

    fn next_io(&mut self, _: Instant, streams: &mut [Stream]) -> Option<SourceIo> {
        if let Some(flush) = self.arriving.flush() {
            return Some(flush);
        }
        let clock = self.clock.as_mut().filter(|clock| clock.next() <= self.woken)?;
        clock.step(&self.uneven);
        Some(self.arriving.next(streams))
    }

    fn completed(&mut self, _: Instant, answer: Answer) {
        self.arriving.completed(answer.token);
    }

    fn turns(&self) -> Option<Turns<'_>> {
        let rate = self.uneven.round() / self.uneven.every / self.uneven.rates.len() as f64 / self.uneven.mean();
        Some(Turns { streams: self.arriving.streams(), pace: Pace::Rate(rate), threads: 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uneven(gaps: &[(f64, f64)], every: f64, rates: &[f64]) -> Uneven {
        Uneven { gaps: gaps.to_vec(), every, rates: rates.to_vec() }
    }

    #[test]
    fn a_mixture_has_its_mean_and_its_spread() {
        let (uneven, mut random) = (uneven(&[(0.001, 0.8), (0.1, 1.0)], 1.0, &[1.0]), Random::new(1, "gaps"));
        let gaps: Vec<f64> = (0..200_000).map(|_| uneven.draw(&mut random)).collect();
        let mean = gaps.iter().sum::<f64>() / 2e5;
        let square = gaps.iter().map(|gap| gap * gap).sum::<f64>() / 2e5;
        // Of exponentials: mean sum(p m), second moment 2 sum(p m^2). Five standard errors are 0.02 and 0.05 of them.
        let (expected_mean, second) = (0.8 * 0.001 + 0.2 * 0.1, 2.0 * (0.8 * 1e-6 + 0.2 * 1e-2));
        assert!((uneven.mean() - expected_mean).abs() < 1e-12);
        assert!((mean / expected_mean - 1.0).abs() < 0.04 && (square / second - 1.0).abs() < 0.08, "{mean} {square}");
    }

    #[test]
    fn time_passes_by_the_factors() {
        let uneven = uneven(&[(1.0, 1.0)], 10.0, &[2.0, 0.0, 0.5]);
        let close = |at: f64, gap: f64, asked: f64| {
            let later = uneven.later(at, gap);
            assert!((later - asked).abs() < 1e-9, "{at} + {gap}: {later}, not {asked}");
        };
        close(0.0, 5.0, 2.5);
        close(9.0, 2.0, 10.0);
        close(9.0, 3.0, 22.0); // nothing passes from 10 to 20
        close(0.0, 25.0, 30.0); // a whole round
        close(0.0, 27.0, 31.0); // and on into the next
        close(25.0, 2.5 + 20.0 + 1.0, 52.0);
        close(0.0, 25e6 + 1.0, 30e6 + 0.5);
    }

    #[test]
    fn time_passes_wherever_pieces_end() {
        // Multiples of such a length, divided by it, are often rounded down to the piece before.
        let uneven = uneven(&[(1.0, 1.0)], 6.070_663_58, &[1.0, 0.5, 2.0]);
        let mut at = 0.0;
        for piece in 0..10_000_u32 {
            let end = f64::from(piece + 1) * 6.070_663_58;
            at = uneven.later(at, (end - at) * uneven.rates[piece as usize % 3]);
            assert!((at - end).abs() < 1e-6, "{piece}: {at}, not {end}");
        }
    }
}
