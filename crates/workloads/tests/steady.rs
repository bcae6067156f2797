//! Is the rule of the PTS applied exactly, and is what it cannot judge refused?
#![allow(missing_docs, reason = "a test")]

use hotband_workloads::{MOST_ROUNDS, RANGE_PCT, SLOPE_PCT, SteadyState, WINDOW, departure, steady_state};
use proptest::prelude::*;

#[track_caller]
fn judge(rounds: &[f64]) -> SteadyState {
    steady_state(rounds).expect("valid rounds")
}

/// The next number above.
fn above(value: f64) -> f64 {
    f64::from_bits(value.to_bits() + 1)
}

#[test]
fn five_equal_rounds_are_steady() {
    let state = judge(&[7.0; 5]);
    let window = state.window.unwrap();
    assert_eq!((state.reached, state.round), (true, Some(5)));
    assert_eq!((window.mean, window.range_pct, window.slope_pct), (7.0, Some(0.0), Some(0.0)));
}

#[test]
fn a_range_of_exactly_20_percent_passes_and_any_more_fails() {
    // Mean 100, range 20, and no slope: the extremes lie in the middle.
    let at = judge(&[100.0, 110.0, 100.0, 90.0, 100.0]);
    assert_eq!(at.window.unwrap().range_pct, Some(RANGE_PCT));
    assert!(at.window.unwrap().slope_pct.unwrap() < SLOPE_PCT);
    assert!(at.reached);
    // The mean stays 100 to the last bit.
    let over = judge(&[100.0 - (above(110.0) - 110.0), above(110.0), 100.0, 90.0, 100.0]);
    assert_eq!(over.window.unwrap().mean, 100.0);
    assert!(over.window.unwrap().range_pct.unwrap() > RANGE_PCT);
    assert!(!over.reached);
}

#[test]
fn a_slope_excursion_of_exactly_10_percent_passes_and_any_more_fails() {
    for sign in [1.0, -1.0] {
        let line = |rise: f64| [-2.0, -1.0, 0.0, 1.0, 2.0].map(|x| 100.0 + sign * x * rise / 4.0);
        let at = judge(&line(10.0));
        assert_eq!(at.window.unwrap().slope_pct, Some(SLOPE_PCT));
        assert!(at.reached, "{sign}");
        let over = judge(&line(10.0 + 1e-10));
        assert!(over.window.unwrap().slope_pct.unwrap() > SLOPE_PCT);
        assert!(over.window.unwrap().range_pct.unwrap() < RANGE_PCT, "it is the slope that fails");
        assert!(!over.reached, "{sign}");
    }
}

#[test]
fn the_slope_is_that_of_the_least_squares_line() {
    // By hand: k = (-2 x 90 - 103 + 97 + 2 x 110) / 10 = 3.4 a round, 13.6 over the window, mean 100.
    let window = judge(&[90.0, 103.0, 100.0, 97.0, 110.0]).window.unwrap();
    assert_eq!((window.slope_pct, window.range_pct), (Some(13.6), Some(20.0)));
    assert!(!window.steady);
}

#[test]
fn fewer_than_five_rounds_are_never_steady() {
    for rounds in 0..WINDOW {
        assert_eq!(judge(&vec![5.0; rounds]), SteadyState { reached: false, round: None, window: None });
    }
}

#[test]
fn the_first_steady_window_counts() {
    let state = judge(&[300.0, 200.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0]);
    assert_eq!((state.round, state.window.unwrap().mean), (Some(7), 100.0));
}

#[test]
fn the_search_ends_with_the_25th_round() {
    let swings = |count: usize| (0..count).map(|n| if n % 2 == 0 { 50.0 } else { 150.0 });
    let steady_from = |first: usize| swings(first).chain([100.0; 10]).collect::<Vec<f64>>();
    let last = judge(&steady_from(20));
    assert_eq!(last.round, Some(MOST_ROUNDS), "its window is rounds 21 to 25");
    let late = judge(&steady_from(21));
    assert_eq!((late.reached, late.round), (false, None));
    assert_eq!(late.window.unwrap().mean, 90.0, "of rounds 21 to 25: 50 and four times 100");
}

#[test]
fn nothing_done_is_not_steady() {
    let window = judge(&[0.0; 5]).window.unwrap();
    assert_eq!((window.steady, window.mean, window.range_pct, window.slope_pct), (false, 0.0, None, None));
    assert!(!judge(&[100.0, 100.0, 0.0, 100.0, 100.0]).reached, "a round without I/O is far out of range");
}

#[test]
fn what_is_no_number_is_refused_by_its_place() {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 1e301] {
        let error = steady_state(&[1.0, 2.0, value]).unwrap_err();
        assert_eq!((error.file.as_str(), error.key.as_str()), ("rounds", "[2]"), "{value}");
        assert_eq!(departure(&[1.0, 2.0, value]).unwrap_err(), error);
    }
}

#[test]
fn a_departure_says_when_it_began() {
    let mut rounds = vec![100.0; 12];
    assert_eq!(departure(&rounds), Ok(None));
    rounds.extend([80.0, 80.0]);
    let left = departure(&rounds).unwrap().unwrap();
    // Each differs by 20 %, 12.5 % beyond the allowance: the first round decides.
    assert_eq!((left.round, left.since), (13, 13));
    assert!((left.level_pct + 20.0).abs() < 1e-9, "{left:?}");
    // 10 % are 2.5 % beyond: the fourth round adds up to more than 7.5 %, also upwards.
    let slow = [vec![100.0; 8], vec![110.5; 4]].concat();
    let left = departure(&slow).unwrap().unwrap();
    assert_eq!((left.round, left.since), (11, 9));
    assert!(left.level_pct > 10.0);
}

#[test]
fn what_never_was_steady_is_not_left() {
    let growing: Vec<f64> = (0..40).map(|n| f64::from(1 << (n % 20))).collect();
    assert!(!judge(&growing).reached);
    assert_eq!(departure(&growing), Ok(None));
}

/// Rounds around a level that are steady as often as not.
fn rounds() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(0.8..1.2_f64, 0..40)
}

proptest! {
    #[test]
    fn the_unit_does_not_matter(rounds in rounds(), power in -60..60_i32) {
        // Powers of two scale exactly; milliseconds for seconds would round.
        let scale = f64::powi(2.0, power);
        let scaled: Vec<f64> = rounds.iter().map(|value| value * scale).collect();
        let (state, other) = (judge(&rounds), judge(&scaled));
        prop_assert_eq!(state.round, other.round);
        prop_assert_eq!(state.window.map(|w| w.range_pct), other.window.map(|w| w.range_pct));
        prop_assert_eq!(state.window.map(|w| w.slope_pct), other.window.map(|w| w.slope_pct));
        prop_assert_eq!(
            departure(&rounds).unwrap().map(|left| left.round),
            departure(&scaled).unwrap().map(|left| left.round)
        );
    }

    #[test]
    fn a_window_backwards_is_as_steady(rounds in prop::collection::vec(0.8..1.2_f64, WINDOW)) {
        let backwards: Vec<f64> = rounds.iter().rev().copied().collect();
        let (state, other) = (judge(&rounds), judge(&backwards));
        let percents = |state: &SteadyState| state.window.map(|w| (w.range_pct.unwrap(), w.slope_pct.unwrap())).unwrap();
        prop_assert!((percents(&state).0 - percents(&other).0).abs() < 1e-9);
        prop_assert!((percents(&state).1 - percents(&other).1).abs() < 1e-9);
    }

    #[test]
    fn more_rounds_never_take_back_what_was_reached(rounds in rounds(), more in rounds()) {
        let whole: Vec<f64> = rounds.iter().chain(&more).copied().collect();
        let state = judge(&rounds);
        if state.reached {
            prop_assert_eq!(state, judge(&whole));
        }
    }

    #[test]
    fn the_verdict_is_that_of_its_window(rounds in rounds()) {
        let state = judge(&rounds);
        let window = state.window.filter(|window| window.steady);
        prop_assert_eq!(state.reached, window.is_some());
        prop_assert_eq!(state.reached, state.round.is_some());
        if let Some(window) = window {
            prop_assert!(window.range_pct.unwrap() <= RANGE_PCT && window.slope_pct.unwrap() <= SLOPE_PCT);
        }
        if let Some(left) = departure(&rounds).unwrap() {
            prop_assert!(left.since > state.round.unwrap() && left.since <= left.round && left.round <= rounds.len());
        }
    }
}
