//! Does the engine keep its promises under any load: extents, cache, journal, and the times of completions?

use std::collections::{BTreeMap, BTreeSet};

use hotband_machine::Section;
use hotband_units::Span;
use proptest::prelude::*;

use super::cache::{NONE, flag};
use super::shape::GRAIN;
use super::*;

/// A device of a fixed latency, and what was requested of it.
struct Rig {
    engine: BTree,
    random: Random,
    now: Instant,
    under_way: BinaryHeap<Reverse<(Instant, u64, u32)>>,
    requests: Vec<(Instant, AppIo)>,
    ended: Vec<Ended>,
    /// Extents of all pages when the running checkpoint settled, and when the last complete one had.
    settled: BTreeSet<(usize, u32)>,
    complete: BTreeSet<(usize, u32)>,
    seen: (u32, u64),
}

fn spec(keys: &str) -> BTreeSpec {
    let table: toml::Table = format!("kind = \"btree\"\n{keys}").parse().expect("the test writes TOML");
    let section = Section::new("test.toml", "app", &table);
    section.text("kind").expect("it is a text");
    BTreeSpec::read(section).unwrap_or_else(|error| panic!("{error}"))
}

const VOLUME: AppVolume = AppVolume { target: 0, capacity: 64 << 30, block: 512 };

impl Rig {
    fn new(keys: &str) -> Self {
        let spec = spec(keys);
        let data = spec.data.as_ref().map_or(Data::INCOMPRESSIBLE, |data| Data::new(data, Random::new(1, "data")));
        let shape = Shape::new(&spec, &[VOLUME, VOLUME]).unwrap_or_else(|error| panic!("{error}"));
        let mut rig = Self {
            engine: BTree::new(spec, shape, data, 1),
            random: Random::new(1, "device"),
            now: Instant::ZERO,
            under_way: BinaryHeap::new(),
            requests: Vec::new(),
            ended: Vec::new(),
            settled: BTreeSet::new(),
            complete: BTreeSet::new(),
            seen: (0, 0),
        };
        rig.complete = rig.extents();
        rig.engine.start(rig.now);
        rig.take();
        rig
    }

    fn extents(&self) -> BTreeSet<(usize, u32)> {
        let engine = &self.engine;
        let pages = engine.pages.iter().enumerate().map(|(page, entry)| (engine.shape.file(page as u32), entry.slot));
        let internals = engine.internals.iter().map(|entry| (INTERNAL, entry.slot));
        pages.chain(internals).filter(|(_, slot)| *slot != NONE).collect()
    }

    /// Submits what the engine requests: reads and writes take from 50 us to 150 us, a flush 300 us.
    fn take(&mut self) {
        while let Some(io) = self.engine.next_io() {
            let latency = if io.request.op == Op::Flush { 300_000 } else { 50_000 + self.random.below(100_000) };
            self.under_way.push(Reverse((self.now + Span(latency), self.requests.len() as u64, io.token)));
            self.requests.push((self.now, io));
        }
        self.engine.take_ended(&mut self.ended);
        self.watch();
    }

    /// Keeps up with what checkpoints refer to.
    fn watch(&mut self) {
        let now = (self.engine.checkpoint.settled, self.engine.counts.checkpoints);
        if now.0 > self.seen.0 {
            self.settled = self.extents().into_iter().filter(|(file, _)| *file != INTERNAL).collect();
        }
        if now.1 > self.seen.1 {
            // Internal pages change only in a checkpoint: those it leaves are its own.
            let internals = self.extents().into_iter().filter(|(file, _)| *file == INTERNAL);
            self.complete = self.settled.iter().copied().chain(internals).collect();
        }
        self.seen = now;
    }

    /// One event; its time.
    fn step(&mut self) -> Instant {
        let io = self.under_way.peek().map(|Reverse((at, _, _))| *at);
        let next = self.engine.next_time();
        match (io, next) {
            (Some(at), next) if next.is_none_or(|next| at <= next) => {
                let Reverse((at, _, token)) = self.under_way.pop().expect("it was there");
                self.now = at;
                self.engine.completed(at, token);
            }
            (_, Some(at)) => {
                self.now = at;
                self.engine.advance(at);
            }
            _ => panic!("the engine stands still"),
        }
        self.take();
        self.now
    }

    fn run(&mut self, seconds: f64) {
        let end = Instant::ZERO + Span::from_secs_f64(seconds);
        while self.step() < end {}
    }

    fn count(&self, name: &str) -> u64 {
        self.engine.counters().into_iter().find(|(have, _)| *have == name).expect("a counter").1
    }

    fn ios(&self, stream: u16, op: Op) -> impl Iterator<Item = &(Instant, AppIo)> {
        self.requests.iter().filter(move |(_, io)| io.stream == stream && io.request.op == op)
    }

    /// Every extent of every file is in exactly one state: free, holding one page, being written, kept, or trimmed.
    fn check_extents(&self) {
        let engine = &self.engine;
        let mut owners: [BTreeMap<u32, &str>; 3] = Default::default();
        let mut claim = |file: usize, slot: u32, what: &'static str| {
            let before = owners[file].insert(slot, what);
            assert_eq!(before, None, "extent {slot} of file {file} is {what} too");
        };
        self.extents().into_iter().for_each(|(file, slot)| claim(file, slot, "current"));
        let pages = engine.pages.iter().filter(|page| page.slot != NONE).count();
        let internals = engine.internals.iter().filter(|page| page.slot != NONE).count();
        assert_eq!(self.extents().len(), pages + internals, "two pages on one extent");
        for transfer in engine.transfers.iter().filter(|transfer| transfer.left > 0) {
            match transfer.what {
                What::Write { slot, place, .. } => {
                    claim(engine.shape.file(engine.cache.slots[slot as usize].page), place, "being written");
                }
                What::Internal { place, .. } => claim(INTERNAL, place, "being written"),
                What::Trim { file, slot, count } => {
                    (slot..slot + count).for_each(|slot| claim(usize::from(file), slot, "being trimmed"));
                }
                _ => {}
            }
        }
        for &(file, slot, count) in engine.trims() {
            (slot..slot + count).for_each(|slot| claim(usize::from(file), slot, "to be trimmed"));
        }
        for (file, extents) in engine.files.iter().enumerate() {
            extents.kept().for_each(|slot| claim(file, slot, "kept"));
            let free = (0..engine.shape.areas[file].slots as u32).filter(|slot| extents.is_free(*slot));
            free.for_each(|slot| claim(file, slot, "free"));
            assert!(extents.count >= engine.dirty_pages[file], "a dirty page has an extent to go to");
        }
        for (owners, area) in owners.iter().zip(&engine.shape.areas) {
            assert_eq!(owners.len() as u64, area.slots, "an extent is lost");
        }
    }

    fn check_cache(&self) {
        let engine = &self.engine;
        let under_way = |wanted: fn(What) -> bool| {
            engine.transfers.iter().filter(|transfer| transfer.left > 0 && wanted(transfer.what)).count() as u32
        };
        assert_eq!(engine.evicting, under_way(|what| matches!(what, What::Write { evicts: true, .. })));
        assert!(engine.evicting <= engine.spec.eviction_threads + engine.spec.clients, "{}", engine.evicting);
        let written = under_way(|what| matches!(what, What::Write { .. } | What::Internal { .. }));
        assert!(written <= engine.spec.eviction_threads + engine.spec.clients + engine.spec.write_depth, "{written}");
        let cache = &engine.cache;
        let (mut used, mut dirty, mut writing, mut waiting) = (0, 0, 0, [0; 3]);
        for (index, slot) in cache.slots.iter().enumerate().filter(|(_, slot)| slot.flags & flag::USED != 0) {
            let bytes = engine.shape.bytes(slot.page);
            used += bytes;
            dirty += if slot.flags & (flag::DIRTY | flag::WRITING) == 0 { 0 } else { bytes };
            writing += if slot.flags & flag::WRITING == 0 { 0 } else { bytes };
            waiting[engine.shape.file(slot.page)] += u64::from(slot.flags & flag::DIRTY != 0);
            assert_eq!(engine.pages[slot.page as usize].cached, index as u32, "page and place know each other");
        }
        let cached = engine.pages.iter().filter(|page| page.cached != NONE).count();
        assert_eq!(cached, cache.slots.iter().filter(|slot| slot.flags & flag::USED != 0).count());
        assert_eq!(
            (used, dirty, writing, waiting),
            (cache.used, engine.dirty_bytes, engine.writing_bytes, engine.dirty_pages)
        );
        assert!(used <= cache.size, "the cache never holds more than its size");
        assert!(dirty as f64 <= engine.spec.dirty_trigger * cache.size as f64, "{dirty} dirty bytes");
    }

    /// The last write does not touch what the last complete checkpoint refers to.
    fn check_last_write(&self, from: usize) {
        let engine = &self.engine;
        for (_, io) in self.requests[from..]
            .iter()
            .filter(|(_, io)| matches!(io.request.op, Op::Write | Op::Trim) && io.stream == 0)
        {
            for (file, area) in engine.shape.areas.iter().enumerate() {
                let end = area.from + area.slots * area.extent;
                if (area.from..end).contains(&io.request.offset) {
                    let first = (io.request.offset - area.from) / area.extent;
                    let last = (io.request.offset + u64::from(io.request.len) - 1 - area.from) / area.extent;
                    for slot in first..=last {
                        let referred = self.complete.contains(&(file, slot as u32));
                        assert!(!referred, "extent {slot} of file {file} belongs to the last checkpoint");
                    }
                }
            }
        }
    }
}

/// Small pages and a small cache, so that everything happens often.
fn small(more: &str) -> String {
    format!(
        "records = 20000\nclients = 6\ncache = \"2 MiB\"\ncpu = \"20 us\"\ncheckpoint_every = \"50 ms\"\ncheckpoint_journal = \"1 MiB\"\ncommit_every = \"5 ms\"\nwrite_depth = 8\n{more}"
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn extents_and_cache_are_accounted_for_and_checkpoints_stay_whole(
        read in 0..3_u32, update in 1..5_u32, insert in 0..3_u32, scan in 0..2_u32, modify in 0..2_u32,
        requests in 0..3_usize, trim in any::<bool>(), hashed in any::<bool>(), wait in any::<bool>(), whole in any::<bool>(),
        clients in 1..12_u32, processors in 1..4_u32,
    ) {
        let requests = ["zipfian", "latest", "uniform"][requests];
        let order = if hashed { "hashed" } else { "ordered" };
        let acknowledge = if wait { "journal" } else { "memory" };
        let journal = if whole { "record" } else { "change" };
        let keys = format!(
            "operations = {{ read = {read}, update = {update}, insert = {insert}, scan = {scan}, read_modify_write = {modify} }}\n\
             requests = \"{requests}\"\ninsert_order = \"{order}\"\ntrim = {trim}\nacknowledge = \"{acknowledge}\"\n\
             journal_records = \"{journal}\"\nprocessors = {processors}",
        );
        let mut rig = Rig::new(&small(&keys).replace("clients = 6", &format!("clients = {clients}")));
        let mut round = 0;
        while round < 6_000 || (rig.count("checkpoints") < 3 && round < 60_000) {
            round += 1;
            let from = rig.requests.len();
            rig.step();
            rig.check_last_write(from);
            if round % 400 == 0 {
                rig.check_extents();
                rig.check_cache();
            }
        }
        prop_assert!(rig.count("checkpoints") > 2);
    }
}

#[test]
fn a_read_of_a_cold_record_costs_its_pages_and_a_second_one_nothing() {
    let mut rig =
        Rig::new("records = 20000\nclients = 1\ncache = \"64 MiB\"\noperations = { read = 1 }\nrequests = \"uniform\"");
    rig.run(2.0);
    let reads: Vec<u64> = rig.ios(0, Op::Read).map(|(_, io)| io.request.offset).collect();
    assert!(reads.iter().all(|offset| reads.iter().filter(|other| *other == offset).count() == 1), "no page twice");
    assert_eq!(reads.len() as u64, rig.count("cache_misses"));
    let operations = rig.ended.len() as u64;
    assert!(
        rig.count("cache_hits") + rig.count("cache_misses") - 2 * operations <= 2,
        "an index page and a data page each"
    );
    // With one client and one processor an operation is its time of the processor and its reads, nothing else.
    let shape = &rig.engine.shape;
    let latency = |n: usize| rig.ended[n].ended.since(rig.ended[n].began).0;
    assert!(latency(0) >= shape.cpu.0 + 100_000 && latency(0) <= shape.cpu.0 + 300_000, "{}", latency(0));
    assert!((0..rig.ended.len()).any(|n| latency(n) == shape.cpu.0), "both pages in memory: only the processor");
}

#[test]
fn a_record_larger_than_a_page_has_an_extent_of_its_own_and_is_read_in_pieces() {
    let rig = || {
        Rig::new(
            "records = 500\nfields = 100\nfield_length = \"10 kB\"\nclients = 1\ncache = \"64 MiB\"\noperations = { read = 1 }\nrequests = \"uniform\"",
        )
    };
    let mut rig = rig();
    rig.run(0.5);
    // 100 x (10,000 + 13) + 38 + 8 + 40 = 1,001,386 B: 245 blocks of 4 KiB, in pieces of 512 KiB.
    assert_eq!((rig.engine.shape.per_page, rig.engine.shape.areas[DATA].extent), (1, 245 * 4096));
    let sizes: Vec<u32> = rig.ios(0, Op::Read).map(|(_, io)| io.request.len).filter(|len| *len > 16_384).collect();
    assert_eq!((sizes[0], sizes[1]), (512 << 10, 245 * 4096 - (512 << 10)));
}

#[test]
fn a_change_is_answered_once_its_journal_is_durable_and_not_before() {
    let mut rig = Rig::new(
        &small("operations = { update = 1 }\nacknowledge = \"journal\"\ncommit_every = \"1 s\"")
            .replace("commit_every = \"5 ms\"\n", ""),
    );
    let mut answered = 0;
    while answered < 500 {
        let durable = rig.engine.journal.commits;
        let before = rig.ended.len();
        rig.step();
        let ended = rig.ended.len() - before;
        assert!(ended == 0 || rig.engine.journal.commits == durable + 1, "answers come with the end of a flush");
        answered += ended;
    }
    let flushes = rig.ios(1, Op::Flush).count() as u64;
    assert!((0..=1).contains(&(flushes - rig.count("journal_commits"))), "a commit is a write and a flush");
    assert!(rig.count("journal_commits") < rig.count("journal_records"), "clients share a flush");
}

#[test]
fn the_journal_is_written_whole_and_in_order() {
    let mut rig = Rig::new(&small("operations = { update = 1, insert = 1 }\njournal_records = \"record\""));
    rig.run(3.0);
    let shape = &rig.engine.shape;
    let counts = [rig.count("journal_records"), rig.count("journal_bytes")];
    // Both records say the whole document: 1,168 B and 64 B, rounded up to 128 B.
    assert_eq!((shape.update_bytes, shape.insert_bytes), (1280, 1280));
    assert_eq!(counts[1], 1280 * counts[0], "bytes of the journal are those of its records");
    let (from, size) = shape.journal;
    let mut at = 0;
    for (_, io) in rig.ios(1, Op::Write) {
        let begin = io.request.offset - from;
        // Each write goes on where the last one ended, or in the block that it ended in.
        assert!(begin == at || (begin + GRAIN) % size == at, "{begin} after {at}");
        at = (begin + u64::from(io.request.len)) % size;
    }
    assert!(rig.ios(1, Op::Write).count() > 100 && counts[1] > 2 * size, "it went round");
}

#[test]
fn clients_are_the_rate_of_operations_times_their_latency() {
    for keys in [
        "operations = { read = 1, update = 1 }",
        "operations = { scan = 30, insert = 1 }\nscan_most = 10\nprocessors = 2",
    ] {
        let mut rig = Rig::new(&small(keys));
        rig.run(20.0);
        let area: u64 = rig.ended.iter().map(|operation| operation.ended.since(operation.began).0).sum();
        let clients = area as f64 / rig.now.0 as f64;
        assert_eq!(rig.count("refused_inserts"), 0);
        assert!((clients / 6.0 - 1.0).abs() < 0.001, "{clients}: the last operation of each client is under way");
    }
}

#[test]
fn processors_are_a_limit() {
    let mut rig = Rig::new(
        "records = 2000\nclients = 32\nprocessors = 4\ncpu = \"1 ms\"\ncache = \"64 MiB\"\nwarm_cache = true\noperations = { read = 1 }",
    );
    rig.run(10.0);
    let rate = rig.ended.len() as f64 / 10.0;
    assert!((rate / 4000.0 - 1.0).abs() < 0.01, "{rate}");
}

#[test]
fn a_full_file_refuses_inserts_and_goes_on() {
    let keys = small("operations = { insert = 1 }\nfields = 1\nfield_length = \"20 kB\"")
        .replace("records = 20000", "records = 200")
        .replace("2 MiB", "8 MiB");
    let mut rig = Rig::new(&keys);
    rig.run(20.0);
    assert!(rig.count("refused_inserts") > 0);
    rig.check_extents();
}

#[test]
fn what_is_laid_out_is_what_is_read() {
    let mut rig = Rig::new(&small("operations = { read = 1 }\nrequests = \"uniform\"\ndata = 0.37"));
    let mut laid_out = Vec::new();
    loop {
        let before = laid_out.len();
        rig.engine.lay_out(3, &mut laid_out);
        if laid_out.len() == before {
            break;
        }
        assert!(laid_out.len() <= before + 3);
    }
    let bytes: u64 = laid_out.iter().map(|(_, write)| u64::from(write.len)).sum();
    assert_eq!(bytes, rig.engine.lay_out_bytes());
    assert!(laid_out.iter().all(|(_, write)| write.entropy.basis_points() == 3700 && !write.trim));
    rig.run(2.0);
    for (_, io) in rig.ios(0, Op::Read) {
        let (from, to) = (io.request.offset, io.request.offset + u64::from(io.request.len));
        let holds = |write: &UntimedWrite| write.offset <= from && to <= write.offset + u64::from(write.len);
        let across = |write: &UntimedWrite| write.offset < to && from < write.offset + u64::from(write.len);
        let held = laid_out.iter().filter(|(_, write)| across(write)).count();
        assert!(laid_out.iter().any(|(_, write)| holds(write)) || held == 2, "{from}");
    }
}
