//! Does a drive that looks up where reads lie later, and several at once, do what it does when each is looked up at once?

use crate::common::ssd::{Bench, PAGE, PAGES, SplitMix};
use hotband_machine::{Drive, Op};

/// Commands under way.
const DEPTH: usize = 24;
/// Time in the controller long enough that the next thing to happen mostly comes before a read has its place.
const SLOW: &str = "read_ahead = \"64 KiB\"\nread_ahead_streams = 2\nread_ahead_overhead = \"150 us\"\n\
                    read_overhead = \"200 us\"\npage_time_spread = \"20 %\"\nretry_share = \"10 %\"\nretry_again = \"30 %\"\n\
                    retry_growth = 10\nretry_steps = 3\nsoft_decode_time = \"500 us\"\nscan_share = \"1 %\"\n";

/// Reads of a page, some of several or cut, and now and then something that changes the map.
fn command(draw: &mut SplitMix) -> (Op, u64, u64) {
    let page = draw.below(PAGES - 4);
    match draw.below(400) {
        0..=3 => (Op::Write, page * PAGE, PAGE),
        4 => (Op::Write, page * PAGE + 512, 1024),
        5 => (Op::Trim, page * PAGE, 4 * PAGE),
        6 => (Op::Flush, 0, 0),
        7..=20 => (Op::Read, page * PAGE + 512, 2 * PAGE),
        21..=40 => (Op::Read, page * PAGE + 512, 1024),
        _ => (Op::Read, page * PAGE, PAGE),
    }
}

/// Every completion, and what is counted and when something happens next after every command. Writes that take no time
/// make a drive look up everything before them: here none is written.
fn story(set: &str, at_once: bool) -> Vec<String> {
    let mut bench = Bench::new(&format!("{SLOW}{set}"));
    bench.fill((0..PAGES).filter(|page| page % 50 != 0));
    let (mut draw, mut told) = (SplitMix(5), Vec::new());
    for n in 0..6_000 {
        if n >= DEPTH {
            let known = bench.done.len();
            while bench.done.len() == known {
                let at = bench.ssd.wake().expect("commands are under way");
                bench.run_to(at.0);
            }
        }
        // Some go on with a stream, which is read ahead.
        let in_a_row = (Op::Read, n as u64 / 5 * PAGE, PAGE);
        let (op, offset, len) = if n % 5 == 0 { in_a_row } else { command(&mut draw) };
        bench.submit(bench.now, op, offset, len, false);
        if at_once {
            bench.ssd.write_untimed(&[]);
        }
        told.push(format!("{:?} {:?} {:?}", bench.ssd.wake(), bench.ssd.counters(), bench.done.last()));
    }
    told
}

#[test]
fn nobody_can_tell_when_reads_are_looked_up() {
    for set in ["", "suspend = \"off\"", "planes = 2\nprogram_pass = \"32 KiB\"\nplane_reads = \"independent\""] {
        let (later, at_once) = (story(set, false), story(set, true));
        for (number, (later, at_once)) in later.iter().zip(&at_once).enumerate() {
            assert_eq!(later, at_once, "{set}: after command {number}");
        }
    }
}
