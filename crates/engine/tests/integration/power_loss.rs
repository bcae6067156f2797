//! What of the acknowledged writes is lost when power is cut, and is that what the record says?

#[allow(dead_code, reason = "these tests drive machines in their own way")]
use crate::common;
use std::collections::{BTreeMap, BTreeSet};

use crate::common::schedule::{Asked, machine, schedule};
use crate::common::{closed, execute, random_4k, request, run, workload};
use hotband_engine::{Ledger, PowerLoss, Run};
use hotband_machine::{
    Command, Completion, Counter, Done, Drive, Entropy, Event, Io, Machine, MachineParts, NodeRef, Op, Part, Times,
    Versions, Volume, What,
};
use hotband_units::{Bytes, Instant, Span};
use proptest::prelude::*;
use serde_json::Value;

const BLOCK: u64 = 4096;

/// Machines of every layout, nested ones and volumes included; `CACHE` stands for the setting of the write cache.
const MACHINES: [&str; 8] = [
    "[drives.d]\nproduct = \"st14000nm0001\"\nset = { awc = \"off\", wce = \"CACHE\" }\n[layouts.a]\nraid0 = { members = \"d.lun0..d.lun1\" }\n",
    "[drives.d]\nproduct = \"st14000nm0001\"\nset = { awc = \"off\", wce = \"CACHE\" }\n[layouts.a]\nraid1 = { members = \"d.lun0, d.lun1\" }\n",
    "[drives.d]\nproduct = \"ent-15k\"\nset = { wce = \"CACHE\" }\n",
    "[drives.d]\nproduct = \"ent-15k\"\ncount = 2\nset = { wce = \"CACHE\" }\n\
     [layouts.a]\nraid1 = { members = \"d*\" }\n",
    "[drives.d]\nproduct = \"ent-15k\"\ncount = 4\nset = { wce = \"CACHE\" }\n\
     [layouts.a]\nraid5 = { members = \"d*\", chunk = \"8 KiB\" }\n[links.bus]\nrate = \"400 MB/s\"\n",
    "[drives.d]\nproduct = \"ent-15k\"\ncount = 4\nset = { wce = \"CACHE\" }\n\
     [layouts.a]\nraid1 = { members = \"d0, d1\", from = \"1 GB\", size = \"10 GB\" }\n\
     [layouts.b]\nraid1 = { members = \"d2, d3\", from = \"2 GB\", size = \"10 GB\" }\n\
     [layouts.c]\nraid0 = { members = \"a, b\", chunk = \"4 KiB\" }\n[volumes]\nv = { on = \"c\", from = \"1 MiB\" }\n",
    "[drives.d]\nproduct = \"ent-cap-2tb\"\ncount = 4\nset = { wce = \"CACHE\" }\n\
     [layouts.a]\nraid10 = { members = \"d*\", chunk = \"4 KiB\" }\n",
    "[drives.d]\nproduct = \"ent-15k\"\ncount = 5\nset = { wce = \"CACHE\" }\n\
     [layouts.a]\nraid6 = { members = \"d*\", chunk = \"16 KiB\" }\n",
];

/// A machine under a schedule until power is cut, with a ledger.
struct Played {
    machine: Machine,
    ledger: Ledger,
    /// By tag: when it was submitted (as a place in the order of events), and when it was answered.
    submitted: Vec<u64>,
    answered: BTreeMap<u64, u64>,
    events: u64,
    writes: BTreeSet<u64>,
    /// Times of completions.
    times: Vec<u64>,
}

impl Played {
    fn new(text: &str, asked: &[Asked], cut: u64) -> Self {
        let mut machine = machine(text);
        let ledger = Ledger::open(&mut machine);
        let (submitted, answered, times) = (Vec::new(), BTreeMap::new(), Vec::new());
        let writes = (0..).zip(asked).filter(|(_, asked)| asked.op == Op::Write).map(|(tag, _)| tag).collect();
        let mut played = Self { machine, ledger, submitted, answered, events: 0, writes, times };
        let mut now = 0;
        for (tag, asked) in asked.iter().enumerate() {
            now += asked.gap;
            if now >= cut {
                break;
            }
            played.run_before(now + 1);
            let (op, fua, len) = (asked.op, asked.fua, asked.blocks * BLOCK as u32);
            let mut io = Io {
                tag: tag as u64,
                op,
                volume: 0,
                offset: asked.offset(),
                len,
                fua,
                version: 0,
                entropy: Entropy::INCOMPRESSIBLE,
            };
            io.version = played.ledger.submit(&played.machine, 0, &io);
            played.submitted.push(played.events);
            played.events += 1;
            played.machine.submit(Instant(now), io);
        }
        played.run_before(cut);
        played.answered.retain(|tag, _| asked[*tag as usize].op != Op::Read);
        played
    }

    fn run_before(&mut self, time: u64) {
        let mut done: Vec<Completion> = Vec::new();
        while let Some(at) = self.machine.wake().filter(|at| at.0 < time) {
            self.machine.advance(at, &mut done);
            for done in done.drain(..) {
                self.times.push(done.at.0);
                self.answered.insert(done.tag, self.events);
                self.events += 1;
                if self.writes.contains(&done.tag) {
                    self.ledger.complete(&done);
                }
            }
        }
    }
}

trait Place {
    fn offset(&self) -> u64;
}

impl Place for Asked {
    fn offset(&self) -> u64 {
        self.block % 100_000 * BLOCK
    }
}

fn cut(played: &mut Played, at: u64) -> PowerLoss {
    let names = ["main".to_owned()];
    played.ledger.cut(&mut played.machine, Instant(at), Span(at), &names)
}

/// Lost and stale bytes, block by block, from the history alone and what the drives hold.
fn by_hand(played: &Played, asked: &[Asked], left: &[Versions]) -> (u64, u64, Vec<u64>) {
    let target = played.machine.volumes()[0].clone();
    let mut newest: BTreeMap<u64, usize> = BTreeMap::new();
    for tag in played.answered.keys().map(|tag| *tag as usize).filter(|tag| asked[*tag].op == Op::Write) {
        for block in 0..u64::from(asked[tag].blocks) {
            // Tags go up with versions, so the last one that is answered is the newest.
            newest.insert(asked[tag].offset() + block * BLOCK, tag);
        }
    }
    let writes: Vec<usize> = (0..asked.len()).filter(|tag| asked[*tag].op == Op::Write).collect();
    let good = |tag: usize, held: u64| {
        let Some(held) = held.checked_sub(1).map(|held| writes[held as usize]) else { return false };
        let over_before = played.answered.get(&(held as u64)).is_some_and(|at| *at < played.submitted[tag]);
        held >= tag || !over_before
    };
    let (mut lost, mut stale, mut lost_writes) = (0, 0, Vec::new());
    let mut places = Vec::new();
    for (offset, tag) in newest {
        for part in (offset..offset + BLOCK).step_by(512) {
            places.clear();
            played.machine.layouts().place(target.node, target.from + part, 512, &mut places);
            let copies = places.iter().map(|p| {
                let held = left[p.drive as usize].all(p.offset..p.offset + 512);
                assert_eq!(held.len(), 1, "a torn sector");
                good(tag, held[0].1)
            });
            let copies: Vec<bool> = copies.collect();
            match (copies.contains(&true), copies.contains(&false)) {
                (false, _) => {
                    lost += 512;
                    lost_writes.push(tag as u64);
                }
                (true, true) => stale += 512,
                _ => {}
            }
        }
    }
    lost_writes.sort_unstable();
    lost_writes.dedup();
    (lost, stale, lost_writes)
}

proptest! {
    #[test]
    fn the_ledger_counts_what_the_history_says(
        machine in 0..MACHINES.len(), through in prop::bool::weighted(0.25), schedule in schedule(),
        which in any::<prop::sample::Index>(), late in prop_oneof![Just(0_u64), Just(1), 0_u64..30_000_000],
    ) {
        let text = MACHINES[machine].replace("CACHE", if through { "off" } else { "on" });
        let whole = Played::new(&text, &schedule, u64::MAX);
        let at = which.get(&whole.times) + late;
        let (mut one, mut other) = (Played::new(&text, &schedule, at), Played::new(&text, &schedule, at));
        let loss = cut(&mut one, at);
        let event = Event { at: Instant(at), part: Part::Machine, what: What::PowerOff };
        other.machine.events().schedule(event).expect("accounts are kept");
        other.machine.advance(Instant(at), &mut Vec::new());
        prop_assert_eq!(other.machine.wake(), None, "nothing is due any more");
        let left: Vec<Versions> = other.machine.drives().iter().filter_map(|drive| drive.left.cloned()).collect();
        let (lost, stale, lost_writes) = by_hand(&other, &schedule, &left);
        prop_assert_eq!((loss.lost_bytes, loss.stale_copy_bytes, loss.lost_writes), (lost, stale, lost_writes.len() as u64));
        prop_assert_eq!(loss.streams[0].lost_bytes, loss.lost_bytes);
        if through {
            prop_assert_eq!((loss.lost_bytes, loss.stale_copy_bytes), (0, 0), "write-through loses nothing, ever");
        }
        let flushes = other.answered.keys().filter(|tag| schedule[**tag as usize].op == Op::Flush);
        if let Some(flush) = flushes.map(|tag| other.submitted[*tag as usize]).max() {
            for lost in lost_writes {
                prop_assert!(other.answered[&lost] > flush, "write {lost} was answered before a flush that was done");
                prop_assert!(!schedule[lost as usize].fua);
            }
        }
    }
}

#[test]
fn a_mirror_is_stale_and_not_lost_while_only_one_copy_has_landed() {
    let text = MACHINES[3].replace("CACHE", "on");
    let one = [Asked { gap: 0, op: Op::Write, block: 90_000, blocks: 1, fua: false }];
    let answered = Played::new(&text, &one, u64::MAX).times[0];
    let losses: Vec<(u64, u64)> = (0..300)
        .map(|step| cut(&mut Played::new(&text, &one, answered + 1 + step * 100_000), answered + 1 + step * 100_000))
        .map(|loss| (loss.lost_bytes, loss.stale_copy_bytes))
        .collect();
    assert_eq!((losses[0], losses[299]), ((BLOCK, 0), (0, 0)));
    assert!(losses.contains(&(0, BLOCK)), "the spindles are not in step, so one copy lands first: {losses:?}");
    assert!(losses.is_sorted_by(|a, b| a.0 >= b.0), "what has landed stays: {losses:?}");
}

/// A drive that does nothing and holds what a test says.
struct Holds(Versions);

impl Drive for Holds {
    fn kind(&self) -> &'static str {
        "test"
    }
    fn capacity(&self) -> Bytes {
        Bytes(1 << 20)
    }
    fn block(&self) -> Bytes {
        Bytes(512)
    }
    fn submit(&mut self, _: Instant, _: Command) {}
    fn wake(&self) -> Option<Instant> {
        None
    }
    fn advance(&mut self, _: Instant, _: &mut Vec<Done>) {}
    fn counters(&self) -> Vec<Counter> {
        Vec::new()
    }
    fn keep_account(&mut self) {}
    fn cut_power(&mut self, _: Instant) -> Versions {
        self.0.clone()
    }
}

#[test]
fn a_write_is_made_good_by_one_beside_it_and_not_by_one_that_was_over_before() {
    // 1 is under way from the beginning to the end; 2 is over before 3 begins; 4 is never answered.
    let lost = |held: u64| {
        let mut versions = Versions::default();
        versions.set(0..BLOCK, held);
        let target = Volume { name: "d".into(), node: NodeRef::Drive(0), from: 0, size: 1 << 20, queue: None };
        let drives: Vec<(String, Box<dyn Drive>)> = vec![("d".into(), Box::new(Holds(versions)))];
        let (links, layouts) = (Vec::new(), Vec::new());
        let mut machine = Machine::new(MachineParts {
            drives,
            links,
            link_of: vec![None],
            layouts,
            forces: Vec::new(),
            volumes: vec![target],
            host: None,
        });
        let mut ledger = Ledger::open(&mut machine);
        let io = |tag| Io {
            tag,
            op: Op::Write,
            volume: 0,
            offset: 0,
            len: BLOCK as u32,
            fua: false,
            version: 0,
            entropy: Entropy::INCOMPRESSIBLE,
        };
        let answer = |tag| {
            let at = Instant(tag);
            Completion { tag, submitted: at, at, times: Times::default(), fault: None }
        };
        ledger.submit(&machine, 0, &io(1));
        ledger.submit(&machine, 0, &io(2));
        ledger.complete(&answer(2));
        ledger.submit(&machine, 0, &io(3));
        ledger.complete(&answer(3));
        ledger.submit(&machine, 0, &io(4));
        let loss = ledger.cut(&mut machine, Instant(9), Span(9), &["main".to_owned()]);
        assert_eq!((loss.acknowledged_writes, loss.lost_writes * BLOCK), (2, loss.lost_bytes));
        loss.lost_bytes
    };
    assert_eq!([0, 1, 2, 3, 4].map(lost), [BLOCK, 0, BLOCK, 0, 0]);
}

const VOLATILE: [(&str, &str); 1] = [("wce", "on")];

fn cut_run(machine: &str, text: &str, set: &[(&str, &str)], at: &str) -> Value {
    let request = hotband_engine::Request { power_loss: Some(at.into()), ..request(machine, text, set) };
    serde_json::from_str(&execute(request).record.to_json()).expect("a record is JSON")
}

#[test]
fn what_no_head_has_had_time_to_write_is_lost_to_the_byte() {
    // Half a millisecond after a disk began from rest no random sector has been reached: seeks take longer.
    let text = workload(&random_4k(0), &closed(1), "", "duration = \"1 s\"");
    let loss = &cut_run("ent-15k", &text, &VOLATILE, "0.5 ms")["power_loss"];
    let writes = loss["acknowledged_writes"].as_u64().unwrap();
    assert!(writes > 2, "{loss}");
    assert_eq!(loss["lost_bytes"], writes * BLOCK);
    assert_eq!(loss["lost_writes"], writes);
    assert_eq!(loss["streams"][0]["lost_writes"], writes);
    assert_eq!((&loss["at_ns"], &loss["torn_sectors"]), (&500_000.into(), &0.into()));
}

#[test]
fn the_record_covers_the_time_up_to_the_cut_and_keeping_account_changes_nothing() {
    let stream = format!("{}\nflush_every = 20", random_4k(50));
    let text = workload(&stream, &closed(8), "ios = 200", "duration = \"10 s\"");
    for machine in ["ent-15k", "raid1:2xent-15k", "raid5:4xent-15k"] {
        let cut = cut_run(machine, &text, &VOLATILE, "2.5 s");
        let short = run(machine, &text.replace("10 s", "2.5 s"), &VOLATILE).0;
        assert_eq!(cut["duration_ns"], 2_500_000_000_u64);
        for key in ["summary", "streams", "parts"] {
            assert_eq!(cut[key], short[key], "{machine}: {key}");
        }
        assert!(cut["power_loss"].is_object() && short.get("power_loss").is_none());
        assert_eq!(cut, cut_run(machine, &text, &VOLATILE, "2.5 s"));
    }
}

#[test]
fn write_through_and_forced_writes_lose_nothing_and_a_cache_does() {
    let lost = |stream: &str, cache: &str| {
        let text = workload(stream, &closed(4), "", "duration = \"5 s\"");
        ["ent-15k", "raid10:4xent-15k", "raid6:5xent-15k"].map(|machine| {
            cut_run(machine, &text, &[("wce", cache)], "3 s")["power_loss"]["lost_bytes"].as_u64().unwrap()
        })
    };
    assert_eq!(lost(&random_4k(0), "off"), [0; 3]);
    assert_eq!(lost(&format!("{}\nfua = true", random_4k(0)), "on"), [0; 3]);
    assert!(lost(&random_4k(0), "on").iter().all(|bytes| *bytes > 0));
}

#[test]
fn a_protected_cache_loses_nothing_on_any_layout() {
    let text = workload(&random_4k(20), &closed(16), "", "duration = \"5 s\"");
    for machine in ["exos-15e900-512n", "raid1:2xexos-15e900-512e", "raid5:4xexos-15e900-512n"] {
        let lost = |awc| {
            let set = [("wce", "on"), ("awc", awc), ("write_cache_extents", "64")];
            cut_run(machine, &text, &set, "3 s")["power_loss"]["lost_bytes"].as_u64().unwrap()
        };
        assert_eq!(lost("on"), 0, "{machine}");
        assert!(lost("off") > 0, "{machine}: the same cache, volatile");
    }
}

#[test]
fn a_solid_state_drive_keeps_its_promises() {
    let lost = |stream: &str, plp| {
        let text = workload(stream, &closed(16), "", "duration = \"1 s\"");
        ["s4500-960", "raid1:2x5200-eco-960"].map(|machine| {
            let set = [("plp", plp), ("scale", "256"), ("state", "preconditioned")];
            cut_run(machine, &text, &set, "0.5 s")["power_loss"]["lost_bytes"].as_u64().unwrap()
        })
    };
    assert_eq!(lost(&random_4k(20), "on"), [0; 2]);
    assert_eq!(lost(&format!("{}\nfua = true", random_4k(0)), "off"), [0; 2]);
    assert!(lost(&random_4k(0), "off").iter().all(|bytes| *bytes > 0), "a buffer without protection loses");
}

#[test]
fn with_a_flush_after_every_write_at_most_the_last_one_is_lost() {
    let text = workload(&format!("{}\nflush_every = 1", random_4k(0)), &closed(1), "", "duration = \"5 s\"");
    for at in ["1 s", "1.0021 s", "1.004 s", "1.0063 s"] {
        let loss = &cut_run("raid1:2xent-15k", &text, &VOLATILE, at)["power_loss"];
        assert!(loss["lost_writes"].as_u64().unwrap() <= 1, "{loss}");
        assert!(loss["acknowledged_writes"].as_u64().unwrap() > 50, "{loss}");
    }
}

#[test]
fn losses_are_told_apart_by_stream() {
    let streams = "name = \"safe\"\nfua = true\nread_pct = 0\nrandom_pct = 100\nsize = \"4 KiB\"\nrange = [\"0 %\", \"50 %\"]\n\
                   [[streams]]\nname = \"fast\"\nread_pct = 0\nrandom_pct = 100\nsize = \"8 KiB\"\nrange = [\"50 %\", \"100 %\"]";
    let text = workload(streams, &closed(4), "duration = \"1 s\"", "duration = \"5 s\"");
    let loss = &cut_run("ent-15k", &text, &VOLATILE, "2 s")["power_loss"];
    let [safe, fast] =
        [0, 1].map(|n| (&loss["streams"][n]["name"], loss["streams"][n]["lost_bytes"].as_u64().unwrap()));
    assert_eq!(safe, (&"safe".into(), 0));
    assert!(fast.0 == "fast" && fast.1 > 0 && loss["lost_bytes"] == fast.1, "{loss}");
}

#[test]
fn a_workload_file_may_ask_for_it_and_the_option_comes_first() {
    let text = workload(&random_4k(0), &closed(4), "", "duration = \"5 s\"") + "\n[power_loss]\nat = \"2 s\"\n";
    assert_eq!(run("ent-15k", &text, &VOLATILE).0["power_loss"]["at_ns"], 2_000_000_000_u64);
    assert_eq!(cut_run("ent-15k", &text, &VOLATILE, "3 s")["power_loss"]["at_ns"], 3_000_000_000_u64);
}

#[test]
fn power_is_cut_at_the_very_end_or_earlier() {
    let text = workload(&random_4k(0), &closed(4), "", "duration = \"1 s\"");
    assert_eq!(cut_run("ent-15k", &text, &VOLATILE, "1 s")["duration_ns"], 1_000_000_000);
}

#[test]
fn mistakes_are_named() {
    let timed = workload(&random_4k(0), &closed(4), "", "duration = \"60 s\"");
    let error = |text: &str, at: Option<&str>| {
        let power_loss = at.map(str::to_owned);
        let request = hotband_engine::Request { power_loss, ..request("ent-15k", text, &[]) };
        let run =
            Run::new(&common::catalog(), request).and_then(|run| run.execute(&hotband_engine::Control::default()));
        run.err().expect("this is a mistake").to_string()
    };
    assert!(error(&timed, Some("-1 s")).contains("power_loss: found \"-1 s\", expected a time with its unit"));
    assert!(error(&timed, Some("30")).contains("expected a time with its unit"));
    assert!(error(&timed, Some("0 s")).contains("above zero and of at most the measured 60 s"));
    assert!(error(&timed, Some("61 s")).contains("above zero and of at most the measured 60 s"));
    let counted = workload(&random_4k(0), &closed(4), "", "ios = 100");
    assert!(error(&counted, Some("60 s")).contains("the measured time ended after"));
    let in_file = |keys: &str| error(&format!("{timed}\n[power_loss]\n{keys}\n"), None);
    assert!(in_file("at = \"61 s\"").contains("workload.toml: power_loss.at: found \"61 s\""));
    assert!(in_file("at = 30").contains("power_loss.at"));
    assert!(in_file("").contains("power_loss.at: missing"));
    assert!(in_file("at = \"1 s\"\nwhen = 2").contains("power_loss.when"));
}
