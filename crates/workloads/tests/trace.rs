//! Does an I/O of a trace wait for what the rule says, and does a replay ask for it then?
#![allow(missing_docs, reason = "the tests of a module")]

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use hotband_machine::Op;
use hotband_units::{Instant, Span};
use hotband_workloads::{Issue, Link, Links, Replay, TraceFile, TraceHead, TraceIo, TraceRows, TraceStream};
use proptest::prelude::*;

fn io(issue: u64, latency: u64) -> TraceIo {
    let (issue, latency) = (Instant(issue), Some(Span(latency)));
    TraceIo { issue, latency, op: Op::Read, fua: false, failed: false, stream: 0, offset: 0, len: 512, row: 1 }
}

/// I/Os in order of issue; the offset of each is its place.
fn trace(times: &[(u64, u64)]) -> Vec<TraceIo> {
    let mut ios: Vec<TraceIo> = times.iter().map(|(issue, latency)| io(*issue, *latency)).collect();
    ios.sort_by_key(|io| io.issue);
    ios.iter_mut().enumerate().for_each(|(place, io)| io.offset = 512 * place as u64);
    ios
}

fn write(path: &Path, head: &TraceHead, ios: &[TraceIo]) {
    let mut rows = TraceRows::create(path).expect("a temporary file");
    for io in ios {
        rows.push(io).expect("a temporary file");
    }
    rows.finish(head).expect("a temporary file");
}

fn file(ios: &[TraceIo]) -> TraceFile {
    static FILES: AtomicU64 = AtomicU64::new(0);
    let name = format!("trace-{}.rows", FILES.fetch_add(1, Ordering::Relaxed));
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let streams = vec![TraceStream { name: "main".to_owned(), volume: Some("d0".to_owned()) }];
    let head = TraceHead {
        file: "log.parquet".to_owned(),
        streams,
        ios: ios.len() as u64,
        unmeasured: 0,
        notes: vec!["one".to_owned()],
    };
    write(&path, &head, ios);
    let file = TraceFile::open(&path).expect("it was just written");
    assert_eq!(file.head(), &head);
    std::fs::remove_file(&path).expect("nobody else knows it");
    file
}

/// The rule, word by word.
fn waits_for(ios: &[TraceIo], index: usize) -> Link {
    let done = |(before, io): (usize, &TraceIo)| (io.done().expect("it has a latency"), before as u64);
    let answered = ios[..index].iter().enumerate().map(done).filter(|(at, _)| *at <= ios[index].issue);
    let after = answered.max();
    Link { after, think: ios[index].issue.since(after.map_or(Instant::ZERO, |(at, _)| at)) }
}

/// What a replay asks of a machine that takes `latency` for the I/O in each place: place and time, in the order asked.
fn replayed(mut replay: Replay, begin: u64, latency: impl Fn(u64) -> u64) -> Vec<(u64, u64)> {
    let (mut asked, mut under_way) = (Vec::new(), BTreeMap::new());
    replay.begin(Instant(begin));
    loop {
        let answer = under_way.keys().next().copied();
        let now = match (replay.next_time(), answer) {
            (Some(next), Some((at, _))) => next.min(at),
            (next, at) => match next.or(at.map(|(at, _)| at)) {
                Some(now) => now,
                None => return asked,
            },
        };
        while let Some(key) = under_way.keys().next().copied().filter(|(at, _)| *at <= now) {
            replay.answered(now, under_way.remove(&key).expect("it is under way"));
        }
        while let Some(one) = replay.ask(now) {
            let place = one.io.offset / 512;
            assert_eq!(one.late, Span::ZERO);
            asked.push((place, now.0));
            under_way.insert((now + Span(latency(place)), place), one.token);
        }
    }
}

fn after_completion(ios: &[TraceIo], speed: f64) -> Replay {
    Replay::new(file(ios), Issue::AfterCompletion, speed)
}

proptest! {
    #[test]
    fn an_io_waits_for_the_last_answer_before_it(times in prop::collection::vec((0..400_u64, 0..80_u64), 1..120)) {
        let ios = trace(&times);
        let mut links = Links::default();
        for (index, io) in ios.iter().enumerate() {
            let mut over = Vec::new();
            let link = links.link(io.issue, io.done().expect("it has a latency"), |before| over.push(before));
            prop_assert_eq!(link, waits_for(&ios, index));
            // What is over is waited for neither by it nor by any after it.
            for later in index..ios.len() {
                let after = waits_for(&ios, later).after.map(|(_, before)| before);
                prop_assert!(after.is_none_or(|before| !over.contains(&before)));
            }
            let outstanding = ios[..=index].iter().filter(|other| other.done() > Some(io.issue)).count();
            // Those answered at the nanosecond at which they were asked for are taken out by the next one.
            prop_assert!(links.outstanding() <= outstanding + 1);
        }
    }

    #[test]
    fn as_fast_as_it_was_recorded_it_is_the_recording(
        times in prop::collection::vec((0..4000_u64, 1..300_u64), 1..200),
        begin in 0..1000_u64,
    ) {
        let ios = trace(&times);
        let latency = |place: u64| ios[place as usize].latency.expect("it has one").0;
        let asked = replayed(after_completion(&ios, 1.0), begin, latency);
        let mut recorded: Vec<(u64, u64)> = ios.iter().map(|io| (io.offset / 512, begin + io.issue.0)).collect();
        let mut sorted = asked.clone();
        sorted.sort_unstable();
        recorded.sort_unstable();
        prop_assert_eq!(sorted, recorded);
        prop_assert!(asked.is_sorted_by_key(|(_, at)| *at));
    }

    #[test]
    fn on_any_machine_each_io_is_asked_for_after_its_answer_and_think_time(
        times in prop::collection::vec((0..4000_u64, 0..300_u64), 1..200),
        latencies in prop::collection::vec(1..2000_u64, 200),
    ) {
        let ios = trace(&times);
        let mut at = BTreeMap::new();
        for (place, time) in replayed(after_completion(&ios, 1.0), 0, |place| latencies[place as usize]) {
            prop_assert!(at.insert(place, time).is_none(), "twice");
        }
        prop_assert_eq!(at.len(), ios.len());
        for place in 0..ios.len() {
            let Link { after, think } = waits_for(&ios, place);
            let since = after.map_or(0, |(_, before)| at[&before] + latencies[before as usize]);
            prop_assert_eq!(at[&(place as u64)], since + think.0);
        }
    }
}

#[test]
fn of_a_loop_of_eight_that_answers_out_of_order_each_waits_for_the_slot_it_took() {
    // Eight slots, latencies that let them overtake one another; the next of a slot is asked for with its answer.
    let latency = |n: u64| 1000 + n * 7919 % 997;
    let mut slots: VecDeque<(u64, u64)> = (0..8).map(|n| (latency(n), n)).collect();
    let (mut times, mut before): (Vec<(u64, u64)>, Vec<Option<u64>>) =
        ((0..8).map(|n| (0, latency(n))).collect(), vec![None; 8]);
    for n in 8..2000 {
        slots.make_contiguous().sort_unstable();
        let (at, slot) = slots.pop_front().expect("eight are under way");
        times.push((at, latency(n)));
        before.push(Some(slot));
        slots.push_back((at + latency(n), n));
    }
    let ios = trace(&times);
    for (index, expected) in before.iter().enumerate() {
        let Link { after, think } = waits_for(&ios, index);
        // Two slots that are answered at the same nanosecond cannot be told apart.
        let same = |slot: u64| after.is_some_and(|(at, _)| at == ios[slot as usize].done().expect("it has a latency"));
        assert!(expected.map_or(after.is_none(), same) && think == Span::ZERO, "{index}: {after:?}, not {expected:?}");
    }
    // Twice as fast, it takes half the time: nothing waits for anybody else's slot.
    let asked = replayed(after_completion(&ios, 1.0), 0, |place| latency(place) / 2);
    let (end, recorded) = (asked.last().expect("it has I/Os").1, ios.last().expect("it has I/Os").issue.0);
    assert!(end.abs_diff(recorded / 2) < 2000, "{end} instead of half of {recorded}");
}

#[test]
fn speed_divides_recorded_times_and_think_times() {
    let ios = trace(&[(1000, 50), (1050, 50), (2000, 50)]);
    let recorded = Replay::new(file(&ios), Issue::Recorded, 2.0);
    assert_eq!(replayed(recorded, 10, |_| 9999), [(0, 510), (1, 535), (2, 1010)]);
    // The first 500 after the beginning, the second with its answer, the third 900 / 2 after that of the second.
    assert_eq!(replayed(after_completion(&ios, 2.0), 10, |_| 7), [(0, 510), (1, 517), (2, 974)]);
}

#[test]
fn as_fast_as_possible_keeps_so_many_outstanding() {
    let ios = trace(&[(0, 1); 7]);
    let fast = Replay::new(file(&ios), Issue::AsFastAsPossible { depth: 3 }, 1.0);
    assert_eq!(replayed(fast, 0, |_| 10), [(0, 0), (1, 0), (2, 0), (3, 10), (4, 10), (5, 10), (6, 20)]);
}

#[test]
fn what_no_answer_comes_for_is_not_read_ahead_of_without_end() {
    // Everything waits for the first I/O, which is never answered; far more than may be read follows.
    let first = io(0, 1);
    let others = (0..100_000_u64).map(|n| io(10 + n, 1_000_000));
    let ios: Vec<TraceIo> = std::iter::once(first).chain(others).collect();
    let mut replay = after_completion(&ios, 1.0);
    replay.begin(Instant::ZERO);
    let asked = replay.ask(Instant::ZERO).expect("the first waits for nothing");
    assert_eq!((replay.ask(Instant(1 << 40)), replay.next_time()), (None, None));
    replay.answered(Instant(100), asked.token);
    let late = (0..100_000).map(|_| replay.ask(Instant(1 << 40)).expect("all are due then").late);
    assert!(late.min().is_some_and(|least| least.0 > 1 << 39), "and it is told that they are late");
    assert_eq!(replay.ask(Instant(1 << 40)), None);
}

#[test]
fn rows_that_were_damaged_are_refused() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("trace-damaged.rows");
    let of = |ios: &[TraceIo], counted: u64| {
        let streams = vec![TraceStream { name: "main".to_owned(), volume: None }];
        write(&path, &TraceHead { file: String::new(), streams, ios: counted, unmeasured: 0, notes: Vec::new() }, ios);
        std::fs::read(&path).expect("it was just written")
    };
    let first_error = |bytes: Vec<u8>| {
        std::fs::write(&path, bytes).expect("a temporary file");
        let mut file = match TraceFile::open(&path) {
            Ok(file) => file,
            Err(error) => return error.to_string(),
        };
        loop {
            match file.next_io() {
                Ok(None) => return "none".to_owned(),
                Ok(Some(_)) => {}
                Err(error) => return error.to_string(),
            }
        }
    };
    assert_eq!(first_error(of(&[io(1, 2), io(1, 3)], 2)), "none");
    assert!(first_error(of(&[io(2, 2), TraceIo { row: 17, ..io(1, 3) }], 2)).starts_with("row 17: comes before"));
    assert!(first_error(of(&[TraceIo { stream: 1, ..io(2, 2) }], 1)).contains("stream"));
    assert!(first_error(of(&[io(u64::MAX - 1, 2)], 1)).contains("beyond the clock"));
    assert!(first_error(of(&[io(1, 1)], 2)).contains("length"));
    assert!(first_error(b"hbtrace2".to_vec()).contains("too short"));
    assert!(first_error(vec![0; 4096]).contains("not those of such a file"));
    assert!(first_error([b"hbtrace2".to_vec(), vec![0xff; 8]].concat()).contains("no head"));
    assert!(first_error([b"hbtrace2".to_vec(), vec![0; 8]].concat()).contains("cannot be read"));
    std::fs::remove_file(&path).expect("nobody else knows it");
}
