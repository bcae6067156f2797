//! Whatever is done in whatever order: blocks have one owner, and nothing is lost.

use hotband_machine::Entropy;
use proptest::prelude::*;

use super::super::cache::{COMMITTING, DIRTY, RUNNING, WRITEBACK};
use super::super::files::{MADE, NONE};
use super::super::spec::Rewrite;
use super::*;
use crate::data::DataSpec;

/// Every block in use has one owner, and every owner's blocks are in use.
fn check_owners(app: &mut FileSystem) {
    let mut owned = vec![false; app.geometry.blocks() as usize];
    let mut claim = |what: &str, start: u32, len: u32| {
        for block in start..start + len {
            assert!(!std::mem::replace(&mut owned[block as usize], true), "{what}: block {block} has another owner");
        }
    };
    for (start, len) in app.geometry.fixed() {
        claim("metadata", start, len);
    }
    claim("journal", app.geometry.journal, app.geometry.journal_len);
    for dir in 0..app.files.dirs() {
        claim("directory", app.files.dir_start(dir), app.files.dir_blocks());
        for file in app.files.of_dir(dir) {
            let mut extents = Vec::new();
            app.files.extents(file, 0, u32::MAX, &mut extents);
            assert_eq!(extents.iter().map(|extent| extent.1).sum::<u32>(), app.files.size(file).div_ceil(BLOCK));
            for (start, len) in extents {
                claim("file", start, len);
            }
            if let Some(block) = app.files.tree(file) {
                claim("tree", block, 1);
            }
        }
    }
    for made in 0..app.spec.processes * MADE {
        let block = app.files.exchange_made(made, NONE);
        if block != NONE {
            claim("made directory", block, 1);
        }
        app.files.exchange_made(made, block);
    }
    let committing = app.journal.committing.iter().flat_map(|(transaction, _)| &transaction.freed);
    let freed = app.journal.running.freed.iter().chain(committing);
    for (start, len) in freed {
        claim("freed, not yet durable", *start, *len);
    }
    let used = (0..app.geometry.blocks()).filter(|block| app.space.is_used(*block));
    assert_eq!(used.clone().count(), owned.iter().filter(|owned| **owned).count(), "no block is lost");
    assert!(used.into_iter().all(|block| owned[block as usize]));
    assert_eq!(app.space.used_blocks() + app.space.free_blocks(), app.geometry.blocks());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn blocks_have_one_owner_after_any_run(
        seed in any::<u64>(), outstanding in 1_u32..4, sets in 1_u32..4, trim in any::<bool>(), slow in any::<bool>(),
        in_place in any::<bool>(), sync in 0_u32..3, shift in 0_u32..20,
    ) {
        let mut spec = with(BUILD, "ops_per_metric = 1000\ncommit_interval = \"300 ms\"\ndirty_expire = \"1 s\"\ndirty_interval = \"500 ms\"");
        (spec.outstanding, spec.population.sets, spec.trim) = (outstanding, sets, trim);
        spec.sync = f64::from(sync) / 2.0;
        spec.rewrite = if in_place { Rewrite::InPlace } else { Rewrite::Truncate };
        // From a volume that is nearly full to one with room: 128 MiB hold 30,000 blocks, the files take up to 5,000.
        spec.journal = Some(1 << 20);
        spec.population.file_size = 16_384 + 4096 * shift;
        let slowest = if slow { 40_000_000 } else { 400_000 };
        let mut bench = Bench::new(&spec, 129 << 20, seed).taking(20_000, slowest);
        for tenth in 1..=20 {
            bench.run(f64::from(tenth) / 10.0);
            check_owners(&mut bench.app);
        }
        prop_assert!(bench.ended.len() > if slow { 20 } else { 500 }, "{} operations ended", bench.ended.len());
    }

    #[test]
    fn a_volume_that_is_nearly_full_goes_on(seed in any::<u64>()) {
        // 120 files of 1 MiB on 128 MiB, of which metadata and journal take a part: rewrites find no room at times.
        let spec = with(BUILD, "sets = 1\ndirs = 5\nfiles_per_dir = 5\nfile_size = \"1050000 B\"\nbytes_per_inode = \"256 KiB\"\njournal = \"1 MiB\"");
        let mut bench = Bench::new(&spec, 134_217_728 + (4 << 20), seed).taking(20_000, 400_000);
        bench.run(3.0);
        check_owners(&mut bench.app);
        prop_assert!(bench.ended.len() > 300);
    }
}

#[test]
fn the_layout_writes_every_used_block_once() {
    let data = Data::new(&DataSpec::Constant(0.4), Random::new(1, "data"));
    let mut app = FileSystem::new(&with(BUILD, ""), 600 << 20, data, 1).expect("it fits");
    let (mut all, mut seen) = (Vec::new(), vec![false; app.geometry.blocks() as usize]);
    app.lay_out(usize::MAX, &mut all);
    for (stream, write) in &all {
        assert!(!write.trim && write.len > 0 && write.len <= 1 << 20);
        let data = *stream == super::super::disk::DATA;
        assert_eq!(write.entropy, if data { Entropy::of(0.4) } else { Entropy::of(0.2) });
        for block in write.offset / 4096..(write.offset + u64::from(write.len)) / 4096 {
            assert!(!std::mem::replace(&mut seen[block as usize], true), "{block} twice");
            assert!(app.space.is_used(block as u32));
        }
    }
    assert_eq!(seen.iter().filter(|seen| **seen).count() as u32, app.space.used_blocks());
}

#[test]
fn dirty_pages_stay_below_their_limit() {
    let spec =
        with(DESKTOP, "ops_per_metric = 2000\nwriteback_depth = 1\nalign = \"4 KiB\"\nwrite_sizes = { \"4 KiB\" = 1 }");
    let mut bench = Bench::new(&spec, 200 << 20, 5).taking(2_000_000, 4_000_000);
    let limit = (bench.app.cache.most() as f64 * 0.2) as u64;
    let mut most = 0;
    while bench.step(Instant(3 * SECOND)) {
        most = bench.app.cache.dirty().max(most);
        // What two processes add with a write each: six pages and some metadata.
        assert!(bench.app.cache.dirty() <= limit + 2 * 8, "{}", bench.app.cache.dirty());
    }
    assert!(most > limit, "the limit was reached: {most} of {limit}");
    assert!(bench.counter("waits_for_room") > 100);
}

#[test]
fn a_quiet_file_system_becomes_clean() {
    let spec = with(BUILD, "");
    let mut bench = Bench::new(&spec, 200 << 20, 9);
    bench.run(2.0);
    // No operation is due any more: only the timers go on.
    bench.app.events.retain(|event| !matches!(event.0.2, super::super::Event::Due(_)));
    bench.run(80.0);
    let flags = DIRTY | WRITEBACK | RUNNING | COMMITTING;
    let left = (0..bench.app.geometry.blocks()).filter(|block| bench.app.cache.has(*block, flags)).count();
    assert_eq!(left, 0, "30 s for data, a commit, 30 s for the metadata, and looks every 5 s");
    assert!(bench.app.journal.oldest().is_empty(), "the log is empty");
    assert!(bench.flying.is_empty());
}

#[test]
fn the_same_seed_gives_the_same_ios() {
    let spec = with(BUILD, "");
    let run = |seed| {
        let mut bench = Bench::new(&spec, 200 << 20, seed);
        bench.run(3.0);
        bench.trace
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}
