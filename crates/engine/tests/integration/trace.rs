//! Is a log that a run left, replayed, the run? And what does another machine do with it?

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use hotband_engine::{Asked, Control, Findings, LOG_COLUMNS, Request, Run};
use hotband_machine::{Entropy, Op};
use hotband_units::{Instant, Span};
use hotband_workloads::{TraceHead, TraceIo, TraceRows, TraceStream};
use serde_json::Value;

use crate::common::refused::{refused, says};
use crate::common::{assert_near, catalog, closed, execute, random_4k, request, workload};

const DRIVE: &str = "ent-15k";

/// A row of an I/O log, by column.
struct Row(Vec<u64>);

impl Row {
    fn get(&self, name: &str) -> u64 {
        self.0[LOG_COLUMNS.iter().position(|have| *have == name).expect("a column of the log")]
    }

    /// What was asked, when, and how long it took.
    fn asked(&self) -> [u64; 7] {
        let names = ["submit_ns", "latency_ns", "stream", "direction", "offset_bytes", "size_bytes", "fua"];
        names.map(|name| self.get(name))
    }

    fn io(&self, row: u64) -> TraceIo {
        let op = [Op::Read, Op::Write, Op::Flush, Op::Trim][self.get("direction") as usize];
        TraceIo {
            issue: Instant(self.get("submit_ns")),
            latency: Some(Span(self.get("latency_ns"))),
            op,
            fua: self.get("fua") == 1,
            failed: self.get("error") != 0,
            stream: self.get("stream") as u16,
            offset: self.get("offset_bytes"),
            len: self.get("size_bytes"),
            row,
        }
    }
}

fn temporary(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("trace-{name}"))
}

/// Runs it; its record and its log.
fn logged(name: &str, request: Request) -> (Value, Vec<Row>) {
    let path = temporary(&format!("{name}.log"));
    let json = execute(Request { io_log: Some(path.clone()), ..request }).record.to_json();
    (serde_json::from_str(&json).expect("a record is JSON"), rows_of(&path))
}

/// The rows of a log, which is removed.
fn rows_of(log: &Path) -> Vec<Row> {
    let bytes = std::fs::read(log).expect("the log was written");
    std::fs::remove_file(log).expect("nobody else knows it");
    let numbers: Vec<u64> =
        bytes.chunks_exact(8).map(|number| u64::from_le_bytes(number.try_into().expect("eight bytes"))).collect();
    numbers.chunks_exact(LOG_COLUMNS.len()).map(|row| Row(row.to_vec())).collect()
}

fn write(path: &Path, head: &TraceHead, ios: impl IntoIterator<Item = TraceIo>) {
    let mut rows = TraceRows::create(path).expect("a temporary file");
    ios.into_iter().for_each(|io| rows.push(&io).expect("a temporary file"));
    rows.finish(head).expect("a temporary file");
}

/// The rows of a log as those of a trace of these streams, in a file.
fn trace(name: &str, rows: &[Row], streams: &[(&str, Option<&str>)]) -> PathBuf {
    let mut sorted: Vec<(u64, u64, TraceIo)> = rows
        .iter()
        .enumerate()
        .map(|(place, row)| (row.get("submit_ns"), row.get("number"), row.io(place as u64 + 1)))
        .collect();
    sorted.sort_by_key(|(at, number, _)| (*at, *number));
    let stream = |(name, volume): &(&str, Option<&str>)| TraceStream {
        name: (*name).to_owned(),
        volume: volume.map(str::to_owned),
    };
    let unmeasured = rows.iter().take_while(|row| row.get("measured") == 0).count() as u64;
    let streams = streams.iter().map(stream).collect();
    let head =
        TraceHead { file: "log.parquet".to_owned(), streams, ios: rows.len() as u64, unmeasured, notes: Vec::new() };
    let path = temporary(&format!("{name}.rows"));
    write(&path, &head, sorted.iter().map(|(.., io)| *io));
    path
}

/// A replay of one stream called "main".
fn replay(name: &str, machine: &str, keys: &str, rows: &[Row]) -> (Value, Vec<Row>) {
    let path = trace(name, rows, &[("main", None)]);
    let text = format!("[trace]\nfile = \"log.parquet\"\n{keys}");
    let left = logged(name, Request { traces: vec![path.clone()], ..request(machine, &text, &[]) });
    std::fs::remove_file(path).expect("nobody else knows it");
    left
}

fn asked(rows: &[Row]) -> Vec<[u64; 7]> {
    rows.iter().map(Row::asked).collect()
}

/// An open loop that ends when its last I/O is answered, so that the log has all of them.
fn open_loop(stream: &str, rate: u32) -> String {
    format!(
        "[load]\nopen = {{ rate_iops = {rate}, arrival = \"poisson\" }}\n[[streams]]\n{stream}\n\
         [[phases]]\nname = \"warm-up\"\nduration = \"2 s\"\n\
         [[phases]]\nduration = \"8 s\"\nmeasure = true\n\
         [[phases]]\nname = \"rest\"\nstreams = []\nuntil = \"drained\"\n"
    )
}

#[test]
fn at_recorded_times_an_open_loop_is_itself_bit_for_bit() {
    let mixed = format!("{}\nfua = true\nflush_every = 7", random_4k(60));
    let disk = ("disk", DRIVE, open_loop(&mixed, 180));
    let trims = "read_pct = 50\nrandom_pct = 100\nsize = \"8 KiB\"\ntrim_pct = 10\nflush_every = 20";
    let flash = ("flash", "s4500-960", open_loop(trims, 3000));
    for (name, machine, text) in [disk, flash] {
        let (record, rows) = logged(name, request(machine, &text, &[]));
        assert!(rows.len() > 1500 && rows.iter().any(|row| row.get("fua") == 1) == (name == "disk"), "{name}");
        let (replayed, again) = replay(&format!("{name}-again"), machine, "", &rows);
        assert_eq!(asked(&again), asked(&rows), "{name}");
        let section = &replayed["trace"];
        assert_eq!(section["issue_error"]["max_ns"], 0, "{name}: {section}");
        assert_eq!(section["recorded_ns"], section["replayed_ns"], "{name}");
        for direction in ["read", "write"] {
            assert_eq!(section[direction]["recorded"], section[direction]["replayed"], "{name}");
        }
        // What was not measured at the beginning is not measured now; what came after the measured time is.
        assert!(replayed["summary"]["count"].as_u64() >= record["summary"]["count"].as_u64(), "{name}");
        let measured = rows.len() - rows.iter().take_while(|row| row.get("measured") == 0).count();
        assert_eq!(section["ios"].as_u64(), Some(measured as u64), "{name}");
        let stats = &replayed["streams"][0]["read"];
        assert_eq!(stats["count"], section["read"]["count"], "{name}: the same I/Os in the section as in the summary");
        assert_eq!(stats["latency_max_ns"], section["read"]["replayed"]["max_ns"], "{name}");
    }
}

#[test]
fn after_completions_a_closed_loop_is_itself_on_its_own_disk() {
    // A loop that counts its I/Os asks for others that the log does not have; with those of its last moment gone the
    // order of service may differ there, and nowhere else.
    for depth in [1, 8] {
        let text = workload(&random_4k(70), &closed(depth), "", "ios = 2000");
        let (record, rows) = logged(&format!("closed-{depth}"), request(DRIVE, &text, &[]));
        let (replayed, again) = replay(&format!("closed-{depth}-again"), DRIVE, "issue = \"after-completion\"", &rows);
        let same = rows.len() - 8 * depth as usize;
        assert_eq!(asked(&again)[..same], asked(&rows)[..same], "depth {depth}");
        // Eight of two thousand I/Os at the end are alone on the disk.
        let (then, now) = (record["summary"]["iops"].as_f64(), replayed["summary"]["iops"].as_f64());
        assert_near("IOPS", now.expect("a rate"), then.expect("a rate"), 0.005);
        assert_eq!(replayed["trace"]["issue_error"]["max_ns"], 0);
    }
}

/// Rates of a closed loop of 4 KiB reads that was recorded on a 15K disk: replayed after completions on another drive, and
/// of the loop itself there, both until some of its slots have nothing left to ask.
fn rates_on((other, time): (&str, &str), depth: u32, think: &str) -> (f64, f64) {
    let load = format!("closed = {{ threads = {depth}, depth = 1, think = \"{think}\" }}");
    // Both drives have it, so that both are asked for the same addresses.
    let stream = format!("{}\nrange = [\"0 GB\", \"100 GB\"]", random_4k(100));
    let text = workload(&stream, &load, "", "ios = 4000");
    let name = format!("other-{depth}-{}", think.len());
    let (_, rows) = logged(&name, request(DRIVE, &text, &[]));
    let phase = format!("[[phases]]\nuntil = [\"{time}\", \"drained\"]\nmeasure = true\n");
    let keys = format!("issue = \"after-completion\"\n{phase}");
    let (replayed, _) = replay(&format!("{name}-again"), other, &keys, &rows);
    assert!(replayed["trace"]["ios"].as_u64().is_some_and(|ios| (1000..3800).contains(&ios)), "{}", replayed["trace"]);
    let text = workload(&stream, &load, "", &format!("duration = \"{time}\""));
    let (there, _) = logged(&format!("{name}-there"), request(other, &text, &[]));
    let recorded = replayed["trace"]["recorded_ns"].as_u64().expect("a time");
    let now = replayed["trace"]["replayed_ns"].as_u64().expect("a time");
    assert_eq!(now < recorded, other == "s4500-960", "{recorded} {now}");
    let rate = |record: &Value| record["summary"]["iops"].as_f64().expect("a rate");
    (rate(&replayed), rate(&there))
}

#[test]
fn after_completions_a_closed_loop_on_another_drive_is_the_closed_loop_there() {
    for other in [("s4500-960", "2 s"), ("ent-cap-2tb", "20 s")] {
        let (replayed, there) = rates_on(other, 1, "1 ms");
        assert!((replayed - there).abs() < 1e-9 * there, "one at a time there is one order: {replayed} {there}");
    }
    // Slots ask for their addresses in another order than they would there: chance decides which I/Os meet on a die or
    // in a disk's queue. 4,000 I/Os of a standard deviation of half their mean: 0.8 %.
    for other in [("s4500-960", "40 ms"), ("ent-cap-2tb", "10 s")] {
        let (replayed, there) = rates_on(other, 8, "0 s");
        assert_near(other.0, replayed, there, 0.01);
    }
}

#[test]
fn think_times_of_several_at_once_are_taken_from_the_last_answer_as_the_guide_says() {
    // Eight that think 2 ms each: the last answer before an I/O is often another's, so that thinking seems to take less.
    let (slower, there) = rates_on(("ent-cap-2tb", "10 s"), 8, "2 ms");
    assert!((0.95..1.0).contains(&(slower / there)), "a slower drive seems slower still: {slower} {there}");
    let (faster, there) = rates_on(("s4500-960", "300 ms"), 8, "2 ms");
    assert!((1.0..2.0).contains(&(faster / there)), "a faster drive seems faster still: {faster} {there}");
}

#[test]
fn as_fast_as_possible_is_a_closed_loop_of_its_depth() {
    let text = workload(&random_4k(100), &closed(4), "", "ios = 2000");
    let (record, rows) = logged("fast", request(DRIVE, &text, &[]));
    let fast = "issue = \"as-fast-as-possible\"\ndepth = 4";
    let (replayed, again) = replay("fast-again", DRIVE, fast, &rows);
    // The trace has them in the order in which the loop asked for them.
    let same = rows.len() - 32;
    assert_eq!(asked(&again)[..same], asked(&rows)[..same]);
    let section = &replayed["trace"];
    assert_eq!((&section["issue_error"], &section["speed"]), (&Value::Null, &Value::Null));
    assert_eq!(section["depth"], 4);
    assert_near(
        "IOPS",
        replayed["summary"]["iops"].as_f64().expect("a rate"),
        record["summary"]["iops"].as_f64().expect("a rate"),
        0.01,
    );
}

#[test]
fn each_stream_goes_to_the_volume_of_its_name() {
    let machine = "[drives.a]\nproduct = \"ent-15k\"\n[drives.b]\nproduct = \"ent-cap-2tb\"\n\
                   [volumes]\ndata = { on = \"a\" }\nlog = { on = \"b\" }\n";
    let stream = |name: &str, rate: u32| {
        let load = format!("load = {{ open = {{ rate_iops = {rate}, arrival = \"fixed\" }} }}");
        format!("[[streams]]\nname = \"{name}s\"\nvolume = \"{name}\"\n{load}\n{}\n", random_4k(50))
    };
    let phases = "[[phases]]\nduration = \"2 s\"\nmeasure = true\n[[phases]]\nname = \"rest\"\nstreams = []\nuntil = \"drained\"\n";
    let text = format!("{}{}{phases}", stream("data", 100), stream("log", 40));
    let (_, rows) = logged("volumes", request(machine, &text, &[]));
    let path = trace("volumes", &rows, &[("datas", Some("data")), ("logs", Some("log"))]);
    let again = |keys: &str, machine: &str| {
        let text = format!("[trace]\nfile = \"log.parquet\"\n{keys}");
        Request { traces: vec![path.clone()], ..request(machine, &text, &[]) }
    };
    let (record, replayed) = logged("volumes-again", again("", machine));
    assert_eq!(asked(&replayed), asked(&rows));
    assert_eq!((&record["streams"][0]["name"], &record["streams"][1]["name"]), (&"datas".into(), &"logs".into()));
    let (_, on_one) = logged("volumes-one", again("volume = \"log\"", machine));
    assert!(on_one.iter().all(|row| row.get("volume") == 1));
    says(&refused(again("", DRIVE)), &["trace.map", "data", "--set volume"]);
    says(&refused(again("volume = \"lgo\"", machine)), &["trace.volume", "did you mean \"log\""]);
    std::fs::remove_file(path).expect("nobody else knows it");
}

#[test]
fn a_trace_that_does_not_fit_is_refused_with_its_row() {
    let (_, rows) = logged("fits", request(DRIVE, &workload(&random_4k(50), &closed(1), "", "ios = 20"), &[]));
    let one = || rows[0].io(17);
    let (far, odd) = (TraceIo { offset: 1 << 62, ..one() }, TraceIo { offset: 100, ..one() });
    let wide = TraceIo { offset: u64::MAX - 511, len: 1024, ..one() };
    let cases = [
        (far, "", ["row 17", "4611686018427387904", "beyond volume"]),
        (wide, "", ["row 17", "1024 B", "beyond volume"]),
        (odd, "", ["row 17", "at 100", "512 B blocks"]),
        (TraceIo { len: 0, ..one() }, "", ["row 17", "0 B", "length"]),
        (TraceIo { len: 1 << 40, ..one() }, "", ["row 17", "length", "4294967295 B"]),
        (
            TraceIo { latency: None, ..one() },
            "issue = \"after-completion\"",
            ["row 17", "no latency", "after-completion"],
        ),
        (TraceIo { issue: Instant(1 << 62), ..one() }, "", ["row 17", "10 million intervals", "interval"]),
    ];
    for (io, keys, expected) in cases {
        let path = temporary("fits.rows");
        let streams = vec![TraceStream { name: "main".to_owned(), volume: None }];
        let head = TraceHead { file: "log.parquet".to_owned(), streams, ios: 1, unmeasured: 0, notes: Vec::new() };
        write(&path, &head, [io]);
        let text = format!("[trace]\nfile = \"log.parquet\"\n{keys}");
        let error = refused(Request { traces: vec![path.clone()], ..request(DRIVE, &text, &[]) });
        says(&error, &["log.parquet"]);
        says(&error, &expected);
    }
    let trim = TraceIo { op: Op::Trim, ..one() };
    let path = temporary("fits.rows");
    let streams = vec![TraceStream { name: "main".to_owned(), volume: None }];
    let head = TraceHead { file: "log.parquet".to_owned(), streams, ios: 1, unmeasured: 0, notes: Vec::new() };
    write(&path, &head, [trim]);
    let text = "[trace]\nfile = \"log.parquet\"\n";
    let parity = Request { traces: vec![path.clone()], ..request("raid5:4xent-15k", text, &[]) };
    says(&refused(parity), &["row 17", "trim", "does not pass trims"]);
    std::fs::remove_file(path).expect("nobody else knows it");
}

#[test]
fn keys_of_a_trace_that_make_no_sense_are_refused() {
    let phase = "[[phases]]\nduration = \"1 s\"\nmeasure = true\n";
    let app = "[app]\nkind = \"btree\"\nrecords = 1000\ncache = \"1 GB\"\noperations = { read = 1 }\n";
    let cases = [
        ("[trace]\n".to_owned(), ["trace.file", "missing"]),
        ("[trace]\nfile = \"x\"\nissue = \"recordet\"\n".to_owned(), ["trace.issue", "did you mean \"recorded\""]),
        ("[trace]\nfile = \"x\"\ndepth = 4\n".to_owned(), ["trace.depth", "as-fast-as-possible"]),
        (
            "[trace]\nfile = \"x\"\nissue = \"as-fast-as-possible\"\nspeed = 2\n".to_owned(),
            ["trace.speed", "leave it out"],
        ),
        ("[trace]\nfile = \"x\"\nspeed = 0\n".to_owned(), ["trace.speed", "0.001"]),
        ("[trace]\nfile = \"x\"\nfrm = \"1 s\"\n".to_owned(), ["trace.frm", "did you mean \"from\""]),
        (format!("[trace]\nfile = \"x\"\n{app}{phase}"), ["trace", "[app]"]),
        ("[trace]\nfile = \"x\"\n".to_owned(), ["trace.file", "rows"]),
    ];
    for (text, expected) in cases {
        says(&refused(request(DRIVE, &text, &[])), &expected);
    }
    let text = "[trace]\nfile = \"x\"\n";
    let fast = ("issue", "as-fast-as-possible");
    let set = [
        (vec![("issue", "fast")], ["set", "issue"]),
        (vec![("depth", "4")], ["depth", "as-fast-as-possible"]),
        (vec![("depth", "0"), fast], ["depth", "whole number"]),
        (vec![("speed", "-1")], ["speed", "0.001"]),
        (vec![("bs", "4 KiB")], ["bs", "replays a trace"]),
        // Whichever stands first: what is wrong is only that nobody made rows.
        (vec![("depth", "4"), fast], ["trace.file", "rows"]),
    ];
    for (pairs, expected) in set {
        says(&refused(request(DRIVE, text, &pairs)), &expected);
    }
    let loops = workload(&random_4k(100), &closed(1), "", "duration = \"1 s\"");
    says(&refused(request(DRIVE, &loops, &[("speed", "2")])), &["speed", "no [trace]"]);
}

#[test]
fn a_trace_ends_with_its_last_answer_or_the_time_that_is_asked_for() {
    let (_, rows) = logged("ends", request(DRIVE, &open_loop(&random_4k(100), 100), &[]));
    let path = trace("ends", &rows, &[("main", None)]);
    let count = |duration: Option<&str>| {
        let text = "[trace]\nfile = \"log.parquet\"\n";
        let duration = duration.map(str::to_owned);
        let record =
            logged("ends-again", Request { traces: vec![path.clone()], duration, ..request(DRIVE, text, &[]) }).0;
        (record["trace"]["ios"].as_u64().expect("a count"), record["duration_ns"].as_u64().expect("a time"))
    };
    let (whole, part, long) = (count(None), count(Some("3 s")), count(Some("1 h")));
    assert!(part.0 < whole.0 && part.1 == 3_000_000_000, "{part:?} {whole:?}");
    assert_eq!(long, whole);
    std::fs::remove_file(path).expect("nobody else knows it");
}

/// The log of eight clients of a served disk, each of which hears of its answers up to 60 us late, thinks, and asks
/// again: reads, writes with and without FUA, flushes.
fn served() -> Vec<Row> {
    const SERVED: &str = "[[streams]]\nname = \"main\"\nload = { clients = {} }\n\
                          [[phases]]\nname = \"served\"\nuntil = \"drained\"\nmeasure = true\n";
    let path = temporary("served.log");
    let request = Request { io_log: Some(path.clone()), ..request(DRIVE, SERVED, &[]) };
    let run = Run::new(&catalog(), request).expect("a served machine");
    let mut live = run.live(&Control::default()).expect("nobody stops it");
    // Numbers that look random, by the place of the I/O: the same on every machine.
    let number = |place: u64, most: u64| place.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) % most;
    let mut asking: BTreeSet<(u64, u64)> = (0..8).map(|client| (client * 1000, client)).collect();
    let (mut place, mut answered) = (0, Vec::new());
    while place < 3000 || live.wake().is_some() {
        let ask = asking.first().map(|(at, _)| Instant(*at)).filter(|_| place < 3000);
        let Some(now) = live.wake().into_iter().chain(ask).min() else { break };
        live.advance(now, &mut answered);
        for (client, _, done) in answered.drain(..) {
            let late = 5_000 + number(place + client, 55_000);
            asking.insert((done.at.0 + late + number(place + 17 * client, 3_000_000), client));
        }
        while let Some((_, client)) = asking.first().copied().filter(|(at, _)| place < 3000 && *at <= now.0) {
            asking.pop_first();
            let op = [Op::Read, Op::Read, Op::Write, Op::Write, Op::Flush][number(place, 5) as usize];
            let (offset, len) = if op == Op::Flush { (0, 0) } else { (number(place, 20_000_000) * 4096, 4096) };
            let fua = op == Op::Write && place.is_multiple_of(3);
            live.submit(now, &Asked { volume: 0, op, offset, len, fua, entropy: Entropy::INCOMPRESSIBLE }, client);
            place += 1;
        }
    }
    live.finish(Findings::default()).expect("the log can be written");
    rows_of(&path)
}

#[test]
fn what_programs_asked_of_a_served_disk_is_replayed_as_it_was() {
    let rows = served();
    assert!(rows.len() == 3000 && rows.iter().any(|row| row.get("fua") == 1), "{}", rows.len());
    for issue in ["recorded", "after-completion"] {
        let (record, again) = replay("served-again", DRIVE, &format!("issue = \"{issue}\""), &rows);
        assert_eq!(asked(&again), asked(&rows), "{issue}");
        assert_eq!(record["trace"]["recorded_ns"], record["trace"]["replayed_ns"]);
    }
}
