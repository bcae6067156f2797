//! Is it said when a solid-state drive is asked for flash that was never written, and only then?

use crate::common::{Left, closed, random_4k, run, workload};

fn notes(left: &Left) -> Vec<&str> {
    let all = left.0["notes"].as_array().expect("a record has notes").iter();
    all.filter_map(|note| note.as_str()).filter(|note| note.contains("never written")).collect()
}

fn read(machine: &str, state: &str, read_pct: u32) -> Left {
    let load = workload(&random_4k(read_pct), &closed(8), "ios = 100", "ios = 2000");
    run(machine, &format!("{state}\n{load}"), &[("scale", "256")])
}

#[test]
fn reads_of_a_new_drive_are_told_and_those_of_one_in_use_are_not() {
    let new = read("s4500-960", "", 100);
    assert_eq!(notes(&new).len(), 1, "{}", new.0["notes"]);
    assert!(notes(&new)[0].starts_with("d0: 100 % of reads hit flash that was never written"), "{}", notes(&new)[0]);
    let used = read("s4500-960", "[precondition]\nstate = \"preconditioned\"", 100);
    assert_eq!(notes(&used), [""; 0]);
}

#[test]
fn the_share_is_that_of_the_part_that_was_not_written() {
    let half = read("s4500-960", "[precondition]\nsequential = 0.5", 100);
    let [note] = notes(&half)[..] else { panic!("{}", half.0["notes"]) };
    let share: f64 = note.strip_prefix("d0: ").and_then(|rest| rest.split(' ').next()?.parse().ok()).expect("a share");
    // 2,000 reads of a half: a standard error of 1.1 %.
    assert!((share - 50.0).abs() < 4.5, "{note}");
    assert!(!note.contains("state=preconditioned"), "it was asked for so: {note}");
}

#[test]
fn drives_of_a_layout_are_told_together_even_where_the_host_only_writes() {
    let left = read("raid5:5xs4500-960", "", 0);
    let [note] = notes(&left)[..] else { panic!("{}", left.0["notes"]) };
    assert!(note.starts_with("d0 to d4: "), "old data and parity are read before a write: {note}");
}

#[test]
fn a_run_that_only_writes_or_of_disks_is_told_nothing() {
    assert_eq!(notes(&read("s4500-960", "", 0)), [""; 0]);
    let disk = run("exos-15e900-512n", &workload(&random_4k(100), &closed(8), "", "ios = 200"), &[]);
    assert_eq!(notes(&disk), [""; 0]);
}

#[test]
fn projected_endurance_is_that_of_the_whole_drive_at_every_scale() {
    let load = workload(&random_4k(0), &closed(32), "", "ios = 100000");
    let endurance = |scale: &str| {
        let left =
            run("s4500-960", &format!("[precondition]\nstate = \"preconditioned\"\n{load}"), &[("scale", scale)]);
        let smart = &left.0["smart"][0];
        assert_eq!(smart["scale"].to_string(), scale);
        smart["endurance_bytes"].as_f64().expect("a number of bytes")
    };
    let (larger, smaller) = (endurance("64"), endurance("256"));
    // Write amplification is the same within 2 % (`ssd_state.rs` of the drives' tests), here of 0.1 and 0.4 drive writes.
    assert!((smaller / larger - 1.0).abs() < 0.1, "{smaller} and {larger}");
}
