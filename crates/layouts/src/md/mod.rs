//! Linux md before a RAID 5 or 6: its stripe cache and its journal (docs/models/layouts.md).
//!
//! A stripe head is a row of pages of 4 KiB, one of every member. Writes to a row that wait at once are written
//! together; what parity is computed from is read first, unless it is in memory. Adjacent pages that go to a member
//! at the same time are one I/O. With a journal, every write is there before it is on the members; written back, it
//! is completed then.
//!
//! Leaves out: the partial parity log, reads that are kept in stripe heads, a cache that grows with demand, limits of
//! its thread (`MAX_STRIPE_BATCH`, `BYPASS_THRESHOLD`), writes of its superblock, processor times, and
//! how well data compresses.

mod cached;
mod head;
mod heads;
mod journal;
mod member_ios;
mod rows;
mod spec;
mod work;

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use hotband_machine::{
    Entropy, Fault, MemberCommand, Op, PartReport, Service, ServiceIo, ServiceOut, StripeShape, Times, Versions,
};
use hotband_units::{Bytes, Instant};

use crate::pending::Pending;
use head::Wanted;
use heads::Heads;
use journal::{Journal, Unit};
use member_ios::PageIo;
pub use rows::MOST as MOST_MEMBERS;
use rows::{PAGE, Rows};
pub use spec::{JournalMode, MdSpec};

/// Purpose of a command.
#[derive(Clone, Debug)]
enum For {
    /// An I/O that goes through.
    Through(u32),
    /// Pages of these rows on a member.
    Pages(Op, u16, Range<u64>),
    /// A unit of the journal.
    Journal(u64),
    /// Pages of these rows, which the layout below writes.
    Below(Vec<u64>),
    /// The journal's checkpoint moves when members have flushed.
    Checkpoint,
}

/// A write of which at least a part is not in stripe heads yet.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    number: u32,
    /// Its first byte that is in none.
    at: u64,
    is_counted: bool,
}

/// A unit of the journal that is being written.
#[derive(Debug)]
struct UnderWay {
    unit: Unit,
    commands: u32,
    times: Times,
    fault: Option<Fault>,
}

/// Counters so far.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    writes: u64,
    waited_writes: u64,
    rows: u64,
    full_rows: u64,
    read_pages: u64,
    member_ios: u64,
    layout_ios: u64,
    journal_bytes: u64,
    cached_pages: u64,
    reads_from_memory: u64,
}

/// An md array in a running machine.
pub struct Md {
    spec: MdSpec,
    rows: Rows,
    capacity: u64,
    pending: Pending<For>,
    heads: Heads,
    /// Writes that wait, the first for stripe heads or for another write to the same page.
    waiting: VecDeque<Waiting>,
    /// Rows to be examined.
    listed: VecDeque<u64>,
    /// Rows that wait for their turn to read, and how many read or may (`preread_active_stripes`).
    delayed: Vec<u64>,
    readers: u64,
    journal: Option<Journal>,
    units: BTreeMap<u64, UnderWay>,
    next_unit: u64,
    /// Rows for which the journal has no room.
    without_room: Vec<u64>,
    /// Flushes that are to be in the journal.
    flushes: Vec<u32>,
    /// Number of rows of stripes with data that the members lack.
    cached_rows: BTreeMap<u64, u64>,
    /// The journal has failed.
    is_without_journal: bool,
    /// Its drive has, whether or not that was noticed.
    has_lost_journal: bool,
    /// I/Os to issue when all rows were examined: pages to members, and bytes that the layout below writes.
    pages: Vec<PageIo>,
    below: Vec<BelowIo>,
    /// Something came since rows were examined.
    is_due: bool,
    now: Instant,
    counts: Counts,
}

/// Bytes of a row that the layout below writes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct BelowIo {
    from: u64,
    to: u64,
    row: u64,
    fua: bool,
    version: u64,
}

impl Md {
    /// Creates the service for `size` bytes from `from` on of a layout of such stripes, with a journal of `journal`
    /// bytes, if any.
    pub fn new(spec: MdSpec, (from, size): (u64, u64), shape: StripeShape, journal: u64) -> Self {
        Self {
            spec,
            rows: Rows::new(shape, from),
            capacity: size,
            pending: Pending::default(),
            heads: Heads::new(spec.stripes),
            waiting: VecDeque::new(),
            listed: VecDeque::new(),
            delayed: Vec::new(),
            readers: 0,
            journal: spec.has_journal().then(|| Journal::new(journal)),
            units: BTreeMap::new(),
            next_unit: 0,
            without_room: Vec::new(),
            flushes: Vec::new(),
            cached_rows: BTreeMap::new(),
            is_without_journal: false,
            has_lost_journal: false,
            pages: Vec::new(),
            below: Vec::new(),
            is_due: false,
            now: Instant::ZERO,
            counts: Counts::default(),
        }
    }

    fn is_written_back(&self) -> bool {
        self.spec.journal == JournalMode::WriteBack
    }

    fn send(&mut self, purpose: For, member: u16, op: Op, (offset, len): (u64, u64), (fua, version): (bool, u64)) {
        let (len, entropy) = (len as u32, Entropy::INCOMPRESSIBLE);
        self.pending.send(purpose, MemberCommand { token: 0, member, op, offset, len, fua, version, entropy });
    }

    /// An I/O, or a part of it, that the layout below answers.
    fn pass(&mut self, number: u32, range: &Range<u64>) {
        let request = self.pending.get(number);
        request.pending += 1;
        let ServiceIo { op, fua, version, entropy, .. } = request.io;
        let (offset, len) = (range.start, (range.end - range.start) as u32);
        let command = MemberCommand { token: 0, member: 0, op, offset, len, fua, version, entropy };
        self.pending.send(For::Through(number), command);
    }

    /// Accepts the part of the first waiting write for which there are heads, and returns whether there was any.
    fn take_waiting(&mut self) -> bool {
        let Some(&Waiting { number, at, .. }) = self.waiting.front() else { return false };
        let (end, mut next) = (self.pending.get(number).range().end, at);
        while next < end {
            let stop = end.min((next / PAGE + 1) * PAGE);
            if !self.take_page(number, next..stop) {
                break;
            }
            next = stop;
        }
        self.waiting[0].at = next;
        if next == end {
            self.waiting.pop_front();
            self.ended(number, (Times::default(), Times::default()), None);
        }
        next > at
    }

    /// Takes the part of a write that is in one page.
    fn take_page(&mut self, number: u32, range: Range<u64>) -> bool {
        let (row, page) = self.rows.page_at(range.start);
        if !self.heads.take(row) {
            return false;
        }
        let (request, head) = (self.pending.get(number), self.heads.get(row));
        let wanted = Wanted::new(page, (range.start % PAGE, (range.end - 1) % PAGE + 1), request.io.version);
        let is_known = head.writers.last() == Some(&number);
        if !head.want(wanted, number, request.io.fua) {
            return false;
        }
        request.pending += u32::from(!is_known);
        // Who waits for a write does not wait for the reads of others (`REQ_SYNC` in `raid5_make_request`).
        if !self.spec.is_buffered && !head.may_read {
            head.may_read = true;
            self.readers += 1;
        }
        self.list(row);
        true
    }

    /// A row is to be examined.
    fn list(&mut self, row: u64) {
        self.is_due = true;
        if !std::mem::replace(&mut self.heads.get(row).is_listed, true) {
            self.listed.push_back(row);
        }
    }

    /// Something that an I/O waited for is over; the last answers it. `times` are those of all of it, or of its last
    /// command: of what an I/O has come too late for it has not waited.
    fn ended(&mut self, number: u32, (times, last): (Times, Times), fault: Option<Fault>) {
        let (now, asked) = (self.now, self.pending.get(number));
        asked.pending -= 1;
        asked.fault = asked.fault.or(fault);
        if asked.pending == 0 {
            asked.times = if times.total() <= now.since(asked.since) { times } else { last };
            self.pending.answer(now, number);
        }
    }

    fn tick(&mut self, now: Instant) {
        self.now = now;
        self.pending.tick(now);
    }
}

impl Service for Md {
    fn kind(&self) -> &'static str {
        crate::MD
    }

    fn capacity(&self) -> Bytes {
        Bytes(self.capacity)
    }

    fn keeps_addresses(&self) -> bool {
        true
    }

    fn is_whole(&self) -> bool {
        !self.has_lost_journal
    }

    /// The failure is noticed with the next write to the journal.
    fn member_failed(&mut self, _: Instant, member: u16) {
        self.has_lost_journal |= member > 0;
    }

    fn submit(&mut self, now: Instant, io: ServiceIo) {
        self.now = now;
        let number = self.pending.ask(now, io);
        let range = self.pending.get(number).range();
        match io.op {
            Op::Write => {
                self.counts.writes += 1;
                // Until all of it is in stripe heads it waits for that, too.
                self.pending.get(number).pending = 1;
                self.waiting.push_back(Waiting { number, at: io.offset, is_counted: false });
                self.is_due = true;
            }
            Op::Read if self.is_written_back() => self.read(number, &range),
            Op::Flush if self.is_written_back() => self.flush(number),
            Op::Read | Op::Flush | Op::Trim => self.pass(number, &range),
        }
    }

    fn answered(&mut self, now: Instant, token: u64, times: &Times, fault: Option<Fault>) {
        self.now = now;
        self.is_due = true;
        match self.pending.answered(now, token) {
            For::Through(number) => self.ended(number, (*times, *times), fault),
            For::Pages(op, member, rows) => {
                self.counts.member_ios += u64::from(fault.is_none());
                for row in rows {
                    let page = self.rows.page_on(row, member);
                    self.page_came(row, (op, page), times, fault);
                }
            }
            For::Journal(unit) => self.unit_came(unit, times, fault),
            For::Below(rows) => rows.into_iter().for_each(|row| self.below_came(row, times, fault)),
            For::Checkpoint => self.journal.as_mut().expect("it has a checkpoint").checkpoint(),
        }
        let again = std::mem::take(&mut self.without_room);
        for row in again {
            self.list(row);
        }
    }

    fn wake(&self) -> Option<Instant> {
        if self.is_due { Some(self.now) } else { self.pending.wake() }
    }

    fn advance(&mut self, now: Instant, out: &mut ServiceOut) {
        self.tick(now);
        self.pending.answer_due(now);
        if std::mem::take(&mut self.is_due) {
            self.work();
        }
        self.pending.hand_over(out);
    }

    fn cut_power(&mut self, _: Instant) -> Versions {
        self.replayed().0
    }

    fn report(&self) -> Vec<PartReport> {
        let counts = &self.counts;
        vec![PartReport {
            id: "stripes".to_owned(),
            kind: "md",
            counters: vec![
                ("writes", counts.writes),
                ("waited_writes", counts.waited_writes),
                ("rows", counts.rows),
                ("full_rows", counts.full_rows),
                ("read_pages", counts.read_pages),
                ("member_ios", counts.member_ios),
                ("layout_ios", counts.layout_ios),
                ("journal_bytes", counts.journal_bytes),
                ("cached_pages", counts.cached_pages),
                ("reads_from_memory", counts.reads_from_memory),
            ],
            at_end: vec![
                ("stripe_heads", self.heads.in_use()),
                ("cached_rows", self.heads.cached().0),
                ("to_replay_bytes", self.replayed().1),
            ],
        }]
    }
}
