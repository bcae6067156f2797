//! Are writes to one stripe merged as md merges them, is each on the members before it is answered, and does a journal
//! have it first?

use std::collections::BTreeMap;
use std::ops::Range;

use hotband_layouts::md::{Md, MdSpec};
use hotband_machine::{Entropy, MemberCommand, Op, Service, ServiceIo, ServiceOut, StripeShape, Times};
use hotband_units::{Instant, Span};
use proptest::prelude::*;

const CHUNK: u64 = 16 << 10;
/// Four chunks of data, one of parity.
const SHAPE: StripeShape = StripeShape { chunk: CHUNK, data: 4, parities: 1 };
const STRIPE: u64 = 4 * CHUNK;
const SIZE: u64 = 1024 * STRIPE;
const JOURNAL: u64 = 16 << 20;
/// What a member takes for anything.
const MEMBER: u64 = 1_000_000;

struct Rig {
    md: Md,
    now: u64,
    commands: Vec<MemberCommand>,
    /// Commands under way and how many I/Os had been asked when they were sent.
    under_way: BTreeMap<(u64, usize), (MemberCommand, u32)>,
    asked: Vec<(u64, Op, Range<u64>)>,
    served: BTreeMap<u32, u64>,
    /// Of every page on the members, how many I/Os had been asked when what it holds was sent.
    on_members: BTreeMap<u64, u32>,
    journalled: usize,
    out: ServiceOut,
}

fn pages(range: &Range<u64>) -> Range<u64> {
    range.start / 4096..range.end / 4096
}

impl Rig {
    fn new(stripes: u64, has_journal: bool) -> Self {
        Self {
            md: Md::new(MdSpec { stripes, has_journal }, SIZE, SHAPE, if has_journal { JOURNAL } else { 0 }),
            now: 0,
            commands: Vec::new(),
            under_way: BTreeMap::new(),
            asked: Vec::new(),
            served: BTreeMap::new(),
            on_members: BTreeMap::new(),
            journalled: 0,
            out: ServiceOut::default(),
        }
    }

    fn ask(&mut self, op: Op, offset: u64, len: u64) -> u32 {
        let token = self.asked.len() as u32;
        self.asked.push((self.now, op, offset..offset + len));
        let (len, entropy) = (len as u32, Entropy::INCOMPRESSIBLE);
        self.md.submit(Instant(self.now), ServiceIo { token, op, offset, len, fua: false, version: 0, entropy });
        self.advance(self.now);
        token
    }

    fn advance(&mut self, at: u64) {
        self.now = at;
        self.md.advance(Instant(at), &mut self.out);
        for command in std::mem::take(&mut self.out.commands) {
            let range = command.offset..command.offset + u64::from(command.len);
            if command.member == 0 && command.op == Op::Write {
                let other = |(have, _): &(MemberCommand, u32)| {
                    have.member == 0
                        && have.op == Op::Write
                        && have.offset < range.end
                        && range.start < have.offset + u64::from(have.len)
                };
                assert!(!self.under_way.values().any(other), "two writes of {range:?} at once");
                assert_eq!(range.start / STRIPE, (range.end - 1) / STRIPE, "within a stripe");
            }
            self.under_way.insert((at + MEMBER, self.commands.len()), (command, self.asked.len() as u32));
            self.commands.push(command);
        }
        for served in std::mem::take(&mut self.out.served) {
            let (since, op, range) = self.asked[served.token as usize].clone();
            assert_eq!((served.times.total(), served.fault), (Span(at - since), None));
            assert_eq!(self.served.insert(served.token, at), None, "answered once");
            if op == Op::Write {
                // What is on the members was sent after the write had been asked for.
                assert!(pages(&range).all(|page| self.on_members.get(&page) > Some(&served.token)), "{range:?}");
            }
        }
    }

    fn next(&self) -> Option<u64> {
        let member = self.under_way.first_key_value().map(|((at, _), _)| *at);
        member.into_iter().chain(self.md.wake().map(|at| at.0)).min()
    }

    fn run_to(&mut self, to: u64) {
        while let Some(at) = self.next().filter(|at| *at <= to) {
            if let Some(entry) = self.under_way.first_entry().filter(|entry| entry.key().0 == at) {
                let (command, asked) = entry.remove();
                let range = command.offset..command.offset + u64::from(command.len);
                if command.op == Op::Write && command.member == 0 {
                    self.on_members.extend(pages(&range).map(|page| (page, asked)));
                }
                self.journalled += usize::from(command.member == 1);
                let times = Times { transfer: Span(MEMBER), ..Times::default() };
                self.md.answered(Instant(at), command.token, &times, None);
            }
            self.advance(at);
        }
        self.advance(to);
    }

    fn drain(&mut self) {
        while let Some(at) = self.next() {
            self.run_to(at);
        }
    }

    fn sent(&self) -> Vec<(u16, u64, u32)> {
        self.commands.iter().map(|sent| (sent.member, sent.offset, sent.len)).collect()
    }

    fn count(&self, name: &str) -> u64 {
        let part = &self.md.report()[0];
        let mut all = part.counters.iter().chain(&part.at_end);
        all.find(|(have, _)| *have == name).expect("it is counted").1
    }
}

#[test]
fn a_write_that_is_alone_goes_out_at_once() {
    let mut rig = Rig::new(256, false);
    let token = rig.ask(Op::Write, 4096, 4096);
    assert_eq!(rig.sent(), [(0, 4096, 4096)]);
    rig.drain();
    assert_eq!(rig.served[&token], MEMBER);
}

#[test]
fn what_comes_while_a_stripe_in_part_is_under_way_is_merged() {
    let mut rig = Rig::new(256, false);
    rig.ask(Op::Write, 0, 4096);
    for page in 1..8 {
        rig.ask(Op::Write, page * 4096, 4096);
    }
    rig.ask(Op::Write, STRIPE, 4096);
    assert_eq!(rig.sent(), [(0, 0, 4096)], "the others wait");
    rig.run_to(MEMBER);
    assert_eq!(rig.sent()[1..], [(0, 4096, 7 * 4096), (0, STRIPE, 4096)], "all that waited, each stripe in one piece");
    rig.drain();
    assert_eq!((rig.served.len(), rig.count("batches"), rig.count("full_stripes")), (9, 3, 0));
}

#[test]
fn a_stripe_that_becomes_full_waits_for_nobody() {
    let mut rig = Rig::new(256, false);
    rig.ask(Op::Write, 9 * STRIPE, 4096);
    for page in 0..16 {
        rig.ask(Op::Write, page * 4096, 4096);
    }
    assert_eq!(rig.sent(), [(0, 9 * STRIPE, 4096), (0, 0, STRIPE as u32)]);
    // One large write is a stripe in part, two full ones, and a stripe in part.
    rig.drain();
    rig.commands.clear();
    rig.ask(Op::Write, 20 * STRIPE + CHUNK, 3 * STRIPE);
    let (part, whole) = ((STRIPE - CHUNK) as u32, STRIPE as u32);
    let mut sent = rig.sent();
    sent.sort_unstable();
    let expected = [(0, 20 * STRIPE + CHUNK, part), (0, 21 * STRIPE, whole), (0, 22 * STRIPE, whole)];
    assert_eq!(sent, [&expected[..], &[(0, 23 * STRIPE, CHUNK as u32)]].concat());
    assert_eq!(rig.count("full_stripes"), 3);
}

#[test]
fn without_stripe_heads_writes_wait() {
    // Twenty heads of a page: four rows a chunk, so five stripes.
    let mut rig = Rig::new(20, false);
    for stripe in 0..6 {
        rig.ask(Op::Write, stripe * STRIPE, CHUNK);
    }
    assert_eq!((rig.count("stripe_heads"), rig.count("waited_writes")), (20, 1));
    rig.ask(Op::Write, 4096, 4096);
    assert_eq!(rig.count("waited_writes"), 2, "nobody overtakes who waits");
    rig.drain();
    assert_eq!((rig.served.len(), rig.count("stripe_heads")), (7, 0));
    // One that needs more than there are has them alone.
    rig.ask(Op::Write, 0, 40 * STRIPE);
    rig.drain();
    assert_eq!(rig.served.len(), 8);
}

#[test]
fn a_journal_has_every_write_first() {
    let mut rig = Rig::new(256, true);
    let token = rig.ask(Op::Write, 4096, 4096);
    // Its block, its data, and a page of parity.
    assert_eq!(rig.sent(), [(1, 0, 3 * 4096)]);
    rig.run_to(MEMBER);
    assert_eq!(rig.sent()[1..], [(0, 4096, 4096)]);
    rig.drain();
    assert_eq!(rig.served[&token], 2 * MEMBER);
    rig.ask(Op::Write, STRIPE, STRIPE);
    assert_eq!(rig.sent()[2..], [(1, 3 * 4096, (1 + 16 + 4) * 4096)], "it goes on where it was");
    rig.ask(Op::Read, 0, 4096);
    assert_eq!(rig.sent()[3..], [(0, 0, 4096)], "reads are the members'");
    rig.drain();
    assert_eq!(rig.count("journal_bytes"), 24 * 4096);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_write_is_on_the_members_before_it_is_answered_and_in_the_journal_before_that(
        asked in prop::collection::vec((0_u64..3_000_000, prop::bool::weighted(0.9), 0_u64..200, 1_u64..60), 1..80),
        stripes in prop_oneof![Just(17_u64), Just(256)], has_journal in any::<bool>(),
    ) {
        let mut rig = Rig::new(stripes, has_journal);
        for (gap, is_write, page, count) in asked {
            rig.run_to(rig.now + gap);
            rig.ask(if is_write { Op::Write } else { Op::Read }, page * 4096, count * 4096);
            let batches = rig.count("batches") as usize;
            prop_assert!(!has_journal || rig.journalled <= batches);
        }
        rig.drain();
        prop_assert_eq!(rig.served.len(), rig.asked.len());
        prop_assert_eq!(rig.count("stripe_heads"), 0);
        prop_assert!(!has_journal || rig.journalled as u64 == rig.count("batches"));
    }
}
