//! What of reads that follow one another is in memory before it is asked for, and when?

use crate::common::ssd::{Bench, PAGE, PAGES, READ, READ_OVERHEAD, SplitMix, US, WIRE};
use hotband_machine::{Drive, Op};

const AHEAD: &str = "read_ahead = \"64 KiB\"\nread_ahead_streams = 2\nread_ahead_overhead = \"2 us\"\n";
const OVERHEAD: u64 = 2 * US;
/// A pass crosses the channel.
const PASS_WIRE: u64 = 16_384;

#[test]
fn the_fourth_read_in_a_row_waits_for_what_the_third_had_read_and_a_later_one_for_nothing() {
    let mut bench = Bench::filled(AHEAD);
    let first = bench.read(0, 0);
    bench.done_exactly_at(first, READ_OVERHEAD + READ + 2 * WIRE);
    let second = bench.read(500 * US, 1);
    bench.done_exactly_at(second, 500 * US + READ_OVERHEAD + READ + 2 * WIRE);
    // The third asks die 0 for its page; page 3, the rest of the pass, comes after it.
    let begun = 1_000 * US;
    let third = bench.read(begun, 2);
    let fourth = bench.read(begun + 20 * US, 3);
    bench.done_exactly_at(third, begun + READ_OVERHEAD + READ + 2 * WIRE);
    let ahead = begun + READ_OVERHEAD + 2 * READ + WIRE;
    bench.done_exactly_at(fourth, ahead + WIRE);
    let times = bench.done_of(fourth).times;
    let asked = begun + 20 * US + OVERHEAD;
    assert_eq!((times.overhead.0, times.flash.0, times.link.0), (OVERHEAD, ahead - asked, WIRE));
    // Two pages in a row since the second read, so two are read ahead: pages 4 and 5, and with them the pass.
    for page in 4..8 {
        let at = begun + (page - 3) * 1_000 * US;
        let read = bench.read(at, page);
        bench.done_exactly_at(read, at + OVERHEAD + WIRE);
    }
    assert_eq!(bench.count("read_ahead_hits"), 5, "pages 3 to 7");
    // Six in a row: pages 8 to 13, and with them the pass; each pass was sensed once.
    assert_eq!(bench.count("read_ahead_bytes"), (1 + 4 + 8) * PAGE);
    assert_eq!(bench.count("flash_page_reads"), 3 + 1 + 3);
}

#[test]
fn a_read_of_several_passes_waits_for_all_of_them() {
    let mut bench = Bench::filled(AHEAD);
    for (n, (page, count)) in [(0, 4), (4, 4), (8, 8)].into_iter().enumerate() {
        bench.submit(n as u64 * 1_000 * US, Op::Read, page * PAGE, count * PAGE, false);
    }
    // The third is of passes 2 and 3, and passes 4 and 5 are read ahead: five is on the die of two, block 0's being
    // shifted by one every four passes, and four on that of three.
    let third = 2_000 * US;
    let fourth = bench.submit(third + 20 * US, Op::Read, 16 * PAGE, 8 * PAGE, false);
    let end = bench.end_of(fourth);
    let both = third + READ_OVERHEAD + 2 * READ + PASS_WIRE;
    assert!((both + 2 * PASS_WIRE..both + 4 * PASS_WIRE).contains(&end), "{end} is not soon after {both}");
    assert_eq!(bench.count("read_ahead_hits"), 8);
}

#[test]
fn reads_in_no_order_are_served_as_without_it() {
    let story = |set: &str| {
        let mut bench = Bench::filled(set);
        let mut draw = SplitMix(3);
        for n in 0..500 {
            // Never the page behind one of the last reads.
            bench.read(n * 30 * US, draw.below(PAGES / 2) * 2);
        }
        bench.run_to(100_000 * US);
        bench.done.iter().map(|done| (done.token, done.at)).collect::<Vec<_>>()
    };
    assert_eq!(story(AHEAD), story(""));
    for off in ["0 B", "off"] {
        let set = format!("read_ahead = \"{off}\"\nread_ahead_streams = 2\nread_ahead_overhead = \"2 us\"");
        assert_eq!(story(AHEAD), story(&set));
    }
}

#[test]
fn every_command_of_streams_that_come_and_go_among_writes_is_answered_once() {
    for (streams, more) in [
        (1, ""),
        (2, "planes = 2\nprogram_pass = \"32 KiB\"\nplane_reads = \"independent\""),
        (3, "compression = \"on\""),
        (2, "map_memory = \"4 KiB\"\nmap_page = \"4 KiB\"\nhmb_size = \"0 B\"\nhmb_latency = \"1 us\""),
    ] {
        let set = format!("{AHEAD}{more}").replace("streams = 2", &format!("streams = {streams}"));
        let mut bench = Bench::filled(&set);
        let mut draw = SplitMix(11);
        let mut next = [0_u64; 4];
        let mut asked = Vec::new();
        for n in 0..4_000 {
            let stream = draw.below(4) as usize;
            let len = (1 + draw.below(3 * 8)) * 512;
            if draw.below(60) == 0 || next[stream] + len > PAGES * PAGE {
                next[stream] = draw.below(PAGES - 64) * PAGE + draw.below(8) * 512;
            }
            let at = n * 12 * US;
            asked.push(match draw.below(20) {
                0 => bench.write(at, draw.below(PAGES - 4), 2),
                1 => bench.submit(at, Op::Trim, draw.below(PAGES - 4) * PAGE, 4 * PAGE, false),
                _ => bench.submit(at, Op::Read, next[stream], len, false),
            });
            next[stream] += len;
        }
        bench.run_to(1_000_000 * US);
        let mut answered: Vec<u64> = bench.done.iter().map(|done| done.token).collect();
        answered.sort_unstable();
        assert_eq!(answered, asked, "{set}");
        assert!(bench.count("read_ahead_hits") > 50, "{set}: {}", bench.count("read_ahead_hits"));
        assert!(bench.ssd.waiting() == Some(0));
    }
}

#[test]
fn streams_of_the_last_pages_end_with_the_drive() {
    let mut bench = Bench::filled(AHEAD);
    for (n, page) in (PAGES - 20..PAGES).enumerate() {
        bench.read(n as u64 * 500 * US, page);
    }
    bench.run_to(50_000 * US);
    assert_eq!(bench.done.len(), 20);
    assert!(bench.count("read_ahead_bytes") <= 18 * PAGE);
}
