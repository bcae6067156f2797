//! Does an I/O cost the host's cores what it should, and does a machine of fast drives meet its host's limit?

use crate::common::refused::machine_is_refused;
use crate::common::{Left, assert_near, catalog, closed, random_4k, run, workload};
use hotband_engine::assemble;
use hotband_machine::{Completion, Entropy, Io, MachineSpec, Op};
use hotband_units::{Instant, Span};

const HOST: &str = "[host]\ncores = 1\nsubmit = \"1.0 us\"\ncomplete = \"2.0 us\"\n";
const DISK: &str = "[drives.d]\nproduct = \"exos-15e900-512n\"\n";

/// Eight solid-state drives of which each answers more than 400,000 reads a second.
fn stripe(host: &str) -> String {
    format!(
        "[drives.d]\nproduct = \"s4500-960\"\ncount = 8\n\
         set = {{ command_interval = \"1 us\", link_rate = \"8 GB/s\", queue_tags = 1024, scale = 512 }}\n{host}\
         [layouts.a]\nraid0 = {{ members = \"d*\" }}\n"
    )
}

fn loaded(machine: &str, depth: u32) -> Left {
    run(machine, &workload(&random_4k(100), &closed(depth), "duration = \"2 ms\"", "duration = \"20 ms\""), &[])
}

fn full(left: &Left) -> Vec<&str> {
    let cores = left.0["host"]["full"].as_array().expect("the record has a host");
    cores.iter().map(|core| core.as_str().expect("cores have names")).collect()
}

fn note(left: &Left) -> Option<&str> {
    let notes = left.0["notes"].as_array().expect("a record has notes").iter().filter_map(|note| note.as_str());
    notes.into_iter().find(|note| note.contains("core"))
}

#[test]
fn a_stripe_of_fast_drives_meets_the_limit_of_its_host() {
    let without = loaded(&stripe(""), 512).iops();
    for (cores, host) in [
        (1.0, "[host]\ncores = 1\nsubmit = \"1.0 us\"\ncomplete = \"2.0 us\"\n"),
        (4.0, "[host]\ncores = 4\nsubmit = \"1.0 us\"\ncomplete = \"2.0 us\"\n"),
    ] {
        let left = loaded(&stripe(host), 512);
        let limit = cores / 3e-6;
        assert!(without > 1.2 * limit, "the drives are faster than the host: {without}");
        assert_near(&format!("{cores} cores"), left.iops(), limit, 0.02);
        assert_eq!(full(&left).len(), cores as usize, "{}", left.0["host"]);
        assert!(note(&left).is_some_and(|note| note.contains("core0")), "{}", left.0["notes"]);
        assert_near("Little's law", left.summary("latency_mean_ns") / 1e9 * left.iops(), 512.0, 0.01);
    }
    // io_uring with interrupts: 1 us a core and I/O.
    let left = loaded(&stripe("[host]\ncores = 1\npath = \"io_uring\"\n"), 512);
    assert_near("io_uring", left.iops(), 1e6, 0.02);
    // More cores than it needs: the drives decide again, and no core is full.
    let left = loaded(&stripe("[host]\ncores = 64\nsubmit = \"1.0 us\"\ncomplete = \"2.0 us\"\n"), 512);
    assert_near("64 cores", left.iops(), without, 0.03);
    assert_eq!((full(&left), note(&left)), (Vec::new(), None));
}

#[test]
fn eight_gen4_drives_of_the_catalog_meet_the_limit_of_their_host() {
    // Each does 1 M random reads a second by its data sheet, a core with io_uring as many: 1 us an I/O.
    let stripe = |host: &str| {
        format!("[drives.d]\nproduct = \"pm9a3-3840\"\ncount = 8\n{host}[layouts.a]\nraid0 = {{ members = \"d*\" }}\n")
    };
    let text = workload(&random_4k(100), &closed(1024), "duration = \"4 ms\"", "duration = \"10 ms\"");
    let measured = |host: &str| run(&stripe(host), &text, &[("scale", "256")]);
    let without = measured("").iops();
    assert!((7.2e6..8.4e6).contains(&without), "eight data sheets: {without}");
    for cores in [1, 4] {
        let left = measured(&format!("[host]\ncores = {cores}\npath = \"io_uring\"\n"));
        assert_near(&format!("{cores} cores"), left.iops(), f64::from(cores) * 1e6, 0.02);
        let names: Vec<String> = (0..cores).map(|core| format!("core{core}")).collect();
        assert_eq!(full(&left), names);
        assert!(note(&left).is_some_and(|note| note.contains("the drives waited for the host")), "{}", left.0["notes"]);
    }
    // Polled by as many cores it is the drives again.
    let left = measured("[host]\ncores = 4\npath = \"polled\"\n");
    assert_near("polled", left.iops(), without, 0.03);
    assert_eq!((full(&left), note(&left)), (Vec::new(), None));
}

#[test]
fn a_job_that_is_kept_on_a_core_fills_that_one_only() {
    let host = "[host]\ncores = 3\nsubmit = \"1.0 us\"\ncomplete = \"2.0 us\"\nspread = \"by-volume\"\n";
    let volumes = "[volumes]\none = { on = \"a\", size = \"64 MiB\" }\ntwo = { on = \"a\", size = \"64 MiB\" }\n";
    let text = workload(
        &format!("name = \"s\"\nvolume = \"two\"\n{}", random_4k(100)),
        &closed(256),
        "duration = \"2 ms\"",
        "duration = \"20 ms\"",
    );
    let left = run(&format!("{}{volumes}", stripe(host)), &text, &[]);
    assert_near("one core of three", left.iops(), 1.0 / 3e-6, 0.02);
    assert_eq!(full(&left), ["core1"]);
    assert!(note(&left).is_some_and(|note| note.starts_with("core1 of the host's 3 was full")), "{:?}", note(&left));
    let utilisation = |core: usize| left.0["host"]["cores"][core]["utilisation"].as_f64();
    assert_eq!((utilisation(0), utilisation(2)), (Some(0.0), Some(0.0)));
}

fn io(tag: u64, op: Op, offset: u64) -> Io {
    Io { tag, op, volume: 0, offset, len: 4096, fua: false, version: 0, entropy: Entropy::INCOMPRESSIBLE }
}

/// Submits these at their times; everything that comes out.
fn played(text: &str, ios: &[(u64, Io)]) -> Vec<Completion> {
    let spec = MachineSpec::read("machine.toml", text).expect("machines of the tests are valid");
    let mut machine = assemble(&spec, &catalog(), &[], 1).expect("machines of the tests are valid").machine;
    let mut done = Vec::new();
    for (at, io) in ios {
        machine.advance(Instant(*at), &mut done);
        machine.submit(Instant(*at), *io);
    }
    while let Some(at) = machine.wake() {
        machine.advance(at, &mut done);
    }
    done.sort_by_key(|done| done.tag);
    done
}

#[test]
fn a_slow_disk_is_delayed_by_what_the_core_takes_and_nothing_else() {
    let (op, at) = (Op::Read, 5_000_000);
    for offset in [0, 400 << 30] {
        let with = played(&format!("{DISK}{HOST}"), &[(at, io(7, op, offset))]);
        // The disk sees the command 1 us later, and the host the answer 2 us after the disk gave it.
        let without = played(DISK, &[(at + 1000, io(7, op, offset))]);
        assert_eq!((with[0].submitted, with[0].at), (Instant(at), without[0].at + Span(2000)));
        let parts = (with[0].times.overhead, with[0].times.queue);
        assert_eq!(parts, (without[0].times.overhead + Span(3000), without[0].times.queue));
        assert_eq!(with[0].times.total(), with[0].at.since(Instant(at)));
    }
}

#[test]
fn a_core_does_one_thing_at_a_time() {
    // Two writes that the disk's memory takes: the second waits for the core while the first is submitted.
    let set = "[drives.d]\nproduct = \"exos-15e900-512n\"\nset = { wce = \"on\" }\n";
    let ios = [(0, io(0, Op::Write, 0)), (0, io(1, Op::Write, 1 << 20))];
    let (one, two) =
        (played(&format!("{set}{HOST}"), &ios), format!("{set}{}", HOST.replace("cores = 1", "cores = 2")));
    let two = played(&two, &ios);
    assert_eq!(one[1].times.queue.0 - two[1].times.queue.0, 1000, "{one:?} {two:?}");
    assert!(one.iter().chain(&two).all(|done| done.times.total() == done.at.since(done.submitted)));
}

#[test]
fn a_volumes_queue_is_left_when_the_drive_has_answered() {
    let queue = "[volumes]\nv = { on = \"d\", queue = 1 }\n";
    let ios = [(0, io(0, Op::Read, 0)), (0, io(1, Op::Read, 1 << 30))];
    let done = played(&format!("{DISK}{HOST}{queue}"), &ios);
    let alone = played(&format!("{DISK}{queue}"), &[(1000, io(0, Op::Read, 0)), (2000, io(1, Op::Read, 1 << 30))]);
    assert_eq!((done[0].at, done[1].at), (alone[0].at + Span(2000), alone[1].at + Span(2000)));
    assert!(done.iter().all(|done| done.times.total() == done.at.since(done.submitted)), "{done:?}");
}

#[test]
fn mistakes_name_their_key() {
    let with = |host: &str| format!("{DISK}[host]\n{host}\n");
    for (host, wanted) in [
        ("path = \"libaio\"", ["host.cores", "missing"]),
        ("cores = 0\npath = \"libaio\"", ["host.cores", "1 to 1024"]),
        ("cores = 4", ["host.submit", "libaio, io_uring, polled, spdk"]),
        ("cores = 4\nsubmit = \"1 us\"", ["host.complete", "expected a time"]),
        ("cores = 4\npath = \"iouring\"", ["host.path", "did you mean \"io_uring\""]),
        ("cores = 4\nsubmit = 1\ncomplete = \"1 us\"", ["host.submit", "4.16 ms"]),
        ("cores = 4\nsubmit = \"1 s\"\ncomplete = \"1 us\"", ["host.submit", "at most 10 ms"]),
        ("cores = 4\npath = \"spdk\"\nspread = \"random\"", ["host.spread", "in-turn, by-volume"]),
        ("cores = 4\npath = \"spdk\"\ncore = 3", ["host.core", "did you mean \"cores\""]),
    ] {
        machine_is_refused(&with(host), &wanted);
    }
}
