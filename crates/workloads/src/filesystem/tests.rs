//! Properties of the file system as a whole, above a drive that takes random times and completes out of order.

mod durability;
mod invariants;
mod operations;
mod reading;

use std::collections::BTreeMap;

use hotband_machine::{Op, Section, SpecError, UntimedWrite, parse_toml};
use hotband_units::{Instant, Span};

use super::disk::{JOURNAL, METADATA};
use super::spec::BLOCK;
use super::{FileSystem, FileSystemSpec};
use crate::Random;
use crate::app::{App, AppIo, Ended};
use crate::data::Data;

const SECOND: u64 = 1_000_000_000;

/// A spec from keys of `[app]`.
fn read(keys: &str) -> Result<FileSystemSpec, SpecError> {
    let table = parse_toml("test.toml", keys)?;
    let section = Section::new("test.toml", "app", &table);
    FileSystemSpec::read(section)
}

const BUILD: &str = r#"
metrics = 2
ops_per_metric = 200
processes_per_metric = 2
mix = { stat = 30, read_file = 6, write_file = 20, access = 6, chmod = 5, unlink = 12, readdir = 2, create = 10, mkdir = 9 }
sets = 3
dirs = 4
files_per_dir = 20
file_size = "16 KiB"
file_spread = "50 %"
commit_pct = 33
cache_per_metric = "2 MiB"
"#;

const DESKTOP: &str = r#"
metrics = 2
ops_per_metric = 100
mix = { read = 6, rand_read = 20, write = 9, rand_write = 64, access = 1 }
sets = 5
file_size = "2 MB"
read_sizes = { "4 KiB" = 60, "64 KiB" = 40 }
write_sizes = { "4 KiB" = 60, "20000 B" = 40 }
align = "512 B"
cache_per_metric = "1 MiB"
"#;

/// The spec with some lines more, which replace lines of the same key.
fn with(base: &str, more: &str) -> FileSystemSpec {
    let key = |line: &str| line.split('=').next().unwrap_or_default().trim().to_owned();
    let new: Vec<String> = more.lines().map(key).collect();
    let lines: Vec<&str> = base.lines().filter(|line| line.is_empty() || !new.contains(&key(line))).collect();
    read(&format!("{}\n{more}", lines.join("\n"))).unwrap_or_else(|error| panic!("{error}"))
}

/// An I/O that the drive works on.
#[derive(Clone, Copy, Debug)]
struct Flying {
    io: AppIo,
    submitted: Instant,
}

/// A file system above a drive that takes random times.
struct Bench {
    app: FileSystem,
    random: Random,
    fastest: u64,
    slowest: u64,
    now: Instant,
    flying: BTreeMap<(Instant, u64), Flying>,
    count: u64,
    ended: Vec<Ended>,
    /// Commit records that have landed.
    records: u64,
    /// The transaction that changed a metadata block last.
    changed: BTreeMap<u32, u64>,
    /// I/Os submitted, with their times.
    trace: Vec<(Instant, AppIo)>,
}

impl Bench {
    fn new(spec: &FileSystemSpec, capacity: u64, seed: u64) -> Self {
        let app = FileSystem::new(spec, capacity, Data::INCOMPRESSIBLE, seed).unwrap_or_else(|error| panic!("{error}"));
        let mut bench = Self {
            app,
            random: Random::new(seed, "drive"),
            fastest: 50_000,
            slowest: 3_000_000,
            now: Instant(0),
            flying: BTreeMap::new(),
            count: 0,
            ended: Vec::new(),
            records: 0,
            changed: BTreeMap::new(),
            trace: Vec::new(),
        };
        bench.lay_out();
        bench.app.start(Instant(0));
        bench
    }

    fn lay_out(&mut self) -> Vec<(u16, UntimedWrite)> {
        let mut all = Vec::new();
        loop {
            let before = all.len();
            self.app.lay_out(37, &mut all);
            assert!(all.len() - before <= 37, "no more than asked for");
            if all.len() == before {
                return all;
            }
        }
    }

    fn taking(mut self, fastest: u64, slowest: u64) -> Self {
        (self.fastest, self.slowest) = (fastest, slowest);
        self
    }

    /// One event. False where the next lies beyond `until`.
    fn step(&mut self, until: Instant) -> bool {
        let drive = self.flying.keys().next().copied();
        let next = self.app.next_time();
        let now = next.into_iter().chain(drive.map(|(at, _)| at)).min().expect("it has a timer");
        if now > until {
            return false;
        }
        assert!(now >= self.now, "time goes on");
        self.now = now;
        if let Some(key) = drive.filter(|(at, _)| *at == now) {
            let flying = self.flying.remove(&key).expect("it was just seen");
            self.records += u64::from(flying.io.stream == JOURNAL && flying.io.request.fua);
            self.app.completed(now, flying.io.token);
            if !self.app.spec.barrier {
                // No record can be told from the rest of the log.
                self.records = self.app.journal.committed;
            }
        } else {
            self.app.advance(now);
        }
        while let Some(io) = self.app.next_io() {
            self.submit(io);
        }
        // After the I/Os of the same moment: what was sent before a block changed is as it was.
        for block in &self.app.journal.running.blocks {
            self.changed.insert(*block, self.app.journal.running.number);
        }
        self.app.take_ended(&mut self.ended);
        true
    }

    fn submit(&mut self, io: AppIo) {
        assert!(io.request.offset.is_multiple_of(u64::from(BLOCK)) && io.request.len.is_multiple_of(BLOCK));
        assert!(io.request.len <= self.app.spec.cache.max_io || io.request.op == Op::Trim);
        assert_eq!(io.request.len == 0, io.request.op == Op::Flush);
        assert!(
            io.request.offset + u64::from(io.request.len) <= u64::from(self.app.geometry.blocks()) * u64::from(BLOCK)
        );
        if io.stream == METADATA && io.request.op == Op::Write {
            for block in blocks(&io) {
                let last = self.changed.get(&block).copied().unwrap_or(0);
                assert!(last <= self.records, "block {block} goes in place before transaction {last} is durable");
            }
        }
        let time = self.fastest + self.random.below(self.slowest - self.fastest + 1);
        self.count += 1;
        self.flying.insert((self.now + Span(time), self.count), Flying { io, submitted: self.now });
        self.trace.push((self.now, io));
    }

    fn run(&mut self, seconds: f64) {
        while self.step(Instant((seconds * SECOND as f64) as u64)) {}
    }

    fn counter(&self, name: &str) -> u64 {
        let counters = self.app.counters();
        counters.iter().find(|(other, _)| *other == name).unwrap_or_else(|| panic!("no counter {name}")).1
    }
}

/// Blocks of an I/O.
fn blocks(io: &AppIo) -> std::ops::Range<u32> {
    let first = (io.request.offset / u64::from(BLOCK)) as u32;
    first..first + io.request.len / BLOCK
}
