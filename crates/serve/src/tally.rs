//! Counters of a server: the emulation delay, and the latencies of clients next to those of the model.

use hdrhistogram::Histogram;
use hotband_engine::Findings;
use hotband_machine::Op;
use hotband_units::{Instant, Span};
use serde::Serialize;

use crate::model::Answer;
use crate::priority::Priority;

/// Names of the kinds of I/O, in the order of the tally.
const KINDS: [(Op, &str); 4] = [(Op::Read, "read"), (Op::Write, "write"), (Op::Flush, "flush"), (Op::Trim, "trim")];

/// Reported quantiles, in percent.
const QUANTILES: [(&str, f64); 4] = [("p50", 50.0), ("p90", 90.0), ("p99", 99.0), ("p99_9", 99.9)];

/// Times in nanoseconds with three significant digits, as everywhere in records.
fn times() -> Histogram<u64> {
    let mut times = Histogram::new(3).expect("three digits are accepted");
    times.auto(true);
    times
}

fn note(times: &mut Histogram<u64>, time: Span) {
    times.record(time.0).expect("it grows with what it is told");
}

/// Latencies of one kind of I/O.
#[derive(Clone, Debug)]
struct OfKind {
    count: u64,
    errors: u64,
    bytes: u64,
    /// Latency in the model.
    model: Histogram<u64>,
    /// From when it was requested, at the latest, to the answer being handed over.
    client: Histogram<u64>,
}

impl OfKind {
    fn new() -> Self {
        Self { count: 0, errors: 0, bytes: 0, model: times(), client: times() }
    }
}

/// Share of the p50 latency of media accesses, and time in nanoseconds: where p99 of lateness is more than either, what
/// was served is no longer the drive that was modelled.
const LATE: (f64, u64) = (0.1, 1_000_000);

/// The p50 latency that lateness is compared with, and the I/Os that have it.
struct Typical {
    ios: &'static str,
    p50: Span,
}

/// Whether answers were too late, in words.
fn late_note(lateness: &TimesTold, typical: Option<&Typical>) -> Option<String> {
    let late = Span(lateness.p99_ns);
    if let Some(Typical { ios, p50 }) = typical
        && late.0 as f64 > LATE.0 * p50.0 as f64
    {
        let share = 100.0 * late.0 as f64 / p50.0.max(1) as f64;
        return Some(format!(
            "I/Os completed late: p99 of the emulation delay is {late}, {share:.0} % of the p50 latency of {ios} \
             ({p50}); above 10 % this is no longer the modelled drive"
        ));
    }
    let is_long = late.0 > LATE.1;
    is_long.then(|| {
        format!(
            "I/Os completed late: p99 of the emulation delay is {late}; above 1 ms this is no longer the modelled drive"
        )
    })
}

/// Counts so far.
#[derive(Clone, Debug)]
pub struct Tally {
    kinds: [OfKind; 4],
    lateness: Histogram<u64>,
    /// Latency in the model of I/Os that waited for the media.
    media: Histogram<u64>,
    repeated_flushes: u64,
    way: Span,
    cores_awake: bool,
    priority: Priority,
}

/// Mean and quantiles of times, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TimesTold {
    /// Mean.
    pub mean_ns: f64,
    /// Half are below.
    pub p50_ns: u64,
    /// 90 % are below.
    pub p90_ns: u64,
    /// 99 % are below.
    pub p99_ns: u64,
    /// 99.9 % are below.
    pub p99_9_ns: u64,
    /// Longest.
    pub max_ns: u64,
}

impl TimesTold {
    fn of(times: &Histogram<u64>) -> Option<Self> {
        let at = |index: usize| times.value_at_percentile(QUANTILES[index].1);
        (!times.is_empty()).then(|| Self {
            mean_ns: times.mean(),
            p50_ns: at(0),
            p90_ns: at(1),
            p99_ns: at(2),
            p99_9_ns: at(3),
            max_ns: times.max(),
        })
    }
}

/// Latencies that clients got for one kind of I/O.
#[derive(Clone, Debug, Serialize)]
pub struct KindTold {
    /// "read", "write", "flush" or "trim".
    pub kind: &'static str,
    /// Answers without an error.
    pub count: u64,
    /// Answers with one.
    pub errors: u64,
    /// Bytes of those without.
    pub bytes: u64,
    /// Latency as the model meant it.
    pub model: Option<TimesTold>,
    /// Latency from when it was requested, at the latest, to the answer being handed over.
    pub client: Option<TimesTold>,
}

/// The section "serving" of a record.
#[derive(Clone, Debug, Serialize)]
pub struct ServingTold {
    /// Emulation delay: time between completion in the model and the handover of the answer.
    pub lateness: Option<TimesTold>,
    /// Note about the delay, if it changes the result.
    pub late: Option<String>,
    /// Shortest round trip of NBD clients, which is part of their latencies.
    pub way_ns: u64,
    /// Whether cores of the host were prevented from sleeping.
    pub cores_awake: bool,
    /// Priority of the threads that complete I/Os.
    pub priority: Priority,
    /// Flushes that were completed without the machine, because the client wrote nothing since its last flush.
    pub repeated_flushes: u64,
    /// Kinds of I/O of which there were any.
    pub kinds: Vec<KindTold>,
}

impl Tally {
    /// Tally for clients whose round trip takes at least `way`, on a host that keeps its cores awake or not
    /// (`cores_awake`).
    pub fn new(way: Span, cores_awake: bool) -> Self {
        let kinds = std::array::from_fn(|_| OfKind::new());
        let (lateness, media, priority) = (times(), times(), Priority::Usual);
        Self { kinds, lateness, media, repeated_flushes: 0, way, cores_awake, priority }
    }

    /// Notes the priority that the host granted.
    pub fn set_priority(&mut self, priority: Priority) {
        self.priority = priority;
    }

    /// Counts a flush that was completed without the machine.
    pub fn add_repeated_flush(&mut self) {
        self.repeated_flushes += 1;
    }

    /// Counts a completion that was handed over at `now`.
    pub fn add(&mut self, answer: &Answer, len: u32, arrived: Instant, now: Instant) {
        let index = KINDS.iter().position(|(op, _)| *op == answer.op).expect("every kind is named");
        let of_kind = &mut self.kinds[index];
        if answer.fault.is_some() {
            of_kind.errors += 1;
            return;
        }
        of_kind.count += 1;
        of_kind.bytes += u64::from(len);
        note(&mut of_kind.model, answer.at.since(answer.submitted));
        if answer.is_media {
            note(&mut self.media, answer.at.since(answer.submitted));
        }
        note(&mut of_kind.client, now.since(arrived));
        note(&mut self.lateness, now.since(answer.at));
    }

    /// Answers, with and without errors.
    pub fn answers(&self) -> u64 {
        self.kinds.iter().map(|of_kind| of_kind.count + of_kind.errors).sum()
    }

    /// Return it as a section of a record.
    pub fn told(&self) -> ServingTold {
        let kinds = KINDS.iter().zip(&self.kinds).filter(|(_, of_kind)| of_kind.count + of_kind.errors > 0);
        let row = |((_, kind), of_kind): (&(Op, &'static str), &OfKind)| KindTold {
            kind,
            count: of_kind.count,
            errors: of_kind.errors,
            bytes: of_kind.bytes,
            model: TimesTold::of(&of_kind.model),
            client: TimesTold::of(&of_kind.client),
        };
        let kinds: Vec<KindTold> = kinds.map(row).collect();
        let lateness = TimesTold::of(&self.lateness);
        let typical = self.typical();
        let late = lateness.and_then(|lateness| late_note(&lateness, typical.as_ref()));
        let Self { repeated_flushes, way, cores_awake, priority, .. } = *self;
        ServingTold { lateness, late, way_ns: way.0, cores_awake, priority, repeated_flushes, kinds }
    }

    /// Return the latency that lateness is compared with: of media accesses, or of reads and writes if a cache
    /// completed them all. Flushes and trims alone have none.
    fn typical(&self) -> Option<Typical> {
        let (mut ios, mut accesses) = ("media accesses", self.media.clone());
        if accesses.is_empty() {
            ios = "reads and writes, all of which a cache completed";
            for (_, of_kind) in KINDS.iter().zip(&self.kinds).filter(|((op, _), _)| matches!(op, Op::Read | Op::Write))
            {
                accesses.add(&of_kind.model).expect("of the same precision");
            }
        }
        (!accesses.is_empty()).then(|| Typical { ios, p50: Span(accesses.value_at_percentile(50.0)) })
    }

    /// Return its findings for the record.
    pub fn findings(&self) -> Findings {
        let totals = self.told();
        let note = totals.late.clone();
        Findings::default().with("serving", totals).with_notes(note)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts reads or flushes of `latency`, each handed over `late` after it.
    fn counted(tally: &mut Tally, op: Op, latency: u64, late: u64, is_media: bool) {
        let (submitted, at) = (Instant(0), Instant(latency));
        let answer = Answer { token: 0, op, submitted, at, fault: None, is_media };
        tally.add(&answer, 0, submitted, at + Span(late));
    }

    fn late_of(ios: &[(Op, u64, u64, bool)]) -> Option<String> {
        let mut tally = Tally::new(Span::ZERO, false);
        for &(op, latency, late, is_media) in ios {
            counted(&mut tally, op, latency, late, is_media);
        }
        tally.told().late
    }

    #[test]
    fn lateness_is_compared_with_media_accesses() {
        let empty_flush = (Op::Flush, 30_000, 9_000, false);
        assert_eq!(late_of(&[empty_flush]), None, "a flush with nothing to write is no access");
        assert_eq!(late_of(&[empty_flush, (Op::Read, 2_600_000, 40_000, true)]), None);
        let late = late_of(&[(Op::Read, 2_600_000, 300_000, true), (Op::Write, 30_000, 1_000, false)]);
        assert!(late.is_some_and(|note| note.contains("12 % of the p50 latency of media accesses (2.6")));
    }

    #[test]
    fn what_a_cache_completed_is_named() {
        let late = late_of(&[(Op::Write, 30_000, 9_000, false)]).expect("30 % late");
        assert!(late.contains("30 % of the p50 latency of reads and writes, all of which a cache completed"), "{late}");
    }

    #[test]
    fn above_a_millisecond_is_late_for_all() {
        let late = late_of(&[(Op::Flush, 30_000, 1_000_001, false)]).expect("late");
        assert!(late.contains("above 1 ms"), "{late}");
    }
}
