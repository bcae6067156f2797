//! Steady state by the rule of SNIA's Solid State Storage Performance Test Specification (PTS 2.0.2, 2020), and when it
//! is left. One rule for every target: the engine ends phases by it, `hotband steady` judges records by it.
//!
//! The rule asks whether a window is flat, not why: a window inside a long, slow change can be flat enough. It says
//! nothing about times shorter than a round. docs/guides/steady-state.md has the measured rates of error.

use hotband_machine::SpecError;

/// Rounds of the measurement window (PTS 2.0.2, definition of steady state).
pub const WINDOW: usize = 5;
/// Rounds after which the search ends without steady state (PTS 2.0.2, test procedures).
pub const MOST_ROUNDS: usize = 25;
/// Largest range of the window that is steady, in percent of its mean (PTS 2.0.2).
pub const RANGE_PCT: f64 = 20.0;
/// Largest slope excursion (rise of the window's best straight line from its first round to its last) that is steady,
/// in percent of the mean (PTS 2.0.2).
pub const SLOPE_PCT: f64 = 10.0;

/// Share of the steady window's mean by which a round may differ from it without counting towards a departure: half of
/// the smallest sudden change that is to be found, 15 % (Page, Biometrika 41, 1954: the best
/// allowance is half the shift).
const ALLOWANCE: f64 = 0.075;
/// Sum of what rounds differ beyond the allowance at which steady state is left. Chosen by simulation (tests/
/// steady_noise.rs): two false alarms in a thousand runs of 100 rounds at 3 % noise, and a drop of 15 % is seen within
/// two rounds mostly.
const DECISION: f64 = 0.075;

/// Verdict of the rule about some rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadyState {
    /// Whether a window of the first [`MOST_ROUNDS`] rounds is steady.
    pub reached: bool,
    /// The last round of the first steady window, counted from 1.
    pub round: Option<usize>,
    /// That window; the last one of the first [`MOST_ROUNDS`] rounds if none is steady; none of fewer than
    /// [`WINDOW`] rounds.
    pub window: Option<Window>,
}

/// Mean and excursions of a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Its mean.
    pub mean: f64,
    /// Largest less smallest value, in percent of the mean; none where the mean is zero.
    pub range_pct: Option<f64>,
    /// |k| x 4 rounds, k the slope of the least-squares line, in percent of the mean; none where the mean is zero.
    pub slope_pct: Option<f64>,
    /// Whether both are within the rule. A window of zeros is not: nothing was done in it.
    pub steady: bool,
}

/// Departure from steady state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Departure {
    /// The round that shows it, counted from 1.
    pub round: usize,
    /// The first of the rounds that led there: the best guess at when the change began.
    pub since: usize,
    /// Mean of the rounds from `since` to `round`, in percent above (below: negative) the steady window's.
    pub level_pct: f64,
}

impl Window {
    /// Both bounds are compared as whole multiples, so that 20.0 % passes and the next number above does not:
    /// range <= 0.2 mean is 25 range <= sum, and with rise = 10 k, 4 |k| <= 0.1 mean is 20 |rise| <= sum.
    fn new(values: &[f64]) -> Self {
        let y: [f64; WINDOW] = values.try_into().expect("windows are taken with this length");
        let sum: f64 = y.iter().sum();
        let range = y.iter().copied().fold(y[0], f64::max) - y.iter().copied().fold(y[0], f64::min);
        // Least squares over x = -2..2: k = sum(x y) / sum(x^2), and sum(x^2) is 10.
        let rise = (2.0 * (y[4] - y[0]) + (y[3] - y[1])).abs();
        let per_mean = |times_sum: f64| (sum > 0.0).then(|| times_sum / sum);
        Self {
            mean: sum / WINDOW as f64,
            range_pct: per_mean(500.0 * range),
            slope_pct: per_mean(200.0 * rise),
            steady: sum > 0.0 && 25.0 * range <= sum && 20.0 * rise <= sum,
        }
    }
}

/// Applies the rule to the tracked variable of each round, in order. Rounds beyond [`MOST_ROUNDS`] are not examined.
///
/// # Errors
/// A round that is not a number, negative, or beyond 1e300, named by its place.
pub fn steady_state(rounds: &[f64]) -> Result<SteadyState, SpecError> {
    check(rounds)?;
    let looked = &rounds[..rounds.len().min(MOST_ROUNDS)];
    let first_window = looked.windows(WINDOW).position(|window| Window::new(window).steady);
    let window = match first_window {
        Some(first) => Some(&looked[first..first + WINDOW]),
        None => looked.len().checked_sub(WINDOW).map(|first| &looked[first..]),
    };
    let (reached, round) = (first_window.is_some(), first_window.map(|first| first + WINDOW));
    Ok(SteadyState { reached, round, window: window.map(Window::new) })
}

fn check(rounds: &[f64]) -> Result<(), SpecError> {
    /// Sums of a few dozen such numbers are finite.
    const MOST: f64 = 1e300;
    match rounds.iter().position(|value| !(0.0..=MOST).contains(value)) {
        None => Ok(()),
        Some(at) => {
            let (key, value) = (format!("[{at}]"), rounds[at].to_string());
            Err(SpecError::new("rounds", &key, value, "expected a number from 0 to 1e300 for every round"))
        }
    }
}

/// The first departure from the steady state that `rounds` reached, by Page's cumulative sum on either side: what the
/// rounds after the steady window differ from its mean, beyond 7.5 % each, adds up to more than 7.5 % of the mean.
///
/// # Errors
/// As [`steady_state`].
pub fn departure(rounds: &[f64]) -> Result<Option<Departure>, SpecError> {
    let SteadyState { round: Some(begin), window: Some(window), .. } = steady_state(rounds)? else { return Ok(None) };
    let (mut above, mut below) = (Sum::default(), Sum::default());
    for (index, value) in rounds.iter().enumerate().skip(begin) {
        let off = value / window.mean - 1.0;
        let since = above.add(off - ALLOWANCE, index).or(below.add(-off - ALLOWANCE, index));
        if let Some(since) = since {
            let level = rounds[since..=index].iter().sum::<f64>() / (index + 1 - since) as f64;
            let level_pct = 100.0 * (level / window.mean - 1.0);
            return Ok(Some(Departure { round: index + 1, since: since + 1, level_pct }));
        }
    }
    Ok(None)
}

/// A cumulative sum that never falls below zero.
#[derive(Default)]
struct Sum {
    value: f64,
    since: usize,
}

impl Sum {
    /// Adds what round `index` differs; returns the round after which the sum was never zero once it is decided.
    fn add(&mut self, excess: f64, index: usize) -> Option<usize> {
        if self.value == 0.0 {
            self.since = index;
        }
        self.value = (self.value + excess).max(0.0);
        (self.value > DECISION).then_some(self.since)
    }
}
