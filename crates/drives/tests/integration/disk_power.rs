//! What does a disk hold when power is lost, sector by sector? Checked against a second reading of the same history:
//! the media writes seen from outside a disk that keeps no account.

use crate::common::{BLOCK, Bench, CACHE_OVERHEAD, MS, PORT, REVOLUTION, SECTOR_TIME, US, at_cylinder};
use hotband_drives::Writing;
use hotband_machine::{Command, Done, Drive, Entropy, Op, Versions};
use hotband_units::Instant;
use proptest::prelude::*;

/// One command of a schedule, at an absolute time; its version is its place in the schedule, from 1.
#[derive(Clone, Copy, Debug)]
struct Asked {
    at: u64,
    op: Op,
    first: u64,
    count: u64,
    fua: bool,
}

/// One call of the disk as seen from outside.
#[derive(Clone, Debug)]
struct Call {
    at: u64,
    /// Writes taken into the cache by now.
    taken_in: u64,
    ended: bool,
    began: Option<Writing>,
}

/// A disk that is driven through a schedule up to, and not at, a time.
struct Driven {
    bench: Bench,
    calls: Vec<Call>,
    done: Vec<Done>,
    before: Option<Writing>,
}

impl Driven {
    fn new(set: &str, schedule: &[Asked], until: u64, account: bool) -> Self {
        let mut driven = Self { bench: Bench::new(set), calls: Vec::new(), done: Vec::new(), before: None };
        if account {
            driven.bench.disk.keep_account();
        }
        for (index, asked) in schedule.iter().enumerate().take_while(|(_, asked)| asked.at < until) {
            driven.advance(asked.at + 1);
            let (version, op, fua) = (index as u64 + 1, asked.op, asked.fua);
            let (offset, len) = (asked.first * 512, asked.count as u32 * 512);
            driven.bench.disk.submit(
                Instant(asked.at),
                Command { token: version, op, offset, len, fua, version, entropy: Entropy::INCOMPRESSIBLE },
            );
            driven.look(asked.at);
        }
        driven.advance(until);
        driven
    }

    /// Advances to every wake-up before `until`.
    fn advance(&mut self, until: u64) {
        while let Some(at) = self.bench.disk.wake().filter(|at| at.0 < until) {
            self.bench.disk.advance(at, &mut self.done);
            self.look(at.0);
        }
    }

    fn look(&mut self, at: u64) {
        let after = self.bench.disk.writing();
        let ended = self.before.is_some_and(|writing| writing.ends.0 <= at);
        let began = after.filter(|_| self.before.is_none() || ended);
        self.calls.push(Call { at, taken_in: self.bench.count("cached_writes"), ended, began });
        self.before = after;
    }
}

/// Sectors that schedules lie in: two tracks' ends and beginnings, over three cylinders' edges.
const SECTORS: usize = 4_200;

/// When a stream of this bench's disk from sector 0 has passed `sector`: from the numbers of its data sheet.
fn passed(sector: u64) -> u64 {
    let (cylinder, within) = (sector / 2_000, sector % 2_000);
    cylinder * 14 * MS + within / 1_000 * (6 * MS + 500 * US) + (within % 1_000 + 1) * SECTOR_TIME
}

/// The history of a schedule, every sector with the version it holds.
struct Oracle {
    media: Vec<u64>,
    cache: Vec<u64>,
    /// What is under way, with the versions of its sectors.
    flight: Option<(Writing, Vec<u64>)>,
}

impl Oracle {
    /// Before `cut`, of a whole run.
    fn at(cut: u64, whole: &Driven, schedule: &[Asked]) -> Self {
        let mut oracle = Self { media: vec![0; SECTORS], cache: vec![0; SECTORS], flight: None };
        let cached: Vec<(usize, &Asked)> =
            schedule.iter().enumerate().filter(|(n, a)| a.op == Op::Write && is_cached(whole, *n)).collect();
        let mut taken_in = 0;
        for call in whole.calls.iter().take_while(|call| call.at < cut) {
            if call.ended {
                oracle.land();
            }
            for (index, asked) in &cached[taken_in..call.taken_in as usize] {
                oracle.cache[asked.first as usize..][..asked.count as usize].fill(*index as u64 + 1);
            }
            taken_in = call.taken_in as usize;
            if let Some(writing) = call.began {
                let range = writing.first as usize..writing.end as usize;
                let versions = if writing.cached {
                    let sent = oracle.cache[range.clone()].to_vec();
                    oracle.cache[range].fill(0);
                    sent
                } else {
                    vec![version_of(&writing, whole, schedule); range.len()]
                };
                oracle.flight = Some((writing, versions));
            }
        }
        oracle
    }

    fn land(&mut self) {
        let (writing, versions) = self.flight.take().expect("what ends has begun");
        let range = writing.first as usize..writing.end as usize;
        self.media[range.clone()].copy_from_slice(&versions);
        if !writing.cached {
            self.cache[range].fill(0);
        }
    }

    /// What the drive holds after a cut: the media, physical sectors of `physical` sectors being written whole, and
    /// the whole cache where it `survives`.
    fn left(mut self, cut: u64, physical: u64, survives: bool) -> Vec<u64> {
        let Some((writing, versions)) = self.flight.take() else { return self.with_cache(survives) };
        for sector in writing.first..writing.end {
            let last = ((sector / physical + 1) * physical).min(writing.end) - 1;
            let to_come = passed(writing.end - 1) - passed(last);
            if writing.ends.0 - to_come <= cut || (survives && writing.cached) {
                self.media[sector as usize] = versions[(sector - writing.first) as usize];
            }
        }
        self.with_cache(survives)
    }

    fn with_cache(self, survives: bool) -> Vec<u64> {
        let cached = self.cache.into_iter().zip(self.media);
        cached.map(|(cache, media)| if survives && cache > 0 { cache } else { media }).collect()
    }
}

/// Whether a write was answered from memory: no time went to the media.
fn is_cached(whole: &Driven, index: usize) -> bool {
    let done = whole.done.iter().find(|done| done.token == index as u64 + 1);
    done.expect("every command of a whole run is answered").times.transfer.0 == 0
}

/// The values of a write cache of each kind.
fn values_of(cache: &str, extents: u64) -> String {
    let of = match cache {
        "volatile" => "wce = \"on\"",
        "protected" => "wce = \"off\"\nawc = \"on\"",
        _ => "wce = \"off\"",
    };
    let protected = "awc_size = \"64 KiB\"\nawc_bypass = \"4 KiB\"\nawc_drain = \"50 %\"";
    let awc = if cache == "protected" { format!("awc_extents = {extents}\n{protected}\n") } else { String::new() };
    format!("{of}\n{awc}write_cache_extents = {extents}\nwrite_cache_size = \"64 KiB\"\n")
}

/// The write past the cache that ends when `writing` does.
fn version_of(writing: &Writing, whole: &Driven, schedule: &[Asked]) -> u64 {
    let is_it = |done: &&Done| {
        let asked = &schedule[done.token as usize - 1];
        let range = (asked.first, asked.first + asked.count);
        done.at == writing.ends && asked.op == Op::Write && range == (writing.first, writing.end)
    };
    whole.done.iter().find(is_it).expect("a direct write is answered when it ends").token
}

fn sectors(left: &Versions) -> Vec<u64> {
    let mut sectors = Vec::new();
    for (range, version) in left.all(0..SECTORS as u64 * 512) {
        assert!(range.start % 512 == 0 && range.end % 512 == 0, "a torn sector: {range:?}");
        sectors.extend(range.step_by(512).map(|_| version));
    }
    sectors
}

/// Whether write `version` of `sector` is held where `held` is: itself, a later one, or one that was under way
/// together with it.
fn stands(schedule: &[Asked], done: &[Done], version: u64, held: u64) -> bool {
    let submitted = schedule[version as usize - 1].at;
    let before = |other: u64| done.iter().any(|d| d.token == other && d.at.0 <= submitted);
    held >= version || (held > 0 && !before(held))
}

/// Checks what must never be lost: every write answered before `cut`, if `all`, else those answered before a flush
/// that was itself answered.
fn assert_kept(schedule: &[Asked], done: &[Done], cut: u64, all: bool, left: &[u64]) -> Result<(), TestCaseError> {
    let answered = |version: u64| done.iter().find(|d| d.token == version && d.at.0 < cut).map(|d| d.at.0);
    let flushes = schedule.iter().zip(1_u64..).filter(|(asked, v)| asked.op == Op::Flush && answered(*v).is_some());
    let flushed = flushes.map(|(asked, _)| asked.at).max();
    for (asked, version) in schedule.iter().zip(1_u64..).filter(|(asked, _)| asked.op == Op::Write) {
        let Some(at) = answered(version) else { continue };
        if all || asked.fua || flushed.is_some_and(|flush| at <= flush) {
            for sector in asked.first..asked.first + asked.count {
                let held = left[sector as usize];
                prop_assert!(stands(schedule, done, version, held), "write {version}: sector {sector} has {held}");
            }
        }
    }
    Ok(())
}

fn schedule(grain: u64) -> impl Strategy<Value = Vec<Asked>> {
    let op = prop_oneof![6 => Just(Op::Write), 1 => Just(Op::Read), 1 => Just(Op::Flush)];
    let gap = prop_oneof![3 => Just(0_u64), 3 => 0_u64..100_000, 2 => 0_u64..8_000_000, 1 => 0_u64..60_000_000];
    let place = prop_oneof![4 => 960_u64..1_030, 1 => 1_980_u64..2_010, 1 => 0_u64..40, 1 => 0_u64..4_000];
    let asked = (gap, op, place, prop_oneof![4 => 1_u64..24, 1 => 1_u64..150], prop::bool::weighted(0.25));
    prop::collection::vec(asked, 1..40).prop_map(move |all| {
        let mut at = 0;
        let each = all.into_iter().map(|(gap, op, first, count, fua)| {
            at += gap;
            let (first, count) = (first / grain * grain, count.div_ceil(grain) * grain);
            let count = if op == Op::Flush { 0 } else { count };
            Asked { at, op, first: if count == 0 { 0 } else { first }, count, fua: fua && op == Op::Write }
        });
        each.collect()
    })
}

/// Cut times: about the end of a media write, or anywhere within the run.
fn cuts() -> impl Strategy<Value = Vec<(prop::sample::Index, u64)>> {
    let early = prop_oneof![Just(0_u64), Just(1), Just(5_999), Just(6_000), Just(6_001), 0_u64..10_000_000];
    prop::collection::vec((any::<prop::sample::Index>(), early), 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn the_account_is_the_history_seen_from_outside(
        (format, schedule) in (0_usize..3).prop_flat_map(|f| schedule(if f == 2 { 8 } else { 1 }).prop_map(move |s| (f, s))),
        cache in prop_oneof![1 => Just("off"), 3 => Just("volatile"), 2 => Just("protected")],
        (extents, tags) in (1_u64..6, prop_oneof![Just(2_u64), Just(64)]),
        cuts in cuts(),
    ) {
        let set = format!(
            "{}sector_format = \"{}\"\nqueue_tags = {tags}\n",
            values_of(cache, extents),
            ["512n", "512e", "4Kn"][format]
        );
        let physical = if format == 0 { 1 } else { 8 };
        let whole = Driven::new(&set, &schedule, u64::MAX, false);
        prop_assert_eq!(whole.done.len(), schedule.len());
        let ends: Vec<u64> = whole.calls.iter().filter_map(|call| call.began.map(|w| w.ends.0)).collect();
        for (which, early) in cuts {
            let about = if ends.is_empty() { 1 } else { *which.get(&ends) };
            let cut = about.saturating_sub(early).max(1);
            let mut driven = Driven::new(&set, &schedule, cut, true);
            let left = sectors(&driven.bench.disk.cut_power(Instant(cut)));
            let oracle = || Oracle::at(cut, &whole, &schedule);
            let survives = cache == "protected";
            prop_assert_eq!(&left, &oracle().left(cut, physical, survives), "cut at {}", cut);
            // Physical sectors hold what they held before or what was being written, never some of each.
            let (before, after) = (oracle().with_cache(survives), oracle().left(u64::MAX, physical, survives));
            for n in (0..SECTORS).step_by(physical as usize) {
                let of = n..n + physical as usize;
                prop_assert!(left[of.clone()] == before[of.clone()] || left[of.clone()] == after[of], "torn at {n}");
            }
            assert_kept(&schedule, &whole.done, cut, cache != "volatile", &left)?;
        }
    }
}

fn bench(set: &str) -> Bench {
    let mut bench = Bench::new(set);
    bench.disk.keep_account();
    bench
}

/// Sectors that hold `version` when power is lost at `cut`.
fn holding(bench: &mut Bench, cut: u64, version: u64) -> u64 {
    while let Some(at) = bench.disk.wake().filter(|at| at.0 < cut) {
        bench.run_to(at.0);
    }
    let left = bench.disk.cut_power(Instant(cut));
    left.iter().filter(|(_, held)| *held == version).map(|(range, _)| (range.end - range.start) / 512).sum()
}

/// When the first and last sector of the block at the beginning of cylinder 1 pass after time 0.
const LANDED: u64 = 2 * MS + 8 * SECTOR_TIME;

#[test]
fn a_sector_counts_from_the_nanosecond_in_which_it_has_passed_the_head() {
    let cases = [("512n", LANDED - 1, 7), ("512n", LANDED, 8), ("512n", LANDED - 7 * SECTOR_TIME - 1, 0)];
    let whole = [("512e", LANDED - 1, 0), ("512e", LANDED, 8), ("4Kn", LANDED - 1, 0), ("4Kn", LANDED, 8)];
    for cache in ["off", "volatile"] {
        for (format, cut, wanted) in cases.into_iter().chain(whole) {
            let mut bench = bench(&format!("{}sector_format = \"{format}\"", values_of(cache, 64)));
            let write = bench.write(0, at_cylinder(1, 0));
            assert_eq!(holding(&mut bench, cut, write), wanted, "cache {cache}, {format}, cut at {cut}");
        }
    }
}

#[test]
fn a_misaligned_write_lands_in_its_second_pass_whole_sector_by_whole_sector() {
    // Sectors 4 to 20 are parts of three physical sectors: 4..8, 8..16, 16..20.
    let first_pass = 2 * MS + 20 * SECTOR_TIME;
    let second = |sector: u64| REVOLUTION + 2 * MS + sector * SECTOR_TIME;
    let cases = [
        (first_pass, 0),
        (second(8) - 1, 0),
        (second(8), 4),
        (second(16) - 1, 4),
        (second(16), 12),
        (second(20) - 1, 12),
        (second(20), 16),
    ];
    for (cut, wanted) in cases {
        let mut bench = bench("sector_format = \"512e\"");
        let write = bench.submit(0, Op::Write, at_cylinder(1, 4), 2 * BLOCK, false);
        assert_eq!(holding(&mut bench, cut, write), wanted, "cut at {cut}");
    }
}

#[test]
fn a_volatile_cache_loses_what_it_acknowledged_and_had_no_time_to_write() {
    let mut bench = bench(&values_of("volatile", 64));
    let landed = bench.write(0, at_cylinder(1, 0));
    let waits = bench.write(US, at_cylinder(1, 40));
    let again = bench.write(2 * US, at_cylinder(1, 0));
    bench.done_exactly_at(again, CACHE_OVERHEAD + 3 * PORT);
    let left = bench.disk.cut_power(Instant(LANDED));
    let held: Vec<u64> = left.iter().map(|(_, version)| version).collect();
    assert_eq!(held, [landed], "write {waits} and the second version of the first block are lost");
}

#[test]
fn a_protected_cache_loses_nothing_that_it_acknowledged() {
    let mut bench = bench(&values_of("protected", 64));
    let writes: Vec<u64> = (0..5).map(|n| bench.write(n, at_cylinder(20 + 7 * n, 0))).collect();
    bench.run_to(MS);
    assert_eq!((bench.done.len(), bench.count("destages")), (5, 1), "all acknowledged, none on the media");
    let left = bench.disk.cut_power(Instant(MS));
    let mut held: Vec<u64> = left.iter().map(|(_, version)| version).collect();
    held.sort_unstable();
    assert_eq!(held, writes);
}

#[test]
fn a_drive_that_keeps_no_account_knows_nothing() {
    let mut bench = Bench::new("");
    let write = bench.write(0, at_cylinder(1, 0));
    bench.end_of(write);
    assert_eq!(bench.disk.cut_power(Instant(10 * MS)), Versions::default());
}
