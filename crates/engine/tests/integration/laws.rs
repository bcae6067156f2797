//! Do whole machines obey the laws that hold for any storage system: Little's law, rates, and the arithmetic of
//! arrays?

use crate::common::{assert_near, closed, drives, one_in, random_4k, run, workload};

const MIX_READS: [u32; 3] = [0, 70, 100];
const LAYOUTS: [&str; 10] = [
    "exos-15e900-512n",
    "raid0:4xexos-15e900-512n",
    "raid1:2xexos-15e900-512n",
    "raid5:4xexos-15e900-512n",
    "raid6:5xexos-15e900-512n",
    "raid10:4xexos-15e900-512n",
    "raid50:6xexos-15e900-512n",
    "raid60:8xexos-15e900-512n",
    "raidz1:3xexos-15e900-512n",
    "raidz2:6xexos-15e900-512n",
];

#[test]
fn outstanding_is_rate_times_latency() {
    // Counted at completion: the I/Os cut by the ends of the measured time (at most the depth at each end) are the
    // only error, below 16 / 4,000.
    for machine in LAYOUTS {
        let cases = ["off", "on"].into_iter().flat_map(|cache| [1, 4, 16].map(|depth| (cache, depth)));
        for (cache, depth) in one_in(2, cases.collect()) {
            for read_pct in MIX_READS {
                let text = workload(&random_4k(read_pct), &closed(depth), "ios = 500", "ios = 4000");
                let left = run(machine, &text, &[("wce", cache)]);
                let outstanding = left.iops() * left.summary("latency_mean_ns") / 1e9;
                let what = format!("{machine}, cache {cache}, depth {depth}, {read_pct} % reads");
                assert_near(&what, outstanding, f64::from(depth), 0.01);
                assert_near(&what, left.summary("queue_depth_mean"), f64::from(depth), 1e-6);
                assert_eq!(left.0["concurrency"], depth, "{what}");
            }
        }
    }
}

#[test]
fn a_queue_above_what_has_a_time_of_its_own_leaves_nothing_behind() {
    // What ends lets in what waits for the queue, at the same moment; the service then has something due at once.
    let of = |count: u32, layout: &str| {
        format!(
            "[drives.d]\nproduct = \"savvio-10k1\"\ncount = {count}\n[layouts]\n{layout}\n\
             [volumes]\nv = {{ on = \"data\", queue = 8 }}\n"
        )
    };
    let machines = [
        of(1, "data = { controller = { members = \"d0\" } }"),
        of(1, "data = { controller = { members = \"d0\", battery = \"off\" } }"),
        of(4, "data = { raidz1 = { members = \"d*\" } }"),
        of(4, "data = { replicated = { members = \"d*\", replicas = 2, image = \"1 GiB\" } }"),
        of(4, "a = { raid5 = { members = \"d*\" } }\ndata = { md = { members = \"a\" } }"),
    ];
    for machine in &one_in(2, machines.to_vec()) {
        for (read_pct, random_pct) in one_in(3, vec![(100, 0), (0, 0), (70, 0), (0, 100)]) {
            let stream = format!("read_pct = {read_pct}\nrandom_pct = {random_pct}\nsize = \"4 KiB\"");
            let left = |depth: u32| {
                run(machine, &workload(&stream, &closed(depth), "duration = \"200 ms\"", "duration = \"1 s\""), &[])
            };
            let (within, beyond) = (left(8), left(32));
            let what = format!("{machine}, {read_pct} % reads, {random_pct} % at random");
            assert!(beyond.iops() > 0.9 * within.iops(), "{what}: {} of {}", beyond.iops(), within.iops());
            let outstanding = beyond.iops() * beyond.summary("latency_mean_ns") / 1e9;
            let cut_off = 64.0 * beyond.summary("latency_max_ns") / 1e9;
            assert!((outstanding - 32.0).abs() < cut_off.min(16.0), "{what}: {outstanding} of 32 outstanding");
        }
    }
}

#[test]
fn a_disk_that_streams_is_busy_and_draws_for_it() {
    for (machine, depth) in [("exos-15e900-512n", 1), ("exos-15e900-512n", 8), ("raid5:4xexos-x18-18tb", 4)] {
        let stream = "read_pct = 100\nrandom_pct = 0\nsize = \"128 KiB\"";
        let time = "duration = \"2 s\"";
        let left = run(machine, &workload(stream, &closed(depth), time, time), &[]);
        for part in left.0["parts"].as_array().expect("drives") {
            let busy = part["counters"]["busy_ns"].as_f64().expect("a time") / 2e9;
            assert!(
                (0.8..=1.02).contains(&busy),
                "{machine}, depth {depth}, {}: busy for {busy} of the time",
                part["id"]
            );
            let [drawn, active] = ["mean_w", "active_w"].map(|key| part["power"][key].as_f64().expect("a power"));
            let idle = part["power"]["idle_w"].as_f64().expect("a power");
            assert!(drawn > idle + 0.5 * (active - idle), "{machine}, {}: {drawn} W of {active}", part["id"]);
        }
    }
    // Slower readers, whose stream is ahead of them: never busy for longer than there is time.
    let open = "open = { rate_iops = 62000, arrival = \"fixed\" }";
    let stream = "read_pct = 100\nrandom_pct = 0\nsize = \"4 KiB\"";
    let time = "duration = \"100 ms\"";
    let left = run("exos-x18-18tb", &workload(stream, open, time, time), &[]);
    let busy = left.counter("busy_ns") / 1e8;
    assert!((0.0..=1.1).contains(&busy), "{busy}");
}

#[test]
fn a_stream_over_any_layout_leaves_no_read_behind() {
    for machine in LAYOUTS {
        for (size, depth) in [("64 KiB", 64), ("1 MiB", 32)] {
            let stream = format!("read_pct = 100\nrandom_pct = 0\nsize = \"{size}\"");
            let left = run(machine, &workload(&stream, &closed(depth), "ios = 500", "ios = 4000"), &[]);
            let [mean, most] = ["latency_mean_ns", "latency_max_ns"].map(|key| left.summary(key));
            assert!(most < 3.0 * mean, "{machine}, {size}: {most} ns at most, {mean} in the mean");
        }
    }
}

#[test]
fn outstanding_is_rate_times_latency_on_solid_state_drives_too() {
    for machine in one_in(2, vec!["s4500-960", "nytro-1351-960", "raid1:2x5200-eco-960"]) {
        for (depth, read_pct) in one_in(2, vec![(8, 70), (1, 0), (64, 0), (64, 100)]) {
            let text = workload(&random_4k(read_pct), &closed(depth), "ios = 500", "ios = 20000");
            let left = run(machine, &text, &[("scale", "256"), ("state", "preconditioned")]);
            let outstanding = left.iops() * left.summary("latency_mean_ns") / 1e9;
            let what = format!("{machine}, depth {depth}, {read_pct} % reads");
            assert_near(&what, outstanding, f64::from(depth), 0.01);
            assert_near(&what, left.summary("queue_depth_mean"), f64::from(depth), 1e-6);
        }
    }
}

#[test]
fn outstanding_is_rate_times_latency_in_a_pool_too() {
    let pool = |options: &str| {
        format!(
            "[drives.d]\nproduct = \"mg06sca-10tb\"\ncount = 4\n[layouts.p]\n\
             replicated = {{ members = \"d*\", image = \"8 GiB\", placement_groups = 64, {options} }}\n"
        )
    };
    let machines = [
        pool("replicas = 3"),
        pool("osds_per_drive = 2, hosts = 4, failure_domain = \"host\", balanced = true"),
        pool("replicas = 2, out = { osd = 3, at = \"5 s\" }, osd_set = { recovery_sleep = \"10 ms\" }"),
    ];
    let coded = |options: &str| pool(options).replace("replicated", "erasure");
    let machines = machines.into_iter().chain([coded("k = 2, m = 1"), coded("k = 2, m = 2, reads = \"touched\"")]);
    for (number, machine) in machines.enumerate() {
        for (depth, read_pct) in one_in(2, vec![(16, 0), (1, 70), (64, 50), (16, 100)]) {
            let text = workload(&random_4k(read_pct), &closed(depth), "ios = 500", "ios = 10000");
            let left = run(&machine, &text, &[]);
            let outstanding = left.iops() * left.summary("latency_mean_ns") / 1e9;
            let what = format!("pool {number}, depth {depth}, {read_pct} % reads");
            assert_near(&what, outstanding, f64::from(depth), 0.01);
            assert_near(&what, left.summary("queue_depth_mean"), f64::from(depth), 1e-6);
        }
    }
}

#[test]
fn a_deeper_queue_never_slows_a_sequential_reader() {
    let stream = "read_pct = 100\nrandom_pct = 0\nsize = \"4 KiB\"";
    for machine in ["exos-15e900-512n", "ent-cap-2tb", "raid0:4xent-15k", "raid1:2xent-15k", "raid10:4xent-15k"] {
        let rate = |depth: u32| run(machine, &workload(stream, &closed(depth), "ios = 500", "ios = 20000"), &[]).iops();
        let rates = [1, 2, 3, 4, 8, 16].map(rate);
        // The ends of 20,000 I/Os cut at most the depth.
        assert!(rates.windows(2).all(|pair| pair[1] > 0.99 * pair[0]), "{machine}: {rates:?}");
    }
}

#[test]
fn one_reader_of_a_parity_layout_streams_from_all_members() {
    let rate = |machine: &str, size: &str| {
        let stream = format!("read_pct = 100\nrandom_pct = 0\nsize = \"{size}\"");
        let load = workload(&stream, &closed(1), "duration = \"1 s\"", "duration = \"4 s\"");
        run(machine, &load, &[]).summary("bandwidth_bytes_per_s")
    };
    let disk = rate("exos-15e900-512n", "256 KiB");
    // Two reads of a member with a chunk of parity between them, where an I/O is longer than a chunk of each.
    for (layout, data) in [("raid5:4x", 3.0), ("raid5:5x", 4.0), ("raid6:6x", 4.0)] {
        for size in ["256 KiB", "1 MiB", "4 MiB"] {
            let found = rate(&format!("{layout}exos-15e900-512n"), size);
            assert_near(&format!("{layout}, {size}"), found, data * disk, 0.02);
        }
    }
}

#[test]
fn larger_writes_in_a_row_move_no_less() {
    for disk in one_in(3, drives()) {
        for depth in [1, 32] {
            let mut most = 0.0_f64;
            for size in ["16 KiB", "64 KiB", "256 KiB", "1 MiB"] {
                let stream = format!("read_pct = 0\nrandom_pct = 0\nsize = \"{size}\"");
                let load = workload(&stream, &closed(depth), "duration = \"1 s\"", "duration = \"1 s\"");
                let rate = run(&disk, &load, &[("wce", "on")]).summary("bandwidth_bytes_per_s");
                assert!(rate > 0.95 * most, "{disk}, {size} at depth {depth}: {rate} B/s, smaller ones {most}");
                most = most.max(rate);
            }
        }
    }
}

#[test]
fn many_reads_in_a_row_are_not_much_slower_than_at_random() {
    // A pass of the flash is 288 KiB of what follows in a row (of the first drive): fewer dies have it.
    for drive in one_in(3, vec!["9550-max-6400", "cm7-r-7680", "980-pro-1tb"]) {
        let rate = |random: u32| {
            let stream = format!("read_pct = 100\nrandom_pct = {random}\nsize = \"64 KiB\"");
            let load = workload(&stream, &closed(16), "ios = 500", "ios = 10000");
            let in_use = format!("{load}\n[precondition]\nstate = \"preconditioned\"\n");
            run(drive, &in_use, &[("scale", "64")]).iops()
        };
        let (in_a_row, random) = (rate(0), rate(100));
        assert!(in_a_row > 0.8 * random, "{drive}: {in_a_row} in a row, {random} at random places");
    }
}

#[test]
fn what_waits_for_a_tag_does_not_slow_a_disk() {
    // A disk knows of no more commands than it has tags: 32 of the first, 128 of the second. It gets the same commands in
    // the same order, however many wait.
    let loads = ["on", "off"].into_iter().flat_map(|cache| [0, 67, 100].map(|read_pct| (cache, read_pct)));
    let of = |(machine, tags)| loads.clone().map(move |(cache, read_pct)| (machine, tags, cache, read_pct));
    let cases = [("wd-hc550-18tb", 32), ("exos-15e900-512n", 128)].into_iter().flat_map(of);
    for (machine, tags, cache, read_pct) in one_in(5, cases.collect()) {
        let rate = |depth: u32| {
            let load = format!("read_pct = {read_pct}\nrandom_pct = 100\nsize = \"8 KiB\"");
            run(machine, &workload(&load, &closed(depth), "ios = 4000", "ios = 20000"), &[("wce", cache)]).iops()
        };
        let (full, deep) = (rate(2 * tags), rate(1024));
        assert_near(&format!("{machine}, cache {cache}, {read_pct} % reads"), deep, full, 1e-3);
    }
}

#[test]
fn an_open_loop_below_saturation_gets_the_rate_it_asks_for() {
    // 200 s at 60 I/Os a second; a 15,000 rpm drive serves about 200. The count of Poisson arrivals has a standard
    // deviation of the square root of 12,000: four of them are 3.7 %. Evenly spaced arrivals can only be cut at
    // the ends.
    for (arrival, tolerance) in [("poisson", 4.0 / 12_000_f64.sqrt()), ("fixed", 10.0 / 12_000.0)] {
        let load = format!("open = {{ rate_iops = 60, arrival = \"{arrival}\" }}");
        let text = workload(&random_4k(70), &load, "duration = \"5 s\"", "duration = \"200 s\"");
        let left = run("exos-15e900-512n", &text, &[]);
        assert_near(arrival, left.iops(), 60.0, tolerance);
        assert!(left.0["concurrency"].is_null());
    }
}

#[test]
fn an_open_loop_beyond_saturation_gets_what_the_drive_can_do() {
    let load = "open = { rate_iops = 2000, arrival = \"poisson\" }";
    let text = workload(&random_4k(100), load, "", "duration = \"10 s\"");
    let left = run("exos-15e900-512n", &text, &[]);
    assert!(left.iops() < 1000.0 && left.summary("queue_depth_mean") > 1000.0, "{}", left.iops());
}

fn iops(machine: &str, read_pct: u32, depth: u32) -> f64 {
    let text = workload(&random_4k(read_pct), &closed(depth), "ios = 1000", "ios = 20000");
    run(machine, &text, &[("wce", "off")]).iops()
}

#[test]
fn a_stripe_multiplies_random_ios_by_its_members() {
    // Shares of the members vary by chance and IOPS grow less than the depth: never more than four times, and
    // little less.
    for read_pct in [100, 0] {
        let (one, four) = (iops(LAYOUTS[0], read_pct, 16), iops("raid0:4xexos-15e900-512n", read_pct, 64));
        let gain = four / one;
        assert!((3.5..4.04).contains(&gain), "{read_pct} % reads: {gain}");
    }
}

#[test]
fn a_mirror_reads_from_both_and_writes_to_both() {
    let (one, two) = (iops(LAYOUTS[0], 100, 8), iops("raid1:2xexos-15e900-512n", 100, 16));
    assert!((1.8..2.3).contains(&(two / one)), "reads: {two} of {one}");
    let (one, two) = (iops(LAYOUTS[0], 0, 8), iops("raid1:2xexos-15e900-512n", 0, 8));
    assert!((0.75..=1.0).contains(&(two / one)), "the later of two writes is never sooner: {two} of {one}");
}

#[test]
fn a_striped_mirror_is_a_stripe_of_mirrors() {
    // Four members against two at half the depth: twice, within what unequal shares cost.
    for read_pct in [100, 0] {
        let (two, four) =
            (iops("raid1:2xexos-15e900-512n", read_pct, 16), iops("raid10:4xexos-15e900-512n", read_pct, 32));
        assert!((1.75..2.04).contains(&(four / two)), "{read_pct} % reads: {four} of {two}");
    }
}

#[test]
fn parity_costs_its_number_of_device_ios() {
    // A small write reads and writes the data and each parity; with three members reading the other data is cheaper.
    // The I/Os under way at the ends are the error: 4 legs or 6 for each of 8 in 5,000.
    // RAID 50 and 60 write as one of their groups does.
    let cases = [
        ("raid5:3x", 1.0, 2.0),
        ("raid5:4x", 2.0, 2.0),
        ("raid5:8x", 2.0, 2.0),
        ("raid6:8x", 3.0, 3.0),
        ("raid50:6x", 1.0, 2.0),
        ("raid50:8x", 2.0, 2.0),
        ("raid60:8x", 1.0, 3.0),
    ];
    for (layout, reads, writes) in cases {
        let text = workload(&random_4k(0), &closed(8), "ios = 100", "ios = 5000");
        let left = run(&format!("{layout}exos-15e900-512n"), &text, &[("wce", "off")]);
        let ios = left.summary("count");
        assert_near(&format!("{layout} reads"), left.counter("reads") / ios, reads, 0.005);
        assert_near(&format!("{layout} writes"), left.counter("writes") / ios, writes, 0.005);
    }
}

#[test]
fn raidz_costs_what_its_published_formula_says() {
    // A 4 KiB read reads a record, a 4 KiB write reads and writes one, with its parity: records of 128 KiB and sectors of
    // 4 KiB on 6 members with 2 parities are 32 sectors in 8 rows, with 16 of parity. The I/Os under way at the ends are
    // the error: 4 or 6 columns for each of 8 in 5,000.
    for (read_pct, reads, writes) in [(100, 32.0, 0.0), (0, 32.0, 48.0)] {
        let text = workload(&random_4k(read_pct), &closed(8), "ios = 100", "ios = 5000");
        let left = run("raidz2:6xexos-15e900-512n", &text, &[("wce", "off")]);
        let ios = left.summary("count");
        let sectors = |counter: &str| left.counter(counter) / 4096.0 / ios;
        assert!((sectors("read_bytes") - reads).abs() <= 0.005 * reads, "{read_pct} %: {}", sectors("read_bytes"));
        assert!((sectors("written_bytes") - writes).abs() <= 0.005 * writes, "{read_pct} %");
    }
}

#[test]
fn a_forced_write_to_raidz_costs_a_sector_of_its_log_with_parity_and_time_on_media() {
    let measured = |fua: bool, depth: u32| {
        let stream = format!("{}\nfua = {fua}", random_4k(0));
        let text = workload(&stream, &closed(depth), "ios = 100", "ios = 3000");
        let left = run("raidz2:6xexos-15e900-512n", &text, &[("wce", "on")]);
        (left.counter("written_bytes") / 4096.0 / left.summary("count"), left.summary("latency_mean_ns"))
    };
    let (plain, forced) = (measured(false, 1), measured(true, 1));
    assert_near("one at a time", forced.0 - plain.0, 3.0, 0.01);
    // Six disks empty their caches onto the media before it is answered: the slowest takes a turn of 4 ms or more.
    assert!(forced.1 > plain.1 + 4e6, "{} where it is {} without", forced.1, plain.1);
    let shared = measured(true, 32).0 - plain.0;
    assert!((0.0..1.0).contains(&shared), "many share a block: {shared}");
}

#[test]
fn a_shared_link_caps_what_its_drives_deliver() {
    // Four drives stream 300 MB/s each through 400 MB/s.
    let machine = "[drives.d]\nproduct = \"exos-15e900-512n\"\ncount = 4\n[links.bus]\nrate = \"400 MB/s\"\n\
                   [layouts.data]\nraid0 = { members = \"d*\" }\n";
    let stream = "read_pct = 100\nrandom_pct = 0\nsize = \"256 KiB\"\nrange = [\"0 %\", \"2 %\"]";
    let text = workload(stream, &closed(8), "duration = \"1 s\"", "duration = \"4 s\"");
    let left = run(machine, &text, &[]);
    assert_near("through the link", left.summary("bandwidth_bytes_per_s"), 400e6, 0.02);
}
