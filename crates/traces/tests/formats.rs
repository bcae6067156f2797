//! Does each format say what its documentation says, with the traps that it is known for, and what of a trace is taken?
#![allow(missing_docs, reason = "tests")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use hotband_machine::Op;
use hotband_traces::{format_of, known, make_rows, write_trace};
use hotband_units::Span;
use hotband_workloads::{Selection, TraceFile, TraceHead, TraceIo};

fn corpus(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/traces").join(name)
}

fn temporary() -> PathBuf {
    static FILES: AtomicU64 = AtomicU64::new(0);
    let number = FILES.fetch_add(1, Ordering::Relaxed);
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("formats-{}-{number}", std::process::id()))
}

type Read = Result<(TraceHead, Vec<TraceIo>), String>;

fn read_as(path: &Path, selection: &Selection) -> Read {
    let out = temporary();
    make_rows(path, "trace", selection, &out, |source| source).map_err(|error| error.to_string())?;
    let mut file = TraceFile::open(&out).expect("it was just written");
    let mut ios = Vec::new();
    while let Some(io) = file.next_io().expect("a row") {
        ios.push(io);
    }
    std::fs::remove_file(out).expect("nobody else knows it");
    Ok((file.head().clone(), ios))
}

fn read(name: &str) -> (TraceHead, Vec<TraceIo>) {
    read_as(&corpus(name), &Selection::default()).expect("it is a trace")
}

fn read_text(text: &[u8], selection: &Selection) -> Read {
    let path = temporary();
    std::fs::write(&path, text).expect("a temporary file");
    let read = read_as(&path, selection);
    std::fs::remove_file(path).expect("nobody else knows it");
    read
}

/// Time of issue, latency, operation, offset, length.
fn plain(ios: &[TraceIo]) -> Vec<(u64, Option<u64>, Op, u64, u64)> {
    ios.iter().map(|io| (io.issue.0, io.latency.map(|latency| latency.0), io.op, io.offset, io.len)).collect()
}

fn volumes(head: &TraceHead) -> Vec<&str> {
    head.streams.iter().map(|stream| stream.volume.as_deref().unwrap_or("")).collect()
}

#[test]
fn every_format_is_known_by_its_lines() {
    let names = [
        ("validate", "disksim-validate"),
        ("ascii", "disksim-ascii"),
        ("mqsim", "mqsim"),
        ("msr", "msr"),
        ("spc", "spc"),
        ("whole.gz", "spc"),
        ("whole.zst", "spc"),
        ("alibaba", "alibaba"),
        ("tencent", "tencent"),
        ("systor", "systor"),
        ("fio-v2", "fio-v2"),
        ("fio-v3", "fio-v3"),
        ("blkparse", "blkparse"),
        ("io-log-csv", "io-log-csv"),
    ];
    for (file, format) in names {
        assert_eq!(format_of(&corpus(file)).expect("it can be read"), Some(format), "{file}");
        assert!(known().contains(&format));
    }
    for other in ["empty", "rubbish"] {
        assert_eq!(format_of(&corpus(other)).expect("it can be read"), None, "{other}");
    }
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../python/hotband/data/catalog/workloads");
    for entry in std::fs::read_dir(folder).expect("the catalog") {
        assert_eq!(format_of(&entry.expect("an entry").path()).expect("it can be read"), None);
    }
}

#[test]
fn a_window_of_2_gib_is_refused_with_the_way_out() {
    let error = read_as(&corpus("zstd-window-2gib"), &Selection::default()).expect_err("its first bytes ask for 2 GiB");
    assert!(error.contains("decompress it first (zstd -d --long=31)"), "{error}");
}

#[test]
fn validate_is_a_closed_loop() {
    // The next is asked for when the one before was answered and its think time has passed.
    let expected = [
        (0, Some(2_000_000), Op::Read, 51_200, 4096),
        (2_500_000, Some(1_000_000), Op::Write, 153_600, 2048),
        (3_750_500, Some(500_000), Op::Read, 53_248, 4096),
    ];
    assert_eq!(plain(&read("validate").1), expected);
}

#[test]
fn arrivals_of_disksim_are_ms_and_those_of_mqsim_ns() {
    let (head, ios) = read("ascii");
    assert_eq!(plain(&ios)[1], (1_500_000, None, Op::Write, 102_400, 8192));
    assert_eq!(volumes(&head), ["0", "1"]);
    let (_, ios) = read("mqsim");
    assert_eq!(plain(&ios)[1], (1500, None, Op::Write, 102_400, 8192));
}

#[test]
fn spc_counts_addresses_in_blocks_and_sizes_in_bytes() {
    let (head, ios) = read("spc");
    assert_eq!(plain(&ios)[0], (0, None, Op::Write, 20_941_264 * 512, 8192));
    assert_eq!(plain(&ios)[1], (699_014_000, None, Op::Read, 3_436_288 * 512, 15_872));
    assert_eq!(volumes(&head), ["0", "1"]);
    assert_eq!(plain(&read("whole.gz").1), plain(&ios));
    assert_eq!(plain(&read("whole.zst").1), plain(&ios));
}

#[test]
fn msr_is_sorted_by_filetime() {
    let (head, ios) = read("msr");
    assert_eq!(plain(&ios)[0], (0, Some(5_178_500), Op::Read, 3_154_132_992, 4096));
    assert_eq!(plain(&ios)[1], (774_895_200, Some(5_408_600), Op::Write, 2_654_453_760, 4096));
    assert_eq!(ios.iter().map(|io| io.row).collect::<Vec<_>>(), [2, 1, 3]);
    assert_eq!(volumes(&head), ["mds_1", "mds_0", "usr_0"]);
}

#[test]
fn cloud_and_vdi_traces_have_their_own_units() {
    let (head, ios) = read("alibaba");
    assert_eq!(plain(&ios)[1], (33_000, None, Op::Read, 0, 4096));
    assert_eq!(volumes(&head), ["419", "725"]);
    let (head, ios) = read("tencent");
    assert_eq!(plain(&ios)[2], (1_000_000_000, None, Op::Read, 0, 4096));
    assert_eq!(plain(&ios)[0], (0, None, Op::Read, 12_910_952 * 512, 65_536));
    assert!(head.notes.iter().any(|note| note.contains("whole seconds")), "{:?}", head.notes);
    let (head, ios) = read("systor");
    let expected = [(0, None, Op::Read, 8192, 512), (243_000, Some(1_020_000), Op::Write, 4096, 8192)];
    assert_eq!(plain(&ios), expected);
    assert!(head.notes.iter().any(|note| note.contains("without R or W")), "{:?}", head.notes);
}

#[test]
fn iologs_of_fio_wait_or_have_times_in_microseconds() {
    let expected = [
        (0, None, Op::Read, 4096, 8192),
        (250_000, None, Op::Write, 0, 512),
        (250_000, None, Op::Flush, 0, 0),
        (250_000, None, Op::Trim, 8192, 4096),
    ];
    assert_eq!(plain(&read("fio-v2").1), expected);
    let (head, ios) = read("fio-v3");
    assert_eq!(plain(&ios)[1], (257_000, None, Op::Write, 774_144, 4096));
    assert_eq!(volumes(&head), ["a.dat"]);
}

#[test]
fn events_of_blkparse_are_paired() {
    let (head, ios) = read("blkparse");
    let expected = [
        // Dispatched before the first read, though it stands behind it.
        (26_000, Some(200_000), Op::Write, 2000 * 512, 4096),
        // Two queued, merged into one that was dispatched.
        (30_000, Some(100_000), Op::Read, 1000 * 512, 8192),
        (300_000, Some(100_000), Op::Flush, 0, 0),
        // A device that dispatches nothing.
        (600_000, Some(100_000), Op::Trim, 64 * 512, 32_768),
    ];
    let from = ios[0].issue.0;
    let shifted = expected.map(|(at, latency, op, offset, len)| (at - 26_000, latency, op, offset, len));
    assert_eq!((from, plain(&ios)), (0, shifted.to_vec()));
    assert!(ios[0].fua && ios[0].failed && !ios[1].failed);
    let names: Vec<&str> = ios.iter().map(|io| head.streams[usize::from(io.stream)].name.as_str()).collect();
    assert_eq!(names, ["wal", "pg one", "wal", "fstrim"], "who queued it asked for it, not who dispatched it");
    let queue = Selection { format: Some("blkparse-queue".to_owned()), ..Selection::default() };
    let (_, ios) = read_as(&corpus("blkparse"), &queue).expect("it is a trace");
    assert_eq!(plain(&ios)[0], (0, Some(130_000), Op::Read, 1000 * 512, 4096));
    assert_eq!(plain(&ios)[1], (10_000, Some(120_000), Op::Read, 1008 * 512, 4096));
}

#[test]
fn the_log_as_csv_keeps_its_times() {
    let (head, ios) = read("io-log-csv");
    assert_eq!(plain(&ios)[0], (500, Some(100), Op::Write, 4096, 512));
    assert_eq!(plain(&ios)[1], (700, None, Op::Read, 0, 512));
    assert!(ios[0].fua && !ios[1].fua && ios[1].failed && !ios[0].failed);
    assert_eq!((head.unmeasured, volumes(&head)), (1, vec!["d0"]));
}

fn columns(pairs: &[(&str, &str)]) -> Selection {
    let columns = pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    Selection { columns, ..Selection::default() }
}

#[test]
fn any_table_is_read_by_its_columns() {
    let said = [("time", "t:ms"), ("offset", "lba sectors"), ("size", "3"), ("op", "rw"), ("device", "5")];
    let text = b"t;lba;bytes;rw;disk\n1.5;8;4096;Write;a\n\"2.5\";16;512;r;b\n";
    let (head, ios) = read_text(text, &columns(&said)).expect("a table");
    assert_eq!(plain(&ios), [(0, None, Op::Write, 4096, 4096), (1_000_000, None, Op::Read, 8192, 512)]);
    assert_eq!(volumes(&head), ["a", "b"]);
    let numbers = columns(&[("time", "1"), ("offset", "2"), ("size", "3"), ("latency", "4 us")]);
    let (_, ios) = read_text(b"0.25 0 512 7\n0.5 512 512 8.5\n", &numbers).expect("a table without a header");
    assert_eq!(plain(&ios)[1], (250_000_000, Some(8500), Op::Read, 512, 512));
    let (_, ios) = read_text(b"0.25 512.0 1e3 7\n", &numbers).expect("whole bytes, as a table of floats has them");
    assert_eq!(plain(&ios)[0], (0, Some(7000), Op::Read, 512, 1000));
    for (line, problem) in [("0.5 512.5 512 8", "line 2: no whole offset"), ("0.5 0 512.25 8", "no whole size")] {
        let error = read_text(format!("0.25 0 512 7\n{line}\n").as_bytes(), &numbers).expect_err("no byte is cut");
        assert!(error.contains(problem), "{error}");
    }
    for (pairs, part) in [
        (vec![("time", "1"), ("offset", "2")], "size is missing"),
        (vec![("tme", "1")], "expected time, offset"),
        (vec![("time", "1 parsec")], "units s, ms, us, 100ns, ns"),
        (vec![("time", "when"), ("offset", "2"), ("size", "3")], "a header without when for time"),
    ] {
        let error = read_text(b"1,2,3\n", &columns(&pairs)).expect_err("they are wrong");
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn what_is_taken_can_be_said() {
    let line = |at: u64| format!("{},{},512,{},{at}\n", at % 3, at * 2, ['R', 'W'][at as usize % 2]);
    let text = (0..100).map(line).collect::<Vec<_>>().concat();
    let taken = |selection: Selection| read_text(text.as_bytes(), &selection).map(|(head, ios)| (head, plain(&ios)));
    let seconds = |count: u64| Span(count * 1_000_000_000);
    let some = || Selection::default();
    let (_, ios) = taken(Selection { from: seconds(10), length: Some(seconds(5)), ..some() }).expect("some");
    assert_eq!((ios.len(), ios[0].0, ios[0].3), (5, 0, 10 * 1024));
    let (head, ios) = taken(Selection { devices: vec!["2".to_owned()], ..some() }).expect("some");
    // Time begins with the first I/O of the trace, whosever it is: several devices keep their times beside each other.
    assert_eq!((ios.len(), ios[0].0, volumes(&head)), (33, 2_000_000_000, vec!["2"]));
    assert!(head.notes[0].starts_with("33 of 100 I/Os"), "{:?}", head.notes);
    let (_, ios) = taken(Selection { directions: vec![Op::Write], range: Some(0..20 * 1024), ..some() }).expect("some");
    assert!(ios.iter().all(|(.., op, offset, _)| *op == Op::Write && *offset < 20 * 1024) && ios.len() == 10);
    let error = taken(Selection { devices: vec!["7".to_owned()], ..some() }).expect_err("there is none");
    assert!(error.contains("expected some of its devices 0, 1, 2"), "{error}");
    assert!(taken(Selection { from: seconds(1000), ..some() }).expect_err("it is over").contains("from"));
}

#[test]
fn a_line_that_is_wrong_is_named_or_left_out() {
    let good = "0,7,512,R,1.25\n".repeat(30);
    let bad = [
        ("0,7,512\n", "a line of 3 fields"),
        ("0,-7,512,R,2\n", "no LBA"),
        ("0,7,0,R,2\n", "a length of zero"),
        ("0,7,-512,R,2\n", "no size"),
        ("0,36028797018963968,512,R,2\n", "no LBA"),
        ("0,18014398509481983,1024,R,2\n", "beyond 2^63"),
        ("0,7,512,R,1\n", "a time before that of the previous line"),
        ("128166372010810581,mds,0,Write,2654453760,4096,54086\n", "no LBA; the line looks like msr"),
        ("\0\u{1}\u{2}rubbish\n", "fields"),
    ];
    for (line, found) in bad {
        let text = format!("{good}{line}{good}");
        let error = read_text(text.as_bytes(), &Selection::default()).expect_err("it is wrong");
        assert!(error.starts_with("line 31: ") && error.contains(found) && error.contains("SPC: ASU"), "{error}");
        let skip = Selection { skip_bad: 1, ..Selection::default() };
        let (head, ios) = read_text(text.as_bytes(), &skip).expect("one may be left out");
        assert_eq!(ios.len(), 60, "{line}");
        assert!(
            head.notes[0].contains("1 wrong lines of trace") && head.notes[0].contains("line 31"),
            "{:?}",
            head.notes
        );
    }
    let cut = format!("{good}0,7,51");
    let error = read_text(cut.as_bytes(), &Selection::default()).expect_err("it is cut");
    assert!(error.contains("line 31") && error.contains("the last line is incomplete"), "{error}");
    let two = format!("{good}x\ny\n{good}");
    let skip = Selection { skip_bad: 1, ..Selection::default() };
    assert!(read_text(two.as_bytes(), &skip).expect_err("two are wrong").starts_with("line 32: "));
}

#[test]
fn what_is_no_trace_or_cut_off_is_refused() {
    let refused = |name: &str| read_as(&corpus(name), &Selection::default()).expect_err(name);
    assert!(refused("empty").contains("is empty"));
    assert!(refused("rubbish").contains("is not a trace of a known format"));
    let cut = Selection { format: Some("spc".to_owned()), ..Selection::default() };
    let error = read_as(&corpus("cut.gz"), &cut).expect_err("it is cut off");
    assert!(error.contains("the compressed data ends here, or is damaged"), "{error}");
    let skip = Selection { skip_bad: 1, ..cut };
    assert!(read_as(&corpus("cut.gz"), &skip).is_ok_and(|(head, _)| head.notes[0].contains("or is damaged")));
    let none = Selection { format: Some("spd".to_owned()), ..Selection::default() };
    assert!(read_as(&corpus("spc"), &none).expect_err("it is none").contains("expected one of"));
}

#[test]
fn what_a_format_can_say_comes_back() {
    let blkparse = corpus("blkparse");
    let rows = temporary();
    make_rows(&blkparse, "trace", &Selection::default(), &rows, |source| source).expect("a trace");
    let (_, was) = read("blkparse");
    for (to, lost) in [
        ("blkparse", vec![]),
        // A comma in a cell would be two cells.
        ("io-log-csv", vec!["signs in names"]),
        ("fio-v3", vec!["FUA", "failures", "latencies", "names of processes or streams"]),
        ("spc", vec!["FUA", "failures", "flushes, left out", "latencies", "trims, left out"]),
        (
            "disksim-validate",
            vec!["devices", "failures", "issue times of I/Os issued before the previous I/O completed"],
        ),
    ] {
        for ending in ["", "gz", "zst"] {
            let out = temporary();
            let losses = write_trace(&rows, to, &out, ending).expect("it is written");
            let found: Vec<&str> = losses.lost.keys().copied().collect();
            assert!(lost.iter().all(|what| found.contains(what)), "{to}: {found:?}, expected {lost:?}");
            assert!(!lost.is_empty() || found.is_empty(), "{to}: {found:?}");
            assert_eq!(format_of(&out).expect("it can be read"), Some(to));
            let (_, now) = read_as(&out, &Selection::default()).expect("it is a trace");
            assert_eq!(now.len() as u64, losses.written, "{to}");
            if to == "io-log-csv" || to == "blkparse" {
                assert_eq!(plain(&now), plain(&was), "{to}");
                assert!(now.iter().zip(&was).all(|(now, was)| (now.fua, now.failed) == (was.fua, was.failed)));
            }
            std::fs::remove_file(out).expect("nobody else knows it");
        }
    }
    std::fs::remove_file(rows).expect("nobody else knows it");
}

#[test]
fn every_plain_format_comes_back_from_its_own_rows() {
    for name in ["validate", "ascii", "mqsim", "msr", "spc", "alibaba", "tencent", "systor", "fio-v2", "fio-v3"] {
        let rows = temporary();
        make_rows(&corpus(name), "trace", &Selection::default(), &rows, |source| source).expect("a trace");
        let to = format_of(&corpus(name)).expect("it can be read").expect("it is one");
        let out = temporary();
        let losses = write_trace(&rows, to, &out, "").expect("it is written");
        assert!(losses.lost.is_empty() && losses.rounded_ns == 0, "{name}: {losses:?}");
        let (head, now) = read_as(&out, &Selection::default()).expect("it is a trace");
        let (was_head, was) = read(name);
        assert_eq!((plain(&now), volumes(&head)), (plain(&was), volumes(&was_head)), "{name}");
        std::fs::remove_file(out).expect("nobody else knows it");
        std::fs::remove_file(rows).expect("nobody else knows it");
    }
}

/// Time of issue, latency, operation, offset, length and process, of a text whose format is recognised.
fn recognised(text: &[u8], format: &str) -> (TraceHead, Vec<TraceIo>) {
    let path = temporary();
    std::fs::write(&path, text).expect("a temporary file");
    assert_eq!(format_of(&path).expect("it can be read"), Some(format));
    std::fs::remove_file(path).expect("nobody else knows it");
    read_text(text, &Selection::default()).expect("it is a trace")
}

#[test]
fn biosnoop_has_commands_with_blanks_and_times_of_completions() {
    let text = b"TIME(s)     COMM           PID    DISK      T SECTOR     BYTES  QUE(ms) LAT(ms)\n\
        0.000000    python3 app -x 1950   xvda1     W 16 4096 0.01     0.75\n\
        0.000250    ?              0      xvda1     RA 32 8192 0.02    0.25\n\
        0.000300    jbd2           0      nvme0n1   FF 0 0 0.02    0.05\n";
    let (head, ios) = recognised(text, "biosnoop");
    assert_eq!(
        plain(&ios),
        [
            (0, Some(750_000), Op::Write, 8192, 4096),
            (750_000, Some(250_000), Op::Read, 16384, 8192),
            (1_000_000, Some(50_000), Op::Flush, 0, 0),
        ]
    );
    assert_eq!(volumes(&head), ["xvda1", "xvda1", "nvme0n1"]);
    assert!(head.streams[0].name.contains("python3 app -x"), "{:?}", head.streams);
}

#[test]
fn lines_of_biosnoop_without_a_disk_are_left_out_and_counted() {
    // bcc prints no disk and sector 0 for what it did not see begin; libbpf-tools prints Unknown, and RWBS for T.
    let text = b"$ sudo biosnoop-bpfcc\n\
        TIME(s)     COMM           PID    DISK      T SECTOR     BYTES   LAT(ms)\n\
        0.000000    dd             1950   sda       R 16 4096 0.75\n\
        0.000100    ?              0                R 0          4096       0.98\n\
        0.000200    python3 app 2  1951             W 32 4096 0.75\n\
        0.000300    smartctl       1952   <unknown> R 0 512 0.20\n\
        0.000400    fwupd          1953   Unknown   N    0          0         0.100\n\
        0.000500    jbd2/sda1-8    422    sda       FWFS 64 4096 0.30\n\
        0.000600    fstrim         423    sda       N    64 4096 0.30\n\
        ^C\n";
    let (head, ios) = recognised(text, "biosnoop");
    assert_eq!(
        plain(&ios),
        [(0, Some(750_000), Op::Read, 8192, 4096), (950_000, Some(300_000), Op::Write, 32768, 4096)]
    );
    let left_out = "lines without a disk or an operation are left out: 5 (";
    assert!(head.notes.iter().any(|note| note.starts_with(left_out)), "{:?}", head.notes);
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_line() {
    let text = "128166372003061629,usr,0,Read,7014609920,24576,41286\n128166372016382155,usr,0,Write,8192,8192,1963\n";
    let (_, ios) = recognised(format!("\u{feff}{text}").as_bytes(), "msr");
    assert_eq!(plain(&ios), plain(&recognised(text.as_bytes(), "msr").1));
}

#[test]
fn lines_before_the_first_event_are_skipped() {
    let events = "  fio-2912  [002]   100.000100: block_rq_issue:  259,0 R 4096 () 81920 + 8 [fio]\n\
                  <idle>-0  [002]   100.000190: block_rq_complete:  259,0 R () 81920 + 8 [0]\n";
    let (_, ios) = recognised(format!("cpus=4\n{events}").as_bytes(), "perf");
    assert_eq!(plain(&ios), [(0, Some(90_000), Op::Read, 81920 * 512, 4096)]);
}

#[test]
fn events_of_windows_end_at_their_time() {
    let text = b"BeginHeader\n\
        FileIoCreate,  TimeStamp, Process Name ( PID)\n\
        DiskRead,  TimeStamp, Process Name ( PID), ThreadID, IrpPtr, ByteOffset, IOSize, ElapsedTime, DiskNum, IrpFlags\n\
        DiskWrite, TimeStamp, Process Name ( PID), ThreadID, IrpPtr, ByteOffset, IOSize, ElapsedTime, DiskNum, IrpFlags\n\
        DiskFlush, TimeStamp, Process Name ( PID), ThreadID, IrpPtr, ElapsedTime, DiskNum, IrpFlags\n\
        EndHeader\n\
        FileIoCreate, 63000, svchost.exe ( 520)\n\
        DiskRead, 63423, svchost.exe ( 520), 1840, 0xfa, 0x0012e1c000, 0x00001000, 5120, 0, 0x06, 5110, Normal, \"C:\\f,g\"\n\
        DiskWrite, 64423, svchost.exe ( 520), 1840, 0xfa, 0x0012e2c000, 0x00001000, 320, 1, 0x06, 310, Normal\n\
        DiskFlush, 64500, svchost.exe ( 520), 1840, 0xfa, 100, 1, 0x06\n";
    let (head, ios) = recognised(text, "etw");
    assert_eq!(
        plain(&ios),
        [
            (0, Some(5_120_000), Op::Read, 0x12e1_c000, 4096),
            (5_800_000, Some(320_000), Op::Write, 0x12e2_c000, 4096),
            (6_097_000, Some(100_000), Op::Flush, 0, 0),
        ]
    );
    assert_eq!(volumes(&head), ["0", "1"]);
}

#[test]
fn block_events_of_perf_and_trace_cmd_are_paired() {
    let perf = b"             fio  2912 [002]   100.000100: block:block_rq_issue: 259,0 RA 4096 () 80 + 8 [fio]\n\
                 swapper     0 [002]   100.000190: block:block_rq_complete: 259,0 RA () 80 + 8 [0]\n\
        kworker/2:1H-x 9 [002]   100.000200: block:block_rq_issue: 259,0 WS 4096 () 160 + 8 none,0,0 [my app]\n\
                 swapper     0 [002]   100.000290: block:block_rq_complete: 259,0 WS () 160 + 8 none,0,0 [-5]\n";
    let trace = b"# tracer: nop\n#\n#           TASK-PID     CPU#  TIMESTAMP  FUNCTION\n\
             fio-2912    [002] d..1. 100.000100: block_rq_issue: 259,0 RA 4096 () 80 + 8 [fio]\n\
          <idle>-0       [002] d.h1. 100.000190: block_rq_complete: 259,0 RA () 80 + 8 [0]\n\
             fio-2912    [002] d..1. 100.000200: block_rq_issue: 259,0 WS 4096 () 160 + 8 [my app]\n\
          <idle>-0       [002] d.h1. 100.000290: block_rq_complete: 259,0 WS () 160 + 8 [-5]\n";
    for text in [&perf[..], &trace[..]] {
        let (head, ios) = recognised(text, "perf");
        let expected = [(0, Some(90_000), Op::Read, 40_960, 4096), (100_000, Some(90_000), Op::Write, 81_920, 4096)];
        assert_eq!(plain(&ios), expected);
        assert_eq!((volumes(&head)[0], ios[0].failed, ios[1].failed), ("259,0", false, true));
    }
}

#[test]
fn events_that_a_tracer_lost_are_said() {
    let event = |time: &str| {
        format!(
            "fio 2912 [002] {time}100: block:block_rq_issue: 259,0 R 4096 () 80 + 8 [fio]\n\
             swapper 0 [002] {time}190: block:block_rq_complete: 259,0 R () 80 + 8 [0]\n"
        )
    };
    let (perf, later) = (event("100.000"), event("100.001"));
    let block = "8,0 3 1 0.000000000 697 D R 80 + 8 [fio]\n8,0 3 2 0.000090000 0 C R 80 + 8 [0]\n";
    let snoop = "TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)\n0.1 fio 19 sda R 80 4096 0.09\n";
    for (name, text, lost) in [
        ("perf", format!("{perf}LOST 512 events\n{later}"), true),
        ("perf", format!("{perf}CPU:2 [LOST 57 EVENTS]\n{later}"), true),
        ("perf", format!("# entries-in-buffer/entries-written: 4/9000   #P:4\n{perf}{later}"), true),
        ("perf", format!("# entries-in-buffer/entries-written: 4/4   #P:4\n{perf}{later}"), false),
        ("perf", format!("# event : name = block:block_rq_issue, read_format = ID|LOST\n{perf}{later}"), false),
        (
            "perf",
            format!(
                "{perf}ksoftirqd 9 [001] 100.000300: skb:kfree_skb: skbaddr=0 reason: dropped by event_filter\n{later}"
            ),
            false,
        ),
        (
            "perf",
            format!("{perf}lost_samples 9 [001] 100.000300: sched:sched_wakeup: comm=dropped record\n{later}"),
            false,
        ),
        ("perf", format!("{perf}CPU 3: 12 events dropped\n{later}"), false),
        ("perf", format!("{perf}CPU:3 [12 EVENTS DROPPED]\n{later}"), true),
        ("perf", format!("{perf}Processed 900 events and lost 3 chunks!\n{later}"), true),
        ("blkparse", format!("{block}CPU0 (sda):\nSkips: 3 forward (12 - 30.0%)\n"), true),
        ("blkparse", format!("{block}CPU0 (sda):\nSkips: 0 forward (0 -   0.0%)\n"), false),
        ("biosnoop", format!("{snoop}Possibly lost 3 samples\n"), true),
        ("biosnoop", format!("{snoop}lost 5 events on CPU #0\n"), true),
    ] {
        let (head, _) = recognised(text.as_bytes(), name);
        let said = head.notes.iter().any(|note| note.starts_with("the tracer lost events"));
        assert_eq!(said, lost, "{text}");
    }
}

#[test]
fn a_device_and_those_below_it_may_count_twice() {
    let below = "8,0 3 1 0.000000000 697 D R 80 + 8 [fio]\n8,0 3 2 0.000090000 0 C R 80 + 8 [0]\n";
    let above = "9,0 3 1 0.000000000 697 Q R 80 + 8 [fio]\n9,0 3 2 0.000090000 0 C R 80 + 8 [0]\n";
    for (text, twice) in [(below.to_owned(), false), (above.to_owned(), false), (format!("{above}{below}"), true)] {
        let (head, _) = recognised(text.as_bytes(), "blkparse");
        assert_eq!(head.notes.iter().any(|note| note.contains("I/Os may count twice")), twice, "{text}");
    }
}

#[test]
fn records_of_libcachesim_are_read() {
    let second = |command: u16, length: u32, block: u64, time: u64, took: u64| {
        let parts =
            [&command.to_le_bytes()[..], &0x0200_u16.to_le_bytes(), &7_u32.to_le_bytes(), &length.to_le_bytes()];
        [&parts.concat()[..], &[0; 4], &block.to_le_bytes(), &time.to_le_bytes(), &took.to_le_bytes()].concat()
    };
    let vscsi = [second(0x28, 4096, 8, 1000, 50), second(0x2a, 8192, 16, 1003, 60)].concat();
    let (_, ios) = recognised(&vscsi, "vscsi2");
    let expected = [(0, Some(50_000), Op::Read, 4096, 4096), (3000, Some(60_000), Op::Write, 8192, 8192)];
    assert_eq!(plain(&ios), expected);
    let first = |command: u16, length: u32, block: u64, time: u64| {
        let parts = [&7_u32.to_le_bytes()[..], &length.to_le_bytes(), &[0; 4], &command.to_le_bytes()];
        [&parts.concat()[..], &0x0100_u16.to_le_bytes(), &block.to_le_bytes(), &time.to_le_bytes()].concat()
    };
    let vscsi = [first(0x88, 4096, 8, 1000), first(0x8a, 8192, 10, 1003)].concat();
    let (_, ios) = recognised(&vscsi, "vscsi1");
    assert_eq!(plain(&ios), [(0, None, Op::Read, 4096, 4096), (3000, None, Op::Write, 5120, 8192)]);
    let oracle = |time: u32, object: u64, length: u32, next: i64| {
        [&time.to_le_bytes()[..], &object.to_le_bytes(), &length.to_le_bytes(), &next.to_le_bytes()].concat()
    };
    let cache = [oracle(5, 2, 512, 2), oracle(5, 3, 4096, -1), oracle(6, 2, 512, -1)].concat();
    let (head, ios) = recognised(&cache, "oracle-general");
    assert_eq!(plain(&ios)[2], (1_000_000_000, None, Op::Read, 8192, 512));
    assert!(head.notes.iter().any(|note| note.contains("cache objects")), "{:?}", head.notes);
    let error = read_text(&cache[..60], &Selection::default()).expect_err("it is cut off");
    assert!(error.contains("line 3: 12 of 24 bytes; expected whole records"), "{error}");
    let skipping = Selection { skip_bad: 1, ..Selection::default() };
    assert_eq!(read_text(&cache[..60], &skipping).expect("two are whole").1.len(), 2);
}

#[test]
fn a_table_may_say_what_a_read_is_and_have_other_times() {
    let reads = columns(&[("time", "1:ms"), ("offset", "3"), ("size", "4"), ("op", "5:1")]);
    let (_, ios) = read_text(b"0.000,0,4096,4096,1\n1.500,0,8192,4096,0\n2.5,0,0,8192,1\n", &reads).expect("a table");
    let ops: Vec<Op> = ios.iter().map(|io| io.op).collect();
    assert_eq!(ops, [Op::Read, Op::Write, Op::Read]);
    let words = columns(&[("time", "1"), ("offset", "2"), ("size", "3"), ("op", "4:read=get")]);
    let (_, ios) = read_text(b"1,0,512,GET\n2,0,512,write\n", &words).expect("a table");
    assert_eq!((ios[0].op, ios[1].op), (Op::Read, Op::Write));
    let calendar = columns(&[("time", "when"), ("offset", "lba:sectors"), ("size", "bytes"), ("op", "rw")]);
    let text = b"when,lba,bytes,rw\n2025-11-03 23:59:59.5,8,512,READ\n2025-11-04T00:00:00.25Z,16,512,WRITE|SYNC\n";
    let (_, ios) = read_text(text, &calendar).expect("a table");
    assert_eq!((ios[1].issue.0, ios[1].op), (750_000_000, Op::Write));
    let (_, ios) =
        read_text(b"2025-11-03 23:59:59.5,8,512,READ\n", &columns(&[("time", "1"), ("offset", "2"), ("size", "3")]))
            .expect("a table without a header");
    assert_eq!(ios.len(), 1);
    let ends = columns(&[("end", "1:ms"), ("offset", "2"), ("size", "3"), ("latency", "4:ms")]);
    let (_, ios) = read_text(b"1,0,512,5\n2,512,512,1\n", &ends).expect("a table");
    assert_eq!(plain(&ios), [(0, Some(5_000_000), Op::Read, 0, 512), (5_000_000, Some(1_000_000), Op::Read, 512, 512)]);
    let error =
        read_text(b"1,0,512\n", &columns(&[("end", "1"), ("offset", "2"), ("size", "3")])).expect_err("no latency");
    assert!(error.contains("end is for completion times: expected latency with it"), "{error}");
}

#[test]
fn text_that_powershell_redirected_is_read() {
    let text = b"0,8,4096,R,1.5\r\n0,16,4096,W,2.5\r\n";
    let wide = |order: fn(u16) -> [u8; 2]| {
        let units = [0xfeff_u16].into_iter().chain(text.iter().map(|byte| u16::from(*byte)));
        units.flat_map(order).collect::<Vec<u8>>()
    };
    for text in [wide(u16::to_le_bytes), wide(u16::to_be_bytes)] {
        let (_, ios) = recognised(&text, "spc");
        assert_eq!(plain(&ios)[1], (1_000_000_000, None, Op::Write, 8192, 4096));
    }
}
