//! A solid-state drive with round numbers, so that every expected time is worked out by hand.
//!
//! Four dies on two channels; a pass is one flash page of 16 KiB, four logical pages. A block has 8 passes on each
//! die, 128 pages. Wires take 1 ns a byte: 4 KiB cross a channel and the link in 4.096 us each. No parity, no
//! compression, no mapping tables on flash.
#![allow(dead_code, missing_docs, reason = "every test file uses a part of this bench")]

use std::fmt::Write as _;

use hotband_drives::{Product, Ssd, SsdParams};
use hotband_machine::{Command, Done, Drive, Entropy, Op, Smart, UntimedWrite};
use hotband_units::Instant;

const VALUES: [(&str, &str); 42] = [
    ("capacity", "\"64 MiB\""),
    ("scale", "1"),
    ("over_provisioning", "\"20 %\""),
    ("bad_block_reserve", "\"0 %\""),
    ("dies", "4"),
    ("channels", "2"),
    ("planes", "1"),
    ("flash_page", "\"16 KiB\""),
    ("block", "\"128 KiB\""),
    ("program_pass", "\"16 KiB\""),
    ("read_time", "\"50 us\""),
    ("program_time", "\"1 ms\""),
    ("erase_time", "\"5 ms\""),
    ("channel_rate", "\"1 GB/s\""),
    ("program_rate", "\"1 GB/s\""),
    ("suspend", "\"on\""),
    ("suspend_time", "\"20 us\""),
    ("patience", "\"10 ms\""),
    ("parity", "\"off\""),
    ("link_rate", "\"1 GB/s\""),
    ("link_duplex", "\"off\""),
    ("queue_tags", "32"),
    ("command_interval", "\"1 us\""),
    ("read_overhead", "\"10 us\""),
    ("write_overhead", "\"20 us\""),
    ("idle_delay", "\"100 ms\""),
    // 64 pages, the least there is.
    ("write_buffer", "\"256 KiB\""),
    ("plp", "\"on\""),
    ("mapping_overhead", "\"0 %\""),
    ("gc_victims", "\"greedy\""),
    ("gc_window", "16"),
    ("gc_separation", "\"relocated\""),
    ("gc_free_low", "3"),
    ("gc_free_high", "8"),
    ("wear_gap", "50"),
    ("rated_cycles", "3000"),
    ("cycle_spread", "\"10 %\""),
    ("compression", "\"off\""),
    ("compression_efficiency", "\"100 %\""),
    ("compression_granule", "\"1 B\""),
    ("compression_header", "\"0 B\""),
    ("decompression_time", "\"4 us\""),
];

pub const US: u64 = 1_000;
pub const MS: u64 = 1_000_000;
pub const PAGE: u64 = 4_096;
pub const PAGES: u64 = (64 << 20) / PAGE;
/// Pages of a pass, of a block and of the write buffer.
pub const PASS_PAGES: u64 = 4;
pub const BLOCK_PAGES: u64 = 128;
pub const BUFFER_PAGES: u64 = 64;
/// 4 KiB on the link or on a channel.
pub const WIRE: u64 = 4_096;
pub const INTERVAL: u64 = US;
pub const READ_OVERHEAD: u64 = 10 * US;
pub const WRITE_OVERHEAD: u64 = 20 * US;
pub const READ: u64 = 50 * US;
/// A pass crosses the channel and is programmed.
pub const PROGRAM: u64 = 16_384 + MS;

/// Values of the bench's drive, with those of `set` in their place.
pub fn params(set: &str) -> SsdParams {
    let mut values: toml::Table =
        VALUES.map(|(key, value)| format!("{key} = {value}")).join("\n").parse().expect("the table above is TOML");
    values.extend(set.parse::<toml::Table>().expect("tests set TOML"));
    let mut text = "kind = \"ssd\"\ntitle = \"t\"\nmodel = \"m\"\n".to_owned();
    for (key, value) in &values {
        write!(text, "[values.{key}]\nvalue = {value}\nsource = \"this test\"\nconfidence = \"high\"\n")
            .expect("a String takes any text");
    }
    let product = Product::read("bench", "bench.toml", &text).expect("the table above is a product");
    SsdParams::read(&product, &toml::Table::new(), "test", "set").expect("tests set accepted values")
}

/// A solid-state drive on a bench: commands by page, completions by token.
pub struct Bench {
    pub ssd: Ssd,
    pub now: u64,
    tokens: u64,
    submitted: Vec<u64>,
    pub done: Vec<Done>,
}

impl Bench {
    pub fn new(set: &str) -> Self {
        Self { ssd: Ssd::new(params(set)), now: 0, tokens: 0, submitted: vec![0], done: Vec::new() }
    }

    /// Every page written in order, without timing; the last 64 stay in the write buffer. Page p lies on pass
    /// p / 4 % 32 of block p / 128, which is on die (block + pass / 4 + pass) % 4.
    pub fn filled(set: &str) -> Self {
        let mut bench = Self::new(set);
        bench.fill(0..PAGES);
        bench
    }

    pub fn fill(&mut self, pages: impl Iterator<Item = u64>) {
        let writes: Vec<UntimedWrite> = pages.map(|page| untimed(page, 1, Entropy::INCOMPRESSIBLE)).collect();
        self.ssd.write_untimed(&writes);
    }

    /// Submits a command by bytes.
    pub fn submit(&mut self, now: u64, op: Op, offset: u64, len: u64, fua: bool) -> u64 {
        self.submit_data(now, op, offset, len, fua, Entropy::INCOMPRESSIBLE)
    }

    pub fn submit_data(&mut self, now: u64, op: Op, offset: u64, len: u64, fua: bool, entropy: Entropy) -> u64 {
        self.run_to(now);
        self.tokens += 1;
        let len = u32::try_from(len).expect("commands of tests are small");
        self.submitted.push(now);
        let (token, version) = (self.tokens, self.tokens);
        self.ssd.submit(Instant(now), Command { token, op, offset, len, fua, version, entropy });
        token
    }

    /// Reads a page.
    pub fn read(&mut self, now: u64, page: u64) -> u64 {
        self.submit(now, Op::Read, page * PAGE, PAGE, false)
    }

    /// Writes pages.
    pub fn write(&mut self, now: u64, page: u64, count: u64) -> u64 {
        self.submit(now, Op::Write, page * PAGE, count * PAGE, false)
    }

    pub fn flush(&mut self, now: u64) -> u64 {
        self.submit(now, Op::Flush, 0, 0, false)
    }

    pub fn run_to(&mut self, now: u64) {
        let known = self.done.len();
        while let Some(at) = self.ssd.wake().filter(|at| at.0 <= now) {
            self.ssd.advance(at, &mut self.done);
        }
        self.ssd.advance(Instant(now), &mut self.done);
        for done in &self.done[known..] {
            let latency = done.at.0 - self.submitted[done.token as usize];
            assert_eq!(done.times.total().0, latency, "parts of the latency add up: {done:?}");
        }
        assert!(now >= self.now, "a test goes forward in time");
        self.now = now;
    }

    pub fn is_done(&self, token: u64) -> bool {
        self.done.iter().any(|done| done.token == token)
    }

    pub fn done_of(&self, token: u64) -> &Done {
        self.done.iter().find(|done| done.token == token).expect("it is done")
    }

    /// The command is not done at `at` - 1 ns and is done at `at`.
    #[track_caller]
    pub fn done_exactly_at(&mut self, token: u64, at: u64) {
        if at > self.now {
            self.run_to(at - 1);
            let early = self.done.iter().find(|done| done.token == token);
            assert!(early.is_none(), "expected at {at} ns, was done earlier: {early:?}");
            self.run_to(at);
        }
        let done = self.done.iter().find(|done| done.token == token);
        let done = done.unwrap_or_else(|| panic!("not done at {at} ns; next wake: {:?}", self.ssd.wake()));
        assert_eq!((done.at, done.fault), (Instant(at), None));
    }

    /// When the command is done, however long that takes.
    pub fn end_of(&mut self, token: u64) -> u64 {
        while !self.is_done(token) {
            let at = self.ssd.wake().expect("a command that was submitted is done some time");
            self.run_to(at.0);
        }
        self.done_of(token).at.0
    }

    pub fn count(&self, name: &str) -> u64 {
        self.ssd.counters().into_iter().find(|(have, _)| *have == name).expect("a counter of the drive").1
    }

    pub fn level(&self, name: &str) -> u64 {
        self.ssd.levels().into_iter().find(|(have, _)| *have == name).expect("a level of the drive").1
    }

    pub fn smart(&self) -> Smart {
        self.ssd.smart().expect("a solid-state drive has SMART attributes")
    }
}

pub fn untimed(page: u64, count: u64, entropy: Entropy) -> UntimedWrite {
    UntimedWrite { offset: page * PAGE, len: (count * PAGE) as u32, entropy, trim: false }
}

pub fn untimed_trim(page: u64, count: u64) -> UntimedWrite {
    UntimedWrite { trim: true, ..untimed(page, count, Entropy::INCOMPRESSIBLE) }
}

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
pub struct SplitMix(pub u64);

impl SplitMix {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}
