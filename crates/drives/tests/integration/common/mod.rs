//! A disk with round numbers, so that every expected time is worked out by hand.
//!
//! A revolution is 6 ms, a track has 1,000 sectors (6 us each), a cylinder two tracks; a stream takes 6.5 ms to the
//! next track and 14 ms to the next cylinder. Sector `s` of cylinder `c` on track 0 therefore begins when the platter
//! stands at `14 ms x c + 6 us x s`, modulo 6 ms. A head moves to the next cylinder in 1 ms to read and 1.2 ms to
//! write.
#![allow(dead_code, missing_docs, reason = "every test file uses a part of this bench")]

pub mod ssd;
use std::fmt::Write as _;

use hotband_drives::{Disk, DiskParams, Product};
use hotband_machine::{Command, Done, Drive, Entropy, Op, SpecError};
use hotband_units::Instant;

const VALUES: [(&str, &str); 28] = [
    ("capacity", "\"1024000000 B\""),
    ("rpm", "\"10000 rpm\""),
    ("heads", "2"),
    ("zones", "1"),
    // 2,000 sectors of 512 bytes in 14 ms.
    ("sustained_outer", "\"73142857 B/s\""),
    ("sustained_inner", "\"73142857 B/s\""),
    ("head_skew", "\"0.5 ms\""),
    ("track_skew", "\"1.5 ms\""),
    ("seek_read_track", "\"1 ms\""),
    ("seek_read_average", "\"4.5 ms\""),
    ("seek_read_full", "\"8 ms\""),
    ("seek_write_track", "\"1.2 ms\""),
    ("seek_write_average", "\"4.7 ms\""),
    ("seek_write_full", "\"8.2 ms\""),
    ("sector_format", "\"512n\""),
    ("port_rate", "\"1 GB/s\""),
    ("queue_tags", "64"),
    ("queue_order", "\"positioning\""),
    ("age_bound", "\"10 s\""),
    ("command_overhead", "\"0.1 ms\""),
    ("cache_overhead", "\"0.02 ms\""),
    ("cache_size", "\"8 MiB\""),
    ("cache_segments", "8"),
    ("rcd", "\"off\""),
    ("look_ahead", "\"1 MiB\""),
    ("wce", "\"off\""),
    ("write_cache_extents", "64"),
    ("write_cache_size", "\"4 MiB\""),
];

pub const US: u64 = 1_000;
pub const MS: u64 = 1_000_000;
pub const REVOLUTION: u64 = 6 * MS;
pub const SECTOR_TIME: u64 = 6 * US;
pub const CYLINDER: u64 = 2_000;
pub const OVERHEAD: u64 = 100 * US;
pub const CACHE_OVERHEAD: u64 = 20 * US;
/// 4 KiB at 1 GB/s.
pub const PORT: u64 = 4_096;
pub const BLOCK: u32 = 8;

/// The bench's disk with the values of `set`; an error for values that no disk has.
pub fn read_params(set: &str) -> Result<DiskParams, SpecError> {
    // What a test sets replaces the value in the product, or adds one: caches that the bench does not have.
    let mut values: toml::Table =
        VALUES.map(|(key, value)| format!("{key} = {value}")).join("\n").parse().expect("the table above is TOML");
    values.extend(set.parse::<toml::Table>().expect("tests set TOML"));
    let mut text = "kind = \"disk\"\ntitle = \"t\"\nmodel = \"m\"\n".to_owned();
    for (key, value) in &values {
        write!(text, "[values.{key}]\nvalue = {value}\nsource = \"this test\"\nconfidence = \"high\"\n")
            .expect("a String takes any text");
    }
    let product = Product::read("bench", "bench.toml", &text).expect("the table above is a product");
    DiskParams::read(&product, &toml::Table::new(), "test", "set")
}

/// A disk on a bench: commands by sector, completions by token.
pub struct Bench<D = Disk> {
    pub disk: D,
    pub now: u64,
    tokens: u64,
    pub done: Vec<Done>,
}

impl Bench {
    pub fn new(set: &str) -> Self {
        Self::of(Disk::new(read_params(set).expect("tests set accepted values")))
    }
}

impl<D: Drive> Bench<D> {
    pub fn of(disk: D) -> Self {
        Self { disk, now: 0, tokens: 0, done: Vec::new() }
    }

    pub fn submit(&mut self, now: u64, op: Op, sector: u64, count: u32, fua: bool) -> u64 {
        self.run_to(now);
        self.tokens += 1;
        let command = Command {
            token: self.tokens,
            op,
            offset: sector * 512,
            len: count * 512,
            fua,
            version: self.tokens,
            entropy: Entropy::INCOMPRESSIBLE,
        };
        self.disk.submit(Instant(now), command);
        self.tokens
    }

    pub fn read(&mut self, now: u64, sector: u64) -> u64 {
        self.submit(now, Op::Read, sector, BLOCK, false)
    }

    pub fn write(&mut self, now: u64, sector: u64) -> u64 {
        self.submit(now, Op::Write, sector, BLOCK, false)
    }

    pub fn flush(&mut self, now: u64) -> u64 {
        self.flush_at(now, 0)
    }

    /// A flush of the logical unit that `sector` lies in.
    pub fn flush_at(&mut self, now: u64, sector: u64) -> u64 {
        self.submit(now, Op::Flush, sector, 0, false)
    }

    pub fn run_to(&mut self, now: u64) {
        while let Some(at) = self.disk.wake().filter(|at| at.0 <= now) {
            self.disk.advance(at, &mut self.done);
        }
        self.disk.advance(Instant(now), &mut self.done);
        assert!(now >= self.now, "a test goes forward in time");
        self.now = now;
    }

    pub fn is_done(&self, token: u64) -> bool {
        self.done.iter().any(|done| done.token == token)
    }

    /// The command is not done at `at` - 1 ns and is done at `at`.
    #[track_caller]
    pub fn done_exactly_at(&mut self, token: u64, at: u64) {
        self.run_to(at - 1);
        let early = self.done.iter().find(|done| done.token == token);
        assert!(early.is_none(), "expected at {at} ns, was done earlier: {early:?}");
        self.run_to(at);
        let done = self.done.iter().find(|done| done.token == token);
        let done = done.unwrap_or_else(|| panic!("not done at {at} ns; next wake: {:?}", self.disk.wake()));
        assert_eq!((done.at, done.fault), (Instant(at), None));
    }

    /// When the command is done, however long that takes.
    pub fn end_of(&mut self, token: u64) -> u64 {
        while !self.is_done(token) {
            let at = self.disk.wake().expect("a command that was submitted is done some time");
            self.run_to(at.0);
        }
        self.done.iter().find(|done| done.token == token).expect("it is done").at.0
    }

    pub fn count(&self, name: &str) -> u64 {
        self.disk_count(name).expect("a counter of the disk")
    }

    /// A counter that only some disks have.
    pub fn disk_count(&self, name: &str) -> Option<u64> {
        self.disk.counters().into_iter().find(|(have, _)| *have == name).map(|(_, count)| count)
    }
}

pub fn at_cylinder(cylinder: u64, sector: u64) -> u64 {
    cylinder * CYLINDER + sector
}
