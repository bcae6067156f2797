//! Are writes to one row merged as md merges them, does each member get what lies side by side in one I/O, is every write
//! on the members or in the journal before it is answered, and does a read get the latest?

use std::collections::BTreeMap;
use std::ops::Range;

use hotband_layouts::Parity;
use hotband_layouts::md::{JournalMode, Md, MdSpec};
use hotband_machine::{
    Entropy, Extent, Fault, Layout, MemberCommand, Op, Service, ServiceIo, ServiceOut, StripeShape, Times,
};
use hotband_units::{Instant, Span};
use proptest::prelude::*;

const CHUNK: u64 = 16 << 10;
/// Four chunks of data, one of parity.
const SHAPE: StripeShape = StripeShape { chunk: CHUNK, data: 4, parities: 1 };
const STRIPE: u64 = 4 * CHUNK;
const SIZE: u64 = 1024 * STRIPE;
const JOURNAL: u64 = 4 << 20;
const PAGE: u64 = 4096;
/// What a member takes for anything, the journal's drive among them.
const MEMBER: u64 = 1_000_000;
/// What is answered from memory.
const MEMORY: u64 = 10_000;

/// Where a command goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum To {
    /// The layout below.
    Layout,
    Journal,
    /// A member of the layout below.
    Member(u16),
}

struct Rig {
    md: Md,
    below: Parity,
    spec: MdSpec,
    journal: u64,
    now: u64,
    sent: Vec<(To, MemberCommand)>,
    count: usize,
    under_way: BTreeMap<(u64, usize), (To, MemberCommand)>,
    asked: Vec<(u64, Op, Range<u64>)>,
    /// When, and whether it failed.
    served: BTreeMap<u32, (u64, Option<Fault>)>,
    /// By sector: which write the members have, and which a host was told of.
    on_members: BTreeMap<u64, u64>,
    promised: BTreeMap<u64, u64>,
    /// Members and journal that are gone.
    is_degraded: bool,
    has_lost_journal: bool,
    out: ServiceOut,
}

fn sectors(range: &Range<u64>) -> Range<u64> {
    range.start / 512..range.end / 512
}

fn spec(stripes: u64, journal: JournalMode) -> MdSpec {
    MdSpec { stripes, journal, is_buffered: false }
}

impl Rig {
    fn new(spec: MdSpec) -> Self {
        Self::with_journal(spec, JOURNAL)
    }

    fn with_journal(spec: MdSpec, journal: u64) -> Self {
        Self {
            md: Md::new(spec, (0, SIZE), SHAPE, if spec.has_journal() { journal } else { 0 }),
            journal,
            below: Parity::new("raid5", 5, 1, SIZE / 4, CHUNK),
            spec,
            now: 0,
            sent: Vec::new(),
            count: 0,
            under_way: BTreeMap::new(),
            asked: Vec::new(),
            served: BTreeMap::new(),
            on_members: BTreeMap::new(),
            promised: BTreeMap::new(),
            is_degraded: false,
            has_lost_journal: false,
            out: ServiceOut::default(),
        }
    }

    fn plain() -> Self {
        Self::new(spec(256, JournalMode::None))
    }

    /// Asks without going on: what is asked at once comes at once.
    fn put(&mut self, op: Op, offset: u64, len: u64) -> u32 {
        let token = self.asked.len() as u32;
        self.asked.push((self.now, op, offset..offset + len));
        let (version, entropy) = (if op == Op::Write { u64::from(token) + 1 } else { 0 }, Entropy::INCOMPRESSIBLE);
        let io = ServiceIo { token, op, offset, len: len as u32, fua: false, version, entropy };
        self.md.submit(Instant(self.now), io);
        token
    }

    fn ask(&mut self, op: Op, offset: u64, len: u64) -> u32 {
        let token = self.put(op, offset, len);
        self.advance(self.now);
        token
    }

    /// Addresses of the data that lies on a range of a member: by sector, what of it is no parity.
    fn addresses(&self, member: u16, range: &Range<u64>) -> Vec<u64> {
        let mut found = Vec::new();
        for at in sectors(range) {
            let row = at * 512 / CHUNK;
            let of_stripe = Extent { op: Op::Read, offset: row * STRIPE, len: STRIPE as u32 };
            let mut placed = Vec::new();
            self.below.place(of_stripe, &mut placed);
            let there = placed.iter().find(|place| place.member == member);
            found.extend(there.map(|place| (place.host_offset + at * 512 - place.offset) / 512));
        }
        found
    }

    /// Sectors of data that a command reads or writes.
    fn data_of(&self, to: To, command: &MemberCommand) -> Vec<u64> {
        let range = command.offset..command.offset + u64::from(command.len);
        match to {
            To::Layout => sectors(&range).collect(),
            To::Journal => Vec::new(),
            To::Member(member) => self.addresses(member, &range),
        }
    }

    fn check(&mut self, to: To, command: &MemberCommand) {
        let range = command.offset..command.offset + u64::from(command.len);
        let overlaps = |(have_to, have): &(To, MemberCommand)| {
            *have_to == to
                && (have.op == Op::Write || command.op == Op::Write)
                && have.offset < range.end
                && range.start < have.offset + u64::from(have.len)
        };
        if to != To::Layout {
            assert!(!self.under_way.values().any(overlaps), "two of {range:?} at once, {to:?}");
        }
        assert!(to != To::Journal || (range.end <= self.journal && command.fua));
        let data = self.data_of(to, command);
        if command.op == Op::Write && self.spec.has_journal() && to != To::Journal && !self.has_lost_journal {
            // The journal has it first.
            let kept = self.md.cut_power(Instant(self.now));
            for page in data.chunk_by(|one, two| one / 8 == two / 8) {
                let from = page[0] / 8 * PAGE;
                let is_kept = kept.held(from..from + PAGE).next().is_some();
                assert!(is_kept, "{from} goes to members and is not in the journal");
            }
        }
        if command.op == Op::Read && to == To::Layout {
            for sector in &data {
                assert!(self.promised.get(sector) <= self.on_members.get(sector), "an old {sector} is read");
            }
        }
    }

    fn advance(&mut self, at: u64) {
        self.now = at;
        loop {
            self.md.advance(Instant(at), &mut self.out);
            let own = std::mem::take(&mut self.out.commands).into_iter();
            let own = own.map(|command| (if command.member == 0 { To::Layout } else { To::Journal }, command));
            let below = std::mem::take(&mut self.out.below).into_iter();
            let all: Vec<(To, MemberCommand)> = own.chain(below.map(|c| (To::Member(c.member), c))).collect();
            let mut is_refused = false;
            for (to, command) in all {
                let is_gone = match to {
                    To::Layout => false,
                    To::Journal => self.has_lost_journal,
                    To::Member(_) => self.is_degraded,
                };
                if is_gone {
                    self.md.answered(Instant(at), command.token, &Times::default(), Some(Fault::Gone));
                    is_refused = true;
                    continue;
                }
                self.check(to, &command);
                self.count += 1;
                self.under_way.insert((at + MEMBER, self.count), (to, command));
                self.sent.push((to, command));
            }
            self.note_served(at);
            if !is_refused {
                return;
            }
        }
    }

    fn note_served(&mut self, at: u64) {
        for served in std::mem::take(&mut self.out.served) {
            let (since, op, range) = self.asked[served.token as usize].clone();
            assert_eq!(served.times.total(), Span(at - since));
            assert_eq!(self.served.insert(served.token, (at, served.fault)), None, "answered once");
            if op == Op::Write && served.fault.is_none() {
                for sector in sectors(&range) {
                    let newest = self.promised.entry(sector).or_default();
                    *newest = (*newest).max(u64::from(served.token) + 1);
                }
            }
        }
        // What was promised is on the members, or in the journal.
        let kept = self.md.cut_power(Instant(at));
        for (sector, promised) in &self.promised {
            let there = self.on_members.get(sector).copied().unwrap_or(0);
            let held = kept.held(sector * 512..sector * 512 + 512).next().map_or(0, |(_, version)| version);
            assert!(there.max(held) >= *promised, "sector {sector}: {promised} promised, {there}, {held}");
        }
    }

    fn next(&self) -> Option<u64> {
        let member = self.under_way.first_key_value().map(|((at, _), _)| *at);
        member.into_iter().chain(self.md.wake().map(|at| at.0)).min()
    }

    fn run_to(&mut self, to: u64) {
        while let Some(at) = self.next().filter(|at| *at <= to) {
            while let Some(entry) = self.under_way.first_entry().filter(|entry| entry.key().0 == at) {
                let (to, command) = entry.remove();
                if command.op == Op::Write {
                    for sector in self.data_of(to, &command) {
                        let have = self.on_members.entry(sector).or_default();
                        *have = (*have).max(command.version);
                    }
                }
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

    /// What was sent since the last call, but for flushes: reads first, by place.
    fn news(&mut self) -> Vec<(Op, To, u64, u64)> {
        let mut news: Vec<_> = std::mem::take(&mut self.sent)
            .into_iter()
            .map(|(to, sent)| (sent.op, to, sent.offset / PAGE, u64::from(sent.len) / PAGE))
            .collect();
        news.sort_unstable();
        news
    }

    fn latency(&self, token: u32) -> u64 {
        self.served[&token].0 - self.asked[token as usize].0
    }

    fn count(&self, name: &str) -> u64 {
        let part = &self.md.report()[0];
        let mut all = part.counters.iter().chain(&part.at_end);
        all.find(|(have, _)| *have == name).expect("it is counted").1
    }
}

use Op::{Flush, Read, Write};
use To::{Journal, Layout as Below, Member};

#[test]
fn a_row_reads_old_data_and_parity_and_the_next_page_of_it_only_its_own() {
    let mut rig = Rig::plain();
    let token = rig.ask(Write, PAGE, PAGE);
    // Stripe 0 has its parity on the last member.
    assert_eq!(rig.news(), [(Read, Member(0), 1, 1), (Read, Member(4), 1, 1)]);
    rig.drain();
    assert_eq!(rig.news(), [(Write, Member(0), 1, 1), (Write, Member(4), 1, 1)]);
    assert_eq!(rig.latency(token), 2 * MEMBER);
    // The page of the second chunk in the same row: parity is in memory.
    rig.ask(Write, CHUNK + PAGE, PAGE);
    assert_eq!(rig.news(), [(Read, Member(1), 1, 1)]);
    rig.drain();
    rig.news();
    // With two of four known, the last one that is not is the rest as well: that is read, and the last write needs none.
    rig.ask(Write, 2 * CHUNK + PAGE, PAGE);
    assert_eq!(rig.news(), [(Read, Member(3), 1, 1)]);
    rig.drain();
    rig.news();
    rig.ask(Write, 3 * CHUNK + PAGE, PAGE);
    assert_eq!(rig.news(), [(Write, Member(3), 1, 1), (Write, Member(4), 1, 1)]);
}

#[test]
fn rows_do_not_wait_for_one_another_and_neighbours_share_their_ios() {
    let mut rig = Rig::plain();
    // Four pages of a chunk at once, and one of another stripe.
    (0..4).for_each(|page| _ = rig.put(Write, page * PAGE, PAGE));
    rig.ask(Write, 9 * STRIPE, PAGE);
    let (one, nine) = ((Read, Member(0), 0, 4), (Read, Member(0), 36, 1));
    assert_eq!(rig.news(), [one, nine, (Read, Member(4), 0, 4), (Read, Member(1), 36, 1)].sorted());
    // What comes to a row that is read joins it; another row goes its way.
    rig.run_to(MEMBER / 2);
    (1..4).for_each(|chunk| _ = rig.put(Write, chunk * CHUNK, PAGE));
    rig.ask(Write, 20 * STRIPE, PAGE);
    let news = rig.news();
    assert!(news.contains(&(Read, Member(0), 80, 1)) && news.len() <= 5, "{news:?}");
    rig.drain();
    assert_eq!(rig.served.len(), 9);
    assert_eq!((rig.count("rows"), rig.count("full_rows")), (6, 1), "row 0 became full while it was read");
}

trait Sorted {
    fn sorted(self) -> Vec<(Op, To, u64, u64)>;
}

impl<const N: usize> Sorted for [(Op, To, u64, u64); N] {
    fn sorted(self) -> Vec<(Op, To, u64, u64)> {
        let mut all = self.to_vec();
        all.sort_unstable();
        all
    }
}

#[test]
fn full_rows_need_no_read_and_neighbours_over_stripes_are_one_io_a_member() {
    let mut rig = Rig::plain();
    (0..32).for_each(|page| _ = rig.put(Write, page * PAGE, PAGE));
    rig.advance(0);
    let whole: Vec<_> = (0..5).map(|member| (Write, Member(member), 0, 8)).collect();
    assert_eq!(rig.news(), whole, "two stripes of four rows");
    rig.drain();
    assert!(rig.served.values().all(|served| *served == (MEMBER, None)));
    assert_eq!((rig.count("rows"), rig.count("full_rows"), rig.count("read_pages")), (8, 8, 0));
}

#[test]
fn buffered_writes_let_one_row_read_and_gather_meanwhile() {
    let mut rig = Rig::new(MdSpec { is_buffered: true, ..spec(256, JournalMode::None) });
    rig.ask(Write, 0, PAGE);
    assert_eq!(rig.news().len(), 2, "nobody reads: it goes");
    for chunk in 0..3 {
        rig.ask(Write, STRIPE + chunk * CHUNK, PAGE);
    }
    assert_eq!(rig.news(), [], "it waits while another reads");
    // Once the reads are over, and not only the writes, the next goes.
    rig.run_to(MEMBER);
    assert_eq!(rig.news().iter().filter(|sent| sent.0 == Read).count(), 1, "the rest of the row");
    rig.ask(Write, 5 * STRIPE, PAGE);
    rig.ask(Write, STRIPE + PAGE, 3 * PAGE);
    rig.drain();
    // One that is full waits for nobody.
    rig.news();
    rig.ask(Write, 8 * STRIPE, PAGE);
    rig.news();
    rig.ask(Write, 9 * STRIPE, STRIPE);
    assert_eq!(rig.news().len(), 5);
    rig.drain();
    assert_eq!(rig.served.len(), rig.asked.len());
}

#[test]
fn without_stripe_heads_writes_wait_until_a_quarter_is_free() {
    let mut rig = Rig::new(spec(20, JournalMode::None));
    for stripe in 0..5 {
        rig.ask(Write, stripe * STRIPE, CHUNK);
    }
    let last = rig.ask(Write, 7 * STRIPE, PAGE);
    assert_eq!((rig.count("stripe_heads"), rig.count("waited_writes")), (20, 1));
    rig.ask(Write, 0, PAGE);
    assert_eq!(rig.count("waited_writes"), 2, "nobody overtakes who waits");
    rig.drain();
    assert_eq!((rig.latency(last), rig.count("stripe_heads")), (4 * MEMBER, 0));
    // One that needs more than there are goes piece by piece.
    let large = rig.ask(Write, 0, 40 * STRIPE);
    rig.drain();
    assert_eq!(rig.served[&large].1, None);
}

#[test]
fn two_writes_of_the_same_sectors_are_written_one_after_the_other() {
    let mut rig = Rig::plain();
    let one = rig.put(Write, 0, PAGE);
    let two = rig.ask(Write, 0, PAGE);
    rig.drain();
    assert_eq!((rig.latency(one), rig.latency(two)), (2 * MEMBER, 3 * MEMBER), "the second needs no read");
}

#[test]
fn a_journal_has_every_write_first_with_its_parity() {
    let mut rig = Rig::new(spec(256, JournalMode::WriteThrough));
    let token = rig.ask(Write, PAGE, PAGE);
    rig.run_to(MEMBER);
    // A block, its data, its parity, after both were computed.
    assert_eq!(rig.news(), [(Read, Member(0), 1, 1), (Read, Member(4), 1, 1), (Write, Journal, 0, 3)]);
    rig.drain();
    assert_eq!(rig.latency(token), 3 * MEMBER);
    rig.news();
    // Of rows that go together the block is one.
    rig.ask(Write, STRIPE, STRIPE);
    assert_eq!(rig.news(), [(Write, Journal, 3, 1 + 16 + 4)]);
    rig.ask(Read, 0, PAGE);
    assert_eq!(rig.news(), [(Read, Below, 0, 1)], "reads are the members'");
    rig.drain();
    assert_eq!(rig.count("journal_bytes"), 24 * PAGE);
}

#[test]
fn written_back_a_write_is_answered_from_the_journal_and_reads_get_it_from_memory() {
    let mut rig = Rig::new(spec(256, JournalMode::WriteBack));
    let token = rig.ask(Write, 0, 2 * PAGE);
    assert_eq!(rig.news(), [(Write, Journal, 0, 3)], "a block and its data: no parity, no reads");
    rig.drain();
    assert_eq!((rig.latency(token), rig.sent.len()), (MEMBER, 0), "and it stays there");
    let read = rig.ask(Read, 0, PAGE);
    rig.drain();
    assert_eq!((rig.latency(read), rig.count("reads_from_memory")), (MEMORY, 1));
    // What of the stripe is not there is read; another stripe is read as ever.
    rig.ask(Read, 0, 4 * PAGE);
    rig.ask(Read, STRIPE, PAGE);
    assert_eq!(rig.news(), [(Read, Below, 2, 2), (Read, Below, 16, 1)]);
    let flush = rig.ask(Flush, 0, 0);
    assert_eq!(rig.news(), [(Write, Journal, 3, 1)]);
    rig.drain();
    assert_eq!(rig.latency(flush), MEMBER);
    let kept: Vec<_> = rig.md.cut_power(Instant(rig.now)).iter().collect();
    assert_eq!(kept, [(0..2 * PAGE, 1)]);
    assert_eq!(rig.count("to_replay_bytes"), 2 * PAGE);
}

#[test]
fn written_back_rows_go_out_when_many_are_full_and_in_part_only_when_heads_run_short() {
    let mut rig = Rig::new(spec(64, JournalMode::WriteBack));
    // A quarter of 64 heads may be full: 16 rows are four stripes.
    for page in 0..64 {
        rig.ask(Write, page * PAGE, PAGE);
    }
    rig.drain();
    assert_eq!((rig.count("rows"), rig.count("cached_rows")), (0, 16));
    rig.ask(Write, 4 * STRIPE, STRIPE);
    rig.drain();
    assert_eq!((rig.count("full_rows"), rig.count("cached_rows"), rig.count("read_pages")), (20, 0, 0));
    // Rows in part stay until three quarters of the heads have some; then sixteen go.
    for stripe in 10..22 {
        rig.ask(Write, stripe * STRIPE, CHUNK);
        rig.drain();
    }
    assert_eq!((rig.count("rows"), rig.count("cached_rows")), (20, 48));
    rig.ask(Write, 30 * STRIPE, PAGE);
    rig.drain();
    assert_eq!((rig.count("rows"), rig.count("cached_rows")), (36, 33));
    // A part of a page cannot be in the journal alone.
    rig.ask(Write, 50 * STRIPE, 512);
    rig.drain();
    assert_eq!((rig.count("rows"), rig.count("cached_rows")), (37, 33));
}

#[test]
fn a_journal_that_runs_short_lets_the_oldest_rows_out_and_its_checkpoint_moves_after_a_flush() {
    let mut rig = Rig::new(spec(256, JournalMode::WriteBack));
    // 4 MiB are 1,024 blocks; the same page again and again fills it.
    for _ in 0..2000 {
        rig.ask(Write, 0, PAGE);
        rig.drain();
    }
    let flushes = rig.sent.iter().filter(|(to, sent)| (*to, sent.op) == (Below, Flush)).count();
    assert!((2..=5).contains(&flushes), "{flushes}");
    assert!((2..=5).contains(&rig.count("rows")), "written out {}", rig.count("rows"));
    assert_eq!(rig.count("journal_bytes"), (2000 * 2 + rig.count("rows") * 2) * PAGE);
}

#[test]
fn flushes_do_not_fill_a_journal() {
    let mut rig = Rig::with_journal(spec(64, JournalMode::WriteBack), 65 * 10 * PAGE);
    rig.put(Write, 0, PAGE);
    (0..3000).for_each(|_| _ = rig.put(Flush, 0, 0));
    rig.advance(0);
    assert_eq!(rig.news(), [(Write, Journal, 0, 2)], "those that come at once are in one block");
    rig.drain();
    for _ in 0..3000 {
        rig.ask(Flush, 0, 0);
        rig.run_to(rig.now + MEMBER / 10);
    }
    rig.drain();
    assert_eq!(rig.served.len(), 6001);
    assert!(rig.count("journal_bytes") > 2 * 65 * 10 * PAGE, "it went round: {}", rig.count("journal_bytes") / PAGE);
    assert_eq!(rig.count("rows"), 1, "for that the row was written out");
}

#[test]
fn without_a_member_the_layout_below_writes_and_without_its_journal_it_takes_no_writes() {
    for journal in [JournalMode::None, JournalMode::WriteThrough, JournalMode::WriteBack] {
        let mut rig = Rig::new(spec(64, journal));
        rig.is_degraded = true;
        let one = rig.ask(Write, 0, STRIPE);
        let two = rig.ask(Write, 40 * STRIPE + 512, 1024);
        (2..30).for_each(|stripe| _ = rig.ask(Write, stripe * STRIPE, STRIPE));
        rig.drain();
        assert!(rig.served.values().all(|served| served.1.is_none()), "{one} {two}");
        assert!(rig.sent.iter().all(|(to, _)| !matches!(to, Member(_))));
        assert!(rig.sent.iter().any(|(to, sent)| (*to, sent.len) == (Below, STRIPE as u32)), "stripes as one I/O");
        rig.is_degraded = false;
        rig.sent.clear();
        rig.ask(Write, 100 * STRIPE, 17 * STRIPE);
        rig.drain();
        assert!(rig.sent.iter().any(|(to, _)| matches!(to, Member(_))), "whole again, it writes members itself");
    }
    let mut rig = Rig::new(spec(64, JournalMode::WriteBack));
    rig.ask(Write, 0, PAGE);
    rig.drain();
    rig.has_lost_journal = true;
    let late = rig.ask(Write, STRIPE, PAGE);
    rig.drain();
    assert_eq!(rig.served[&late].1, Some(Fault::Gone));
    assert_eq!(
        (rig.on_members.get(&0), rig.count("cached_rows")),
        (Some(&1), 0),
        "what memory has goes to the members"
    );
}

fn schedule() -> impl Strategy<Value = Vec<(u64, u8, u64, u64)>> {
    let gap = prop_oneof![2 => Just(0_u64), 2 => 0_u64..3_000_000];
    // Half are pages of a few stripes, half any sectors.
    let place = prop_oneof![
        2 => (0_u64..100, 1_u64..30).prop_map(|(page, count)| (page * 8, count * 8)),
        1 => (0_u64..1000, 1_u64..40),
    ];
    let one = (gap, 0_u8..12, place).prop_map(|(gap, op, (first, count))| (gap, op, first, count));
    prop::collection::vec(one, 1..100)
}

#[test]
fn a_row_that_holds_the_journal_up_is_written_out_though_it_waits_for_room() {
    let mut rig = Rig::with_journal(spec(17, JournalMode::WriteBack), (17 + 1) * 10 * PAGE);
    // Sectors, as a property found them.
    let before = [(380, 21), (776, 216)];
    let after = [
        (88, 168),
        (376, 152),
        (432, 208),
        (433, 16),
        (640, 40),
        (128, 104),
        (760, 24),
        (18, 39),
        (240, 120),
        (392, 152),
        (376, 216),
        (456, 208),
        (496, 184),
        (496, 232),
        (589, 36),
        (608, 24),
    ];
    for (first, count) in before {
        rig.put(Write, first * 512, count * 512);
    }
    rig.run_to(1);
    for (first, count) in after {
        rig.put(Write, first * 512, count * 512);
    }
    rig.drain();
    assert_eq!(rig.served.len(), before.len() + after.len());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_write_is_where_it_survives_before_it_is_answered_and_reads_get_the_latest(
        asked in schedule(), stripes in prop_oneof![Just(17_u64), Just(64)], is_buffered in any::<bool>(),
        journal in prop_oneof![Just(JournalMode::None), Just(JournalMode::WriteThrough), Just(JournalMode::WriteBack)],
        (fails, returns) in (0_usize..90, 0_usize..90),
    ) {
        // The smallest journal that a machine may have, so that it runs short.
        let mut rig = Rig::with_journal(MdSpec { stripes, journal, is_buffered }, (stripes + 1) * 10 * PAGE);
        for (index, (gap, op, first, count)) in asked.into_iter().enumerate() {
            rig.run_to(rig.now + gap);
            rig.is_degraded = (fails..returns).contains(&index);
            match op {
                0 if journal != JournalMode::None => _ = rig.ask(Flush, 0, 0),
                0..3 => _ = rig.ask(Read, first * 512, count * 512),
                3..6 => _ = rig.put(Write, first * 512, count * 512),
                _ => _ = rig.ask(Write, first * 512, count * 512),
            }
        }
        rig.drain();
        prop_assert_eq!(rig.served.len(), rig.asked.len());
        prop_assert!(rig.served.values().all(|served| served.1.is_none()));
        prop_assert_eq!(rig.count("stripe_heads"), 0);
        if journal != JournalMode::WriteBack {
            for (sector, promised) in &rig.promised {
                prop_assert!(rig.on_members[sector] >= *promised);
            }
        }
    }
}
