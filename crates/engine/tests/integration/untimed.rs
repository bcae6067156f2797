//! Do the drives hold, see and report what the workload says of data, trims, preconditioning and phases without timing?

use crate::common;
use crate::common::flash::{CAPACITY, COMMAND, Log, machine, whole};
use crate::common::{Left, catalog, closed, execute, request, run};
use hotband_engine::{Control, Outcome, Run, RunError};
use hotband_machine::{Machine, Op, UntimedWrite};

const PAGE: u32 = 4096;

fn stream(name: &str, keys: &str) -> String {
    format!("[[streams]]\nname = \"{name}\"\nrandom_pct = 100\nsize = \"4 KiB\"\n{keys}\n")
}

fn writer(keys: &str) -> String {
    stream("w", &format!("read_pct = 0\n{keys}"))
}

fn measured(ios: u32) -> String {
    format!("[[phases]]\nname = \"m\"\nios = {ios}\nmeasure = true\n")
}

#[track_caller]
fn on((machine, log): (Machine, Log), workload: &str, set: &[(&str, &str)]) -> (Outcome, Log) {
    let run = Run::on_machine(machine, request("flash", workload, set)).unwrap_or_else(|error| panic!("{error}"));
    (run.execute(&Control::default()).unwrap_or_else(|error| panic!("{error}")), log)
}

fn workload(top: &str, streams: &str, phases: &str) -> String {
    format!("{top}\n[load]\n{}\n{streams}{phases}", closed(2))
}

fn untimed(log: &Log) -> Vec<UntimedWrite> {
    log.lock().unwrap().untimed.clone()
}

fn bytes(writes: &[UntimedWrite]) -> u64 {
    writes.iter().filter(|write| !write.trim).map(|write| u64::from(write.len)).sum()
}

fn json(outcome: &Outcome) -> serde_json::Value {
    serde_json::from_str(&outcome.record.to_json()).expect("a record is JSON")
}

#[test]
fn every_write_carries_the_data_of_its_stream_and_reads_none() {
    let streams = format!("{}{}", stream("a", "read_pct = 50\ndata = 0.25"), stream("b", "read_pct = 0"));
    let (outcome, log) = on(whole(), &workload("data = 0.75", &streams, &measured(2000)), &[]);
    let commands = log.lock().unwrap().commands.clone();
    let shares = |op: Op| -> Vec<u16> {
        let mut shares: Vec<u16> = commands.iter().filter(|c| c.op == op).map(|c| c.entropy.basis_points()).collect();
        shares.sort_unstable();
        shares.dedup();
        shares
    };
    assert_eq!((shares(Op::Write), shares(Op::Read)), (vec![2500, 7500], vec![10_000]));
    let data = &json(&outcome)["data"];
    assert_eq!(data[0]["stream"], "a");
    assert_eq!((data[0]["mean"].as_f64(), data[1]["mean"].as_f64()), (Some(0.25), Some(0.75)));
}

#[test]
fn trims_reach_the_drive_and_the_record() {
    let (outcome, log) = on(whole(), &workload("", &writer("trim_pct = 25"), &measured(4000)), &[]);
    let commands = log.lock().unwrap().commands.clone();
    let trims = commands.iter().filter(|command| command.op == Op::Trim).count();
    assert!(trims.abs_diff(1000) < 140, "{trims}: beyond 5 standard errors");
    let record = json(&outcome);
    let counted = record["summary"]["trim"]["count"].as_u64().expect("trims are counted");
    assert_eq!(counted + record["summary"]["write"]["count"].as_u64().unwrap(), 4000);
    assert_eq!(record["smart"][0]["at_end"]["trimmed_bytes"].as_u64(), Some(counted * u64::from(PAGE)));
}

#[test]
fn trims_are_refused_where_they_cannot_reach_drives_or_be_told_from_losses() {
    let refused = |machine: &str, text: &str, set: &[(&str, &str)], power_loss: Option<&str>| {
        let mut request = request(machine, text, set);
        request.power_loss = power_loss.map(str::to_owned);
        match Run::new(&catalog(), request) {
            Err(RunError::Spec(error)) => (error.file, error.key, error.accepted),
            _ => panic!("accepted"),
        }
    };
    let raid5 = "raid5:3xsavvio-10k1";
    let (file, key, accepted) = refused(raid5, &workload("", &writer("trim_pct = 10"), &measured(1)), &[], None);
    assert_eq!((file.as_str(), key.as_str()), ("workload.toml", "streams[0].trim_pct"));
    assert!(accepted.contains("does not pass trims"), "{accepted}");
    let plain = workload("", &writer(""), &measured(1));
    let (file, key, _) = refused(raid5, &plain, &[("state", "trimmed")], None);
    assert_eq!((file.as_str(), key.as_str()), ("set", "state"));
    let own = workload("", &writer(""), &format!("[precondition]\ntrim = true\n{}", measured(1)));
    assert_eq!(refused(raid5, &own, &[], None).1, "precondition.trim");
    let trims = workload("", &writer("trim_pct = 10"), &measured(1));
    assert!(refused("s4500-960", &trims, &[], Some("1 ms")).2.contains("power loss"));
    for disks in ["savvio-10k1", "raid10:4xsavvio-10k1", "st8000as0002", "st14000nm0001"] {
        let (_, key, accepted) = refused(disks, &trims, &[], None);
        assert!(key == "streams[0].trim_pct" && accepted.contains("disks without TRIM"), "{key}: {accepted}");
    }
    run("st8000as0022", &trims, &[]);
}

#[test]
fn preconditioning_fills_in_order_then_at_random_then_trims() {
    let top = "[precondition]\nsequential = 1.5\nrandom = 0.5\ntrim = true\ndata = 0.5\n";
    let (outcome, log) = on(whole(), &workload("", &writer(""), &format!("{top}{}", measured(100))), &[]);
    let writes = untimed(&log);
    let first = writes.iter().position(|write| write.len == PAGE).expect("random writes");
    let (sequential, rest) = writes.split_at(first);
    let (random, trims) = rest.split_at(rest.iter().position(|write| write.trim).expect("trims"));
    assert_eq!(bytes(sequential), CAPACITY * 3 / 2);
    let mut end = 0;
    for write in sequential {
        assert_eq!(write.offset, if end == CAPACITY { 0 } else { end }, "in order, from the beginning again");
        end = write.offset + u64::from(write.len);
    }
    assert_eq!(bytes(random), CAPACITY / 2);
    assert!(random.iter().all(|write| write.offset.is_multiple_of(u64::from(PAGE))));
    // 8,192 of 16,384 pages uniformly: e^-1/2 of the pages stay untouched; 5 standard errors are below 300.
    let mut pages: Vec<u64> = random.iter().map(|write| write.offset).collect();
    pages.sort_unstable();
    pages.dedup();
    assert!(pages.len().abs_diff(6446) < 300, "{}", pages.len());
    assert!(pages[0] < CAPACITY / 100 && pages[pages.len() - 1] > CAPACITY / 100 * 99, "over the whole target");
    assert_eq!(trims.iter().map(|write| u64::from(write.len)).sum::<u64>(), CAPACITY);
    assert!(writes.iter().all(|write| write.trim || write.entropy.basis_points() == 5000));
    assert!(log.lock().unwrap().batches.contains(&4096), "large batches, so that a drive can overlap them");
    let begin = &json(&outcome)["smart"][0]["at_begin"];
    assert_eq!(begin["host_bytes"].as_u64(), Some(2 * CAPACITY));
    assert_eq!(begin["stored_bytes"].as_u64(), Some(CAPACITY));
}

#[test]
fn data_that_varies_is_drawn_for_every_128_kib_of_a_sequential_fill() {
    let top = "data = { mean = 0.4, low = 0.2, high = 0.6 }";
    let phases = format!("[precondition]\nsequential = 1.0\n{}", measured(1));
    let (_, log) = on(whole(), &workload(top, &writer(""), &phases), &[]);
    let writes = untimed(&log);
    assert!(writes.len() == 512 && writes.iter().all(|write| write.len == 128 << 10));
    let mean = writes.iter().map(|write| write.entropy.share()).sum::<f64>() / 512.0;
    assert!((mean - 0.4).abs() < 0.03, "{mean}: beyond 5 standard errors");
}

#[test]
fn volumes_are_filled_each_with_the_data_of_its_stream() {
    let half = CAPACITY / 2;
    let volumes = machine(&[("data", 0, half), ("log", half, half / 2)]);
    let streams = format!(
        "{}{}",
        stream("data", "read_pct = 0\nvolume = \"data\"\ndata = 0.3"),
        stream("log", "read_pct = 0\nvolume = \"log\"")
    );
    let phases = format!("[precondition]\nsequential = 1.0\nrandom = 1.0\n{}", measured(1));
    let (_, log) = on(volumes, &workload("data = 0.8", &streams, &phases), &[]);
    let writes = untimed(&log);
    let data: Vec<UntimedWrite> = writes.iter().copied().filter(|write| write.offset < half).collect();
    assert_eq!((bytes(&data), bytes(&writes)), (CAPACITY, CAPACITY * 3 / 2));
    for write in &writes {
        let wanted = if write.offset < half { 3000 } else { 8000 };
        assert_eq!(write.entropy.basis_points(), wanted);
        assert!(write.offset + u64::from(write.len) <= half + half / 2, "beyond the volumes nothing is written");
    }
}

#[test]
fn a_state_from_the_command_line_replaces_that_of_the_file() {
    let phases = format!("[precondition]\nrandom = 1.0\n{}", measured(10));
    let text = workload("", &writer(""), &phases);
    let host = |state: &str| {
        let (outcome, _) = on(whole(), &text, &[("state", state)]);
        json(&outcome)["smart"][0]["at_begin"]["host_bytes"].as_u64().expect("a count")
    };
    assert_eq!((host("fob"), host("preconditioned"), host("trimmed")), (0, 3 * CAPACITY, 2 * CAPACITY));
}

#[test]
fn timed_phases_go_on_where_the_untimed_one_left_the_streams() {
    let keys = "read_pct = 0\nrandom_pct = 0\nsize = \"4 KiB\"\n";
    let streams =
        format!("[[streams]]\nname = \"s\"\n{keys}[[streams]]\nname = \"r\"\n{}", keys.replace("= 0\nr", "= 100\nr"));
    let phases = format!("[[phases]]\nuntimed = true\nios = 5000\n{}", measured(10));
    let (outcome, log) = on(whole(), &workload("", &streams, &phases), &[]);
    assert_eq!(untimed(&log).len(), 5000, "reads are skipped");
    let next = log.lock().unwrap().commands.iter().find(|command| command.op == Op::Write).map(|c| c.offset);
    assert_eq!(next, Some(5000 * u64::from(PAGE)));
    assert_eq!(outcome.ios, 10, "and none of it is an I/O of the run");
    assert_eq!(json(&outcome)["duration_ns"].as_u64(), Some(10 * COMMAND.0), "nor takes time");
}

#[test]
fn fills_count_bytes_written_to_the_targets_and_streams_keep_their_shares() {
    let half = CAPACITY / 2;
    let volumes = machine(&[("data", 0, half), ("log", half, half / 2), ("idle", half / 2 * 3, half / 2)]);
    let streams = format!(
        "{}{}{}",
        stream("data", "read_pct = 90\nshare_pct = 75\nvolume = \"data\""),
        stream("log", "read_pct = 0\nshare_pct = 25\nvolume = \"log\"\ntrim_pct = 10"),
        stream("idle", "read_pct = 100\nvolume = \"idle\"")
    );
    let phases = format!("[[phases]]\nuntimed = true\nfills = 2.0\n{}", measured(10));
    let (_, log) = on(volumes, &workload("", &streams, &phases), &[]);
    let writes = untimed(&log);
    assert_eq!(bytes(&writes), CAPACITY * 3 / 2, "twice data and log");
    let log_writes: Vec<&UntimedWrite> = writes.iter().filter(|write| write.offset >= half).collect();
    let (trims, all) = (log_writes.iter().filter(|write| write.trim).count(), log_writes.len());
    assert!(trims.abs_diff(all / 10) < 5 * 51, "{trims} of {all}: beyond 5 standard errors");
    // A turn of "data" writes a tenth of the time: 0.75 x 0.1 to 0.25 of "log".
    let share = all as f64 / writes.len() as f64;
    assert!((share - 0.25 / 0.325).abs() < 0.014, "{share}: beyond 5 standard errors");
}

#[test]
fn smart_is_read_exactly_at_its_interval_in_timed_phases_measured_or_not() {
    // 3 ms and 4 ms of writes of a microsecond each, read every 2 ms.
    let phases = "[[phases]]\nname = \"warm-up\"\nduration = \"3 ms\"\n[[phases]]\nname = \"m\"\nduration = \"4 ms\"\nmeasure = true\n";
    let top = "smart_interval = \"2 ms\"\n";
    let (outcome, _) = on(whole(), &workload(top, &writer(""), phases), &[]);
    let (series, page) = (&outcome.tables["smart"], u64::from(PAGE));
    assert_eq!(series.column::<u64>("time_ns"), [0, 2_000_000, 4_000_000, 6_000_000, 7_000_000]);
    // What completes at the very time of a reading is not in it.
    assert_eq!(series.column::<u64>("host_bytes"), [0, 1999 * page, 3999 * page, 5999 * page, 6999 * page]);
    assert_eq!(series.column::<Option<f64>>("write_amplification"), [None, Some(2.0), Some(2.0), Some(2.0), Some(2.0)]);
    let smart = &json(&outcome)["smart"][0];
    assert_eq!(smart["at_begin"]["host_bytes"].as_u64(), Some(2999 * page));
    assert_eq!(smart["at_end"]["host_bytes"].as_u64(), Some(6999 * page));
    assert_eq!(smart["write_amplification"].as_f64(), Some(2.0));
    // Every byte of the host costs two of the flash, and 1,000 erases of all of it wear the drive out.
    let endurance = smart["endurance_bytes"].as_f64().expect("a number of bytes");
    common::assert_near("endurance", endurance, 1000.0 * CAPACITY as f64 / 2.0, 1e-6);
    assert_eq!(smart["endurance_from"], "measured");
    assert_eq!(json(&outcome)["series"]["smart_file"], "smart.parquet");
}

#[test]
fn parts_without_timing_are_rows_of_their_own_at_the_same_time() {
    let phases = format!(
        "[precondition]\nsequential = 1.0\n[[phases]]\nname = \"fill\"\nuntimed = true\nfills = 1.0\n{}",
        measured(1000)
    );
    let (outcome, _) = on(whole(), &workload("", &writer(""), &phases), &[]);
    assert_eq!(outcome.tables["smart"].column::<u64>("time_ns"), [0, 0, 0, 1_000_000]);
    let host: Vec<u64> =
        outcome.tables["smart"].column::<u64>("host_bytes").iter().map(|bytes| bytes / CAPACITY).collect();
    assert_eq!(host, [0, 1, 2, 2]);
}

#[test]
fn a_machine_that_does_not_wear_has_no_smart_and_takes_all_of_it() {
    let phases =
        format!("[precondition]\nstate = \"preconditioned\"\n[[phases]]\nuntimed = true\nios = 9\n{}", measured(50));
    let text = workload("data = 0.4", &writer(""), &phases);
    let Left(record) = run("savvio-10k1", &text, &[]);
    assert!(record.get("smart").is_none() && record["series"].get("smart_file").is_none());
    assert!(execute(request("savvio-10k1", &text, &[])).tables.get("smart").is_none());
}

#[test]
fn the_same_seed_gives_the_same_writes_and_another_seed_others() {
    let top = "data = { histogram = [1, 2, 3] }";
    let phases = format!("[precondition]\nrandom = 0.2\nworkload = 0.2\n{}", measured(500));
    let left = |seed: u64| {
        let (machine, log) = whole();
        let mut request = request("flash", &workload(top, &writer("trim_pct = 5"), &phases), &[]);
        request.seed = seed;
        let outcome = Run::on_machine(machine, request).unwrap().execute(&Control::default()).unwrap();
        (outcome.record.to_json(), outcome.tables, untimed(&log))
    };
    let (one, two, other) = (left(1), left(1), left(2));
    assert!(one == two);
    assert!(one.2 != other.2);
}

#[test]
fn preconditioning_can_be_interrupted() {
    let phases = format!("[precondition]\nrandom = 1000.0\n{}", measured(1));
    let (machine, log) = whole();
    let run = Run::on_machine(machine, request("flash", &workload("", &writer(""), &phases), &[])).unwrap();
    let control = Control::default();
    control.stop();
    assert!(matches!(run.execute(&control), Err(RunError::Interrupted)));
    assert!(untimed(&log).len() < 10_000, "at once");
}
