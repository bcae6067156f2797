//! Does every mistake in a replicated pool get one line that names file, key, value and what is accepted?

use crate::common::refused::{good, refused, says};
use crate::common::{catalog, closed, random_4k, request, workload};
use hotband_engine::{Request, Run};

/// A machine with these options of a pool of four members.
fn pool(options: &str) -> String {
    format!(
        "[drives.d]\nproduct = \"mg06sca-10tb\"\ncount = 4\n[layouts.p]\nreplicated = {{ members = \"d*\", {options} }}\n"
    )
}

#[track_caller]
fn is_refused(request: Request, parts: &[&str]) {
    says(&refused(request), parts);
}

#[test]
fn the_machines_that_the_mistakes_are_made_in_are_right() {
    let all = "image = \"1 GiB\", object = \"8 MiB\", replicas = 2, osds_per_drive = 2, placement_groups = 32, pool_id = 7, \
               hosts = 2, failure_domain = \"host\", weights = [1, 2.5, 1, 2.5], classes = [\"a\", \"b\", \"a\", \"b\"], \
               class = \"a\", balanced = true, image_id = \"10ab\", core_clock_mhz = 2600, osd = \"bluestore-14\", \
               osd_set = { op_shards = 8 }, client_network = { rate = \"25 Gb/s\", latency = \"20 us\" }, \
               cluster_network = { rate = \"1 GB/s\" }, out = { osd = 1, at = \"60 s\" }";
    for machine in [pool(all), pool("image = \"1 GiB\"")] {
        if let Err(error) = Run::new(&catalog(), request(&machine, &good(), &[("cpu_read", "1 ms")])) {
            panic!("{error}");
        }
    }
}

#[test]
fn options_out_of_bounds_are_refused_by_name() {
    for (options, parts) in [
        (
            "osd = \"bluestore-41\"",
            &["layouts.p.replicated.osd", "\"bluestore-41\"", "did you mean \"bluestore-14\""][..],
        ),
        ("osds = 2", &["layouts.p.replicated.osds", "unknown key", "osds_per_drive"]),
        ("replicas = 5", &["replicas", "\"5\"", "at most 4", "4 daemons"]),
        ("replicas = 0", &["replicas", "\"0\"", "from 1 to 8"]),
        ("replicas = 3, hosts = 2, failure_domain = \"host\"", &["replicas", "\"3\"", "at most 2", "2 hosts"]),
        ("hosts = 3", &["hosts", "\"3\"", "divisor of the 4"]),
        ("hosts = 5", &["hosts", "\"5\"", "from 1 to 4"]),
        ("osds_per_drive = 17", &["osds_per_drive", "\"17\"", "from 1 to 16"]),
        ("placement_groups = 0", &["placement_groups", "\"0\"", "from 1 to 65536"]),
        ("pool_id = -1", &["pool_id", "\"-1\""]),
        ("failure_domain = \"rack\"", &["failure_domain", "\"rack\"", "osd, host"]),
        ("object = \"3 MiB\"", &["object", "power of two", "4 KiB to 32 MiB"]),
        ("object = \"2 KiB\"", &["object", "power of two"]),
        ("object = 4", &["object", "4", "a size with its unit"]),
        ("image = \"100 TB\"", &["image", "\"100 TB\"", "from one object to 64 TiB"]),
        ("image = \"20 TB\"", &["image", "\"20 TB\"", "expected a smaller image", "would be too full"]),
        ("image = \"0 B\"", &["object", "at most the image"]),
        ("image = \"1 GB\", object = \"4 KiB\", replicas = 9", &["replicas", "\"9\""]),
        ("class = \"ssd\"", &["class", "\"ssd\""]),
        ("classes = [\"hdd\", \"hdd\", \"hdd\", \"hdd\"], class = \"hddd\"", &["class", "did you mean \"hdd\""]),
        ("classes = [\"hdd\"]", &["classes", "list of 4 names"]),
        ("weights = [1, 2]", &["weights", "[1, 2]", "list of 4 numbers from"]),
        ("weights = [1, 2, 0, 1]", &["weights", "from 0.0001"]),
        ("weights = \"1\"", &["weights", "list of 4 numbers"]),
        ("balanced = 3", &["balanced", "3"]),
        ("core_clock_mhz = 50", &["core_clock_mhz", "\"50\"", "from 100 to 10000"]),
        ("out = { osd = 4, at = \"1 s\" }", &["out.osd", "\"4\"", "from 0 to 3"]),
        ("out = { at = \"1 s\" }", &["out.osd", "missing"]),
        ("out = { osd = 1 }", &["out.at", "missing"]),
        ("out = { osd = 1, at = 60 }", &["out.at", "60", "a time"]),
        ("out = { osd = 1, at = \"1 s\", back = \"2 s\" }", &["out.back"]),
        ("replicas = 4, out = { osd = 1, at = \"1 s\" }", &["out.osd", "too few daemons for 4 replicas"]),
        ("client_network = { rate = \"1 kB/s\" }", &["client_network.rate", "at least 1 MB/s"]),
        ("cluster_network = { latency = \"2 s\" }", &["cluster_network.latency", "at most 1 s"]),
        ("cluster_network = { lanes = 2 }", &["cluster_network.lanes", "rate"]),
        ("chunk = \"64 KiB\"", &["chunk"]),
        ("force_writes = true", &["force_writes", "leave it out"]),
    ] {
        is_refused(request(&pool(options), &good(), &[]), &[&["machine.toml", "layouts.p"], parts].concat());
    }
}

#[test]
fn a_daemon_that_would_go_out_after_the_run_is_refused() {
    let machine = pool("image = \"1 GiB\", out = { osd = 1, at = \"3 s\" }");
    let lasts = |phases: &str| workload(&random_4k(50), &closed(1), "", phases);
    is_refused(
        request(&machine, &lasts("duration = \"2 s\""), &[]),
        &["machine.toml", "layouts.p.replicated.out.at", "3 s", "at most the run's 2 s"],
    );
    for text in [lasts("duration = \"3 s\""), lasts("ios = 9")] {
        Run::new(&catalog(), request(&machine, &text, &[])).expect("it may go out within the run");
    }
    let followed = Request { is_followed: true, ..request(&machine, &lasts("duration = \"2 s\""), &[]) };
    Run::new(&catalog(), followed).expect("it may go out in a run that follows");
}

#[test]
fn values_of_daemons_are_refused_where_they_were_given() {
    for (key, value, accepted) in [
        ("cpu_raed", "\"1 ms\"", "cpu_read"),
        ("cpu_read", "1", "a time"),
        ("cpu_read", "\"11 s\"", "at most 10 s"),
        ("cpu_clock_mhz", "1", "from 100 to 10000"),
        ("cpu_spread", "\"120 %\"", "0 % to 100 %"),
        ("op_shards", "0", "from 1 to 64"),
        ("data_cache", "4096", "a size"),
        ("data_cache_policy", "\"arc\"", "lru, 2q"),
        ("onode_size", "\"1 B\"", "64 B"),
        ("log_recycling", "\"maybe\"", "off, on"),
        ("wal_bytes", "\"0 B\"", "expected from"),
        ("wal_region", "\"1 MiB\"", "expected from"),
        ("prefer_deferred_size", "\"1 GiB\"", "expected from"),
        ("deferred_batch_ops", "0", "from 1 to 65536"),
        ("db_share", "\"80 %\"", "0.1 % to 50 %"),
        ("io_scheduler", "\"bfq\"", "none, anticipatory"),
        ("recovery_active", "33", "from 1 to 32"),
        ("recovery_sleep", "\"1 min\"", "at most 10 s"),
    ] {
        let machine = pool(&format!("osd_set = {{ {key} = {value} }}"));
        is_refused(request(&machine, &good(), &[]), &["machine.toml", "layouts.p.replicated.osd_set", key, accepted]);
        if key != "cpu_raed" {
            let text = value.trim_matches('"');
            is_refused(request(&pool("replicas = 3"), &good(), &[(key, text)]), &["set", key, accepted]);
        }
    }
    is_refused(request(&pool("replicas = 3"), &good(), &[("op_shard", "4")]), &["set", "did you mean \"op_shards\""]);
}

#[test]
fn members_that_cannot_hold_a_pool_are_refused() {
    let tiny = pool("size = \"64 MiB\", image = \"4 MiB\"");
    is_refused(request(&tiny, &good(), &[]), &["layouts.p.replicated.members", "hold no object"]);
    let shared = format!("{}[layouts.q]\nraid0 = {{ members = \"d*\" }}\n", pool("image = \"1 GiB\""));
    is_refused(request(&shared, &good(), &[]), &["layouts.q", "same part of a member as layout \"p\""]);
    let lun = pool("image = \"1 GiB\"").replace("\"d*\"", "\"d0.lun0, d1, d2\"");
    is_refused(request(&lun, &good(), &[]), &["layouts.p.replicated.members", "d0 has no logical units"]);
    is_refused(request("replicated:2xmg06sca-10tb", &good(), &[]), &["layouts.data", "replicas", "at most 2"]);
    is_refused(request("replicated:6xmg06sca-10tb:64KiB", &good(), &[]), &["layouts.data", "chunk"]);
}

#[test]
fn what_a_pool_cannot_do_is_refused() {
    let machine = pool("image = \"1 GiB\"");
    let loss = Request { power_loss: Some("1 s".into()), ..request(&machine, &good(), &[]) };
    is_refused(loss, &["power_loss", "pools are modelled without"]);
    let trim = workload(&format!("{}\ntrim_pct = 10", random_4k(50)), &closed(1), "", "ios = 1");
    is_refused(request(&machine, &trim, &[]), &["workload.toml", "trim_pct", "\"p\""]);
    let far = workload(
        "read_pct = 100\nrandom_pct = 100\nsize = \"4 KiB\"\nrange = [\"0 GB\", \"2 GB\"]",
        &closed(1),
        "",
        "ios = 1",
    );
    is_refused(request(&machine, &far, &[]), &["range", "beyond the target"]);
}
