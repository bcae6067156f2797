//! How often is steady state said to be left when it was not, and how late when it was? Noise is Gaussian and
//! independent from round to round; the rule itself finds the steady window. docs/guides/steady-state.md prints these.
#![allow(missing_docs, reason = "a test")]

use hotband_workloads::{Random, WINDOW, departure, steady_state};

/// Trials of each case.
const TRIALS: usize = 20_000;
/// Rounds watched after the steady window.
const WATCHED: usize = 100;

/// Rounds around 1, and the last one of their steady window.
struct Noise {
    rounds: Vec<f64>,
    reached: usize,
}

impl Noise {
    fn new(random: &mut Random, share: f64) -> Self {
        let mut rounds: Vec<f64> = (0..25 + WATCHED).map(|_| 1.0 + share * random.normal()).collect();
        let reached = steady_state(&rounds).expect("all are numbers").round.expect("this little noise is steady");
        rounds.truncate(reached + WATCHED);
        Self { rounds, reached }
    }

    /// Rounds until the departure is seen, of these rounds with the n-th after the steady window times `factor(n)`.
    fn seen_after(&self, factor: impl Fn(usize) -> f64) -> Option<usize> {
        let changed =
            self.rounds.iter().enumerate().map(|(index, value)| match (index + 1).checked_sub(self.reached) {
                Some(n) if n > 0 => value * factor(n),
                _ => *value,
            });
        let left = departure(&changed.collect::<Vec<_>>()).expect("all are numbers");
        left.map(|left| left.round - self.reached)
    }
}

fn trials(share: f64) -> impl Iterator<Item = Noise> {
    let mut random = Random::new(1, "noise");
    (0..TRIALS).map(move |_| Noise::new(&mut random, share))
}

/// Share of runs with a false alarm within 100 rounds.
fn false_alarms(share: f64) -> f64 {
    trials(share).filter(|noise| noise.seen_after(|_| 1.0).is_some()).count() as f64 / TRIALS as f64
}

/// Mean and 99th percentile of the rounds until a change is seen; it always is.
fn delays(share: f64, factor: impl Fn(usize) -> f64) -> (f64, usize) {
    let seen = trials(share).map(|noise| noise.seen_after(&factor).expect("seen within 100 rounds"));
    let mut delays: Vec<usize> = seen.collect();
    delays.sort_unstable();
    (delays.iter().sum::<usize>() as f64 / TRIALS as f64, delays[TRIALS * 99 / 100])
}

#[track_caller]
fn near(what: &str, got: f64, documented: f64, within: f64) {
    println!("{what}: {got}");
    assert!((got - documented).abs() <= within, "{what}: {got}, documented is {documented} (within {within})");
}

#[test]
fn false_alarms_are_as_documented() {
    // Four standard errors of 20,000 trials.
    near("3 % noise", false_alarms(0.03), 0.0020, 0.0013);
    near("2 % noise", false_alarms(0.02), 0.0, 0.0);
    near("5 % noise", false_alarms(0.05), 0.535, 0.015);
}

#[test]
fn the_rule_itself_fails_too_often_to_tell_a_departure() {
    // Why a departure is no later window that fails: of a hundred windows of noise one fails by its slope.
    let fails = |noise: &Noise| {
        let after = noise.rounds[noise.reached..].windows(WINDOW);
        after.map(|rounds| steady_state(rounds).expect("numbers")).any(|state| !state.reached)
    };
    near("3 % noise", trials(0.03).filter(fails).count() as f64 / TRIALS as f64, 0.50, 0.02);
}

#[test]
fn a_drop_of_15_percent_is_seen_as_soon_as_documented() {
    let (mean, late) = delays(0.03, |_| 0.85);
    near("mean", mean, 1.54, 0.03);
    assert_eq!(late, 3);
}

#[test]
fn a_drift_of_1_percent_a_round_is_seen_as_soon_as_documented() {
    for (what, sign, latest) in [("down", -0.01, 15), ("up", 0.01, 16)] {
        let (mean, late) = delays(0.03, |n| 1.0 + sign * n as f64);
        near(what, mean, 10.65, 0.15);
        assert_eq!(late, latest, "{what}");
        assert_eq!(delays(0.0, |n| 1.0 + sign * n as f64).1, 11, "{what} without noise");
    }
}
