//! Do arrays whose members share preconditioned contents behave like arrays whose members were each written?

use crate::common::{Left, assert_near, closed, one_in, random_4k, run, workload};

/// An array of 7450 PRO. Without `are_shared`, one member has another `wear_gap`, which changes nothing in an unworn
/// drive but makes the members differ: each is written.
fn array(layout: &str, count: u32, are_shared: bool) -> String {
    let drives = |name: &str, count: u32, set: &str| {
        format!("[drives.{name}]\nproduct = \"7450-pro-3840\"\ncount = {count}\n{set}")
    };
    let all = if are_shared {
        drives("da", count, "")
    } else {
        drives("da", count - 1, "") + &drives("db", 1, "set = { wear_gap = 51 }\n")
    };
    format!("{all}[layouts.data]\n{layout}\n[volumes.v]\non = \"data\"\n")
}

fn of(layout: &str, count: u32, are_shared: bool, text: &str) -> Left {
    run(&array(layout, count, are_shared), text, &[("scale", "512"), ("state", "preconditioned")])
}

fn written(left: &Left) -> f64 {
    let drives = left.0["smart"].as_array().expect("drives that wear");
    let bytes = |key: &str| -> f64 {
        let at = |drive: &serde_json::Value, when: &str| drive[when][key].as_f64().expect("bytes");
        drives.iter().map(|drive| at(drive, "at_end") - at(drive, "at_begin")).sum()
    };
    bytes("flash_bytes") / bytes("host_bytes")
}

#[test]
fn rates_latencies_and_amplification_agree() {
    let load = |stream: &str| workload(stream, &closed(16), "ios = 50000", "ios = 150000");
    let mixed = "read_pct = 50\nrandom_pct = 100\nsize = \"8 KiB\"";
    let arrays = [("raid5", 3), ("raid6", 6), ("raid10", 6)].map(|(kind, count)| (kind, count, load(mixed)));
    let writes = ("raid5", 4, load(&random_4k(0)));
    for (kind, count, text) in one_in(4, arrays.into_iter().chain([writes]).collect()) {
        let layout = format!("{kind} = {{ members = \"d*\" }}");
        let [shared, each] = [true, false].map(|are_shared| of(&layout, count, are_shared, &text));
        for (figure, share) in [("iops", 0.01), ("latency_mean_ns", 0.01), ("latency_p99_ns", 0.03)] {
            assert_near(&format!("{figure} of {kind}"), shared.summary(figure), each.summary(figure), share);
        }
        assert_near(&format!("amplification of {kind}"), written(&shared), written(&each), 0.01);
    }
}

#[test]
fn mirrors_hold_the_same_and_members_that_differ_are_each_written() {
    let writes = workload(&random_4k(0), &closed(8), "", "ios = 20000");
    // All writes go to the first member.
    let stream = "read_pct = 50\nrandom_pct = 100\nsize = \"8 KiB\"\nrange = [\"0 GB\", \"1 GB\"]";
    let uneven = workload(stream, &closed(8), "", "ios = 20000");
    let cases = [("raid1 = { members = \"d*\" }", writes), ("raid0 = { members = \"d*\", chunk = \"1 GiB\" }", uneven)];
    for (layout, text) in one_in(2, cases.to_vec()) {
        let [shared, each] = [true, false].map(|are_shared| of(layout, 3, are_shared, &text));
        assert_eq!(shared.0["summary"], each.0["summary"], "{layout}");
    }
}
