//! Is an open loop with a bound one at its rate where the drive keeps up, and a closed loop where it does not?

use crate::common::refused::{refused, says, workload_is_refused};
use crate::common::{Left, assert_near, closed, random_4k, request, run, workload};

const DRIVE: &str = "ent-15k";

fn measured(load: &str) -> Left {
    run(DRIVE, &workload(&random_4k(100), load, "", "duration = \"20 s\""), &[])
}

fn open(rate: u32, bound: &str) -> Left {
    measured(&format!("open = {{ rate_iops = {rate}, arrival = \"poisson\"{bound} }}"))
}

#[test]
fn a_bound_that_is_never_reached_changes_nothing() {
    let (bounded, plain) = (open(100, ", outstanding = 64"), open(100, ""));
    assert_eq!(bounded.0["summary"], plain.0["summary"]);
}

#[test]
fn a_rate_beyond_the_drive_is_a_closed_loop_of_the_bound() {
    let (bounded, loop_of_four) = (open(5_000, ", outstanding = 4"), measured(&closed(4)));
    // The random numbers differ: the standard error of 5,000 service times is 0.8 %, that of their ratio 1.1 %.
    assert_near("IOPS", bounded.iops(), loop_of_four.iops(), 0.03);
    let [mean, expected] = [&bounded, &loop_of_four].map(|left| left.summary("latency_mean_ns"));
    assert_near("mean latency", mean, expected, 0.03);
    assert_near("outstanding", bounded.summary("queue_depth_mean"), 4.0, 0.001);
}

#[test]
fn what_is_late_is_made_up_for() {
    // One at a time takes 5.6 ms on average and up to 10 ms or more, so that many of these I/Os are late at first.
    let even = "open = { rate_iops = 150, arrival = \"fixed\", outstanding = 1 }";
    let left = measured(even);
    assert!((2990.0..=3000.0).contains(&left.summary("count")), "{}", left.0["summary"]);
    assert!(left.summary("queue_depth_mean") < 1.0);
}

#[test]
fn bounds_that_make_no_sense_are_refused() {
    for bound in ["0", "65537", "1.5"] {
        let load = format!("open = {{ rate_iops = 5, arrival = \"fixed\", outstanding = {bound} }}");
        let text = workload(&random_4k(100), &load, "", "duration = \"1 s\"");
        workload_is_refused(&text, &["load.open.outstanding", "from 1 to 65536"]);
    }
    let drain = "open = { rate_iops = 5, arrival = \"fixed\", drain = true }";
    let text = workload(&random_4k(100), drain, "", "duration = \"1 s\"");
    workload_is_refused(&text, &["load.open.drain", "expected outstanding, too"]);
    let unbounded =
        workload(&random_4k(100), "open = { rate_iops = 5, arrival = \"fixed\" }", "", "duration = \"1 s\"");
    says(&refused(request(DRIVE, &unbounded, &[("qd", "4")])), &["set", "qd", "closed loop"]);
}

#[test]
fn a_write_after_its_trim_is_refused_where_trims_reach_no_drive() {
    let text = workload(&format!("{}\ntrim_first = true", random_4k(0)), &closed(1), "", "ios = 10");
    says(&refused(request("raid5:4xent-15k", &text, &[])), &["streams[0].trim_first", "does not pass trims"]);
    for (keys, accepted) in
        [(random_4k(100), "before each write"), (format!("{}\ntrim_pct = 5", random_4k(0)), "trim_pct")]
    {
        let text = workload(&format!("{keys}\ntrim_first = true"), &closed(1), "", "ios = 10");
        workload_is_refused(&text, &["streams[0].trim_first", accepted]);
    }
}

#[test]
fn trims_and_their_writes_are_as_many() {
    let text = workload(&format!("{}\ntrim_first = true", random_4k(0)), &closed(3), "", "ios = 1000");
    let left = run("nytro-1351-960", &text, &[("state", "fob")]);
    let count = |side: &str| left.0["summary"][side]["count"].as_u64().expect("a count");
    assert_eq!((count("trim"), count("write")), (500, 500));
}
