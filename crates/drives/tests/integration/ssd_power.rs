//! What does a solid-state drive hold when power is lost? Checked against what hosts were promised, from outside.

use crate::common::ssd::{Bench, MS, PAGE, PAGES, PROGRAM, SplitMix, US};
use hotband_machine::{Done, Drive, Op, Versions};
use hotband_units::Instant;
use proptest::prelude::*;

const SECTOR: u64 = 512;

/// One command, `gap` after the one before; its version is its place in the schedule, from 1.
#[derive(Clone, Copy, Debug)]
struct Asked {
    gap: u64,
    op: Op,
    /// In sectors.
    first: u64,
    count: u64,
    fua: bool,
}

/// Sectors that schedules lie in: four times the write buffer.
const SECTORS: u64 = 256 * 8;

fn schedule() -> impl Strategy<Value = Vec<Asked>> {
    let op = prop_oneof![8 => Just(Op::Write), 1 => Just(Op::Read), 1 => Just(Op::Flush)];
    let gap = prop_oneof![3 => Just(0_u64), 3 => 0_u64..100_000, 1 => 0_u64..5_000_000, 1 => 0_u64..150_000_000];
    // Whole pages mostly, a few of them hot, and parts of pages.
    let place = prop_oneof![
        3 => (0_u64..8, 1_u64..4).prop_map(|(page, count)| (page * 8, count * 8)),
        3 => (0_u64..240, 1_u64..16).prop_map(|(page, count)| (page * 8, count * 8)),
        1 => (0_u64..SECTORS - 40, 1_u64..40),
    ];
    let asked = (gap, op, place, prop::bool::weighted(0.1)).prop_map(|(gap, op, (first, count), fua)| {
        let (first, count) = if op == Op::Flush { (0, 0) } else { (first, count) };
        Asked { gap, op, first, count, fua: fua && op == Op::Write }
    });
    prop::collection::vec(asked, 1..120)
}

/// A schedule played until power is cut: when each command was submitted, and what was answered before the cut.
struct Played {
    bench: Bench,
    submitted: Vec<u64>,
}

impl Played {
    fn new(set: &str, worn_in: bool, schedule: &[Asked], cut: u64) -> Self {
        let mut bench = Bench::new(set);
        if worn_in {
            bench.fill(0..PAGES);
            let mut random = SplitMix(9);
            bench.fill((0..PAGES).map(|_| random.below(PAGES)));
        }
        bench.ssd.keep_account();
        let (mut at, mut submitted) = (0, vec![0]);
        for asked in schedule {
            at += asked.gap;
            if at >= cut {
                break;
            }
            bench.submit(at, asked.op, asked.first * SECTOR, asked.count * SECTOR, asked.fua);
            submitted.push(at);
        }
        if cut == u64::MAX {
            while bench.done.len() + 1 < submitted.len() {
                let at = bench.ssd.wake().expect("a command that was submitted is done some time").0;
                bench.run_to(at);
            }
        } else {
            bench.run_to(cut - 1);
        }
        Self { bench, submitted }
    }

    /// Version of every sector after the cut.
    fn cut(&mut self, cut: u64) -> Vec<u64> {
        let left = self.bench.ssd.cut_power(Instant(cut));
        let mut sectors = Vec::new();
        for (range, version) in left.all(0..SECTORS * SECTOR) {
            assert!(range.start % SECTOR == 0 && range.end % SECTOR == 0, "a torn sector: {range:?}");
            sectors.extend(range.step_by(SECTOR as usize).map(|_| version));
        }
        sectors
    }

    fn answered(&self, version: u64) -> Option<u64> {
        self.bench.done.iter().find(|done: &&Done| done.token == version).map(|done| done.at.0)
    }

    /// Whether `version` is kept where `held` is: itself, a later one, or one that was under way together with it.
    fn stands(&self, version: u64, held: u64) -> bool {
        let before = |other| self.answered(other).is_some_and(|at| at <= self.submitted[version as usize]);
        held >= version || held > 0 && !before(held)
    }
}

/// Writes whose loss would break a promise: all that were answered, if the buffer is protected, else forced ones and
/// those answered before a flush that was itself answered.
fn promised(played: &Played, schedule: &[Asked], protected: bool) -> Vec<u64> {
    let answered = (1_u64..).zip(schedule).filter_map(|(v, asked)| played.answered(v).map(|at| (v, asked, at)));
    let flushes = answered.clone().filter(|(_, asked, _)| asked.op == Op::Flush);
    let flushed = flushes.map(|(v, ..)| played.submitted[v as usize]).max();
    let writes = answered.filter(|(_, asked, _)| asked.op == Op::Write);
    let kept = writes.filter(|(_, asked, at)| protected || asked.fua || flushed.is_some_and(|flush| *at <= flush));
    kept.map(|(version, ..)| version).collect()
}

const CASES: [&str; 7] = [
    "",
    "wce = \"on\"\nflush = \"write-out\"\njournal_time = \"0.7 ms\"\njournal_entries = 7",
    // Not protected, but on flash before it is acknowledged.
    "plp = \"off\"\nwce = \"off\"\njournal_time = \"0.7 ms\"\njournal_entries = 7",
    "plp = \"off\"",
    "plp = \"off\"\ncompression = \"on\"\ngc_separation = \"hot-cold\"",
    "plp = \"off\"\nsuspend = \"off\"\nqueue_tags = 3\nidle_delay = \"1 ms\"",
    "plp = \"off\"\nparity = \"on\"\nmapping_overhead = \"3 %\"\ngc_separation = \"none\"\nprogram_time = \"0.2 ms\"",
];

const VOLATILE: &str = CASES[3];

proptest! {
    #[test]
    fn what_was_promised_is_kept_and_nothing_goes_back(
        set in 0..CASES.len(), worn_in in any::<bool>(), schedule in schedule(),
        (which, late) in (any::<prop::sample::Index>(), prop_oneof![Just(0_u64), Just(1), 0_u64..3_000_000, 0_u64..300_000_000]),
        later in 1_u64..5_000_000,
    ) {
        let protected = set < 3;
        let whole = Played::new(CASES[set], worn_in, &schedule, u64::MAX);
        let ends: Vec<u64> = whole.bench.done.iter().map(|done| done.at.0).collect();
        let cut = (*which.get(&ends) + late).max(1);
        let mut played = Played::new(CASES[set], worn_in, &schedule, cut);
        let left = played.cut(cut);
        for version in promised(&played, &schedule, protected) {
            let Asked { first, count, .. } = schedule[version as usize - 1];
            for sector in first..first + count {
                let held = left[sector as usize];
                prop_assert!(played.stands(version, held), "write {} is gone: sector {} has {}", version, sector, held);
            }
        }
        // What is held was written there, and had been submitted.
        for (sector, held) in (0_u64..).zip(&left).filter(|(_, held)| **held > 0) {
            let asked = schedule[*held as usize - 1];
            prop_assert!(asked.op == Op::Write && (asked.first..asked.first + asked.count).contains(&sector));
            prop_assert!((*held as usize) < played.submitted.len());
        }
        // Later, no sector holds something older.
        let mut then = Played::new(CASES[set], worn_in, &schedule, cut + later);
        for (sector, (now, then_held)) in left.iter().zip(then.cut(cut + later)).enumerate() {
            prop_assert!(*now == 0 || then.stands(*now, then_held), "sector {sector} went from {now} to {then_held}");
        }
    }

    #[test]
    fn left_alone_a_volatile_buffer_is_empty_but_for_an_open_pass(schedule in schedule()) {
        let whole = Played::new(VOLATILE, true, &schedule, u64::MAX);
        let cut = whole.bench.now + 2_000 * MS;
        let mut played = Played::new(VOLATILE, true, &schedule, cut);
        let left = played.cut(cut);
        let mut lost = std::collections::BTreeSet::new();
        for version in promised(&played, &schedule, true) {
            let Asked { first, count, .. } = schedule[version as usize - 1];
            lost.extend((first..first + count).filter(|s| !played.stands(version, left[*s as usize])).map(|s| s / 8));
        }
        prop_assert!(lost.len() < 4, "pages {lost:?} were never programmed");
    }
}

fn held(left: &Versions, page: u64) -> u64 {
    left.all(page * PAGE..page * PAGE + PAGE)[0].1
}

fn bench(set: &str) -> Bench {
    let mut bench = Bench::new(set);
    bench.ssd.keep_account();
    bench
}

#[test]
fn a_protected_buffer_keeps_what_it_acknowledged_and_a_volatile_one_loses_it() {
    for (set, kept) in [("", true), ("plp = \"off\"", false)] {
        let mut bench = bench(set);
        let write = bench.write(0, 7, 1);
        let at = bench.end_of(write);
        assert_eq!(held(&bench.ssd.cut_power(Instant(at + 1)), 7) == write, kept, "{set}");
    }
}

#[test]
fn data_is_durable_from_the_nanosecond_in_which_its_pass_is_programmed() {
    // Taken in after interval and link, drained at once.
    let programmed = US + PAGE + PROGRAM;
    for (cut, kept) in [(programmed - 1, false), (programmed, true)] {
        let mut bench = bench("plp = \"off\"");
        let write = bench.submit(0, Op::Write, 0, PAGE, true);
        bench.run_to(cut - 1);
        assert!(!bench.is_done(write), "it is not promised before");
        assert_eq!(held(&bench.ssd.cut_power(Instant(cut)), 0) == write, kept, "cut at {cut}");
    }
}

#[test]
fn an_overwrite_in_a_volatile_buffer_leaves_what_was_flushed() {
    let mut bench = bench("plp = \"off\"");
    let first = bench.write(0, 7, 1);
    let flush = bench.flush(100 * US);
    let flushed = bench.end_of(flush);
    let second = bench.write(flushed, 7, 1);
    let at = bench.end_of(second);
    assert_eq!(held(&bench.ssd.cut_power(Instant(at + MS)), 7), first, "not the second, and not nothing");
}

#[test]
fn a_drive_that_keeps_no_account_knows_nothing() {
    let mut bench = Bench::new("");
    let write = bench.write(0, 7, 1);
    bench.end_of(write);
    assert_eq!(bench.ssd.cut_power(Instant(10 * MS)), Versions::default());
}
