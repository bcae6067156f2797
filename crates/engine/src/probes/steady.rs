//! The rounds of a phase that ends when it is steady, and its section of the record.

use hotband_machine::Machine;
use hotband_units::{Instant, Span};
use hotband_workloads::{Phase, Track, UntilSteady, Workload, steady_state};
use serde::Serialize;

use crate::control::RunError;
use crate::probes::probe::{Answered, Findings, Probe, RunEnd};

/// Reads and writes completed without error since the run began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally {
    pub ios: u64,
    pub bytes: u64,
    pub latency_ns: u128,
}

impl Tally {
    #[inline]
    pub fn add(&mut self, bytes: u32, latency: Span) {
        self.ios += 1;
        self.bytes += u64::from(bytes);
        self.latency_ns += u128::from(latency.0);
    }

    /// Value of `track` since `before`, over `round`. Latency is zero if there was no I/O, and a zero
    /// is never steady with other values.
    fn value_since(&self, before: &Self, track: Track, round: Span) -> f64 {
        let ios = (self.ios - before.ios) as f64;
        match track {
            Track::Iops => ios / round.as_secs_f64(),
            Track::Bandwidth => (self.bytes - before.bytes) as f64 / round.as_secs_f64(),
            Track::Latency if ios > 0.0 => (self.latency_ns - before.latency_ns) as f64 / ios,
            Track::Latency => 0.0,
        }
    }
}

/// Whether a phase reached steady state, in the form of a record.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SteadyRecord {
    /// Name of the phase.
    pub phase: String,
    track: &'static str,
    unit: &'static str,
    round_ns: u64,
    /// Whether it was reached.
    pub reached: bool,
    /// Last round of the steady window, from 1.
    pub round: Option<usize>,
    /// The tracked value of every round, in `unit`.
    pub rounds: Vec<f64>,
    window_mean: Option<f64>,
    range_pct: Option<f64>,
    slope_pct: Option<f64>,
    /// Bytes that hosts had written to the drives when the phase ended, since they were new, times the capacity; only
    /// where drives wear.
    #[serde(skip_serializing_if = "Option::is_none")]
    fills: Option<f64>,
}

impl SteadyRecord {
    /// Note for readers who do not look at the section. The first fill of a drive that wears is as even as steady
    /// state is, and faster: five rounds of it satisfy the rule.
    pub fn note(&self) -> Option<String> {
        let phase = &self.phase;
        if !self.reached {
            let rounds = self.rounds.len();
            return Some(format!("phase \"{phase}\": no steady state within {rounds} rounds"));
        }
        let early = self.fills.filter(|fills| *fills < 1.0)?;
        Some(format!(
            "phase \"{phase}\": it looked steady after {early:.2} drive fills, but a new drive is even until its first \
             fill ends; precondition it"
        ))
    }
}

/// Bytes that hosts wrote to the drives of `machine` since they were new, times its capacity; nothing if none wears.
fn fills(machine: &Machine) -> Option<f64> {
    let smart = machine.drives().smart();
    let written: u64 = smart.iter().map(|(_, smart)| smart.host_bytes).sum();
    let capacity: u64 = machine.volumes().iter().map(|target| target.size).sum();
    (!smart.is_empty()).then(|| written as f64 / capacity as f64)
}

/// Ends a phase at the end of the round in which it is steady.
struct SteadyWatch {
    what: UntilSteady,
    /// End of the current round; `NEVER` once it is steady.
    next: Instant,
    before: Tally,
    rounds: Vec<f64>,
}

impl SteadyWatch {
    /// For a phase that begins at `begin`, when `tally` was done; none if it is not to end when steady.
    pub fn new(phase: &Phase, begin: Instant, tally: Tally) -> Option<Self> {
        let what = phase.steady()?;
        Some(Self { what, next: begin + what.round, before: tally, rounds: Vec::new() })
    }

    /// Ends every round that is over at `until`, up to which nothing more happens; an I/O done at the very end of a
    /// round belongs to the next one. Returns when the phase became steady, if it did.
    #[inline]
    pub fn over(&mut self, until: Instant, tally: &Tally) -> Option<Instant> {
        if self.next > until { None } else { self.end_rounds(until, tally) }
    }

    fn end_rounds(&mut self, until: Instant, tally: &Tally) -> Option<Instant> {
        let what = self.what;
        while self.next <= until {
            self.rounds.push(tally.value_since(&self.before, what.track, what.round));
            self.before = *tally;
            let state = steady_state(&self.rounds).expect("rates and latencies are finite");
            if state.reached {
                return Some(std::mem::replace(&mut self.next, Instant::NEVER));
            }
            self.next += what.round;
        }
        None
    }

    /// The phase is over, with the drives written over this many times; returns its section of the record.
    pub fn end(self, phase: &Phase, fills: Option<f64>) -> SteadyRecord {
        let what = self.what;
        let state = steady_state(&self.rounds).expect("rates and latencies are finite");
        SteadyRecord {
            phase: phase.name.clone(),
            track: what.track.name(),
            unit: what.track.unit(),
            round_ns: what.round.0,
            reached: state.reached,
            round: state.round,
            rounds: self.rounds,
            window_mean: state.window.map(|window| window.mean),
            range_pct: state.window.and_then(|window| window.range_pct),
            slope_pct: state.window.and_then(|window| window.slope_pct),
            fills,
        }
    }
}

/// Judges phases that are to end when steady.
#[derive(Default)]
pub struct SteadyProbe {
    /// Whether a phase of the run is to end so.
    wanted: bool,
    tally: Tally,
    /// Watch of the current phase, if steady state ends it.
    watch: Option<SteadyWatch>,
    done: Vec<SteadyRecord>,
}

impl SteadyProbe {
    pub fn new(workload: &Workload) -> Self {
        let wanted = workload.phases.iter().any(|phase| phase.steady().is_some());
        Self { wanted, ..Self::default() }
    }

    /// A phase begins, measured or not.
    pub fn begin_phase(&mut self, phase: &Phase, now: Instant) {
        self.watch = SteadyWatch::new(phase, now, self.tally);
    }

    /// When the phase became steady, if it did up to `until`, before which nothing happens.
    #[inline]
    pub fn steady_at(&mut self, until: Instant) -> Option<Instant> {
        let tally = &self.tally;
        self.watch.as_mut().and_then(|watch| watch.over(until, tally))
    }

    /// Ends the phase.
    pub fn end_phase(&mut self, phase: &Phase, machine: &Machine) {
        if let Some(watch) = self.watch.take() {
            self.done.push(watch.end(phase, fills(machine)));
        }
    }
}

impl Probe for SteadyProbe {
    fn wants_ios(&self) -> bool {
        self.wanted
    }

    fn io(&mut self, io: &Answered) {
        if io.is_served() {
            self.tally.add(io.len, io.done.at.since(io.done.submitted));
        }
    }

    fn end(mut self: Box<Self>, _: &mut RunEnd) -> Result<Findings, RunError> {
        let notes: Vec<String> = self.done.iter().filter_map(SteadyRecord::note).collect();
        let mut findings = Findings::default().with_notes(notes);
        if let Some(last) = self.done.pop() {
            findings = findings.with("steady_state", last);
        }
        Ok(if self.done.is_empty() { findings } else { findings.with("steady_state_before", self.done) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hotband_workloads::Workload;

    const SECOND: u64 = 1_000_000_000;

    fn phase(keys: &str) -> Phase {
        let text = format!(
            "[load]\nclosed = {{ threads = 1 }}\n[[streams]]\nread_pct = 100\nrandom_pct = 100\nsize = \"4 KiB\"\n\
             [[phases]]\nname = \"settle\"\n{keys}\n[[phases]]\nios = 1\nmeasure = true\n"
        );
        Workload::read("test", &text).unwrap().phases[0].clone()
    }

    fn tally(ios: u64) -> Tally {
        Tally { ios, bytes: ios * 4096, latency_ns: u128::from(ios) * 1000 }
    }

    #[test]
    fn a_phase_ends_with_its_fifth_equal_round_and_not_a_nanosecond_before() {
        let phase = phase("until_steady = true\nround = \"2 s\"");
        let mut watch = SteadyWatch::new(&phase, Instant(SECOND), tally(7)).unwrap();
        for round in 1..=4 {
            assert_eq!(watch.over(Instant(SECOND + round * 2 * SECOND), &tally(7 + 10 * round)), None);
        }
        let end = Instant(SECOND + 10 * SECOND);
        assert_eq!(watch.over(Instant(end.0 - 1), &tally(57)), None);
        assert_eq!(watch.over(end, &tally(57)), Some(end));
        assert_eq!(watch.over(Instant(end.0 + SECOND), &tally(99)), None, "only once");
        let record = watch.end(&phase, None);
        assert_eq!((record.reached, record.round, record.rounds), (true, Some(5), vec![5.0; 5]));
    }

    #[test]
    fn rounds_in_which_nothing_happens_are_rounds() {
        let phase = phase("until_steady = true\nround = \"1 s\"");
        let mut watch = SteadyWatch::new(&phase, Instant::ZERO, tally(0)).unwrap();
        assert_eq!(watch.over(Instant(3 * SECOND + 1), &tally(4)), None);
        let record = watch.end(&phase, None);
        assert_eq!(record.rounds, [4.0, 0.0, 0.0], "what was done before the first look was done in the first round");
        assert!(record.note().unwrap().contains("no steady state within 3 rounds"));
    }

    #[test]
    fn the_tracked_value_is_the_one_asked_for() {
        for (track, value) in [("iops", 4.0), ("bandwidth", 4.0 * 4096.0), ("latency", 1000.0)] {
            let phase = phase(&format!("until_steady = true\nround = \"500 ms\"\ntrack = \"{track}\""));
            let mut watch = SteadyWatch::new(&phase, Instant::ZERO, tally(0)).unwrap();
            watch.over(Instant(SECOND / 2), &tally(2));
            watch.over(Instant(SECOND), &tally(2));
            assert_eq!(watch.end(&phase, None).rounds, [value, 0.0], "{track}");
        }
    }

    #[test]
    fn other_phases_never_look() {
        let phase = phase("duration = \"1 h\"");
        assert!(SteadyWatch::new(&phase, Instant::ZERO, tally(0)).is_none());
    }
}
