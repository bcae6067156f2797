//! Are drives in use written over first where nothing else is said, and is it said how drives and caches were?

use crate::common::{Left, catalog, closed, execute, random_4k, request, run, solid_state, workload};
use hotband_engine::{Request, Run};
use serde_json::Value;

fn load(read_pct: u32) -> String {
    workload(&random_4k(read_pct), &closed(8), "", "ios = 500")
}

fn in_use(machine: &str, text: &str, set: &[(&str, &str)]) -> Request {
    Request { in_use: true, ..request(machine, text, set) }
}

fn left(request: Request) -> Left {
    Left(serde_json::from_str(&execute(request).record.to_json()).expect("a record is JSON"))
}

fn state(left: &Left) -> &Value {
    &left.0["drive_state"]["drives"][0]
}

fn notes(left: &Left, what: &str) -> Vec<String> {
    let all = left.0["notes"].as_array().expect("a record has notes").iter();
    all.filter_map(|note| note.as_str()).filter(|note| note.contains(what)).map(str::to_owned).collect()
}

#[test]
fn drives_in_use_are_written_over_first_and_that_is_said() {
    let used = left(in_use("s4500-960", &load(100), &[("scale", "256")]));
    assert_eq!(notes(&used, "preconditioned first"), ["d0: preconditioned first (state=fob: new)"]);
    assert_eq!(notes(&used, "never written"), [""; 0]);
    assert_eq!(
        (state(&used)["holds"].as_str(), used.0["spec"]["set"]["state"].as_str()),
        (Some("preconditioned"), Some("preconditioned"))
    );
    let said = run("s4500-960", &load(100), &[("scale", "256"), ("state", "preconditioned")]);
    assert_eq!(used.0["summary"], said.0["summary"], "it is what saying so does");
}

#[test]
fn what_is_said_stays() {
    let new = left(in_use("s4500-960", &load(100), &[("state", "fob")]));
    assert_eq!((state(&new)["holds"].as_str(), state(&new)["scale"].as_u64()), (Some("new"), Some(1)));
    let text = format!("[precondition]\nsequential = 0.001\n{}", load(100));
    let filled = left(in_use("s4500-960", &text, &[]));
    assert_eq!((state(&filled)["holds"].as_str(), state(&filled)["scale"].as_u64()), (Some("filled"), Some(1)));
    for left in [&new, &filled] {
        assert_eq!(notes(left, "preconditioned first"), [""; 0]);
    }
    let library = run("s4500-960", &load(100), &[]);
    assert_eq!(state(&library)["holds"].as_str(), Some("new"), "only who asks for drives in use gets them");
}

#[test]
fn every_drive_of_the_catalog_and_an_array_of_many_are_small_enough_to_be_written_quickly() {
    let machines = solid_state().into_iter().chain(["raid5:24xs4500-960".to_owned()]);
    for machine in machines {
        let run =
            Run::new(&catalog(), in_use(&machine, &load(0), &[])).unwrap_or_else(|error| panic!("{machine}: {error}"));
        let megabytes = run.memory().0 / 1_000_000;
        // Eight bytes a page of at most 32 GB and ten of its stored contents, twice that where only a smaller scale
        // divides the blocks.
        assert!(megabytes <= 288, "{machine}: {megabytes} MB");
    }
}

/// Random 4 KiB I/Os of which `read_pct` are reads, over a range.
fn over(range: &str, read_pct: u32, ios: u32) -> String {
    workload(&format!("{}\nrange = {range}", random_4k(read_pct)), &closed(8), "", &format!("ios = {ios}"))
}

#[test]
fn ranges_in_bytes_shrink_with_the_drives_as_shares_do() {
    let array = "raid5:3x7450-pro-3840";
    let of = |range: &str| left(in_use(array, &over(range, 50, 100_000), &[]));
    // 4 TB of 7.68.
    let (bytes, share) = (of("[\"0 GB\", \"4 TB\"]"), of("[\"0 %\", \"52.0731 %\"]"));
    for left in [&bytes, &share] {
        assert_eq!((state(left)["holds"].as_str(), state(left)["scale"].as_u64()), (Some("preconditioned"), Some(512)));
        assert_eq!(notes(left, "as large a share"), [""; 0]);
    }
    for (figure, most) in [("iops", 0.01), ("latency_mean_ns", 0.01), ("latency_p99_ns", 0.03)] {
        let [a, b] = [&bytes, &share].map(|left| left.0["summary"][figure].as_f64().expect("a summary has it"));
        assert!((a / b - 1.0).abs() <= most, "{figure}: {a} and {b}");
    }
}

#[test]
fn small_ranges_keep_their_size_and_the_share_that_they_cover_is_noted() {
    let noted = |range: &str| notes(&left(in_use("s4500-960", &over(range, 0, 500), &[])), "as large a share").join("");
    assert!(noted("[\"0 GB\", \"1 GB\"]").contains("cover 32 times"), "a GB is a GB on 1/32 of the drive");
    assert!(noted("[\"0 GB\", \"10 GB\"]").contains("cover 3 times"), "1 GiB in place of 10 GB");
    assert_eq!(noted("[\"100 GB\", \"900 GB\"]"), "");
}

#[test]
fn a_given_scale_shrinks_ranges_and_errors_are_of_full_size_drives() {
    let run = |range: &str| Run::new(&catalog(), in_use("s4500-960", &over(range, 50, 10), &[("scale", "256")]));
    assert!(run("[\"0 GB\", \"4 GB\"]").is_ok() && run("[\"0 GB\", \"960 GB\"]").is_ok());
    let error = run("[\"0 GB\", \"1 TB\"]").err().expect("it is larger than the drive").to_string();
    assert!(error.contains("1000000000000 B") && error.contains("target of 960196"), "{error}");
}

#[test]
fn what_files_reach_to_decides_what_a_scale_leaves() {
    let reach = |range: &str| {
        format!(
            "[[streams]]\nname = \"a\"\nread_pct = 100\nsize = \"64 KiB\"\nrange = [\"0 GB\", \"{range}\"]\n\
             files = {{ count = 10, smallest = \"16 KB\", largest = \"4 MB\", mean = \"1 MB\" }}\n\
             [[scripts]]\nname = \"s\"\nclients = 1\nrepeat = true\n\
             [[scripts.steps]]\nname = \"page\"\nstream = \"a\"\nfiles = 1\n\
             [[phases]]\nios = 10\nmeasure = true\n"
        )
    };
    let run = |range: &str| Run::new(&catalog(), in_use("s4500-960", &reach(range), &[])).expect("it fits").memory().0;
    let (small, large) = (run("20 GB"), run("100 GB"));
    assert!((3 * small..=5 * large).contains(&large), "a scale of 32 and one of 8: {small} and {large}");
    let new = left(in_use("s4500-960", &reach("900 GB"), &[]));
    assert_eq!(state(&new)["holds"].as_str(), Some("new"));
    assert_eq!(notes(&new, "too large to precondition quickly").len(), 1, "{}", new.0["notes"]);
}

#[test]
fn a_new_drive_takes_no_memory_for_what_it_does_not_hold() {
    let new = Run::new(&catalog(), in_use("p5336-61440", &load(100), &[("state", "fob")])).expect("it is read only");
    assert!(new.memory().0 < 100_000_000, "{}", new.memory());
}

#[test]
fn new_drives_that_are_written_to_are_as_much_smaller_as_their_maps_need_to_be() {
    let of = |machine: &str, set: &[(&str, &str)]| {
        let left = left(in_use(machine, &load(0), &[&[("state", "fob")][..], set].concat()));
        let scale = state(&left)["scale"].as_u64();
        assert_eq!(state(&left)["holds"].as_str(), Some("new"));
        (scale, notes(&left, "-size model").join("; "))
    };
    let note = "d0 to d3: 1/16-size model (scale=1: full size)".to_owned();
    assert_eq!(of("raid5:4x7450-pro-3840", &[]), (Some(16), note), "15.4 TB have maps of 15 GB");
    assert_eq!(of("s4500-960", &[]), (Some(1), String::new()), "its map is small enough");
    assert_eq!(of("7450-pro-3840", &[("scale", "32")]), (Some(32), String::new()));
}

#[test]
fn a_rebuild_takes_as_long_as_drives_are_large() {
    let failing =
        Request { events: vec!["at 1 ms: fail d0".to_owned()], ..in_use("raid5:4xs4500-960", &load(100), &[]) };
    let left = left(failing);
    assert_eq!((state(&left)["holds"].as_str(), state(&left)["scale"].as_u64()), (Some("new"), Some(1)));
}

#[test]
fn pools_and_raidz_start_new_and_that_is_said() {
    let text = workload(&random_4k(100), &closed(8), "", "ios = 10");
    for machine in ["raidz1:4xs4500-960", "replicated:4xs4500-960"] {
        let left = left(in_use(machine, &text, &[]));
        assert_eq!(state(&left)["holds"].as_str(), Some("new"), "{machine}");
        assert_eq!(notes(&left, "start new").len(), 1, "{machine}: {}", left.0["notes"]);
    }
}

#[test]
fn machines_with_disks_are_left_as_they_are() {
    let text =
        "[drives.s]\nproduct = \"s4500-960\"\n[drives.d]\nproduct = \"ent-10k\"\n[volumes]\nv = { on = \"s\" }\n";
    let left = left(in_use(text, &load(100), &[]));
    assert_eq!(state(&left)["holds"].as_str(), Some("new"));
    let kinds: Vec<_> = left.0["drive_state"]["drives"]
        .as_array()
        .expect("two kinds")
        .iter()
        .map(|one| one["product"].as_str())
        .collect();
    assert_eq!(kinds, [Some("s4500-960"), Some("ent-10k")]);
}

#[test]
fn caches_are_told_as_they_are_set_and_drives_alike_share_an_entry() {
    let caches = |machine: &str, set: &[(&str, &str)]| {
        let left = run(machine, &load(100), set);
        let state = state(&left);
        (
            state["write_cache"].as_str().map(str::to_owned),
            state["read_ahead"].as_bool(),
            state["flash_cache"].as_bool(),
        )
    };
    let some = |word: &str| Some(word.to_owned());
    assert_eq!(caches("ent-10k", &[("wce", "on")]), (some("volatile"), Some(true), None));
    assert_eq!(caches("ent-10k", &[("wce", "off")]), (some("off"), Some(true), None));
    assert_eq!(
        caches("exos-15e900-512e", &[("awc", "on"), ("turboboost", "off")]),
        (some("protected"), Some(true), Some(false))
    );
    assert_eq!(caches("s4500-960", &[("wce", "off")]), (some("protected"), None, None));
    let array = run("raid10:4xent-10k", &load(100), &[]);
    assert_eq!(state(&array)["drives"].as_array().map(Vec::len), Some(4));
}

/// Random writes of 4 KiB in a range, and how they are told.
fn fits(machine: &str, set: &[(&str, &str)], read_pct: u32, range: &str) -> Vec<String> {
    let stream = format!("{}\nrange = [\"0 MB\", \"{range}\"]", random_4k(read_pct));
    let text = workload(&stream, &closed(8), "ios = 20000", "ios = 20000");
    notes(&run(machine, &text, set), "fits into")
}

#[test]
fn a_span_that_fits_into_a_cache_that_answers_is_told_and_a_larger_one_is_not() {
    let controller = |range: &str| {
        let machine = "[drives.d]\nproduct = \"ent-10k\"\ncount = 2\n[layouts.m]\nraid1 = { members = \"d*\" }\n\
                       [layouts.c]\ncontroller = { members = \"m\", cache = \"64 MiB\" }\n[volumes]\nv = { on = \"c\" }\n";
        fits(machine, &[], 0, range)
    };
    let told = controller("32 MiB");
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].starts_with(
            "the span of 32 MiB fits into the controller's cache of 64 MiB, which absorbed 100 % of writes at once"
        ),
        "{}",
        told[0]
    );
    assert_eq!(controller("256 MiB"), [""; 0]);
}

#[test]
fn a_drive_whose_cache_is_off_is_not_told_of() {
    let on = fits("ent-10k", &[("wce", "on")], 0, "1 MiB");
    assert!(on.len() == 1 && on[0].contains("the drive's write cache"), "{on:?}");
    assert_eq!(fits("ent-10k", &[("wce", "off")], 0, "1 MiB"), [""; 0]);
}

#[test]
fn a_namespace_that_nothing_lies_on_is_told() {
    let machine = |volumes: &str| {
        format!(
            "[drives.d]\nproduct = \"pm9a3-3840\"\nset = {{ namespaces = \"1.9 TB, 1.9 TB\" }}\n[volumes]\n{volumes}\n"
        )
    };
    let one = run(&machine("v = { on = \"d.n1\" }"), &load(100), &[]);
    assert_eq!(notes(&one, "over-provisioning").len(), 1, "{}", one.0["notes"]);
    assert!(notes(&one, "over-provisioning")[0].starts_with("d.n2: nothing lies on it"), "{}", one.0["notes"]);
    let text = format!("{}\nvolume = \"v\"", random_4k(100));
    let both = run(
        &machine("v = { on = \"d.n1\" }\nw = { on = \"d.n2\" }"),
        &workload(&text, &closed(8), "", "ios = 10"),
        &[],
    );
    assert_eq!(notes(&both, "over-provisioning"), [""; 0]);
}

#[test]
fn warm_up_is_set_for_every_phase_before_the_measured_one() {
    let text = workload(&random_4k(100), &closed(8), "duration = \"1 s\"", "ios = 100");
    let reads = |set: &[(&str, &str)]| execute(request("ent-10k", &text, set)).ios;
    let (usual, short, none) = (reads(&[]), reads(&[("warm_up", "100 ms")]), reads(&[("warm_up", "0 s")]));
    // Ten times as long, ten times as many, but for those that are under way.
    assert!(usual - none > 5 * (short - none) && short > none && none == 100, "{usual}, {short}, {none}");
}
