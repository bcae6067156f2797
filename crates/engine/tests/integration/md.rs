//! Does md's stripe cache save a RAID 5 its reads and let rows go side by side, does its journal cost what it writes and
//! keep what it promised, and are mistakes named?

use crate::common::refused::machine_is_refused;
use crate::common::{Left, assert_near, closed, execute, random_4k, request, run, workload};
use hotband_engine::Request;
use serde_json::Value;

/// Five disks in RAID 5, another one, and what stands before them.
fn array(before: &str) -> String {
    format!(
        "[drives.d]\nproduct = \"savvio-10k1\"\ncount = 6\nset = {{ wce = \"off\" }}\n\
         [layouts.raid]\nraid5 = {{ members = \"d0..d4\", chunk = \"16 KiB\" }}\n{before}"
    )
}

fn on_raid() -> String {
    array("[volumes]\nv = { on = \"raid\" }\n")
}

fn md(options: &str) -> String {
    array(&format!("[layouts.md]\nmd = {{ members = \"raid\"{options} }}\n[volumes]\nv = {{ on = \"md\" }}\n"))
}

fn with_journal(mode: &str) -> String {
    md("").replace("members = \"raid\"", &format!("members = \"raid, d5\", journal = \"{mode}\""))
}

/// With a solid-state drive for a journal, as anybody has it.
fn with_fast_journal(mode: &str) -> String {
    let machine = with_journal(mode).replace("raid, d5", "raid, j").replace("count = 6", "count = 5");
    format!("{machine}[drives.j]\nproduct = \"s4500-960\"\nset = {{ scale = 256 }}\n")
}

fn counter(left: &Left, name: &str) -> u64 {
    let parts = left.0["parts"].as_array().expect("a record has parts");
    let part = parts.iter().find(|part| part["id"] == "md.stripes").expect("the array is there");
    let found = part["counters"][name].as_u64().or(part["at_end"][name].as_u64());
    found.expect("it is counted")
}

/// Sequential writes of 4 KiB, so many at once.
fn sequential(depth: u32, measure: &str) -> String {
    workload("read_pct = 0\nrandom_pct = 0\nsize = \"4 KiB\"", &closed(depth), "", measure)
}

#[test]
fn sequential_writes_that_wait_together_are_full_rows_and_few_ios() {
    // 64 writes of 4 KiB outstanding are four stripes of 64 KiB.
    let text = sequential(64, "ios = 4096");
    let (bare, merged) = (run(&on_raid(), &text, &[]), run(&md(""), &text, &[]));
    let per_write = |left: &Left| (left.counter("reads") / 4096.0, left.counter("writes") / 4096.0);
    let (reads, writes) = per_write(&bare);
    assert!(reads > 0.5 && writes > 1.5, "old data and parity, a write of both: {reads}, {writes}");
    let (reads, writes) = per_write(&merged);
    assert!(reads < 0.1 && writes < 0.6, "merged: {reads}, {writes}");
    assert!(counter(&merged, "full_rows") > 800, "of 1,024: {}", counter(&merged, "full_rows"));
    assert!(merged.iops() > 2.0 * bare.iops(), "{} and {}", merged.iops(), bare.iops());
}

#[test]
fn rows_side_by_side_do_not_wait_for_one_another() {
    // Sixteen pages of one chunk are sixteen rows. One after the other they took a turn or two each.
    let large = |machine: String| machine.replace("16 KiB", "64 KiB");
    let text = sequential(16, "ios = 4096");
    let (bare, merged) = (run(&large(on_raid()), &text, &[]), run(&large(md("")), &text, &[]));
    assert!(merged.iops() > 0.7 * bare.iops(), "{} and {}", merged.iops(), bare.iops());
    // A page in four finds its row's others in memory and needs no read; sixteen neighbours are read and written as one.
    assert!((0.8..1.2).contains(&(counter(&merged, "read_pages") as f64 / 4096.0)));
    assert!(counter(&merged, "member_ios") < 4096 * 4 / 12, "{}", counter(&merged, "member_ios"));
    let random = workload(&random_4k(0), &closed(16), "", "ios = 2000");
    let (bare, merged) = (run(&on_raid(), &random, &[]), run(&md(""), &random, &[]));
    assert_near("random writes find no neighbours", merged.iops(), bare.iops(), 0.1);
}

#[test]
fn buffered_writes_wait_for_those_that_read() {
    let random = workload(&random_4k(0), &closed(16), "", "ios = 1000");
    let (direct, buffered) = (run(&md(""), &random, &[]), run(&md(", writes = \"buffered\""), &random, &[]));
    assert!(buffered.iops() < 0.9 * direct.iops(), "{} and {}", buffered.iops(), direct.iops());
}

#[test]
fn a_random_write_at_a_time_is_as_without_it_and_reads_always_are() {
    for (read_pct, depth) in [(0, 1), (100, 8)] {
        let text = workload(&random_4k(read_pct), &closed(depth), "", "ios = 500");
        let (bare, cached) = (run(&on_raid(), &text, &[]), run(&md(""), &text, &[]));
        assert_eq!(bare.0["summary"], cached.0["summary"], "{read_pct} % reads");
    }
}

#[test]
fn a_journal_costs_a_write_of_data_parity_and_a_block_of_its_own() {
    let text = workload(&random_4k(0), &closed(1), "", "ios = 500");
    let (bare, journal) = (run(&md(""), &text, &[]), run(&with_journal("write-through"), &text, &[]));
    assert_near("three pages each", counter(&journal, "journal_bytes") as f64, 500.0 * 3.0 * 4096.0, 0.01);
    let more = journal.summary("latency_mean_ns") - bare.summary("latency_mean_ns");
    // The journal is written one record after the other with pauses between: up to a turn of 6 ms, and its command.
    assert!((1e6..8e6).contains(&more), "{more}");
}

#[test]
fn written_back_sequential_writes_are_as_fast_as_the_journal_and_need_no_reads() {
    // One at a time: without the write-back journal no two of them ever meet.
    let text = sequential(1, "ios = 8192");
    let through = run(&with_fast_journal("write-through"), &text, &[]);
    let back = run(&with_fast_journal("write-back"), &text, &[]);
    assert!(back.iops() > 20.0 * through.iops(), "{} and {}", back.iops(), through.iops());
    assert_eq!(counter(&back, "read_pages"), 0);
    assert_eq!(counter(&back, "full_rows"), counter(&back, "rows"));
    let rows = counter(&back, "rows");
    assert!((1800..=2048).contains(&rows), "{rows} of 2,048, the last are in memory");
    let random = workload(&random_4k(30), &closed(8), "", "ios = 4000");
    let (through, back) =
        (run(&with_fast_journal("write-through"), &random, &[]), run(&with_fast_journal("write-back"), &random, &[]));
    // Rows in part are read for and written as ever once heads run short, but nobody waits for each.
    assert!((1.0..3.0).contains(&(back.iops() / through.iops())), "{} and {}", back.iops(), through.iops());
}

fn cut(machine: &str, depth: u32) -> Value {
    let stream = format!("{}\nrange = [\"0 B\", \"1 GB\"]", random_4k(0));
    let text = workload(&stream, &closed(depth), "", "duration = \"6 s\"");
    let cut = Request { power_loss: Some("5 s".to_owned()), ..request(machine, &text, &[]) };
    serde_json::from_str(&execute(cut).record.to_json()).expect("a record is JSON")
}

#[test]
fn nothing_acknowledged_is_lost_with_power() {
    for machine in [md(""), with_journal("write-through"), with_journal("write-back"), with_fast_journal("write-back")]
    {
        let record = cut(&machine, 16);
        assert_eq!(record["power_loss"]["lost_bytes"], 0, "{machine}");
        assert!(record["power_loss"]["acknowledged_writes"].as_u64() > Some(100), "{}", record["power_loss"]);
        let replayed = counter(&Left(record), "to_replay_bytes");
        assert_eq!(replayed > 0, machine.contains("journal"), "{machine}: {replayed}");
    }
    // What members lose from memory of their own the journal has, until they have flushed.
    let volatile = |machine: String| machine.replace("wce = \"off\"", "wce = \"on\"");
    assert!(cut(&volatile(md("")), 16)["power_loss"]["lost_bytes"].as_u64() > Some(0));
    let journal = volatile(with_fast_journal("write-through"));
    assert_eq!(cut(&journal, 16)["power_loss"]["lost_bytes"], 0);
}

#[test]
fn a_member_may_fail_and_an_array_without_its_journal_takes_no_writes() {
    let text = workload(&random_4k(50), &closed(16), "", "duration = \"6 s\"");
    for machine in [md(""), with_journal("write-through"), with_journal("write-back")] {
        let mut asked = request(&machine, &text, &[]);
        asked.repair.fail = vec!["d1@2 s".to_owned()];
        let record: Value = serde_json::from_str(&execute(asked).record.to_json()).expect("a record is JSON");
        assert_eq!((&record["repair"]["bytes_lost"], &record["repair"]["io_errors"]), (&0.into(), &0.into()));
    }
    for mode in ["write-through", "write-back"] {
        let mut asked = request(&with_journal(mode), &text, &[]);
        asked.repair.fail = vec!["d5@2 s".to_owned()];
        let record: Value = serde_json::from_str(&execute(asked).record.to_json()).expect("a record is JSON");
        assert!(record["repair"]["io_errors"].as_u64() > Some(0), "{}", record["repair"]);
        assert_eq!(counter(&Left(record), "cached_rows"), 0, "what memory has goes to the members");
    }
}

#[test]
fn after_a_rebuild_the_array_writes_its_members_itself_again() {
    // 8 MB of each disk, so that a rebuild is over within seconds.
    let small = |mode: &str| {
        let machine = if mode.is_empty() { md("") } else { with_journal(mode) };
        machine.replace("chunk = \"16 KiB\"", "chunk = \"16 KiB\", size = \"8 MiB\"")
    };
    let text = workload("read_pct = 0\nrandom_pct = 0\nsize = \"4 KiB\"", &closed(16), "", "duration = \"60 s\"");
    for mode in ["", "write-through", "write-back"] {
        let left = |spares: u32| {
            let mut asked = request(&small(mode), &text, &[]);
            (asked.repair.fail, asked.repair.spares) = (vec!["d1@2 s".to_owned()], spares);
            Left(serde_json::from_str(&execute(asked).record.to_json()).expect("a record is JSON"))
        };
        let (without, rebuilt) = (left(0), left(1));
        let repair = &rebuilt.0["repair"];
        assert_eq!((&repair["bytes_lost"], &repair["io_errors"]), (&0.into(), &0.into()), "{mode}");
        assert_eq!(repair["rebuilds"][0]["state"], "done", "{mode}: {repair}");
        // Only while a member was missing did the layout below write.
        let share = |left: &Left| counter(left, "layout_ios") as f64 / counter(left, "rows") as f64;
        assert!(share(&without) > 0.02, "{mode}: {}", share(&without));
        assert!((1e-4..0.5 * share(&without)).contains(&share(&rebuilt)), "{mode}: {}", share(&rebuilt));
    }
}

#[test]
fn raid_6_has_two_parities_a_row() {
    let machine = |before: &str| md(before).replace("raid5", "raid6").replace("d0..d4", "d0..d5");
    let text = sequential(64, "ios = 4096");
    let left = run(&machine(""), &text, &[]);
    assert!(counter(&left, "full_rows") > 800 && left.counter("reads") < 0.1 * 4096.0);
    let one = workload(&random_4k(0), &closed(1), "", "ios = 200");
    let left = run(&machine(""), &one, &[]);
    // Three old pages, or the three of four data pages that are not written: the rest on a tie.
    assert_near("pages before a write", counter(&left, "read_pages") as f64, 600.0, 0.01);
    let mut asked = request(&machine(""), &workload(&random_4k(50), &closed(8), "", "duration = \"4 s\""), &[]);
    asked.repair.fail = vec!["d1@1 s".to_owned(), "d4@2 s".to_owned()];
    let record: Value = serde_json::from_str(&execute(asked).record.to_json()).expect("a record is JSON");
    assert_eq!((&record["repair"]["bytes_lost"], &record["repair"]["io_errors"]), (&0.into(), &0.into()));
}

#[test]
fn raid_50_of_linux_is_a_raid_0_of_arrays() {
    let groups: String = [(0, 2), (3, 5)]
        .map(|(first, last)| {
            format!(
                "[layouts.r{first}]\nraid5 = {{ members = \"d{first}..d{last}\" }}\n\
                 [layouts.m{first}]\nmd = {{ members = \"r{first}\" }}\n"
            )
        })
        .concat();
    let machine = format!(
        "[drives.d]\nproduct = \"savvio-10k1\"\ncount = 6\nset = {{ wce = \"off\" }}\n{groups}\
         [layouts.all]\nraid0 = {{ members = \"m0, m3\", chunk = \"128 KiB\" }}\n"
    );
    let stripes = workload("read_pct = 0\nrandom_pct = 0\nsize = \"256 KiB\"", &closed(4), "", "ios = 200");
    let left = run(&machine, &stripes, &[]);
    assert_eq!(left.counter("reads"), 0.0, "a chunk of the RAID 0 is a full stripe of a group");
    let record = cut(&machine, 8);
    assert_eq!(record["power_loss"]["lost_bytes"], 0);
}

#[test]
fn mistakes_name_their_key() {
    for (options, wanted) in [
        (", stripe_cache = 16", ["layouts.md.md.stripe_cache", "17 to 32768"]),
        (", journal = \"write-behind\"", ["layouts.md.md.journal", "none, write-through, write-back"]),
        (", journal = \"write-back\"", ["layouts.md.md.members", "expected 2 members"]),
        (", writes = \"lazy\"", ["layouts.md.md.writes", "direct, buffered"]),
        (", size = \"1 GB\"", ["layouts.md.md.members", "whole stripes"]),
        (", force_writes = true", ["layouts.md.md.force_writes", "the layout below"]),
        (", stripes = 256", ["layouts.md.md.stripes", "unknown key"]),
    ] {
        machine_is_refused(&md(options), &wanted);
    }
    machine_is_refused(&md("").replace("raid5", "raid0"), &["layouts.md.md.members", "expected a raid5 or raid6"]);
    let groups = md("").replace("raid5", "raid50").replace("d0..d4", "d0..d5");
    machine_is_refused(&groups, &["layouts.md.md.members", "lay a raid0 over these"]);
    let two = md("").replace("members = \"raid\"", "members = \"raid, d5\"");
    machine_is_refused(&two, &["layouts.md.md.members", "expected 1 member"]);
}
