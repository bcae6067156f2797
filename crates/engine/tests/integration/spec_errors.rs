//! Does every mistake get one line that names file, key, value and what is accepted?

use crate::common::refused::{
    DRIVE, SIX, TWO, good, machine_is_refused, refused, says, set_is_refused, stream_is_refused, workload_is_refused,
};
use crate::common::{catalog, closed, random_4k, request, workload};
use hotband_engine::{Request, Run};

#[test]
fn names_that_do_not_exist_are_told_with_the_nearest() {
    machine_is_refused("exos-15e900-512m", &["MACHINE", "\"exos-15e900-512m\"", "did you mean", "exos-15e900-512n"]);
    machine_is_refused(
        "[drives.d]\nproduct = \"savio-10k1\"\n",
        &["machine.toml", "drives.d.product", "\"savvio-10k1\""],
    );
    machine_is_refused("raid7:4xsavvio-10k1", &["layout", "\"raid7\"", "raid5", "did you mean"]);
    machine_is_refused("raid5:4xsavvio-10k2", &["\"savvio-10k2\"", "did you mean", "savvio-10k1"]);
    let raid = format!("{SIX}[layouts.a]\nraid51 = {{ members = \"d*\" }}\n");
    machine_is_refused(&raid, &["machine.toml", "layouts.a.raid51", "raid5", "did you mean"]);
    let unknown = Request { workload: "no-such-workload".into(), workload_text: None, ..request(DRIVE, "", &[]) };
    says(&refused(unknown), &["WORKLOAD", "\"no-such-workload\"", "expected one of"]);
    let named = "[drives.d]\nproduct = \"savvio-10k1\"\n[volumes.data]\non = \"d\"\n";
    let text = workload(&format!("{}\nvolume = \"db\"", random_4k(100)), &closed(1), "", "ios = 1");
    says(&refused(request(named, &text, &[])), &["streams[0].volume", "\"db\"", "data"]);
    workload_is_refused(
        &good().replace("measure = true", "measure = true\nstreams = [\"x\"]"),
        &["phases[0].streams", "main"],
    );
}

#[test]
fn a_number_without_its_unit_or_with_a_wrong_one_is_refused() {
    for value in ["16.0", "16", "\"16.0\"", "\"16 GB\"", "\"-1 ms\"", "true"] {
        let closed = format!("closed = {{ threads = 1, think = {value} }}");
        let text = workload(&random_4k(100), &closed, "", "ios = 1");
        workload_is_refused(&text, &["load.closed.think", value.trim_matches('"'), "a time with its unit", "4.16 ms"]);
    }
    for value in ["4096", "\"4096\"", "\"4 ms\"", "\"-4 KiB\"", "\"0 B\"", "\"513 B\"", "\"1 GiB\""] {
        stream_is_refused(&format!("size = {value}"), &["streams[0].size"]);
    }
    workload_is_refused(
        &workload(&random_4k(100), &closed(1), "", "duration = 16.0"),
        &["phases[0].duration", "16.0", "a time"],
    );
    let link = format!("{TWO}[layouts.a]\nraid0 = {{ members = \"d*\" }}\n[links.l]\nrate = 1200\n");
    machine_is_refused(&link, &["links.l.rate", "1200", "GB/s"]);
    set_is_refused(DRIVE, "command_overhead", "16.0", &["command_overhead", "a time with its unit"]);
    set_is_refused(DRIVE, "bs", "4096", &["bs", "4096", "a size with its unit"]);
    let request = Request { duration: Some("60".into()), ..request(DRIVE, &good(), &[]) };
    says(&refused(request), &["duration", "\"60\"", "a time with its unit"]);
}

#[test]
fn counts_and_shares_out_of_range_are_refused() {
    for (load, key) in [
        ("closed = { threads = 0 }", "load.closed.threads"),
        ("closed = { threads = -1 }", "load.closed.threads"),
        ("closed = { threads = 1, depth = 0 }", "load.closed.depth"),
        ("closed = { threads = 65536, depth = 65536 }", "load.closed.depth"),
        ("closed = { depth = 4 }", "load.closed.threads"),
        ("open = { rate_iops = 0, arrival = \"fixed\" }", "load.open.rate_iops"),
        ("open = { rate_iops = 10 }", "load.open.arrival"),
        ("open = { rate_iops = 10, arrival = \"bursty\" }", "load.open.arrival"),
        ("", "load"),
    ] {
        workload_is_refused(&workload(&random_4k(100), load, "", "ios = 1"), &[key]);
    }
    stream_is_refused("read_pct = 101", &["streams[0].read_pct", "101", "from 0 to 100"]);
    stream_is_refused("read_pct = \"half\"", &["streams[0].read_pct", "half"]);
    stream_is_refused("random_pct = 50", &["streams[0].random_mode", "coin", "run"]);
    stream_is_refused("align = \"100 B\"", &["streams[0].align", "512"]);
    stream_is_refused("offsets = { zipf = { exponent = 0 } }", &["offsets.zipf.exponent"]);
    stream_is_refused("offsets = { hotspot = { data = \"100 %\", ios = \"1 %\" } }", &["offsets.hotspot.data"]);
    stream_is_refused("sizes = { \"4 KiB\" = 0 }", &["streams[0].size"]);
    set_is_refused(DRIVE, "qd", "0", &["qd", "\"0\"", "from 1 to"]);
    set_is_refused(DRIVE, "read_pct", "101", &["read_pct"]);
    set_is_refused(DRIVE, "span", "0 %", &["span", "100 GB"]);
    set_is_refused(DRIVE, "rate_iops", "0", &["rate_iops", "I/Os a second"]);
    let many = TWO.replace("count = 2", "count = 4097");
    machine_is_refused(&many, &["drives.d.count", "4097", "4096"]);
    machine_is_refused(
        &format!("{}{}", TWO.replace('2', "4096"), SIX.replace("drives.d", "drives.e")),
        &["drives", "4096"],
    );
}

#[test]
fn ranges_that_do_not_fit_are_refused() {
    stream_is_refused("range = [\"0 GB\", \"901 GB\"]", &["streams[0].range", "901000000000 B", "beyond the target"]);
    stream_is_refused("range = [\"50 %\", \"50 %\"]", &["streams[0].range", "ends where it begins"]);
    stream_is_refused("range = [\"0 GB\"]", &["streams[0].range", "two addresses"]);
    stream_is_refused("range = [\"-1 GB\", \"1 GB\"]", &["streams[0].range", "two addresses"]);
    stream_is_refused("range = [\"100 B\", \"1 GB\"]", &["streams[0].range", "misaligned"]);
    set_is_refused_at_range("span", "1 TB");
    let volume = |on: &str| format!("{TWO}[layouts.a]\nraid0 = {{ members = \"d*\" }}\n[volumes]\nv = {on}\n");
    machine_is_refused(&volume("{ on = \"a\", size = \"200 GB\" }"), &["volumes.v", "beyond its layout"]);
    machine_is_refused(&volume("{ on = \"a\", from = \"200 GB\" }"), &["volumes.v", "beyond its layout"]);
    machine_is_refused(&volume("{ on = \"a\", from = \"1 B\" }"), &["volumes.v.from", "block of 512 B"]);
    machine_is_refused(&volume("{ on = \"b\" }"), &["volumes.v.on", "\"b\""]);
    machine_is_refused(&volume("{ on = \"d*\" }"), &["volumes.v.on", "one layout or one drive"]);
    machine_is_refused(&volume("{ on = \"a\", from = \"-1 GB\" }"), &["volumes.v.from", "a size with its unit"]);
    let member = format!("{TWO}[layouts.a]\nraid0 = {{ members = \"d*\", size = \"1 TB\" }}\n");
    machine_is_refused(&member, &["layouts.a.raid0.size", "beyond a member"]);
    machine_is_refused(&member.replace("1 TB", "1000 B"), &["layouts.a.raid0.size", "block of 512 B"]);
}

#[track_caller]
fn set_is_refused_at_range(key: &str, value: &str) {
    says(&refused(request(DRIVE, &good(), &[(key, value)])), &["streams[0].range", "beyond the target"]);
}

#[test]
fn layouts_that_cannot_be_built_are_refused() {
    for (layout, members) in
        [("raid0", 1), ("raid1", 1), ("raid5", 2), ("raid6", 3), ("raid10", 2), ("raid10", 5), ("single", 2)]
    {
        machine_is_refused(&format!("{layout}:{members}xsavvio-10k1"), &["members", &format!("\"{members}\"")]);
    }
    for chunk in ["0 B", "100 B", "2 GiB", "64", "5 KiB"] {
        machine_is_refused(&format!("raid0:2xsavvio-10k1:{chunk}"), &["chunk", chunk]);
    }
    for short in
        ["raid0:savvio-10k1", "raid0:0xsavvio-10k1", "raid0:-1xsavvio-10k1", "raid0:4097xsavvio-10k1", "raid0:"]
    {
        machine_is_refused(short, &["MACHINE", short, "LAYOUT:COUNTxDRIVE"]);
    }
    let layouts = |text: &str| format!("{SIX}{text}");
    machine_is_refused(&layouts("[layouts.a]\n"), &["layouts.a", "exactly one layout"]);
    machine_is_refused(&layouts("[layouts.a]\nraid0 = {}\n"), &["layouts.a.raid0.members", "missing"]);
    machine_is_refused(&layouts("[layouts.a]\nraid0 = { members = \"d1, d1\" }\n"), &["members", "\"d1\"", "twice"]);
    machine_is_refused(&layouts("[layouts.a]\nraid0 = { members = \"d3..d0\" }\n"), &["members", "selects nothing"]);
    machine_is_refused(&layouts("[layouts.a]\nraid0 = { members = \"x*\" }\n"), &["members", "selects nothing"]);
    machine_is_refused(&layouts("[layouts.a]\nraid0 = { members = \"\" }\n"), &["members"]);
    let overlap = "[layouts.a]\nraid0 = { members = \"d0..d3\" }\n[layouts.b]\nraid0 = { members = \"d3..d5\" }\n";
    machine_is_refused(&layouts(overlap), &["layouts.b.raid0", "\"a\"", "from and size"]);
    machine_is_refused(&layouts(""), &["volumes", "name one or more volumes"]);
}

#[test]
fn what_a_4kn_drive_cannot_take_is_refused_before_the_run() {
    for (line, key) in
        [("size = \"512 B\"", "sizes"), ("align = \"512 B\"", "align"), ("range = [\"512 B\", \"1 GB\"]", "range")]
    {
        let stream = format!(
            "read_pct = 100\nrandom_pct = 100\n{}{line}",
            if key == "sizes" { "" } else { "size = \"4 KiB\"\n" }
        );
        let text = workload(&stream, &closed(1), "", "ios = 1");
        let accepted = Run::new(&catalog(), request("exos-15e900-512e", &text, &[]));
        assert!(accepted.is_ok(), "512 bytes are fine on 512e");
        let refused = refused(request("exos-15e900-512e", &text, &[("sector_format", "4Kn")]));
        says(&refused, &["workload.toml", &format!("streams[0].{key}"), "misaligned", "4096 B"]);
    }
}

#[test]
fn keys_that_nobody_asked_for_are_refused_everywhere() {
    machine_is_refused(&format!("{TWO}colour = 1\n"), &["drives.d.colour", "unknown key", "count"]);
    machine_is_refused(&format!("colour = 1\n{TWO}"), &["colour", "unknown key"]);
    machine_is_refused("raid0:2xsavvio-10k1:64KiB:x", &["chunk"]);
    machine_is_refused(
        &format!("{TWO}[layouts.a]\nraid0 = {{ members = \"d*\", chnk = \"4 KiB\" }}\n"),
        &["layouts.a.raid0.chnk", "did you mean \"chunk\""],
    );
    machine_is_refused(
        &format!("{TWO}[links.l]\nrate = \"1 GB/s\"\nlane = 2\n"),
        &["links.l.lane", "did you mean \"lanes\""],
    );
    machine_is_refused(
        &format!("{TWO}[volumes]\nv = {{ on = \"d0\", sise = \"1 GB\" }}\n"),
        &["volumes.v.sise", "did you mean \"size\""],
    );
    machine_is_refused(&TWO.replace("count = 2", "set = { wec = \"off\" }"), &["drives.d.set", "did you mean \"wce\""]);
    stream_is_refused("raed_pct = 1", &["streams[0].raed_pct", "did you mean \"read_pct\""]);
    stream_is_refused("offsets = { zip = 1 }", &["streams[0].offsets.zip", "zipf"]);
    workload_is_refused(&good().replace("depth = 1", "depht = 1"), &["load.closed.depht", "did you mean \"depth\""]);
    workload_is_refused(&good().replace("ios = 1", "ios = 1\nlength = 2"), &["phases[0].length"]);
    workload_is_refused(&format!("colour = 1\n{}", good()), &["colour", "unknown key"]);
    set_is_refused(DRIVE, "queue_tag", "1", &["queue_tag", "did you mean \"queue_tags\""]);
}

#[test]
fn what_is_said_twice_or_not_at_all_is_refused() {
    let drives = format!("{TWO}[drives.d1]\nproduct = \"savvio-10k1\"\n");
    machine_is_refused(&drives, &["drives.d1", "\"d1\"", "two drives have this name"]);
    machine_is_refused(
        &format!("{TWO}[layouts.d1]\nraid0 = {{ members = \"d*\" }}\n"),
        &["layouts.d1", "another part has this name"],
    );
    machine_is_refused(
        &format!("{TWO}[links.a]\nrate = \"1 GB/s\"\n[links.b]\nrate = \"1 GB/s\"\n"),
        &["links.b.carries", "one link only"],
    );
    machine_is_refused("title = \"x\"\n", &["drives", "missing"]);
    machine_is_refused("[drives.d]\ncount = 2\n", &["drives.d.product", "missing"]);
    machine_is_refused("[drives.d]\nproduct = 7\n", &["drives.d.product", "\"7\"", "a text in quotes"]);
    let stream = format!("{}\n[[streams]]\n{}", random_4k(100), random_4k(0));
    workload_is_refused(
        &workload(&stream, &closed(1), "", "ios = 1"),
        &["streams", "\"main\"", "two streams have this name"],
    );
    workload_is_refused("", &["streams", "missing"]);
    workload_is_refused(&good().replace("measure = true", ""), &["phases", "exactly one phase with measure"]);
    workload_is_refused(
        &good().replace("ios = 1", "ios = 1\nduration = \"1 s\""),
        &["phases[0].duration", "expected one of"],
    );
    workload_is_refused(&good().replace("ios = 1", "duration = \"0 s\""), &["phases[0].duration"]);
    workload_is_refused(&format!("interval = \"1 us\"\n{}", good()), &["interval", "at least 1 ms"]);
    let long = good().replace("ios = 1", "duration = \"10000 d\"");
    workload_is_refused(&long, &["interval", "\"1 s\"", "10 million intervals"]);
}

#[test]
fn hot_bands_that_make_no_sense_are_refused() {
    let band = |name: &str, range: &str| {
        let keys = "read_pct = 65\nrandom_pct = 100\nsize = \"8 KiB\"\noffsets = { hotband = {} }";
        format!("[[streams]]\nname = \"{name}\"\nrange = {range}\n{keys}\n")
    };
    let bands = |one: &str, two: &str| {
        let phase = "[[phases]]\nios = 1\nmeasure = true\n";
        format!("[load]\n{}\n{}{}{phase}", closed(1), band("hot1", one), band("hot2", two))
    };
    let good = "[\"10 %\", \"18 %\"]";
    for range in ["[\"890 GB\", \"901 GB\"]", "[\"90 %\", \"1 TB\"]"] {
        workload_is_refused(&bands(good, range), &["streams[1].range", "beyond the target of 900"]);
    }
    for range in ["[\"20 %\", \"20 %\"]", "[\"30 %\", \"20 %\"]"] {
        workload_is_refused(&bands(good, range), &["streams[1].range", "ends where it begins"]);
    }
    workload_is_refused(&bands(good, "[\"101 %\", \"102 %\"]"), &["streams[1].range", "two addresses"]);
    for range in ["[\"17 %\", \"25 %\"]", "[\"12 %\", \"14 %\"]", "[\"0 %\", \"100 %\"]"] {
        workload_is_refused(&bands(good, range), &["streams[1].range", "overlaps", "\"hot1\""]);
    }
    for range in [good, "[\"18 %\", \"26 %\"]"] {
        assert!(Run::new(&catalog(), request(DRIVE, &bands(good, range), &[])).is_ok(), "{range}: the same or none");
    }
    for (inner, key, accepted) in [
        ("writes_shifted = \"101 %\"", "writes_shifted", "0 % to 100 %"),
        ("writes_shifted = \"100 %\"", "writes_shifted", "below 100 %"),
        ("writes_shifted = 0.01", "writes_shifted", "a share"),
        ("table_unit = \"1 B\"", "table_unit", "1 kB to 1 MB"),
        ("writes_shift = \"1 %\"", "writes_shift", "did you mean \"writes_shifted\""),
    ] {
        let text = bands(good, "[\"18 %\", \"26 %\"]").replacen("hotband = {}", &format!("hotband = {{ {inner} }}"), 1);
        workload_is_refused(&text, &[&format!("streams[0].offsets.hotband.{key}"), accepted]);
    }
    stream_is_refused("start = \"20 %\"", &["streams[0].start", "random_pct is 100"]);
    let sequential = |start: &str| {
        let stream = format!("read_pct = 100\nrandom_pct = 0\nsize = \"4 KiB\"\nstart = \"{start}\"");
        workload(&stream, &closed(1), "", "ios = 1")
    };
    workload_is_refused(&sequential("100 %"), &["streams[0].start", "\"100 %\"", "below 100 %"]);
    workload_is_refused(&sequential("20 GB"), &["streams[0].start", "\"20 GB\"", "a share"]);
}

#[test]
fn steps_that_make_no_sense_are_refused() {
    let with = |load: &str, phases: &str| format!("[load]\n{load}\n[[streams]]\n{}\n{phases}", random_4k(100));
    let phase = |keys: &str| format!("[[phases]]\nios = 1\n{keys}\n");
    let step = |name: &str| phase(&format!("name = \"{name}\"\nmeasure = true"));
    let refused_phases = |phases: &str, parts: &[&str]| workload_is_refused(&with(&closed(1), phases), parts);
    refused_phases(&phase(""), &["phases", "measure = true", "follow one another"]);
    refused_phases(&format!("{}{}{}", step("a"), phase(""), step("b")), &["phases[2].measure", "directly"]);
    refused_phases(&format!("{}{}", step("a"), step("a")), &["phases[1].name", "\"a\"", "two measured phases"]);
    for (threads, accepted) in [("0", "from 1 to"), ("65537", "from 1 to"), ("\"2\"", "from 1 to")] {
        refused_phases(&phase(&format!("measure = true\nthreads = {threads}")), &["phases[0].threads", accepted]);
    }
    let threads = phase("measure = true\nthreads = 40000");
    let deep = with("closed = { threads = 1, depth = 2 }", &threads);
    workload_is_refused(&deep, &["phases[0].threads", "\"40000\"", "depth (2 in [load])", "65536"]);
    let open = with("open = { rate_iops = 9, arrival = \"fixed\" }", &threads);
    workload_is_refused(&open, &["phases[0].threads", "no closed loop in [load]"]);
    let own = format!("[[streams]]\n{}\nload = {{ {} }}\n{threads}", random_4k(100), closed(1));
    workload_is_refused(&own, &["phases[0].threads", "no closed loop in [load]"]);
    let text = with(&closed(1), &format!("{}{}", phase("name = \"fill\"\nthreads = 2"), step("a")));
    for key in ["threads", "qd"] {
        says(&refused(request(DRIVE, &text, &[(key, "4")])), &["set", key, "phases[0].threads", "\"fill\""]);
    }
    assert!(Run::new(&catalog(), request(DRIVE, &text, &[("think", "1 ms")])).is_ok());
    refused_phases(&phase("until_warm = true"), &["phases[0].until_warm", "a duration"]);
    let measured = "[[phases]]\nduration = \"1 h\"\nuntil_warm = true\nmeasure = true\n";
    refused_phases(measured, &["phases[0].until_warm", "without measure = true"]);
    refused_phases(
        &measured.replace("until_warm = true", "until_warm = 1"),
        &["phases[0].until_warm", "true or false"],
    );
    let long = |name: &str| step(name).replace("ios = 1", "duration = \"60 d\"");
    refused_phases(&format!("{}{}", long("a"), long("b")), &["interval", "10 million intervals"]);
    let text = with(&closed(1), &format!("{}{}", step("a"), step("b")));
    let request = Request { duration: Some("60 d".into()), ..request(DRIVE, &text, &[]) };
    says(&refused(request), &["duration", "intervals"]);
}

#[test]
fn what_is_no_toml_is_told_with_its_line() {
    machine_is_refused("[drives.d]\nproduct = \n", &["machine.toml", "line 2", "not valid TOML"]);
    workload_is_refused("[load\n", &["line 1", "not valid TOML"]);
    workload_is_refused("a = \"\u{1}\n\n\n\"", &["not valid TOML"]);
    machine_is_refused("[drives.\"a\\nb\"]\nproduct = \"x\ny\"\n", &["not valid TOML"]);
    machine_is_refused("[drives.\"a\\nb\"]\nproduct = \"x\"\n", &["drives.a b.product"]);
}

#[test]
fn values_that_no_drive_can_have_are_refused() {
    for (key, value, accepted) in [
        ("seek_read_average", "0.1 ms", "impossible: the shortest seek"),
        ("seek_read_average", "6 ms", "impossible: the longest seek"),
        ("seek_read_average", "0.5 ms", "a third of the way"),
        ("seek_read_full", "2 s", "at most 1 s"),
        ("rpm", "10 rpm", "60 rpm"),
        ("heads", "0", "from 1 to 64"),
        ("zones", "1000", "from 1 to 128"),
        ("capacity", "1 kB", "1 MB"),
        ("capacity", "900 PB", "100 TB"),
        ("sustained_inner", "0 B/s", "above zero"),
        ("sustained_inner", "10 GB/s", "at most sustained_outer"),
        ("sustained_outer", "100 GB/s", "at most 10 GB/s"),
        ("track_skew", "0.1 ms", "single-track write seek"),
        ("head_skew", "1 d", "at most a revolution"),
        ("port_rate", "0 B/s", "at least 1 MB/s"),
        ("command_overhead", "1 h", "at most 1 s"),
        ("queue_tags", "0", "from 1 to"),
        ("queue_order", "lifo", "fcfs"),
        ("wce", "volatile", "off, on"),
        ("sector_format", "520n", "512n"),
        ("sector_format", "4Kn", "no Fast Format"),
        ("cache_size", "0 B", "at least 4 KiB a segment"),
        ("cache_size", "64 KiB", "at least 4 KiB a segment"),
        ("rcd", "yes", "off, on"),
        ("awc", "maybe", "off, on"),
        ("awc_size", "0 B", "switch it off"),
        ("awc_extents", "0", "1"),
        ("awc_bypass", "0 B", "512 B"),
        ("awc_drain", "120 %", "100 %"),
        ("write_cache_size", "0 B", "switch it off"),
        ("turboboost", "off", "exos-15e900-512n has no flash read cache"),
    ] {
        set_is_refused(DRIVE, key, value, &["set: ", key, accepted]);
    }
    set_is_refused("savvio-10k1", "awc", "on", &["set: awc", "savvio-10k1 has no protected write cache"]);
    for (key, value, accepted) in [
        ("turboboost", "yes", "off, on"),
        ("sector_format", "512n", "512e or 4Kn"),
        ("flash_size", "0 B", "switch it off"),
        ("flash_size", "2 TB", "to the disk's"),
        ("flash_block", "5 KiB", "power of two"),
        ("flash_block", "512 B", "4 KiB to 16 MiB"),
        ("flash_region", "100 KiB", "multiple of flash_block"),
        ("flash_region", "4 KiB", "multiple of flash_block"),
        ("flash_lanes", "0", "from 1 to 64"),
        ("flash_hot_reads", "0", "from 1 to 255"),
        ("flash_read_rate", "0 B/s", "1 kB/s"),
        ("flash_write_rate", "10 B/s", "1 kB/s"),
        ("flash_promotion_rate", "0 B/s", "1 kB/s"),
        ("flash_read_latency", "2 s", "at most 1 s"),
        ("flash_ranking", "0 s", "above zero"),
        ("flash_ageing", "1 ms", "at least 1 s"),
        ("flash_largest", "0 B", "switch it off"),
    ] {
        set_is_refused("exos-15e900-512e", key, value, &[&format!("set: {key}: "), accepted]);
    }
    let machine = "[drives.d]\nproduct = \"savvio-10k1\"\nset = { heads = 0 }\n";
    machine_is_refused(machine, &["machine.toml", "drives.d.set.heads", "\"0\""]);
    let slow = [("sustained_inner", "1 kB/s"), ("sustained_outer", "1 kB/s")];
    says(&refused(request(DRIVE, &good(), &slow)), &["set", "sustained_outer", "too low for this capacity"]);
}
