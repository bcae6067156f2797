//! Do uneven arrivals come as they are asked for, do streams follow one another in runs, and do near jumps stay near?

use crate::common::refused::workload_is_refused;
use crate::common::{execute, request};
use hotband_engine::{LOG_COLUMNS, Request};

const DRIVE: &str = "ent-15k";

/// Time of issue, stream, offset and length of each I/O, in order of issue.
fn asked(name: &str, text: &str) -> Vec<[u64; 4]> {
    let log = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("arrivals-{name}.log"));
    execute(Request { io_log: Some(log.clone()), ..request(DRIVE, text, &[]) });
    let bytes = std::fs::read(&log).expect("the log was written");
    std::fs::remove_file(&log).expect("nobody else knows it");
    let number = |row: &[u8], column: &str| {
        let at = 8 * LOG_COLUMNS.iter().position(|name| *name == column).expect("a column of the log");
        u64::from_le_bytes(row[at..at + 8].try_into().expect("eight bytes"))
    };
    let rows = bytes.chunks_exact(8 * LOG_COLUMNS.len());
    let mut all: Vec<([u64; 4], u64)> = rows
        .map(|row| {
            let of = ["submit_ns", "stream", "offset_bytes", "size_bytes"].map(|column| number(row, column));
            (of, number(row, "number"))
        })
        .collect();
    all.sort_unstable_by_key(|(of, number)| (of[0], *number));
    all.into_iter().map(|(of, _)| of).collect()
}

fn two(keys: &str, ios: u32) -> String {
    format!(
        "[load]\n{keys}\n\
         [[streams]]\nname = \"a\"\nshare_pct = 75\nread_pct = 100\nrandom_pct = 25\nrandom_mode = \"coin\"\n\
         size = \"4 KiB\"\nrange = [\"0 %\", \"50 %\"]\n\
         [[streams]]\nname = \"b\"\nshare_pct = 25\nread_pct = 100\nrandom_pct = 100\nsize = \"4 KiB\"\n\
         range = [\"50 %\", \"100 %\"]\n\
         [[phases]]\nios = {ios}\nmeasure = true\n"
    )
}

#[test]
fn rates_say_how_many_come_when() {
    let load = "arrivals = { gaps = { \"10 ms\" = 1 }, every = \"10 s\", rates = [1.5, 0, 0.5] }";
    let stream = "[[streams]]\nname = \"s\"\nread_pct = 100\nrandom_pct = 0\nsize = \"4 KiB\"\n";
    let text = format!("[load]\n{load}\n{stream}[[phases]]\nduration = \"300 s\"\nmeasure = true\n");
    let ios = asked("rates", &text);
    let mut counts = [0_u32; 3];
    for io in &ios {
        counts[(io[0] / 10_000_000_000 % 3) as usize] += 1;
    }
    // Ten pieces of each: 15,000, none and 5,000 I/Os, five standard errors 610 and 350.
    assert!(counts[0].abs_diff(15_000) < 610 && counts[1] == 0 && counts[2].abs_diff(5_000) < 350, "{counts:?}");
}

#[test]
fn a_gap_of_nothing_is_the_same_nanosecond() {
    let load = "arrivals = { gaps = { \"0 s\" = 3, \"20 ms\" = 1 } }";
    let ios = asked("batches", &two(load, 8_000));
    let same = ios.windows(2).filter(|pair| pair[0][0] == pair[1][0]).count();
    assert!(same.abs_diff(6_000) < 200, "{same}");
}

#[test]
fn streams_follow_one_another_in_whole_runs_and_keep_their_shares() {
    for load in ["closed = { threads = 1, depth = 1 }", "open = { rate_iops = 100, arrival = \"fixed\" }"] {
        let ios = asked("runs", &two(&format!("{load}\nin_a_row = 1"), 20_000));
        let of_a = ios.iter().filter(|io| io[1] == 0).count();
        assert!(of_a.abs_diff(15_000) < 400, "{load}: {of_a}");
        let goes_on = |pair: &[[u64; 4]]| pair[0][2] + pair[0][3] == pair[1][2];
        // Three of four I/Os of `a` continue: none of them is cut off from the one it continues.
        let continuing = ios.windows(2).filter(|pair| goes_on(pair)).count();
        assert!(continuing.abs_diff(of_a * 3 / 4) < 300, "{load}: {continuing} of {of_a}");
    }
}

#[test]
fn more_runs_in_a_row_change_less_often() {
    let changes = |runs: &str| {
        let ios = asked("changes", &two(&format!("closed = {{ threads = 1, depth = 1 }}\nin_a_row = {runs}"), 20_000));
        ios.windows(2).filter(|pair| pair[0][1] != pair[1][1]).count()
    };
    let (one, eight) = (changes("1"), changes("8"));
    assert!((one as f64 / eight as f64 - 8.0).abs() < 0.8, "{one} {eight}");
}

#[test]
fn near_jumps_are_a_share_and_stay_within() {
    let keys = "name = \"s\"\nread_pct = 100\nrandom_pct = 100\nsize = \"4 KiB\"\n\
                offsets = { zipf = { exponent = 0.5 }, near = { ios = \"40 %\", within = \"1 MiB\" } }\n";
    let load = "[load]\nclosed = { threads = 1, depth = 1 }\n";
    let ios = asked("near", &format!("{load}[[streams]]\n{keys}[[phases]]\nios = 10000\nmeasure = true\n"));
    let far = |pair: &[[u64; 4]]| pair[1][2].abs_diff(pair[0][2] + pair[0][3]);
    let near = ios.windows(2).filter(|pair| far(pair) <= (1 << 20) + 4096).count();
    assert!(near.abs_diff(4_000) < 250, "{near}");
    let octave = |low: u64| ios.windows(2).filter(|pair| (low..2 * low).contains(&far(pair))).count();
    let (small, large) = (octave(32 << 10), octave(256 << 10));
    assert!(small.abs_diff(large) < 150, "as many in each octave: {small} {large}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let stream = "[[streams]]\nname = \"s\"\nread_pct = 100\nrandom_pct = 100\nsize = \"4 KiB\"\n";
    let load = |load: &str| format!("[load]\n{load}\n{stream}[[phases]]\nios = 1\nmeasure = true\n");
    let cases = [
        ("arrivals = { every = \"1 s\", rates = [1] }", ["load.arrivals.gaps", "missing"]),
        ("arrivals = { gaps = {} }", ["load.arrivals.gaps", "20 ms"]),
        ("arrivals = { gaps = { \"1\" = 1 } }", ["load.arrivals.gaps", "20 ms"]),
        ("arrivals = { gaps = { \"1 ms\" = 0 } }", ["load.arrivals.gaps", "a weight above zero"]),
        ("arrivals = { gaps = { \"0 s\" = 1 } }", ["load.arrivals.gaps", "at least 1 ns"]),
        ("arrivals = { gaps = { \"1 ms\" = 1 }, rates = [1] }", ["load.arrivals.every", "missing"]),
        ("arrivals = { gaps = { \"1 ms\" = 1 }, every = \"1 s\" }", ["load.arrivals.rates", "missing"]),
        ("arrivals = { gaps = { \"1 ms\" = 1 }, every = \"1 us\", rates = [1] }", ["load.arrivals.every", "1 ms"]),
        ("arrivals = { gaps = { \"1 ms\" = 1 }, every = \"1 s\", rates = [0] }", ["load.arrivals.rates", "not all 0"]),
        ("arrivals = { gaps = { \"1 ms\" = 1 }, every = \"1 s\", rates = [-1] }", ["load.arrivals.rates", "0"]),
        ("arrivals = { gaps = { \"1 ms\" = 1 }, in_a_row = 2 }", ["load.arrivals.in_a_row", "unknown key"]),
        ("closed = { threads = 1 }\nin_a_row = 0.5", ["load.in_a_row", "1"]),
        ("closed = { threads = 1 }\nin_row = 2", ["load.in_row", "unknown key"]),
    ];
    for (keys, words) in cases {
        workload_is_refused(&load(keys), &words);
    }
    let offsets =
        |near: &str| load("closed = { threads = 1 }").replace("size =", &format!("offsets = {{ {near} }}\nsize ="));
    let cases = [
        ("near = { within = \"1 MiB\" }", ["offsets.near.ios", "share"]),
        ("near = { ios = \"120 %\", within = \"1 MiB\" }", ["offsets.near.ios", "100 %"]),
        ("near = { ios = \"10 %\", within = \"1 B\" }", ["offsets.near.within", "512 B"]),
        ("near = { ios = \"10 %\", within = \"1 MiB\" }, stride = \"1 MiB\"", ["offsets.near", "zipf"]),
    ];
    for (near, words) in cases {
        workload_is_refused(&offsets(near), &words);
    }
}
