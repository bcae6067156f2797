//! Does every drive of the catalog, and every layout, keep the contract of a machine under any schedule?

use crate::common::schedule::{Asked, Driven, machine, schedule};
use crate::common::{catalog, drives, from_sheets, one_in, solid_state};
use hotband_layouts::{CONTROLLER, KINDS, MD, is_pool};
use hotband_machine::Op;
use hotband_units::Instant;
use proptest::prelude::*;

/// Schedules of `make test`, which sets PROPTEST_CASES to the same number: it overrides what a property names.
const SCHEDULES: usize = 48;

/// Number of schedules. `make test-long` sets HOTBAND_LONG.
fn cases() -> u32 {
    if std::env::var_os("HOTBAND_LONG").is_some() { 8 } else { SCHEDULES as u32 }
}

/// The machines on which one schedule runs, of more than a hundred: every `SCHEDULES`th machine from the index `first`
/// on, so that each machine runs about one schedule. In the long form, every schedule runs on all of them.
fn share(machines: Vec<String>, first: usize) -> Vec<String> {
    let first = if std::env::var_os("HOTBAND_LONG").is_some() { 0 } else { first };
    one_in(SCHEDULES, machines.into_iter().skip(first).collect())
}

/// Settings that bring out what the catalog's own values seldom reach: full caches, few tags, write-through.
const SETTINGS: [&str; 4] = [
    "{}",
    "{ wce = \"off\", queue_tags = 3 }",
    "{ wce = \"on\", write_cache_extents = 2, queue_tags = 4, age_bound = \"20 ms\" }",
    "{ wce = \"on\", write_cache_size = \"64 KiB\", cache_segments = 2, look_ahead = \"64 KiB\" }",
];

/// Settings of drives that have protected memory and flash.
const HYBRID_SETTINGS: [&str; 3] = [
    "{ awc_extents = 3, awc_bypass = \"8 KiB\", flash_hot_reads = 1, flash_ranking = \"5 ms\", flash_size = \"2 MiB\", flash_promotion_rate = \"1 GB/s\" }",
    "{ awc_drain = \"0 %\", flash_hot_reads = 2, flash_ranking = \"5 ms\", flash_block = \"4 KiB\", flash_region = \"16 KiB\", flash_promotion_rate = \"1 GB/s\", cache_segments = 0 }",
    "{ awc = \"off\", wce = \"on\", rcd = \"on\", flash_hot_reads = 1, flash_ranking = \"5 ms\", flash_promotion_rate = \"1 GB/s\", flash_lanes = 1 }",
];
const HYBRID: &str = "exos-15e900-512e";

/// Settings of a disk with several actuators: a write cache that one of them can fill, volatile and protected.
const DUAL_SETTINGS: [&str; 3] = [
    "{ awc_extents = 3, awc_bypass = \"8 KiB\", cache_segments = 2 }",
    "{ awc = \"off\", wce = \"on\", write_cache_extents = 2, port_rate = \"10 MB/s\" }",
    "{ awc = \"off\", wce = \"off\", queue_tags = 1, cache_segments = 2, look_ahead = \"64 KiB\" }",
];

/// Settings of solid-state drives, small ones: volatile buffers, programs that are not suspended, compression, little
/// patience, collection whenever nobody asks for anything.
const SSD_SETTINGS: [&str; 4] = [
    "{ scale = 256 }",
    "{ scale = 256, plp = \"off\", queue_tags = 3, suspend = \"off\" }",
    "{ scale = 256, plp = \"off\", compression = \"on\", gc_separation = \"hot-cold\", idle_delay = \"0.1 ms\", patience = \"0.1 ms\" }",
    "{ scale = 256, link_duplex = \"on\", dies = 2, channels = 1, parity = \"off\", gc_victims = \"cost-benefit\" }",
];

/// One machine per drive and setting.
fn drive_machines() -> Vec<String> {
    let each = drives().into_iter().flat_map(|drive| SETTINGS.map(|set| of_one(&drive, set)));
    let hybrid = HYBRID_SETTINGS.map(|set| of_one(HYBRID, set));
    each.chain(hybrid).chain(ssd_machines()).collect()
}

fn of_one(drive: &str, set: &str) -> String {
    format!("[drives.d]\nproduct = \"{drive}\"\nset = {set}\n")
}

fn ssd_machines() -> Vec<String> {
    let each = solid_state().into_iter().flat_map(|drive| SSD_SETTINGS.map(|set| of_one(&drive, set)));
    each.collect()
}

/// One machine a layout and setting, with and without a shared link, and layouts of layouts.
fn layout_machines() -> Vec<String> {
    let mut machines = Vec::new();
    for (kind, set) in
        KINDS.iter().flat_map(|kind| SETTINGS.into_iter().chain([HYBRID_SETTINGS[0]]).map(move |set| (kind, set)))
    {
        let count = match *kind {
            "single" | CONTROLLER => 1,
            "raid50" => 6,
            "raid60" => 8,
            _ => 4,
        };
        let last = count - 1;
        let (below, members) = match *kind {
            MD => ("[layouts.r]\nraid5 = { members = \"d0..d2\" }\n", "r, d3\", journal = \"write-through".to_owned()),
            _ => ("", format!("d0..d{last}")),
        };
        for link in ["", "[links.bus]\nrate = \"200 MB/s\"\nlanes = 2\nper_command = \"20 us\"\n"] {
            // A small image: the places of the objects of a full one take longer to find than all else.
            let image = if is_pool(kind) { ", image = \"1 GiB\"" } else { "" };
            machines.push(format!(
                "[drives.d]\nproduct = \"exos-15e900-512e\"\ncount = {count}\nset = {set}\n{link}\
                 {below}[layouts.a]\n{kind} = {{ members = \"{members}\"{image} }}\n[volumes]\nv = {{ on = \"a\" }}\n"
            ));
        }
    }
    // A host with few cores, and volumes of which it keeps some I/Os to itself.
    for (host, queue) in
        [("cores = 1\nsubmit = \"1 ms\"\ncomplete = \"2 ms\"", ""), ("cores = 3\npath = \"spdk\"", ", queue = 2")]
    {
        machines.push(format!(
            "[drives.d]\nproduct = \"savvio-10k1\"\ncount = 3\n[host]\n{host}\n\
             [layouts.a]\nraid5 = {{ members = \"d*\" }}\n[volumes]\nv = {{ on = \"a\"{queue} }}\n"
        ));
    }
    // A stripe cache that is nearly always full, and a controller before it.
    machines.push(
        "[drives.d]\nproduct = \"savvio-10k1\"\ncount = 4\n[layouts.r]\nraid6 = { members = \"d*\", chunk = \"8 KiB\" }\n\
         [layouts.m]\nmd = { members = \"r\", stripe_cache = 17 }\n\
         [layouts.c]\ncontroller = { members = \"m\", cache = \"16 MiB\", dirty_low = \"0 %\", dirty_high = \"1 %\" }\n"
            .to_owned(),
    );
    // Both actuators of one disk: as units of a stripe and of a mirror, and with one address space.
    for set in SETTINGS.into_iter().chain(DUAL_SETTINGS) {
        let drive = format!("[drives.d]\nproduct = \"st14000nm0001\"\nset = {set}\n[layouts.a]\n");
        machines.push(format!("{drive}raid0 = {{ members = \"d.lun0..d.lun1\" }}\n[volumes]\nv = {{ on = \"a\" }}\n"));
        machines.push(format!("{drive}raid1 = {{ members = \"d.lun1, d.lun0\" }}\n[volumes]\nv = {{ on = \"a\" }}\n"));
    }
    machines
        .push(of_one("st14000nm0001", "{ exposes = \"one\", awc = \"off\", wce = \"on\", write_cache_extents = 2 }"));
    machines.push(
        "[drives.d]\nproduct = \"savvio-10k1\"\ncount = 8\n[layouts.a]\nraid5 = { members = \"d0..d3\" }\n\
         [layouts.b]\nraid5 = { members = \"d4..d7\" }\n[layouts.c]\nraid1 = { members = \"a, b\" }\n"
            .to_owned(),
    );
    for layout in ["raid1 = { members = \"d0, d1\" }", "raid5 = { members = \"d*\" }"] {
        machines.push(format!(
            "[drives.d]\nproduct = \"s4500-960\"\ncount = 3\nset = {}\n[layouts.a]\n{layout}\n[volumes]\nv = {{ on = \"a\" }}\n",
            SSD_SETTINGS[2]
        ));
    }
    machines
}

/// Pools with what their options bring: daemons that share a disk, hosts, little memory, a daemon that is out, actuators
/// and mirrors as members, a stripe of pools.
fn pool_machines() -> Vec<String> {
    let pool = |drives: &str, members: &str, options: &str| {
        format!(
            "[drives.d]\n{drives}\n[layouts.a]\nreplicated = {{ members = \"{members}\", image = \"256 MiB\", \
             placement_groups = 32, {options} }}\n[volumes]\nv = {{ on = \"a\" }}\n"
        )
    };
    let coded = |drives: &str, options: &str| pool(drives, "d*", options).replace("replicated =", "erasure =");
    let four = "product = \"mg06sca-10tb\"\ncount = 4";
    let small =
        "osd_set = { data_cache = \"256 KiB\", metadata_cache = \"64 KiB\", deferred_batch_ops = 4, op_shards = 2 }";
    let dual = "product = \"st14000nm0001\"\ncount = 2";
    let mirrors = "[drives.d]\nproduct = \"savvio-10k1\"\ncount = 4\n[layouts.m]\nraid1 = { members = \"d0, d1\" }\n\
                   [layouts.n]\nraid1 = { members = \"d2, d3\" }\n[layouts.a]\n\
                   replicated = { members = \"m, n\", replicas = 2, image = \"256 MiB\" }\n[volumes]\nv = { on = \"a\" }\n";
    let stripe = "[drives.d]\nproduct = \"savvio-10k1\"\ncount = 4\n\
                  [layouts.p]\nreplicated = { members = \"d0, d1\", replicas = 2, image = \"256 MiB\" }\n\
                  [layouts.q]\nreplicated = { members = \"d2, d3\", replicas = 2, image = \"256 MiB\" }\n\
                  [layouts.a]\nraid0 = { members = \"p, q\" }\n[volumes]\nv = { on = \"a\" }\n";
    vec![
        pool(four, "d*", &format!("osds_per_drive = 2, {small}")),
        pool(
            four,
            "d*",
            "hosts = 4, failure_domain = \"host\", osd_set = { io_scheduler = \"none\", log_recycling = \"on\" }",
        ),
        pool(four, "d*", "replicas = 2, out = { osd = 1, at = \"5 ms\" }, osd_set = { recovery_sleep = \"1 ms\" }"),
        pool(dual, "d0.lun0, d0.lun1, d1.lun0, d1.lun1", small),
        mirrors.to_owned(),
        stripe.to_owned(),
        coded("product = \"mg06sca-10tb\"\ncount = 6", &format!("k = 3, m = 2, {small}")),
        coded(four, "k = 2, m = 1, reads = \"touched\", stripe_unit = \"16 KiB\""),
        coded(four, "k = 2, m = 1, out = { osd = 1, at = \"5 ms\" }, osd_set = { recovery_sleep = \"1 ms\" }"),
    ]
}

/// Plays `asked` on two machines, one of them advanced in `steps` small steps, and compares.
fn keeps_the_contract(text: &str, asked: &[Asked], steps: u64) {
    let (mut once, mut stepped) = (Driven::new(machine(text), 1), Driven::new(machine(text), steps));
    once.play(asked);
    once.assert_complete(asked);
    stepped.play(asked);
    assert_eq!(once.completions, stepped.completions, "{text}");
    assert_eq!(once.machine.report(), stepped.machine.report(), "{text}");
}

/// Distinct 4 KiB blocks that a schedule writes, and all that it writes.
fn written(asked: &[Asked]) -> (u64, u64) {
    let writes = || asked.iter().filter(|asked| asked.op == Op::Write);
    let mut blocks: Vec<u64> = writes().flat_map(|asked| asked.block..asked.block + u64::from(asked.blocks)).collect();
    let all = blocks.len() as u64;
    blocks.sort_unstable();
    blocks.dedup();
    (blocks.len() as u64, all)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_drive_keeps_the_contract(asked in schedule(), steps in 1_u64..4, first in 0..SCHEDULES) {
        for text in share(drive_machines(), first) {
            keeps_the_contract(&text, &asked, steps);
        }
    }

    #[test]
    fn every_layout_keeps_the_contract(asked in schedule(), steps in 1_u64..4, first in 0..SCHEDULES) {
        for text in share(layout_machines(), first) {
            keeps_the_contract(&text, &asked, steps);
        }
    }

    #[test]
    fn every_pool_keeps_the_contract(asked in schedule(), steps in 1_u64..4) {
        for text in pool_machines() {
            keeps_the_contract(&text, &asked, steps);
        }
    }

    #[test]
    fn what_was_cached_reaches_the_media_when_the_drive_is_left_alone(asked in schedule()) {
        for drive in one_in(2, drives()) {
            // Protected memory lets large sequential writes past.
            let (product, _) = catalog().drive(&drive, ("test", "")).unwrap();
            let awc = if product.has("awc") { ", awc = \"off\"" } else { "" };
            let text = format!("[drives.d]\nproduct = \"{drive}\"\nset = {{ wce = \"on\"{awc} }}\n");
            let asked: Vec<Asked> = asked.iter().map(|asked| Asked { fua: false, ..*asked }).collect();
            let mut driven = Driven::new(machine(&text), 1);
            driven.play(&asked);
            let (distinct, all) = written(&asked);
            // A disk with shingled tracks appends to its media cache what does not stream.
            let destaged = (driven.counter("destaged_bytes") + driven.counter("appended_bytes")) / 4096;
            // A block written twice goes to the media once or twice, as the drive had time between them or not.
            prop_assert!((distinct..=all).contains(&destaged), "{drive}: {destaged} of {distinct} to {all}");
            let busy = driven.counter("busy_ns");
            driven.run_to(Instant(u64::MAX / 4));
            prop_assert_eq!(driven.counter("busy_ns"), busy, "{} goes on for ever", drive);
        }
    }

    #[test]
    fn a_solid_state_drive_that_is_left_alone_empties_its_buffer_and_comes_to_rest(
        asked in schedule(), first in 0..SCHEDULES,
    ) {
        for text in share(ssd_machines(), first) {
            let mut driven = Driven::new(machine(&text), 1);
            driven.play(&asked);
            driven.drain();
            prop_assert_eq!(driven.level("write_buffer_bytes"), 0, "{}", text);
            let whole = asked.iter().filter(|asked| asked.op == Op::Write).count() > 0;
            prop_assert_eq!(driven.counter("stored_bytes") > 0, whole, "{}", text);
        }
    }

    #[test]
    fn what_is_overwritten_in_the_cache_reaches_the_media_once(
        writes in prop::collection::vec((0_u64..64, 1_u32..8), 1..40),
    ) {
        // The arm is busy with a long read while every write arrives: all of them meet in memory.
        let set = "set = { wce = \"on\", write_cache_extents = 1000 }";
        let text = format!("[drives.d]\nproduct = \"exos-15e900-512n\"\n{set}\n");
        let read = Asked { gap: 0, op: Op::Read, block: 100_000, blocks: 4096, fua: false };
        let writes = writes.into_iter().map(|(block, blocks)| Asked { gap: 1000, op: Op::Write, block, blocks, fua: false });
        let asked: Vec<Asked> = std::iter::once(read).chain(writes).collect();
        let mut driven = Driven::new(machine(&text), 1);
        driven.play(&asked);
        prop_assert_eq!(driven.counter("destaged_bytes"), written(&asked).0 * 4096);
        prop_assert_eq!(driven.counter("cached_writes"), asked.len() as u64 - 1);
    }
}

#[test]
fn schedules_that_once_lost_a_completion_do_not() {
    let io = |gap, op, block, blocks, fua| Asked { gap, op, block, blocks, fua };
    let (read, write) = (io(0, Op::Read, 0, 1, false), io(0, Op::Write, 0, 1, false));
    let flush = io(40_480, Op::Flush, 0, 0, false);
    let schedules = [
        vec![read, read, write, io(0, Op::Write, 0, 16, false), io(0, Op::Write, 0, 1, true)],
        vec![io(0, Op::Write, 3, 1, false), read, flush, io(0, Op::Write, 2, 2, true)],
        vec![read, write, flush, io(0, Op::Write, 0, 1, true)],
    ];
    for text in one_in(5, drive_machines()).into_iter().chain(one_in(3, layout_machines())) {
        for asked in &schedules {
            keeps_the_contract(&text, asked, 2);
        }
    }
}

#[test]
fn the_largest_machine_answers() {
    let text = "[drives.d]\nproduct = \"savvio-10k1\"\ncount = 4096\n[layouts.a]\nraid0 = { members = \"d*\" }\n";
    let mut driven = Driven::new(machine(text), 1);
    let asked: Vec<Asked> =
        (0..100).map(|n| Asked { gap: 0, op: Op::Read, block: 16 * 41 * n, blocks: 32, fua: false }).collect();
    driven.play(&asked);
    driven.assert_complete(&asked);
}

#[test]
fn a_machine_that_was_never_used_has_nothing_to_do() {
    let waits = |text: &String| text.contains("out = {");
    let pools = pool_machines().into_iter().filter(|text| !waits(text));
    for text in one_in(5, drive_machines()).into_iter().chain(one_in(3, layout_machines())).chain(pools) {
        assert_eq!(machine(&text).wake(), None, "{text}");
    }
    let covered = drives().len() + solid_state().len() + from_sheets().len();
    assert_eq!(covered, catalog().names("drives").len(), "every kind is covered");
}
