//! Reads fetch the blocks of the file that is read, and what is in memory is not fetched.

use super::super::disk::DATA;
use super::*;

#[test]
fn a_random_read_fetches_the_pages_it_wants_and_no_others() {
    let base =
        "metrics = 1\nops_per_metric = 10\nmix = { rand_read = 1 }\nfile_size = \"50 MB\"\nsets = 1\nfiles_per_dir = 2";
    let mut bench = Bench::new(&with(DESKTOP, base), 200 << 20, 1);
    let (mut fetched, mut seen, mut checked) = (Vec::new(), 0, 0);
    let mut known = std::collections::BTreeSet::new();
    while bench.step(Instant(10 * SECOND)) {
        let new = bench.trace[seen..].iter().filter(|(_, io)| io.stream == DATA);
        fetched.extend(new.flat_map(|(_, io)| blocks(io)));
        seen = bench.trace.len();
        for _ in bench.ended.drain(..) {
            let task = &bench.app.tasks[0];
            let (page, end) = (task.offset / BLOCK, (task.offset + task.len).div_ceil(BLOCK));
            let wanted: Vec<u32> = (page..end).map(|page| bench.app.files.block_of(task.file, page)).collect();
            fetched.sort_unstable();
            assert!(fetched.iter().all(|block| wanted.contains(block)), "{fetched:?} of {wanted:?}");
            assert!(wanted.iter().all(|block| fetched.contains(block) || known.contains(block)));
            known.extend(fetched.drain(..));
            checked += 1;
        }
    }
    assert!(checked > 90);
}

#[test]
fn a_sequential_read_fetches_ahead() {
    let base = "metrics = 1\nops_per_metric = 20\nmix = { read = 1 }\nfile_size = \"4 MiB\"\nsets = 1\ncache_per_metric = \"32 MiB\"";
    let spec = with(DESKTOP, &format!("{base}\nread_sizes = {{ \"4 KiB\" = 1 }}"));
    let mut bench = Bench::new(&spec, 200 << 20, 1);
    bench.run(60.0);
    let sizes: Vec<u32> =
        bench.trace.iter().filter(|(_, io)| io.stream == DATA).map(|(_, io)| io.request.len).collect();
    assert_eq!(sizes, [131_072; 32], "4 MiB in pieces of 128 KiB, once: then it is in memory");
}

#[test]
fn what_was_written_is_read_from_memory() {
    let base = "metrics = 1\nops_per_metric = 10\nmix = { write_file = 1, read_file = 1 }\nsets = 1\nfiles_per_dir = 4\nfile_size = \"40000 B\"";
    let spec = with(DESKTOP, &format!("{base}\nread_sizes = {{ \"4 KiB\" = 1 }}\nwrite_sizes = {{ \"4 KiB\" = 1 }}"));
    let mut bench = Bench::new(&spec, 200 << 20, 1);
    let mut written = std::collections::BTreeSet::new();
    let mut seen = 0;
    while bench.step(Instant(60 * SECOND)) {
        for (_, io) in &bench.trace[seen..] {
            let reads = io.stream == DATA && io.request.op == Op::Read;
            assert!(!reads || !written.contains(&bench.app.tasks[0].file), "file {}", bench.app.tasks[0].file);
        }
        seen = bench.trace.len();
        for ended in bench.ended.drain(..) {
            if bench.app.operations()[usize::from(ended.operation)] == "write_file" {
                written.insert(bench.app.tasks[0].file);
            }
        }
    }
    assert_eq!(written.len(), 4);
}
