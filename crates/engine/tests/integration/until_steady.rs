//! Do phases end when their rounds are steady, and does the record say so honestly?

use crate::common;
use crate::common::{Left, assert_near, closed, execute, random_4k, request, run, workload};
use hotband_engine::Run;
use serde_json::Value;

const DRIVE: &str = "ent-15k";
const STEADY: &str = "name = \"settle\"\nuntil_steady = true\nround = \"2 s\"";

fn text(settle: &str, measure: &str) -> String {
    format!(
        "[load]\n{}\n[[streams]]\n{}\n[[phases]]\n{settle}\n[[phases]]\n{measure}\nmeasure = true\n",
        closed(4),
        random_4k(100)
    )
}

#[track_caller]
fn steady(left: &Left) -> &Value {
    let found = &left.0["steady_state"];
    assert!(found.is_object(), "the record says whether it was reached");
    found
}

fn rounds(left: &Left) -> Vec<f64> {
    steady(left)["rounds"].as_array().unwrap().iter().map(|round| round.as_f64().unwrap()).collect()
}

#[test]
fn a_phase_of_even_load_ends_with_its_fifth_round() {
    let left = run(DRIVE, &text(STEADY, "duration = \"20 s\""), &[]);
    let found = steady(&left);
    assert_eq!((&found["reached"], &found["round"]), (&Value::from(true), &Value::from(5)));
    assert_eq!((&found["phase"], &found["track"], &found["unit"]), (&"settle".into(), &"iops".into(), &"IOPS".into()));
    assert_eq!(found["round_ns"], 2_000_000_000_u64);
    let mean = rounds(&left).iter().sum::<f64>() / 5.0;
    assert_near("mean of the window", found["window_mean"].as_f64().unwrap(), mean, 1e-12);
    assert_near("and the rate afterwards", left.iops(), mean, 0.05);
    assert!(left.0["notes"].as_array().unwrap().is_empty(), "{}", left.0["notes"]);
}

#[test]
fn the_phase_lasts_its_rounds_and_not_longer() {
    // The same run, with the time said: nothing differs but what the record says about the rounds.
    let named = |settle: &str| run(DRIVE, &text(settle, "duration = \"7 s\""), &[]).0;
    let (rounds, time) = (named(STEADY), named("name = \"settle\"\nduration = \"10 s\""));
    for key in ["summary", "streams", "parts"] {
        assert_eq!(rounds[key], time[key], "{key}");
    }
    assert!(time.get("steady_state").is_none());
}

#[test]
fn what_is_measured_until_steady_has_the_rounds_of_its_series() {
    for track in ["iops", "bandwidth", "latency"] {
        let keys = format!("until_steady = true\nround = \"2 s\"\ntrack = \"{track}\"");
        let outcome = execute(request(DRIVE, &workload(&random_4k(100), &closed(4), "", &keys), &[]));
        let record: Value = serde_json::from_str(&outcome.record.to_json()).unwrap();
        let series = &outcome.tables["series"];
        let of = |round: usize, values: &[f64]| values[2 * round..2 * round + 2].to_vec();
        let mean = |pair: Vec<f64>| pair.iter().sum::<f64>() / 2.0;
        assert_eq!(record["duration_ns"], 10_000_000_000_u64);
        for (n, value) in record["steady_state"]["rounds"].as_array().unwrap().iter().enumerate() {
            let (iops, bytes) = (of(n, series.column("iops")), of(n, series.column("bandwidth_bytes_per_s")));
            let latencies = series.column::<Option<f64>>("latency_mean_ns").iter();
            let latencies: Vec<f64> = latencies.map(|latency| latency.unwrap()).collect();
            let waited: f64 = of(n, &latencies).iter().zip(&iops).map(|(latency, iops)| latency * iops).sum();
            let wanted = match track {
                "iops" => mean(iops),
                "bandwidth" => mean(bytes),
                _ => waited / iops.iter().sum::<f64>(),
            };
            assert_near(track, value.as_f64().unwrap(), wanted, 1e-9);
        }
    }
}

#[test]
fn what_never_is_steady_ends_after_25_rounds_and_says_so() {
    // Two I/Os a second in rounds of 0.7 s: 1 or 2 in each, so the range is never within 20 %.
    let load = "open = { rate_iops = 2, arrival = \"fixed\" }";
    let keys = "until_steady = true\nround = \"700 ms\"";
    let left = run(DRIVE, &workload(&random_4k(100), load, "", keys), &[]);
    let found = steady(&left);
    assert_eq!((&found["reached"], &found["round"]), (&Value::from(false), &Value::Null));
    assert_eq!(rounds(&left).len(), 25);
    assert!(found["range_pct"].as_f64().unwrap() > 20.0);
    assert_eq!(left.0["duration_ns"], 17_500_000_000_u64);
    let notes = left.0["notes"].to_string();
    assert!(notes.contains("no steady state within 25 rounds"), "{notes}");
}

#[test]
fn a_load_that_ends_is_not_steady() {
    // A client that runs once: after it nothing happens, and the rounds are told to the end.
    let text = format!(
        "[[streams]]\n{}\n[[scripts]]\nname = \"once\"\nunit = \"read\"\nclients = 1\nrepeat = false\n\
         [[scripts.steps]]\nname = \"read\"\nstream = \"main\"\nios = 3\n\
         [[phases]]\nmeasure = true\nuntil_steady = true\nround = \"1 s\"\n",
        random_4k(100)
    );
    let left = run(DRIVE, &text, &[]);
    assert_eq!(rounds(&left), [vec![3.0], vec![0.0; 24]].concat());
    assert_eq!(steady(&left)["reached"], false);
    assert!(steady(&left)["range_pct"].is_null());
}

#[test]
fn every_such_phase_is_in_the_record() {
    let again = "name = \"again\"\nuntil_steady = true\nround = \"1 s\"\ntrack = \"latency\"";
    let left = run(DRIVE, &text(STEADY, again), &[]);
    assert_eq!(steady(&left)["phase"], "again");
    assert_eq!(left.0["steady_state_before"][0]["phase"], "settle");
}

#[test]
fn a_cut_of_power_leaves_the_rounds_so_far() {
    let keys = "until_steady = true\nround = \"2 s\"";
    let mut request = request(DRIVE, &workload(&random_4k(100), &closed(4), "", keys), &[]);
    request.power_loss = Some("5 s".to_owned());
    let record: Value = serde_json::from_str(&execute(request).record.to_json()).unwrap();
    assert_eq!(record["steady_state"]["rounds"].as_array().unwrap().len(), 2);
    assert_eq!(record["steady_state"]["reached"], false);
    assert!(record["steady_state"]["window_mean"].is_null());
}

#[test]
fn what_contradicts_is_refused() {
    let refused = |settle: &str, key: &str, word: &str| {
        let error = Run::new(&common::catalog(), request(DRIVE, &text(settle, "duration = \"1 s\""), &[])).err();
        let text = error.expect(settle).to_string();
        assert!(text.contains(key) && text.contains(word), "{settle}: {text}");
    };
    refused("until_steady = true\nduration = \"60 s\"", "phases[0].duration", "25 rounds");
    refused("until_steady = true\nios = 100", "phases[0].ios", "25 rounds");
    refused("until_steady = true\nuntil_warm = true", "phases[0].until_warm", "25 rounds");
    refused("until_steady = true\nround = \"0 s\"", "phases[0].round", "1 ms");
    refused("until_steady = true\nround = \"500 days\"", "phases[0].round", "expected");
    refused("until_steady = true\nround = 60", "phases[0].round", "with its unit");
    refused("until_steady = true\ntrack = \"iop\"", "phases[0].track", "did you mean \"iops\"");
    refused("duration = \"60 s\"\nround = \"60 s\"", "phases[0].round", "until_steady");
    refused("duration = \"60 s\"\ntrack = \"iops\"", "phases[0].track", "until_steady");
    refused("until_steady = false", "phases[0].duration", "until_steady = true");
}

#[test]
fn duration_does_not_overrule_a_measured_phase_that_ends_by_itself() {
    let measured = workload(&random_4k(100), &closed(4), "", "name = \"m\"\nuntil_steady = true");
    let mut asked = request(DRIVE, &measured, &[]);
    asked.duration = Some("10 s".to_owned());
    let text = Run::new(&common::catalog(), asked).err().expect("refused").to_string();
    assert!(text.contains("duration") && text.contains("phase \"m\""), "{text}");
    // One that is not measured goes on as it says.
    let mut other = request(DRIVE, &self::text(STEADY, "duration = \"1 s\""), &[]);
    other.duration = Some("3 s".to_owned());
    let record: Value = serde_json::from_str(&execute(other).record.to_json()).unwrap();
    assert_eq!((&record["duration_ns"], &record["steady_state"]["round"]), (&3_000_000_000_u64.into(), &5.into()));
}

#[test]
fn a_new_drive_that_looks_steady_is_said_to_be_new() {
    let writes = |more: &str| {
        let own = format!("{more}{}", text("until_steady = true\nround = \"100 ms\"", "duration = \"100 ms\""));
        run("nytro-1351-960", &own.replace("read_pct = 100", "read_pct = 0"), &[("scale", "64")])
    };
    let new = writes("");
    assert_eq!(steady(&new)["reached"], true, "the first fill is even");
    assert!(steady(&new)["fills"].as_f64().unwrap() < 0.1);
    let notes = new.0["notes"].to_string();
    assert!(notes.contains("a new drive is even until its first fill ends"), "{notes}");
    let old = writes("[precondition]\nsequential = 1.0\n");
    assert!(steady(&old)["fills"].as_f64().unwrap() >= 1.0);
    assert!(!old.0["notes"].to_string().contains("written over once"), "{}", old.0["notes"]);
    assert!(
        steady(&run(DRIVE, &text(STEADY, "duration = \"1 s\""), &[])).get("fills").is_none(),
        "a disk does not wear"
    );
}
