//! What makes single commands of a solid-state drive slow, and by how much.

use crate::common::ssd;
use crate::common::ssd::{Bench, INTERVAL, MS, PAGE, PAGES, READ, READ_OVERHEAD, SplitMix, US, WIRE, WRITE_OVERHEAD};
use hotband_machine::{Drive, Op};

/// A read of one page from flash, alone.
const FROM_FLASH: u64 = READ_OVERHEAD + READ + 2 * WIRE;

/// Latencies of so many reads, one at a time, of pages that are on flash.
fn reads(set: &str, count: u64) -> Vec<u64> {
    let mut bench = Bench::filled(set);
    let mut random = SplitMix(1);
    let mut one = |_| {
        let from = bench.now;
        bench.done.clear();
        let read = bench.read(from, random.below(PAGES - 200));
        bench.end_of(read) - from
    };
    (0..count).map(&mut one).collect()
}

#[test]
fn pages_of_a_cell_take_times_of_their_own_around_the_mean() {
    // Passes of three pages of 16 KiB: fast, middle, slow.
    let found = reads("program_pass = \"48 KiB\"\npage_time_spread = \"20 %\"", 30_000);
    let of = |time: u64| found.iter().filter(|found| **found == time).count();
    let (fast, middle, slow) = (of(FROM_FLASH - 10 * US), of(FROM_FLASH), of(FROM_FLASH + 10 * US));
    assert_eq!(fast + middle + slow, found.len());
    for kind in [fast, middle, slow] {
        assert!(kind.abs_diff(10_000) < 500, "{fast}, {middle}, {slow}: a third each");
    }
}

#[test]
fn a_read_that_is_retried_keeps_its_die_for_a_sense_more() {
    let set =
        "retry_share = \"50 %\"\nretry_again = \"0 %\"\nretry_growth = 1\nretry_steps = 3\nsoft_decode_time = \"1 ms\"";
    let found = reads(set, 10_000);
    let again = found.iter().filter(|time| **time == FROM_FLASH + READ).count();
    assert_eq!(found.iter().filter(|time| **time == FROM_FLASH).count() + again, found.len());
    assert!(again.abs_diff(5_000) < 200, "{again}: half of them");
    let mut bench = Bench::filled(set);
    let (first, second) = (bench.read(0, 0), bench.read(0, 1));
    let (first, second) = (bench.end_of(first), bench.end_of(second));
    let senses = (first - FROM_FLASH) / READ + 2;
    assert!([senses, senses + 1].contains(&((second - READ_OVERHEAD - 2 * WIRE) / READ)), "{first}, {second}");
    assert_eq!(bench.count("retried_reads"), (second - READ_OVERHEAD - 2 * WIRE) / READ - 2);
}

#[test]
fn worn_flash_is_retried_more_often() {
    let set = |wear: &str| {
        format!(
            "retry_share = \"0.5 %\"\nretry_again = \"20 %\"\nretry_growth = 20\nretry_steps = 6\n\
             soft_decode_time = \"1 ms\"\n{wear}"
        )
    };
    let slow = |wear: &str| reads(&set(wear), 40_000).iter().filter(|time| **time > FROM_FLASH).count() as f64;
    let near = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 0.2, "{found} and {expected}");
    near(slow(""), 200.0);
    near(slow("prior_wear = \"100 %\""), 4_000.0);
    near(slow("data_age = \"90 d\""), 4_000.0);
    // Erases of the run count: a block that bears two has lived half its life after one.
    let mut bench = Bench::filled(&set("rated_cycles = 2\ncycle_spread = \"0 %\""));
    (0..2).for_each(|_| bench.fill(0..PAGES));
    let wear = bench.smart().erases_mean / 2.0;
    assert!(wear > 0.3, "{wear}");
    let mut slow = 0;
    for n in 0..20_000 {
        let from = bench.now + MS;
        bench.done.clear();
        let read = bench.read(from, n % (PAGES - 200));
        slow += u64::from(bench.end_of(read) > from + FROM_FLASH);
    }
    near(slow as f64, 100.0 * 20_f64.powf(wear));
}

#[test]
fn a_command_that_comes_while_the_controller_stalls_begins_at_its_end() {
    let found = reads("stall_time = \"1 ms\"\nstall_interval = \"20 ms\"", 50_000);
    let slow: Vec<u64> = found.iter().copied().filter(|time| *time > FROM_FLASH).collect();
    let longest = slow.iter().max().copied().unwrap_or_default();
    assert!((FROM_FLASH + 900 * US..FROM_FLASH + MS).contains(&longest), "{longest}");
    // One read at a time: each stall meets one, and they come every 21 ms.
    let expected = found.iter().sum::<u64>() as f64 / 21e6;
    assert!((slow.len() as f64 / expected - 1.0).abs() < 0.2, "{} where {expected} were expected", slow.len());
}

/// The longest of reads one at a time while pages are written all the time, and how often something was suspended.
fn longest_read_beside_writes(suspend: &str) -> (u64, u64) {
    // Less than the dies program, so that nothing waits for as long as reads may pass it.
    let mut bench = Bench::filled(&format!("suspend = \"{suspend}\"\npatience = \"1 s\""));
    let mut random = SplitMix(3);
    let mut longest = 0;
    for _ in 0..20_000 {
        let now = bench.now + 500 * US;
        bench.done.clear();
        bench.write(now, random.below(PAGES), 1);
        let read = bench.submit(now + 50 * US, Op::Read, random.below(PAGES) * PAGE, PAGE, false);
        longest = longest.max(bench.end_of(read) - now - 50 * US);
    }
    (longest, bench.count("suspends"))
}

#[test]
fn reads_meet_programs_and_erases_and_suspension_bounds_what_they_wait() {
    let (with, suspends) = longest_read_beside_writes("on");
    // One suspension, one relocation read that is under way, half a pass on the channel, the link.
    let bound = FROM_FLASH + 20 * US + READ + 16_384 + 2 * WIRE;
    assert!(suspends > 1_000 && with > FROM_FLASH + 20 * US && with <= bound, "{with} of at most {bound}, {suspends}");
    let (without, none) = longest_read_beside_writes("off");
    assert!(none == 0 && without > 4 * MS, "{without}: the rest of an erase of 5 ms");
}

#[test]
fn a_drive_of_another_name_has_slow_reads_at_other_times() {
    let slow = |seed, name| {
        let set = "scan_share = \"5 %\"";
        let mut bench = Bench::filled(set);
        let ssd = std::mem::replace(&mut bench.ssd, hotband_drives::Ssd::new(ssd::params(set)));
        bench.ssd = ssd.with_seed(seed, name);
        let mut one = |n: u64| {
            let read = bench.read(n * MS, 0);
            bench.end_of(read) - n * MS
        };
        (1..200).map(&mut one).collect::<Vec<u64>>()
    };
    assert_eq!(slow(1, "d0"), slow(1, "d0"));
    assert_ne!(slow(1, "d0"), slow(1, "d1"));
    assert_ne!(slow(1, "d0"), slow(2, "d0"));
    assert!(slow(1, "d0").iter().all(|time| (FROM_FLASH..FROM_FLASH + READ).contains(time)));
}

#[test]
fn what_is_in_memory_is_not_retried() {
    let mut bench = Bench::filled(
        "retry_share = \"50 %\"\nretry_again = \"50 %\"\nretry_growth = 1\nretry_steps = 9\nsoft_decode_time = \"1 ms\"",
    );
    bench.write(0, 5, 1);
    for n in 1..200 {
        let read = bench.read(n * MS, 5);
        bench.done_exactly_at(read, n * MS + READ_OVERHEAD + WIRE);
    }
    assert_eq!(bench.ssd.kind(), "ssd");
}

#[test]
fn a_full_buffer_admits_a_stripe_of_writes_at_once() {
    let mut bench = Bench::new("write_interval = \"10 us\"\nbuffer_release = \"45 us\"");
    let writes: Vec<u64> = (0..9).map(|page| bench.write(0, page, 1)).collect();
    for (number, write) in (0..).zip(writes) {
        // The fifth fills 45 us and takes 5 us of the next; each crosses the link after the last one.
        let arrived = INTERVAL + (number + 1) * WIRE;
        let stripe = if number < 5 { 0 } else { 45 * US };
        bench.done_exactly_at(write, arrived.max(stripe) + WRITE_OVERHEAD - INTERVAL);
    }
}

#[test]
fn reads_do_not_wait_for_room_in_the_buffer() {
    let mut bench = Bench::filled("write_interval = \"1 ms\"\nbuffer_release = \"2 ms\"\nlink_duplex = \"on\"");
    for page in 0..8 {
        bench.write(0, page, 1);
    }
    let read = bench.read(0, 100);
    assert!(bench.end_of(read) < MS, "{} is after the writes", bench.end_of(read));
}

#[test]
fn times_of_single_writes_are_spread_around_their_mean_by_seed_and_name() {
    let writes = |seed| {
        let mut bench = Bench::new("write_spread = \"40 %\"");
        let ssd = std::mem::replace(&mut bench.ssd, hotband_drives::Ssd::new(ssd::params("")));
        bench.ssd = ssd.with_seed(seed, "d0");
        let mut time = |n: u64| {
            let write = bench.write(n * MS, n % PAGES, 1);
            let latency = bench.end_of(write) - n * MS;
            assert_eq!(bench.done.last().map(|done| done.times.total().0), Some(latency), "its parts add up");
            latency
        };
        (1..5_000).map(&mut time).collect::<Vec<u64>>()
    };
    let found = writes(1);
    let mean = found.iter().sum::<u64>() as f64 / found.len() as f64;
    assert!((mean / (WIRE + WRITE_OVERHEAD) as f64 - 1.0).abs() < 0.02, "{mean}");
    assert!(found.iter().any(|time| *time < WIRE + WRITE_OVERHEAD / 2));
    assert_eq!(found, writes(1));
    assert_ne!(found, writes(2));
}
