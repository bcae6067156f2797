//! Is the energy of a record what its states add up to, over every interval, and does it have its range?

use crate::common::flash::whole;
use crate::common::{
    Left, assert_near, closed, drives, execute, one_in, random_4k, request, run, solid_state, workload,
};
use hotband_engine::{Control, Outcome, Request, Run};
use serde_json::Value;

fn number(of: &Value, key: &str) -> f64 {
    of[key].as_f64().unwrap_or_else(|| panic!("{key} in {of}"))
}

fn energy(left: &Left) -> &Value {
    &left.0["energy"]
}

/// Joules of a part at rest, and what its states add.
fn states(power: &Value, seconds: f64) -> f64 {
    let above = power["states"].as_array().expect("two states").iter();
    number(power, "idle_w") * seconds + above.map(|state| number(state, "above_idle_j")).sum::<f64>()
}

/// Lengths of the intervals, a row a drive.
fn lengths(outcome: &Outcome) -> &[u64] {
    outcome.tables["power"].column("length_ns")
}

/// Joules of the series of an outcome: power, least, most.
fn integral(outcome: &Outcome) -> [f64; 3] {
    let of = |column| outcome.tables["power"].column::<f64>(column).iter().zip(lengths(outcome));
    ["power_w", "low_w", "high_w"].map(|column| of(column).map(|(watts, length)| watts * *length as f64 / 1e9).sum())
}

#[test]
fn a_drive_at_rest_draws_its_idle_power() {
    // Three I/Os in a minute of nothing.
    let load = "open = { rate_iops = 0.05, arrival = \"fixed\" }";
    let text = workload(&random_4k(100), load, "", "duration = \"60 s\"");
    let left = run("mg06sca-10tb", &text, &[]);
    assert_near("at rest", number(energy(&left), "mean_w"), 7.0, 2e-3);
    assert_near("its range", number(energy(&left), "energy_low_j"), 6.3 * 60.0, 2e-3);
    assert_near("its range", number(energy(&left), "energy_high_j"), 7.7 * 60.0, 2e-3);
}

#[test]
fn random_reads_one_at_a_time_draw_the_rated_power_and_a_stream_less() {
    for drive in ["savvio-10k1", "exos-15e900-512n", "mg06sca-10tb"] {
        let of = |random: u32, size: &str| {
            let stream = format!("read_pct = 100\nrandom_pct = {random}\nsize = \"{size}\"");
            let left = run(drive, &workload(&stream, &closed(1), "ios = 50", "duration = \"20 s\""), &[]);
            (left.0["parts"][0]["power"].clone(), number(&left.0["parts"][0]["counters"], "busy_ns") / 20e9)
        };
        let (power, busy) = of(100, "4 KiB");
        let (idle, active) = (number(&power, "idle_w"), number(&power, "active_w"));
        // Busy but for firmware and link; the mean seek of the run is not the rated one, but near it.
        assert_near(drive, number(&power, "mean_w"), idle + busy * (active - idle), 0.01);
        let (power, _) = of(0, "256 KiB");
        assert!(number(&power, "mean_w") < active - 0.2 * (active - idle), "{drive}: {power}");
    }
}

#[test]
fn energy_is_the_sum_over_states_and_parts_and_the_integral_of_the_series() {
    let machine = "raid10:4xsavvio-10k1";
    // A step that ends within an interval.
    let text = workload(&random_4k(60), &closed(6), "ios = 50", "duration = \"7300 ms\"");
    let outcome = execute(request(machine, &text, &[]));
    let left: Value = serde_json::from_str(&outcome.record.to_json()).expect("JSON");
    let all = &left["energy"];
    let parts: Vec<&Value> = left["parts"]
        .as_array()
        .expect("parts")
        .iter()
        .map(|part| &part["power"])
        .filter(|of| of.is_object())
        .collect();
    assert_eq!((parts.len(), all["drives"].as_u64(), all["drives_unknown"].as_u64()), (4, Some(4), Some(0)));
    for power in &parts {
        assert_near("states", states(power, 7.3), number(power, "energy_j"), 1e-9);
        assert_near("mean", number(power, "mean_w") * 7.3, number(power, "energy_j"), 1e-9);
    }
    let sum = |key: &str| parts.iter().map(|power| number(power, key)).sum::<f64>();
    for key in ["energy_j", "energy_low_j", "energy_high_j"] {
        assert_near(key, sum(key), number(all, key), 1e-9);
    }
    let [middle, low, high] = integral(&outcome);
    assert_eq!(lengths(&outcome).len(), 4 * 8, "eight intervals, the last one shorter");
    assert_near("the series", middle, number(all, "energy_j"), 1e-9);
    // Each interval has the seek power that draws least in it; the run has one for all of it.
    assert!(low <= number(all, "energy_low_j") * (1.0 + 1e-9) && high >= number(all, "energy_high_j") * (1.0 - 1e-9));
    assert!(low > 0.99 * number(all, "energy_low_j") && high < 1.01 * number(all, "energy_high_j"));
    let ios = number(&left["summary"], "count");
    assert_near("an I/O", number(all, "joules_per_io") * ios, number(all, "energy_j"), 1e-9);
}

#[test]
fn warm_up_is_not_in_it_and_every_step_is() {
    let two = "[[phases]]\nname = \"two\"\nduration = \"4500 ms\"\nmeasure = true\n";
    let text = workload(&random_4k(100), &closed(4), "ios = 500", "duration = \"3500 ms\"") + two;
    let outcome = execute(request("savvio-10k1", &text, &[]));
    let left: Value = serde_json::from_str(&outcome.record.to_json()).expect("JSON");
    let power = &left["parts"][0]["power"];
    assert_near("eight seconds", number(power, "energy_j"), 8.0 * number(power, "mean_w"), 1e-9);
    let states = power["states"].as_array().expect("states");
    let times: f64 = states.iter().map(|state| number(state, "time_ns")).sum();
    // The arm is busy all the time but for firmware; the warm-up alone would be three seconds more.
    assert_near("busy", times, 8e9, 0.02);
    assert_eq!(lengths(&outcome).iter().sum::<u64>(), 8_000_000_000);
    assert_near("the series", integral(&outcome)[0], number(power, "energy_j"), 1e-9);
}

#[test]
fn flash_draws_its_powers_at_its_rated_sequential_rates() {
    for (read_pct, key) in [(100, "power_read"), (0, "power_write")] {
        let stream = format!("read_pct = {read_pct}\nrandom_pct = 0\nsize = \"256 KiB\"");
        let text = workload(&stream, &closed(16), "ios = 2000", "duration = \"2 s\"");
        let left = run("s4500-960", &text, &[("scale", "64")]);
        let rated = if key == "power_read" { 3.2 } else { 5.6 };
        assert_near(key, number(energy(&left), "mean_w"), rated, 0.08);
    }
}

#[test]
fn drives_of_the_catalog_state_their_power_and_lie_within_its_range() {
    for drive in one_in(6, drives().into_iter().chain(solid_state()).collect()) {
        let left = run(&drive, &workload(&random_4k(50), &closed(4), "", "ios = 500"), &[]);
        let of = energy(&left);
        let (low, middle, high) = (number(of, "energy_low_j"), number(of, "energy_j"), number(of, "energy_high_j"));
        assert!(low <= middle && middle <= high && low > 0.0, "{drive}: {of}");
        assert!(drive == "st14000nm0001" || high > 1.05 * low, "{drive} is not known so well: {of}");
        assert!(number(of, "mean_w") >= number(of, "idle_w"), "{drive}");
    }
}

#[test]
fn a_machine_of_unknown_drives_has_no_energy() {
    let text = workload(&random_4k(100), &closed(1), "", "ios = 10");
    let request = Request { machine: "bench".into(), workload_text: Some(text), seed: 1, ..Request::default() };
    let run = Run::on_machine(whole().0, request).expect("the workload is right");
    let outcome = run.execute(&Control::default()).expect("it runs");
    let left: Value = serde_json::from_str(&outcome.record.to_json()).expect("JSON");
    assert!(left.get("energy").is_none() && left["series"].get("power_file").is_none());
    assert!(outcome.tables.get("power").is_none());
}
