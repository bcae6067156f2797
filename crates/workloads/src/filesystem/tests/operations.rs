//! What operations do: their shares, their rate, their I/Os, their latency.

use super::super::disk::DATA;
use super::super::spec::OPERATIONS;
use super::*;

#[test]
fn shares_of_the_operations_are_those_of_the_mix() {
    let spec = with(BUILD, "ops_per_metric = 4000\ncache_per_metric = \"64 MiB\"");
    let mut bench = Bench::new(&spec, 200 << 20, 1).taking(1_000, 20_000);
    bench.run(5.0);
    let total = bench.ended.len() as f64;
    assert!(total > 39_000.0, "{total}");
    let weights: f64 = spec.mix.iter().sum();
    let names = bench.app.operations();
    assert_eq!(names.len(), 9, "only those that are used");
    for (number, name) in names.iter().enumerate() {
        let (_, operation) = OPERATIONS.iter().find(|(other, _)| other == name).expect("a known name");
        let share = spec.mix[*operation as usize] / weights;
        let count = bench.ended.iter().filter(|ended| usize::from(ended.operation) == number).count() as f64;
        let error = (total * share * (1.0 - share)).sqrt();
        assert!((count - total * share).abs() < 5.0 * error, "{name}: {count} of {total}, expected {share}");
    }
}

#[test]
fn a_fast_drive_achieves_what_is_requested() {
    for arrival in ["paced", "poisson"] {
        let spec = with(DESKTOP, &format!("arrival = \"{arrival}\"\nprocesses_per_metric = 4"));
        let mut bench = Bench::new(&spec, 200 << 20, 1).taking(10_000, 20_000);
        assert_eq!(bench.app.requested_ops_per_s(), Some(200.0));
        bench.run(60.0);
        let achieved = bench.ended.len() as f64 / 60.0;
        // Paced: all but those of the last gap. Poisson: within 5 standard errors of 12,000.
        let most = if arrival == "paced" { 8.0 / 60.0 } else { 9.2 };
        assert!((achieved - 200.0).abs() <= most, "{arrival}: {achieved}");
    }
}

/// Two processes with one operation at a time and 10 ms a read achieve 100 a second each, whatever is requested, and
/// the time that an operation waits for its turn is part of its latency.
#[test]
fn a_slow_drive_achieves_less_and_latency_counts_from_the_schedule() {
    let mix =
        "mix = { rand_read = 1 }\nread_sizes = { \"4 KiB\" = 1 }\nalign = \"4 KiB\"\nfile_size = \"200 MB\"\nsets = 1";
    let spec = with(DESKTOP, &format!("{mix}\nops_per_metric = 400\ncpu = \"1 us\"\ncpu_per_page = \"0 ns\""));
    let mut bench = Bench::new(&spec, 1 << 30, 1).taking(10_000_000, 10_000_000);
    bench.run(20.0);
    let achieved = bench.ended.len() as f64 / 20.0;
    assert!((199.0..=205.0).contains(&achieved), "{achieved}: 200, and the few that hit memory");
    let last = bench.ended.last().expect("some ended");
    let behind = last.ended.since(last.began).as_secs_f64();
    // In 20 s a process does 2,000 of the 8,000 that are due: the last one was due at 5 s.
    assert!((14.5..15.5).contains(&behind), "{behind} s");
    assert!(
        bench.counter("service_time_ns") / bench.counter("operations") < 10_200_000,
        "the operation itself is short"
    );
}

#[test]
fn operations_that_hit_memory_take_processor_time_only() {
    let spec = with(BUILD, "mix = { stat = 1 }\nmetrics = 1\nprocesses_per_metric = 1\ncpu = \"7 us\"");
    let mut bench = Bench::new(&spec, 200 << 20, 1).taking(100_000, 100_000);
    bench.run(30.0);
    let took: Vec<u64> = bench.ended.iter().map(|ended| ended.ended.since(ended.began).0).collect();
    assert!(took.iter().all(|took| [7_000, 107_000, 207_000, 307_000].contains(took)), "directory, entry, inode");
    let hits = took.iter().filter(|took| **took == 7_000).count();
    // 80 files of 4 directories: at most 4 x 2 + 80 / 16 + 4 blocks have to be read.
    assert!(took.len() - hits <= 17, "{hits} of {}", took.len());
    assert!(bench.trace.iter().all(|(_, io)| io.stream == METADATA && io.request.op == Op::Read));
}

/// A write that is not aligned first reads the pages that it covers in part, one after the other.
#[test]
fn a_write_reads_what_it_covers_in_part() {
    let base =
        "metrics = 1\nops_per_metric = 10\nmix = { rand_write = 1 }\nfile_size = \"60 MB\"\nsets = 1\nsync_pct = 100";
    for (align, size, reads) in [("512 B", "4 KiB", 2.0 * 7.0 / 8.0), ("4 KiB", "4 KiB", 0.0), ("4 KiB", "2 KiB", 1.0)]
    {
        let more = format!("{base}\nalign = \"{align}\"\nwrite_sizes = {{ \"{size}\" = 1 }}");
        let mut bench = Bench::new(&with(DESKTOP, &more), 200 << 20, 1).taking(1_000, 2_000);
        bench.run(100.0);
        let count = |op| bench.trace.iter().filter(|(_, io)| io.stream == DATA && io.request.op == op).count() as f64;
        let ratio = count(Op::Read) / count(Op::Write);
        assert!((ratio - reads).abs() < 0.08, "{align} {size}: {ratio} reads a write");
    }
}

#[test]
fn spaces_of_bad_input_are_named() {
    let bad = [
        ("metrics = 0", "app.metrics"),
        ("metrics = 60000\nprocesses_per_metric = 2", "app.metrics"),
        ("ops_per_metric = 0", "app.ops_per_metric"),
        ("mix = { stats = 1 }", "app.mix.stats"),
        ("mix = { stat = 0 }", "app.mix"),
        ("mix = { stat = -1 }", "app.mix.stat"),
        ("mix = { rand_read = 1 }", "app.read_sizes"),
        ("mix = { write = 1 }\nwrite_sizes = { \"1 MiB\" = 1 }", "app.write_sizes"),
        ("mix = { write = 1 }\nwrite_sizes = { \"4 KiB\" = 0 }", "app.write_sizes"),
        ("sets = 13", "app.sets"),
        ("files_per_dir = 1000000\ndirs = 1000", "app.files_per_dir"),
        ("file_size = \"0 B\"", "app.file_size"),
        ("file_spread = \"200 %\"", "app.file_spread"),
        ("align = \"0 B\"", "app.align"),
        ("sync_pct = 101", "app.sync_pct"),
        ("rewrite = \"append\"", "app.rewrite"),
        ("cache_per_metric = 8", "app.cache_per_metric"),
        ("dirty_background = \"30 %\"", "app.dirty_background"),
        ("dirty_limit = \"95 %\"", "app.dirty_limit"),
        ("max_io = \"6000 B\"", "app.max_io"),
        ("commit_interval = \"0 s\"", "app.commit_interval"),
        ("journal = \"2 GiB\"", "app.journal"),
        ("arrival = \"open\"", "app.arrival"),
        ("writeback_deph = 3", "app.writeback_deph"),
        ("metadata_data = 1.5", "app.metadata_data"),
    ];
    for (line, key) in bad {
        let keys: Vec<&str> = line.lines().map(|line| line.split('=').next().unwrap_or_default().trim()).collect();
        let is_replaced = |other: &&str| keys.contains(&other.split('=').next().unwrap_or_default().trim());
        let lines: Vec<&str> = BUILD.lines().filter(|line| !is_replaced(line)).collect();
        let error = read(&format!("{}\n{line}", lines.join("\n"))).expect_err(line);
        assert_eq!(error.key, key, "{line}: {error}");
    }
    for key in ["metrics", "ops_per_metric", "mix", "file_size", "cache_per_metric"] {
        let lines: Vec<&str> = BUILD.lines().filter(|line| !line.starts_with(&format!("{key} "))).collect();
        let error = read(&lines.join("\n")).expect_err(key);
        assert!(error.key == format!("app.{key}") && error.accepted.contains("missing"), "{error}");
    }
}

#[test]
fn a_volume_that_does_not_hold_the_files_is_refused() {
    let new = |more: &str, capacity| FileSystem::new(&with(BUILD, more), capacity, Data::INCOMPRESSIBLE, 1).err();
    assert_eq!(new("", 100 << 20).map(|error| error.key), Some("app.volume".to_owned()));
    assert_eq!(new("file_size = \"2 MB\"", 200 << 20).map(|error| error.key), Some("app.metrics".to_owned()));
    let inodes = new("bytes_per_inode = \"64 MiB\"", 200 << 20).map(|error| error.key);
    assert_eq!(inodes, Some("app.bytes_per_inode".to_owned()));
}
