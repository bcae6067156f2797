//! What do commands wait for in a controller with several cores?

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::common::ssd::{Bench, INTERVAL, MS, PAGE, PAGES, READ_OVERHEAD, SplitMix, US, WIRE};
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

/// Rate, and 99th percentile over mean, of a closed network: `depth` customers, each of which joins one of `queues` at
/// random whenever it returns; a queue serves one in `queues` units of time, in order of arrival.
fn closed_network(queues: u64, depth: u64) -> (f64, f64) {
    const SERVED: usize = 400_000;
    let mut random = SplitMix(11);
    let mut free = vec![0_u64; queues as usize];
    let mut returns: BinaryHeap<Reverse<u64>> = (0..depth).map(|_| Reverse(0)).collect();
    let mut took = Vec::with_capacity(SERVED);
    while took.len() < SERVED {
        let Reverse(now) = returns.pop().expect("all customers return");
        let queue = &mut free[random.below(queues) as usize];
        *queue = now.max(*queue) + queues;
        took.push(*queue - now);
        returns.push(Reverse(*queue));
    }
    let end = returns.pop().expect("all customers return").0;
    let taken = took.split_off(SERVED / 10);
    (SERVED as f64 / end as f64, tail(taken))
}

/// The 99th percentile over the mean.
fn tail(mut taken: Vec<u64>) -> f64 {
    taken.sort_unstable();
    let mean = taken.iter().sum::<u64>() as f64 / taken.len() as f64;
    taken[taken.len() * 99 / 100] as f64 / mean
}

fn rate(done: &[Done]) -> f64 {
    done.len() as f64 / done.last().expect("reads ended").at.0 as f64
}

#[test]
fn random_reads_queue_as_in_a_closed_network() {
    for cores in [1, 2, 4, 8] {
        let mut random = SplitMix(3);
        let done = closed_loop(&format!("controller_cores = {cores}"), 32, 40_000, || random.below(PAGES));
        let (served, long) = closed_network(cores, 32);
        let share = rate(&done) * 20e3;
        // Overhead and link, a twentieth of the mean, are no queues.
        assert!((share - served).abs() < 0.03, "{cores}: {share}, expected {served}");
        let ours = tail(done[done.len() / 10..].iter().map(|each| each.times.total().0).collect());
        assert!((ours / long - 1.0).abs() < 0.12, "{cores}: {ours}, expected {long}");
    }
}

#[test]
fn streams_are_read_ahead_as_with_one_core() {
    let run = |cores: u32| {
        let ahead = "read_ahead = \"256 KiB\"\nread_ahead_streams = 8\nread_ahead_overhead = \"2 us\"";
        let mut bench = Bench::filled(&format!("controller_cores = {cores}\nlink_rate = \"20 GB/s\"\n{ahead}"));
        let mut next = (0..PAGES / 2).collect::<Vec<u64>>().into_iter();
        for _ in 0..32 {
            bench.read(0, next.next().expect("pages are left"));
        }
        let (mut seen, mut now) = (0, 0);
        while seen < 6_000 {
            now += US / 2;
            bench.run_to(now);
            for _ in seen..bench.done.len() {
                bench.read(now, next.next().expect("pages are left"));
            }
            seen = bench.done.len();
        }
        (bench.count("read_ahead_hits"), bench.count("flash_page_reads"), bench.done[5_999].at.0)
    };
    let (one, four) = (run(1), run(4));
    assert!(one.0 > 5_000, "{one:?}");
    let near = |a: u64, b: u64| a.abs_diff(b) * 100 <= a;
    assert!(near(one.0, four.0) && near(one.1, four.1) && near(one.2, four.2), "{one:?}, {four:?}");
}

#[test]
fn no_stride_falls_on_one_core() {
    for stride in [1, 2, 3, 8, 13, 21, 34, 64, 128, 144, 233, 288, 610, 1_597, 4_181] {
        let mut page = 0;
        let done = closed_loop("controller_cores = 4\ncapacity = \"1 GiB\"", 32, 4_000, || {
            page = (page + stride) % (1 << 18);
            page
        });
        // As many commands as this cannot all go to one or two of four.
        let share = rate(&done) * 20e3;
        assert!(share > 0.75, "{stride}: {share}");
    }
}

#[test]
fn every_command_ends_once_and_always_at_the_same_time() {
    let run = || {
        let set = "controller_cores = 4\nqueue_tags = 8\nwce = \"on\"\nplp = \"off\"\nflush = \"write-out\"";
        let mut bench = Bench::filled(set);
        let mut random = SplitMix(5);
        let mut now = 0;
        for n in 0..3_000 {
            now += random.below(30) * US;
            let page = random.below(PAGES);
            match random.below(10) {
                0..=3 => bench.read(now, page),
                4..=6 => bench.write(now, page, 1 + random.below(4).min(PAGES - page - 1)),
                7 => bench.submit(now, Op::Trim, page * PAGE, PAGE, false),
                8 => bench.submit(now, Op::Flush, 0, 0, false),
                _ => bench.submit(now, Op::Read, (PAGES + n) * PAGE, PAGE, false),
            };
        }
        bench.run_to(now + 10_000 * MS);
        bench.done.iter().map(|done| (done.token, done.at.0, done.fault.is_some())).collect::<Vec<_>>()
    };
    let done = run();
    assert_eq!(done, run());
    let mut tokens: Vec<u64> = done.iter().map(|(token, ..)| *token).collect();
    tokens.sort_unstable();
    assert_eq!(tokens, (1..=3_000).collect::<Vec<u64>>());
    assert!(done.iter().filter(|(.., fault)| *fault).count() > 200, "reads beyond the end are refused");
}

#[test]
fn a_flush_goes_to_a_core_that_is_free() {
    let mut bench = Bench::new("controller_cores = 2\nwce = \"on\"\nplp = \"off\"\ncommand_interval = \"10 us\"");
    let reads: Vec<u64> = (0..12).map(|_| bench.read(0, 0)).collect();
    let flush = bench.submit(0, Op::Flush, 0, 0, false);
    bench.run_to(MS);
    let (last, flushed) = (bench.done_of(reads[11]).at.0, bench.done_of(flush).at.0);
    assert!(flushed < last, "{flushed} and {last}: eleven reads wait for the core of page 0");
}

#[test]
fn a_write_and_a_later_one_of_the_same_page_are_taken_in_order() {
    let mut bench = Bench::new("controller_cores = 4\nwrite_interval = \"3 us\"");
    let writes: Vec<u64> = (0..6).map(|_| bench.write(0, 5, 1)).collect();
    bench.run_to(MS);
    let at: Vec<u64> = writes.iter().map(|token| bench.done_of(*token).at.0).collect();
    assert!(at.windows(2).all(|pair| pair[1] - pair[0] == 12 * US), "a core takes four times as long: {at:?}");
}
