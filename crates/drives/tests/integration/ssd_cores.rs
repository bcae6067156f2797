//! What do commands wait for in a controller with several cores?

use crate::common::ssd::{Bench, INTERVAL, MS, PAGES, READ_OVERHEAD, SplitMix, US, WIRE};
use hotband_machine::{Done, Op};

/// Pages that were never written: their reads need the controller and the link only.
const UNMAPPED: u64 = READ_OVERHEAD + WIRE;
/// A controller that decides how long reads take, on a link that does not.
const SLOW: &str =
    "command_interval = \"20 us\"\nread_overhead = \"20 us\"\nwrite_overhead = \"20 us\"\nlink_rate = \"20 GB/s\"";

/// Keeps `depth` reads of these pages outstanding until `count` have ended.
fn closed_loop(set: &str, depth: u64, count: usize, mut page: impl FnMut() -> u64) -> Vec<Done> {
    let mut bench = Bench::new(&format!("{SLOW}\n{set}"));
    for _ in 0..depth {
        bench.read(0, page());
    }
    let (mut seen, mut now) = (0, 0);
    while bench.done.len() < count {
        now += US / 2;
        bench.run_to(now);
        for _ in seen..bench.done.len() {
            bench.read(now, page());
        }
        seen = seen.max(bench.done.len());
    }
    std::mem::take(&mut bench.done)
}

/// Mean and 99th percentile of the latencies, in nanoseconds, of all but the first tenth.
fn mean_and_p99(done: &[Done]) -> (f64, f64) {
    let mut taken: Vec<u64> = done[done.len() / 10..].iter().map(|each| each.times.total().0).collect();
    taken.sort_unstable();
    (taken.iter().sum::<u64>() as f64 / taken.len() as f64, taken[taken.len() * 99 / 100] as f64)
}

#[test]
fn one_core_is_what_a_drive_has_that_does_not_say() {
    let times = |set: &str| -> Vec<u64> {
        let mut random = SplitMix(7);
        closed_loop(set, 16, 2_000, || random.next() % PAGES).iter().map(|each| each.at.0).collect()
    };
    assert_eq!(times(""), times("controller_cores = 1"));
    assert_ne!(times(""), times("controller_cores = 2"));
}

#[test]
fn commands_of_one_core_follow_one_another_and_others_do_not_wait() {
    let mut bench = Bench::new("controller_cores = 8");
    let same = [bench.read(0, 7), bench.read(0, 7)];
    bench.done_exactly_at(same[0], UNMAPPED);
    bench.done_exactly_at(same[1], 8 * INTERVAL + UNMAPPED);
    // Among eight pages both cores have some: a read of the other core does not wait for these.
    let mut bench = Bench::new("controller_cores = 2\nlink_rate = \"20 GB/s\"");
    let tokens: Vec<u64> = (0..8).map(|page| bench.read(0, page)).collect();
    bench.run_to(MS);
    let at = |token: &u64| bench.done_of(*token).at.0;
    let first = tokens.iter().filter(|token| at(token) < READ_OVERHEAD + INTERVAL).count();
    assert_eq!(first, 2, "one of each core");
}

#[test]
fn random_reads_reach_nearly_the_same_rate_with_longer_tails() {
    let run = |cores: &str| {
        let mut random = SplitMix(3);
        closed_loop(&format!("controller_cores = {cores}"), 32, 40_000, || random.next() % PAGES)
    };
    let (one, four) = (run("1"), run("4"));
    let rate = |done: &[Done]| done.len() as f64 / done.last().expect("reads ended").at.0 as f64;
    let share = rate(&four) / rate(&one);
    // A separate simulation of four queues with constant service, one of which each of 32 commands chooses at random
    // whenever it returns: 0.954 of the rate, 99th percentile 2.87 times the mean.
    assert!((share - 0.954).abs() < 0.02, "{share}");
    let tail = |done: &[Done]| mean_and_p99(done).1 / mean_and_p99(done).0;
    assert!(tail(&one) < 1.05 && (tail(&four) - 2.87).abs() < 0.3, "{} {}", tail(&one), tail(&four));
}

#[test]
fn reads_in_order_use_all_cores_evenly() {
    let mut page = 0;
    let done = closed_loop("controller_cores = 4", 32, 20_000, || {
        page = (page + 1) % PAGES;
        page
    });
    let rate = done.len() as f64 / done.last().expect("reads ended").at.0 as f64;
    assert!(rate * 20e3 > 0.97, "{rate}");
}

#[test]
fn a_write_and_a_later_one_of_the_same_page_are_taken_in_order() {
    let mut bench = Bench::new("controller_cores = 4\nwrite_interval = \"3 us\"");
    let writes: Vec<u64> = (0..6).map(|_| bench.write(0, 5, 1)).collect();
    bench.submit(0, Op::Flush, 0, 0, false);
    bench.run_to(MS);
    let at: Vec<u64> = writes.iter().map(|token| bench.done_of(*token).at.0).collect();
    assert!(at.windows(2).all(|pair| pair[1] - pair[0] == 12 * US), "a core takes four times as long: {at:?}");
}
