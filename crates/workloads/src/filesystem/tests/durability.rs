//! What is promised to survive, and the order of writes that makes it so.

use super::super::disk::DATA;
use super::super::files::NONE;
use super::super::geometry::Geometry;
use super::*;

/// Shadow of what is safe on a drive with a volatile cache.
#[derive(Default)]
struct Safe {
    /// When the newest write of a block was submitted, and whether it has landed.
    written: BTreeMap<u32, (Instant, bool)>,
    /// Blocks that had landed when the newest landed flush was submitted, with the time of their submission.
    flushed: BTreeMap<u32, Instant>,
}

/// One process, one operation at a time, every write synchronous: each is checked when it completes for its caller.
#[test]
fn a_synchronous_write_returns_after_its_data_and_its_commit() {
    for (mix, seed) in [("{ rand_write = 1, write = 1 }", 1), ("{ write_file = 1 }", 2)] {
        let spec = with(
            DESKTOP,
            &format!("metrics = 1\nops_per_metric = 10\nmix = {mix}\nsync_pct = 100\ndirs = 2\nfiles_per_dir = 3"),
        );
        let mut bench = Bench::new(&spec, 200 << 20, seed);
        let mut safe = Safe::default();
        let mut landed_at_submission: BTreeMap<u32, Safe> = BTreeMap::new();
        let mut checked = 0;
        while bench.step(Instant(20 * SECOND)) {
            follow(&bench, &mut safe, &mut landed_at_submission);
            for ended in bench.ended.drain(..) {
                let task = &bench.app.tasks[0];
                let mut extents = Vec::new();
                let (page, end) = (task.offset / BLOCK, (task.offset + task.len).div_ceil(BLOCK));
                bench.app.files.extents(task.file, page, end - page, &mut extents);
                assert_eq!(extents.iter().map(|extent| extent.1).sum::<u32>(), end - page);
                for block in extents.iter().flat_map(|(start, len)| *start..start + len) {
                    let at = safe.flushed.get(&block).copied();
                    assert!(at.is_some_and(|at| at >= task.began), "{ended:?}: block {block} is not safe: {at:?}");
                }
                let inode = bench.app.geometry.inode_block(bench.app.files.inode(task.file));
                let last = bench.changed[&inode];
                assert!(last <= bench.records, "the transaction of its inode is durable");
                checked += 1;
            }
        }
        assert!(checked > 150, "{checked}");
    }
}

/// Keeps the shadow up to date from what flies.
fn follow(bench: &Bench, safe: &mut Safe, flushes: &mut BTreeMap<u32, Safe>) {
    let flying: Vec<&Flying> = bench.flying.values().collect();
    for (at, io) in bench.trace.iter().rev().take_while(|(at, _)| *at == bench.now) {
        if io.request.op == Op::Write && io.stream == DATA {
            blocks(io).for_each(|block| {
                safe.written.insert(block, (*at, false));
            });
        }
    }
    let in_flight = |block: u32| flying.iter().any(|f| f.io.request.op == Op::Write && blocks(&f.io).contains(&block));
    for (block, (_, landed)) in &mut safe.written {
        *landed = *landed || !in_flight(*block);
    }
    // A flush covers what had landed when it was submitted.
    flushes.retain(|token, covered| {
        let flies = flying.iter().any(|f| f.io.request.op == Op::Flush && f.io.token == *token);
        if !flies {
            safe.flushed.append(&mut covered.flushed);
        }
        flies
    });
    for flush in flying.iter().filter(|f| f.io.request.op == Op::Flush && f.submitted == bench.now) {
        let landed = safe.written.iter().filter(|(_, (_, landed))| *landed).map(|(block, (at, _))| (*block, *at));
        let covered = Safe { flushed: landed.collect(), ..Safe::default() };
        flushes.entry(flush.io.token).or_insert(covered);
    }
}

/// A commit record is written through, after a flush that came after everything it represents.
#[test]
fn a_commit_record_comes_after_the_log_and_a_flush() {
    let mut bench = Bench::new(&with(BUILD, ""), 200 << 20, 3);
    let (mut records, mut logged, mut flushed) = (0, false, false);
    let mut seen = 0;
    while bench.step(Instant(5 * SECOND)) {
        for (_, io) in &bench.trace[seen..] {
            if io.stream != JOURNAL {
                continue;
            }
            let other = |f: &Flying| f.io.stream == JOURNAL && f.io.token != io.token;
            let others = bench.flying.values().filter(|f| other(f)).count();
            match (io.request.op, io.request.fua) {
                (Op::Write, false) => logged = true,
                (Op::Flush, _) => {
                    assert!(logged && others == 0, "all of the log has landed");
                    flushed = true;
                }
                (Op::Write, true) => {
                    assert!(others == 0 && std::mem::take(&mut flushed), "the flush has landed");
                    logged = false;
                    assert_eq!(io.request.len, BLOCK);
                    records += 1;
                }
                other => panic!("{other:?} on the journal"),
            }
        }
        seen = bench.trace.len();
    }
    assert!(records > 50, "{records}");
}

#[test]
fn data_that_a_transaction_refers_to_lands_before_its_flush() {
    let mut bench = Bench::new(&with(BUILD, ""), 200 << 20, 4).taking(50_000, 20_000_000);
    let mut waited = 0;
    while bench.step(Instant(5 * SECOND)) {
        let Some((transaction, phase)) = &bench.app.journal.committing else { continue };
        waited += u32::from(transaction.ordered > 0);
        assert!(transaction.ordered == 0 || *phase == super::super::journal::Phase::Data);
    }
    assert!(waited > 10, "some commit had to wait: {waited}");
}

#[test]
fn without_barriers_nothing_is_flushed() {
    let mut bench = Bench::new(&with(BUILD, "barrier = false"), 200 << 20, 3);
    bench.run(3.0);
    assert!(bench.trace.iter().all(|(_, io)| io.request.op != Op::Flush && !io.request.fua));
    assert!(bench.counter("commits") > 20);
}

/// The change of an inode is logged five seconds after it, and not a moment earlier.
#[test]
fn a_transaction_is_committed_when_its_time_is_over() {
    let spec = with(BUILD, "metrics = 1\nprocesses_per_metric = 1\nops_per_metric = 0.01\nmix = { chmod = 1 }");
    let mut bench = Bench::new(&spec, 200 << 20, 8);
    while bench.app.journal.running.begun.is_none() {
        assert!(bench.step(Instant(300 * SECOND)));
    }
    let begun = bench.now.0;
    bench.run((begun + 5 * SECOND) as f64 / 1e9 - 1e-6);
    assert!(bench.trace.iter().all(|(_, io)| io.stream != JOURNAL), "too early");
    while bench.step(Instant(begun + 5 * SECOND)) {}
    let log: Vec<&(Instant, AppIo)> = bench.trace.iter().filter(|(_, io)| io.stream == JOURNAL).collect();
    assert_eq!((log.len(), log[0].0, log[0].1.request.len), (1, Instant(begun + 5 * SECOND), 2 * BLOCK));
}

/// A page is written back when it is 30 s old, at the next look, which comes every 5 s.
#[test]
fn a_dirty_page_is_written_back_when_it_is_old() {
    let spec = with(DESKTOP, "metrics = 1\nops_per_metric = 0.01\nmix = { rand_write = 1 }\nalign = \"4 KiB\"");
    let mut bench = Bench::new(&spec, 200 << 20, 8);
    while bench.app.cache.dirty() == 0 {
        assert!(bench.step(Instant(300 * SECOND)));
    }
    let dirty = bench.now.0;
    let due = (dirty + 30 * SECOND).next_multiple_of(5 * SECOND);
    let data =
        |bench: &Bench| bench.trace.iter().filter(|(_, io)| io.stream == DATA && io.request.op == Op::Write).count();
    bench.run(due as f64 / 1e9 - 1e-6);
    assert_eq!(data(&bench), 0, "too early");
    while bench.step(Instant(due)) {}
    assert_eq!(data(&bench), 1, "the pages of a write go in one I/O");
}

#[test]
fn deleted_blocks_are_free_and_trimmed_once_that_is_durable() {
    for trim in [true, false] {
        let mut spec = with(BUILD, "ops_per_metric = 0.001\nprocesses_per_metric = 1");
        spec.trim = trim;
        let mut bench = Bench::new(&spec, 200 << 20, 8);
        let (file, free) = (7, bench.app.space.free_blocks());
        let mut extents = Vec::new();
        bench.app.files.extents(file, 0, u32::MAX, &mut extents);
        bench.app.tasks[0].file = file;
        bench.app.tasks[0].operation = super::super::Operation::Unlink;
        bench.app.apply(Instant(0), 0);
        assert!(!bench.app.files.exists(file));
        let freed: u32 = extents.iter().map(|extent| extent.1).sum();
        while bench.records == 0 {
            assert_eq!(bench.app.space.free_blocks(), free, "not before the commit is durable");
            assert!(bench.step(Instant(9 * SECOND)));
        }
        assert_eq!(bench.app.space.free_blocks(), free + freed);
        let trims: Vec<(u32, u32)> = bench
            .trace
            .iter()
            .filter(|(_, io)| io.request.op == Op::Trim)
            .map(|(_, io)| (blocks(io).start, blocks(io).len() as u32))
            .collect();
        assert_eq!(trims, if trim { extents } else { Vec::new() });
    }
    let geometry = Geometry::new(200 << 20, 16_384, None).expect("it fits");
    assert!(geometry.journal != NONE);
}
