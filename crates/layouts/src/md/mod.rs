//! The stripe cache and the write journal of Linux md before a parity layout (docs/models/md.md).
//!
//! Writes to the same stripe that wait at once are written together, so that a full stripe needs no read. A stripe in
//! part is begun where none is under way, and those that came meanwhile begin together when it ends (`raid5.c`:
//! `raid5_activate_delayed`, `IO_THRESHOLD` 1). With a journal, every write is there before it is on the members.
//!
//! Leaves out: a write-back journal, the partial parity log, reads answered from the stripe cache, a cache that grows
//! with demand, plugging of the block layer, and rows of 4 KiB that become full one by one: what is written together
//! is planned by the layout below. Old data and parity are read after the journal has its write, not before.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

use hotband_machine::{
    Entropy, Fault, LayoutSpec, MemberCommand, Op, PartReport, Section, Served, Service, ServiceIo, ServiceOut, Slab,
    SpecError, StripeShape, Times,
};
use hotband_units::{Bytes, Instant, Span};

/// What a stripe head holds of every member, and what a journal writes at once: a page (`STRIPE_SIZE`, `raid5.h`).
const PAGE: u64 = 4096;
/// `NR_STRIPES` of `raid5.h`.
const STRIPES: u64 = 256;

/// Options of an `md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MdSpec {
    /// Stripe heads: rows of a page of every member.
    pub stripes: u64,
    /// Whether its second member is a journal.
    pub has_journal: bool,
}

impl MdSpec {
    /// Reads the options of an `md`.
    ///
    /// # Errors
    /// The first option that is malformed or impossible.
    pub fn read(file: &str, spec: &LayoutSpec) -> Result<Self, SpecError> {
        let options = Section::new(file, &spec.key, &spec.options);
        let stripes = options.count("stripe_cache", 17..=32_768)?.unwrap_or(STRIPES);
        let has_journal = options.choice("journal", &[("none", false), ("write-through", true)])?.unwrap_or(false);
        let members = spec.members.len();
        if members != 1 + usize::from(has_journal) {
            let accepted = if has_journal {
                "expected 2 members: a raid5 or raid6, and the drive of the journal"
            } else {
                "expected 1 member, a raid5 or raid6; a journal drive needs journal = \"write-through\""
            };
            return Err(options.error("members", members.to_string(), accepted));
        }
        if spec.force_writes {
            let accepted = "give it to the layout below";
            return Err(options.error("force_writes", "true", accepted));
        }
        options.finish()?;
        Ok(Self { stripes, has_journal })
    }
}

/// An I/O of a host.
#[derive(Clone, Copy, Debug)]
struct Asked {
    io: ServiceIo,
    since: Instant,
    /// Stripes or commands that it waits for.
    pending: u32,
    fault: Option<Fault>,
}

/// Writes to one stripe that go out together.
#[derive(Clone, Debug, Default)]
struct Batch {
    /// What is written, by address; parts that touch or overlap are joined.
    parts: Vec<Range<u64>>,
    writers: Vec<u32>,
    /// Rows of pages that it occupies.
    heads: u64,
    /// Newest of its writes.
    version: u64,
    fua: bool,
    /// Commands under way.
    pending: u32,
    times: Times,
    fault: Option<Fault>,
    is_full: bool,
}

impl Batch {
    fn add(&mut self, range: Range<u64>) {
        let mut joined = range;
        self.parts.retain(|part| {
            let touches = part.start <= joined.end && joined.start <= part.end;
            if touches {
                joined = part.start.min(joined.start)..part.end.max(joined.end);
            }
            !touches
        });
        let at = self.parts.partition_point(|part| part.start < joined.start);
        self.parts.insert(at, joined);
    }

    fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.end - part.start).sum()
    }
}

/// What a command to a member is for.
#[derive(Clone, Copy, Debug)]
enum For {
    /// An I/O that goes through.
    Through(u32),
    /// The journal's copy of what is written to a stripe.
    Journal(u64),
    /// A part of a stripe.
    Part(u64),
}

/// What it has done so far.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    writes: u64,
    waited_writes: u64,
    batches: u64,
    full_stripes: u64,
    journal_bytes: u64,
}

/// An md array's memory in a running machine.
#[derive(Debug)]
pub struct Md {
    spec: MdSpec,
    shape: StripeShape,
    capacity: u64,
    /// Of the journal, and where it is written next.
    journal: (u64, u64),
    asked: Slab<Asked>,
    commands: BTreeMap<u64, For>,
    next_token: u64,
    /// Stripes whose writes wait, and those that are under way.
    gathering: BTreeMap<u64, Batch>,
    under_way: BTreeMap<u64, Batch>,
    /// Of those under way, the ones in part.
    in_part: BTreeSet<u64>,
    heads: u64,
    /// Writes that found no stripe heads.
    waiting: VecDeque<u32>,
    out: ServiceOut,
    now: Instant,
    counts: Counts,
}

impl Md {
    /// Before a layout of `size` bytes and such stripes; with a journal of `journal` bytes, if it has one.
    pub fn new(spec: MdSpec, size: u64, shape: StripeShape, journal: u64) -> Self {
        Self {
            spec,
            shape,
            capacity: size,
            journal: (journal / PAGE * PAGE, 0),
            asked: Slab::default(),
            commands: BTreeMap::new(),
            next_token: 0,
            gathering: BTreeMap::new(),
            under_way: BTreeMap::new(),
            in_part: BTreeSet::new(),
            heads: 0,
            waiting: VecDeque::new(),
            out: ServiceOut::default(),
            now: Instant::ZERO,
            counts: Counts::default(),
        }
    }

    fn send(&mut self, purpose: For, op: Op, (offset, len): (u64, u64), of: (bool, u64), entropy: Entropy) {
        let (token, (fua, version)) = (self.next_token, of);
        self.next_token += 1;
        self.commands.insert(token, purpose);
        let member = u16::from(matches!(purpose, For::Journal(_)));
        self.out.commands.push(MemberCommand { token, member, op, offset, len: len as u32, fua, version, entropy });
    }

    /// Rows of pages that parts of a stripe occupy.
    fn heads_of(&self, parts: &[Range<u64>]) -> u64 {
        let (chunk, mut rows) = (self.shape.chunk, Vec::new());
        for part in parts {
            let (from, to) = (part.start % chunk / PAGE, (part.end - 1) % chunk / PAGE);
            // One that goes on in the next chunk occupies the end of a column and the beginning of another.
            if (part.end - 1) / chunk > part.start / chunk + 1 {
                return chunk.div_ceil(PAGE);
            }
            let wraps = (part.end - 1) / chunk != part.start / chunk;
            rows.extend(if wraps { vec![from..=chunk.div_ceil(PAGE) - 1, 0..=to] } else { vec![from..=to] });
        }
        let all: BTreeSet<u64> = rows.into_iter().flatten().collect();
        all.len() as u64
    }

    /// `range`, cut where stripes end: each with its number.
    fn stripes(&self, range: Range<u64>) -> Vec<(u64, Range<u64>)> {
        let stripe = self.shape.bytes();
        let numbers = range.start / stripe..range.end.div_ceil(stripe);
        numbers.map(|n| (n, range.start.max(n * stripe)..range.end.min((n + 1) * stripe))).collect()
    }

    /// Takes a write where there are stripe heads for it, and tells whether there were. One that is larger than all
    /// heads has them alone.
    fn take_write(&mut self, number: u32) -> bool {
        let Asked { io, .. } = *self.asked.get(number);
        let stripes = self.stripes(io.offset..io.offset + u64::from(io.len));
        let (mut more, mut changed) = (0, Vec::new());
        for (stripe, range) in &stripes {
            let mut batch = self.gathering.get(stripe).cloned().unwrap_or_default();
            batch.add(range.clone());
            let heads = self.heads_of(&batch.parts);
            more += heads - batch.heads;
            batch.heads = heads;
            batch.writers.push(number);
            batch.version = batch.version.max(io.version);
            batch.fua |= io.fua;
            changed.push((*stripe, batch));
        }
        if self.heads > 0 && self.heads + more > self.spec.stripes {
            return false;
        }
        self.heads += more;
        self.asked.get(number).pending = changed.len() as u32;
        self.gathering.extend(changed);
        for (stripe, _) in stripes {
            self.begin_if_full(stripe);
        }
        true
    }

    fn begin_if_full(&mut self, stripe: u64) {
        let is_full = self.gathering.get(&stripe).is_some_and(|batch| batch.bytes() == self.shape.bytes());
        if is_full && !self.under_way.contains_key(&stripe) {
            self.begin(stripe, true);
        }
    }

    /// What waits goes out: full stripes at once, those in part where none of these is under way.
    fn go_on(&mut self) {
        loop {
            while let Some(&number) = self.waiting.front()
                && self.take_write(number)
            {
                self.waiting.pop_front();
            }
            if !self.in_part.is_empty() {
                return;
            }
            let free = self.gathering.keys().filter(|stripe| !self.under_way.contains_key(stripe));
            let free: Vec<u64> = free.copied().collect();
            if free.is_empty() {
                return;
            }
            for stripe in free {
                self.begin(stripe, false);
            }
        }
    }

    fn begin(&mut self, stripe: u64, is_full: bool) {
        let mut batch = self.gathering.remove(&stripe).expect("only what waits is begun");
        batch.is_full = is_full;
        self.counts.batches += 1;
        self.counts.full_stripes += u64::from(is_full);
        if !is_full {
            self.in_part.insert(stripe);
        }
        if !self.spec.has_journal {
            return self.write(stripe, batch);
        }
        // A block that describes it, its data, and its parity.
        let pages = batch.bytes().div_ceil(PAGE) + batch.heads * self.shape.parities + 1;
        let (size, next) = self.journal;
        let len = (pages * PAGE).min(size);
        let at = if next + len > size { 0 } else { next };
        self.journal.1 = at + len;
        self.counts.journal_bytes += len;
        batch.pending = 1;
        self.under_way.insert(stripe, batch);
        self.send(For::Journal(stripe), Op::Write, (at, len), (true, 0), Entropy::INCOMPRESSIBLE);
    }

    /// The members are written.
    fn write(&mut self, stripe: u64, mut batch: Batch) {
        batch.pending = batch.parts.len() as u32;
        for part in &batch.parts {
            let of = (batch.fua, batch.version);
            let place = (part.start, part.end - part.start);
            self.send(For::Part(stripe), Op::Write, place, of, Entropy::INCOMPRESSIBLE);
        }
        self.under_way.insert(stripe, batch);
    }

    /// A command of `stripe` is over.
    fn came(&mut self, now: Instant, stripe: u64, is_journal: bool, (times, fault): (&Times, Option<Fault>)) {
        let mut batch = self.under_way.remove(&stripe).expect("only what is under way is answered");
        batch.pending -= 1;
        batch.fault = batch.fault.or(fault);
        if batch.pending > 0 {
            self.under_way.insert(stripe, batch);
            return;
        }
        batch.times = batch.times.then(times);
        // An array whose journal is gone takes no writes.
        if is_journal && batch.fault.is_none() {
            return self.write(stripe, batch);
        }
        self.heads -= batch.heads;
        self.in_part.remove(&stripe);
        for number in batch.writers {
            self.ended(now, number, (batch.times, batch.fault));
        }
        self.begin_if_full(stripe);
    }

    /// Something that an I/O waited for is over; the last answers it.
    fn ended(&mut self, now: Instant, number: u32, (times, fault): (Times, Option<Fault>)) {
        let asked = self.asked.get(number);
        asked.pending -= 1;
        asked.fault = asked.fault.or(fault);
        if asked.pending > 0 {
            return;
        }
        let Asked { io, since, fault, .. } = self.asked.take(number);
        let mut times = times;
        // What is not accounted for is waiting: for stripe heads, for the stripe, for the others of its batch.
        times.queue += Span(now.since(since).0 - times.total().0);
        self.out.served.push(Served { token: io.token, times, fault });
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

    fn submit(&mut self, now: Instant, io: ServiceIo) {
        self.now = now;
        let asked = Asked { io, since: now, pending: 1, fault: None };
        let number = self.asked.add(asked);
        if io.op != Op::Write {
            let place = (io.offset, u64::from(io.len));
            return self.send(For::Through(number), io.op, place, (io.fua, io.version), io.entropy);
        }
        self.counts.writes += 1;
        if !self.waiting.is_empty() || !self.take_write(number) {
            self.counts.waited_writes += 1;
            self.waiting.push_back(number);
        }
        self.go_on();
    }

    fn answered(&mut self, now: Instant, token: u64, times: &Times, fault: Option<Fault>) {
        self.now = now;
        match self.commands.remove(&token).expect("only what was sent is answered") {
            For::Through(number) => self.ended(now, number, (*times, fault)),
            For::Journal(stripe) => self.came(now, stripe, true, (times, fault)),
            For::Part(stripe) => self.came(now, stripe, false, (times, fault)),
        }
        self.go_on();
    }

    fn wake(&self) -> Option<Instant> {
        (!self.out.commands.is_empty() || !self.out.served.is_empty()).then_some(self.now)
    }

    fn advance(&mut self, now: Instant, out: &mut ServiceOut) {
        self.now = now;
        out.commands.append(&mut self.out.commands);
        out.served.append(&mut self.out.served);
    }

    fn report(&self) -> Vec<PartReport> {
        let counts = &self.counts;
        vec![PartReport {
            id: "stripes".to_owned(),
            kind: "md",
            counters: vec![
                ("writes", counts.writes),
                ("waited_writes", counts.waited_writes),
                ("batches", counts.batches),
                ("full_stripes", counts.full_stripes),
                ("journal_bytes", counts.journal_bytes),
            ],
            at_end: vec![("stripe_heads", self.heads)],
        }]
    }
}
