//! Does a machine that programs ask answer as the same machine does in virtual time, and is what it holds without power
//! what its drives hold?

use crate::common::schedule::machine;
use crate::common::{catalog, request};
use hotband_engine::{Asked, Control, Findings, Live, Request, Run};
use hotband_machine::{Completion, Entropy, Io, Op};
use hotband_units::{Instant, Span};
use serde_json::Value;

const SERVED: &str = "[[streams]]\nname = \"drive\"\nload = { clients = {} }\n\
                      [[phases]]\nname = \"served\"\nuntil = \"drained\"\nmeasure = true\n";
const BLOCK: u64 = 4096;

fn live(request: Request) -> Live {
    Run::new(&catalog(), request).expect("a served machine").live(&Control::default()).expect("nobody stops it")
}

fn io(op: Op, block: u64) -> Asked {
    let len = if op == Op::Flush { 0 } else { BLOCK as u32 };
    Asked { volume: 0, op, offset: block * BLOCK, len, fua: false, entropy: Entropy::INCOMPRESSIBLE }
}

/// Asks for one I/O after the other, each when the one before is done; their answers.
fn one_by_one(live: &mut Live, asked: impl IntoIterator<Item = Asked>) -> Vec<Completion> {
    let mut answered = Vec::new();
    for asked in asked {
        live.submit(live.now(), &asked, 7);
        let before = answered.len();
        while answered.len() == before {
            let next = live.wake().expect("an I/O is under way");
            live.advance(next, &mut answered);
        }
    }
    answered.into_iter().map(|(_, _, done)| done).collect()
}

fn blocks() -> impl Iterator<Item = u64> {
    (0_u64..400).map(|index| index.wrapping_mul(6_364_136_223_846_793_005) % 1_000_000)
}

#[test]
fn the_same_ios_take_the_time_that_they_take_in_a_run() {
    let text = "[drives.drive]\nproduct = \"exos-15e900-512n\"\n";
    let offsets = blocks().map(|block| block * BLOCK);
    let mut live = live(request(text, SERVED, &[]));
    let served = one_by_one(&mut live, blocks().map(|block| io(Op::Read, block)));
    let mut alone = machine(text);
    let mut now = Instant::ZERO;
    for (offset, served) in offsets.zip(&served) {
        let mut done = Vec::new();
        let (op, len, entropy) = (Op::Read, BLOCK as u32, Entropy::INCOMPRESSIBLE);
        alone.submit(now, Io { tag: 0, op, volume: 0, offset, len, fua: false, version: 0, entropy });
        while done.is_empty() {
            now = alone.wake().expect("an I/O is under way");
            alone.advance(now, &mut done);
        }
        assert_eq!((served.submitted, served.at, served.times), (done[0].submitted, done[0].at, done[0].times));
    }
    let (outcome, held) = live.finish(Findings::default()).expect("nothing watches it that can fail");
    let record: Value = serde_json::from_str(&outcome.record.to_json()).expect("a record is JSON");
    assert_eq!((&record["target"]["kind"], &record["summary"]["read"]["count"]), (&"emulated".into(), &400.into()));
    assert!(held.is_empty());
}

/// What is held of 64 blocks, far apart and written once each from `begin` on, where power goes off at 10 s.
fn held_after_power_off(cache: &str, begin: Span) -> Vec<u64> {
    let events = vec!["at 10 s: power-off".to_owned()];
    let text = "[drives.drive]\nproduct = \"ent-15k\"\n";
    let mut live = live(Request { events, ..request(text, SERVED, &[("wce", cache)]) });
    live.advance(Instant::ZERO + begin, &mut Vec::new());
    let answered = one_by_one(&mut live, (0..64).map(|block| io(Op::Write, block * 500_000)));
    assert_eq!(answered.len(), 64, "all were acknowledged before power went off");
    live.advance(Instant(u64::MAX - 1), &mut Vec::new());
    assert!(live.is_cut());
    let (_, held) = live.finish(Findings::default()).expect("power went off");
    held.iter().map(|held| held.version).collect()
}

#[test]
fn without_power_a_volatile_cache_has_lost_what_a_drive_without_cache_holds() {
    let volatile = held_after_power_off("on", Span(9_980_000_000));
    let through = held_after_power_off("off", Span(9_000_000_000));
    assert!(volatile.contains(&0), "nothing was lost of what lay in the cache: {volatile:?}");
    assert_eq!(through, (1..=64).collect::<Vec<u64>>());
}

#[test]
fn events_that_a_served_machine_does_not_reach_are_named() {
    let events = vec!["at 1 h: set drive.wce=off".to_owned()];
    let text = "[drives.drive]\nproduct = \"ent-15k\"\n";
    let mut live = live(Request { events, ..request(text, SERVED, &[]) });
    one_by_one(&mut live, [io(Op::Read, 0)]);
    let (outcome, _) = live.finish(Findings::default()).expect("nothing watches it that can fail");
    let record: Value = serde_json::from_str(&outcome.record.to_json()).expect("a record is JSON");
    let notes = record["notes"].to_string();
    assert!(notes.contains("the run ended before 1 of its events: set drive.wce=off"), "{notes}");
}
