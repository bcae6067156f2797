//! A controller with a cache before a layout, as RAID controllers have one (docs/models/layouts.md).
//!
//! Protected, it acknowledges writes from memory and writes them back later, full stripes first; otherwise writes are
//! acknowledged by the members, and its memory serves reads only. Reads are served from memory if it holds the data,
//! and the controller reads ahead of sequential readers.
//!
//! Leaves out: the processor's limit of I/Os, cache lines (its room is counted by what they hold, 4 KiB at least),
//! coercion and patrol reads, copies of memory between two controllers, a battery that learns or runs down, trims, and
//! how well data compresses. Writes of several parts of a stripe are written back side by side, each with its own
//! parity update.

mod lines;
mod spec;
mod streams;

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use hotband_machine::{Entropy, Fault, MemberCommand, Op, PartReport, Service, ServiceIo, ServiceOut, Times, Versions};
use hotband_units::{Bytes, Instant};

use crate::pending::Pending;
use lines::Lines;
pub use spec::ControllerSpec;
use streams::Streams;

/// Bytes that are written back at once where no full stripe is worth more. Our estimate, range 256 KiB to 4 MiB.
const BATCH: u64 = 1 << 20;

/// Purpose of a command to the members.
#[derive(Clone, Debug)]
enum For {
    /// Data that is to be held; `stale` once a host has written to some of it. I/Os that wait for it.
    Fetch { range: Range<u64>, stale: bool, waiting: Vec<u32> },
    /// A write or flush that goes through.
    Through(u32),
    /// A part of a stripe that is written back.
    Destage { stripe: u64, bytes: u64 },
}

/// A stripe that is being written back.
#[derive(Clone, Debug)]
struct Destage {
    parts: Vec<Range<u64>>,
    pending: u32,
}

/// Counters so far.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    read_hits: u64,
    reads: u64,
    cached_writes: u64,
    writes: u64,
    waited_writes: u64,
    destages: u64,
    full_stripes: u64,
    destaged_bytes: u64,
    read_ahead_bytes: u64,
    destage_faults: u64,
    dropped_bytes: u64,
}

/// A controller in a running machine.
#[derive(Debug)]
pub struct Controller {
    spec: ControllerSpec,
    capacity: u64,
    lines: Lines,
    streams: Streams,
    pending: Pending<For>,
    destages: BTreeMap<u64, Destage>,
    /// Writes that wait for room.
    waiting: VecDeque<u32>,
    /// Position of the last stripe that was written back, which is the progress of a sweep over all dirty data.
    cursor: u64,
    sweep: Option<u64>,
    /// Time when the next sweep begins; none while nothing is dirty.
    next_sweep: Option<Instant>,
    /// Time when the current transfers to and from the host end.
    bus: Instant,
    /// Write of every dirty byte, if versions are tracked.
    versions: Versions,
    counts: Counts,
}

impl Controller {
    /// Before a member of `size` bytes, which is cut into stripes of `stripe` bytes where these are worth writing in
    /// whole; its first stripe began `shift` bytes before.
    pub fn new(spec: ControllerSpec, size: u64, stripe: Option<u64>, shift: u64) -> Self {
        let stripe = stripe.unwrap_or(BATCH);
        Self {
            spec,
            capacity: size,
            lines: Lines::new(spec.cache, stripe, shift % stripe),
            streams: Streams::default(),
            pending: Pending::default(),
            destages: BTreeMap::new(),
            waiting: VecDeque::new(),
            cursor: 0,
            sweep: None,
            next_sweep: None,
            bus: Instant::ZERO,
            versions: Versions::default(),
            counts: Counts::default(),
        }
    }

    fn send(&mut self, purpose: For, (op, range): (Op, &Range<u64>), (fua, version): (bool, u64), entropy: Entropy) {
        let (offset, len) = (range.start, (range.end - range.start) as u32);
        self.pending.send(purpose, MemberCommand { token: 0, member: 0, op, offset, len, fua, version, entropy });
    }

    /// The data of an I/O crosses between host and controller: it is completed then.
    fn cross(&mut self, now: Instant, number: u32) {
        let (overhead, rate) = (self.spec.overhead, self.spec.rate);
        let request = self.pending.get(number);
        let transfer = rate.time_for(u64::from(request.io.len));
        (request.times.overhead, request.times.link) =
            (request.times.overhead + overhead, request.times.link + transfer);
        self.bus = self.bus.max(now) + transfer;
        self.pending.answer_at(self.bus + overhead, number);
    }

    fn read(&mut self, now: Instant, number: u32) {
        let range = self.pending.get(number).range();
        self.counts.reads += 1;
        let missing = self.lines.missing(&range);
        self.lines.touch(&range);
        for part in &missing {
            self.fetch(part, Some(number));
        }
        if self.pending.get(number).pending == 0 {
            self.counts.read_hits += 1;
            self.cross(now, number);
        }
        let ahead = self.spec.read_ahead.and_then(|window| self.streams.read(&range, window, self.capacity));
        let missing = ahead.map(|ahead| self.lines.missing(&ahead)).unwrap_or_default();
        for part in &missing {
            self.fetch(part, None);
        }
    }

    /// Reads `range` from the members, except parts already requested; `waits` waits for all of it.
    fn fetch(&mut self, range: &Range<u64>, waits: Option<u32>) {
        let mut uncovered = vec![range.clone()];
        let mut joined = 0;
        for command in self.pending.purposes() {
            let For::Fetch { range: under_way, stale: false, waiting } = command else { continue };
            if under_way.start >= range.end || range.start >= under_way.end {
                continue;
            }
            waiting.extend(waits);
            joined += 1;
            let outside = |part: &Range<u64>| {
                [part.start..part.end.min(under_way.start), part.start.max(under_way.end)..part.end]
            };
            uncovered = uncovered.iter().flat_map(outside).filter(|part| part.start < part.end).collect();
        }
        for part in &uncovered {
            if waits.is_none() {
                self.counts.read_ahead_bytes += part.end - part.start;
            }
            let fetch = For::Fetch { range: part.clone(), stale: false, waiting: waits.into_iter().collect() };
            self.send(fetch, (Op::Read, part), (false, 0), Entropy::INCOMPRESSIBLE);
        }
        if let Some(number) = waits {
            self.pending.get(number).pending += joined + uncovered.len() as u32;
        }
    }

    fn write(&mut self, now: Instant, number: u32) {
        let range = self.pending.get(number).range();
        self.counts.writes += 1;
        if !self.spec.is_protected {
            self.spoil(&range);
            return self.pass(number, Op::Write);
        }
        if !self.waiting.is_empty() || !self.has_room(&range) {
            self.counts.waited_writes += 1;
            return self.waiting.push_back(number);
        }
        self.take_write(now, number);
    }

    /// Marks `range` as overwritten by the host: data on its way from the members and clean data are stale.
    fn spoil(&mut self, range: &Range<u64>) {
        for command in self.pending.purposes() {
            if let For::Fetch { range: under_way, stale, .. } = command {
                *stale |= under_way.start < range.end && range.start < under_way.end;
            }
        }
        self.lines.forget(range);
    }

    /// A write has room if little enough is dirty; a write larger than the limit, if nothing is.
    fn has_room(&self, range: &Range<u64>) -> bool {
        let room = self.lines.unclean_room();
        room == 0 || room + Lines::room_for(range) <= self.spec.high
    }

    fn take_write(&mut self, now: Instant, number: u32) {
        let request = *self.pending.get(number);
        self.spoil(&request.range());
        self.lines.write(&request.range());
        if request.io.version > 0 {
            self.versions.set(request.range(), request.io.version);
        }
        self.counts.cached_writes += 1;
        self.next_sweep = self.next_sweep.or(Some(now + self.spec.flush_every));
        self.cross(now, number);
    }

    /// An I/O that the members answer.
    fn pass(&mut self, number: u32, op: Op) {
        let request = self.pending.get(number);
        request.pending = 1;
        let (range, io) = (request.range(), request.io);
        self.send(For::Through(number), (op, &range), (io.fua, io.version), io.entropy);
    }

    /// The stripe that is written back next, if it is time for one: in a sweep the next by address; otherwise, where
    /// too much is dirty, the next full one, else the next by address.
    fn next_destage(&mut self) -> Option<u64> {
        if let Some(from) = self.sweep {
            let next = self.lines.next_stripe(from, false);
            self.sweep = next.map(|stripe| stripe + 1);
            if next.is_some() {
                return next;
            }
        }
        let (low, waits) = (self.spec.low, !self.waiting.is_empty());
        let next = |full| self.lines.next_stripe(self.cursor, full).or_else(|| self.lines.next_stripe(0, full));
        let mut next_stripe = if self.lines.unclean_room() > low || waits { next(true) } else { None };
        // A stripe in part may yet become full: it goes only where what is on its way makes no room.
        if next_stripe.is_none() && (self.lines.still_room() > low || (waits && self.destages.is_empty())) {
            next_stripe = next(false);
        }
        self.cursor = next_stripe.map_or(0, |stripe| stripe + 1);
        next_stripe
    }

    fn destage(&mut self) {
        while self.destages.len() < self.spec.destages {
            let Some(stripe) = self.next_destage() else { return };
            let parts = self.lines.take(stripe);
            self.counts.destages += 1;
            self.counts.full_stripes += u64::from(self.lines.is_whole(stripe, &parts));
            for part in &parts {
                // The newest of its writes: what is older was all taken before.
                let version = self.versions.held(part.clone()).map(|(_, version)| version).max().unwrap_or(0);
                let bytes = part.end - part.start;
                self.counts.destaged_bytes += bytes;
                self.send(For::Destage { stripe, bytes }, (Op::Write, part), (false, version), Entropy::INCOMPRESSIBLE);
            }
            self.destages.insert(stripe, Destage { pending: parts.len() as u32, parts });
        }
    }

    /// A part of `stripe` is with the members, or nowhere any more.
    fn destaged(&mut self, now: Instant, (stripe, bytes): (u64, u64), fault: Option<Fault>) {
        if fault.is_some() {
            self.counts.destage_faults += 1;
            self.counts.dropped_bytes += bytes;
        }
        let under_way = self.destages.get_mut(&stripe).expect("only what is written back is answered");
        under_way.pending -= 1;
        if under_way.pending > 0 {
            return;
        }
        let Destage { parts, .. } = self.destages.remove(&stripe).expect("it was just there");
        self.lines.gone(stripe, &parts);
        parts.into_iter().filter(|part| self.lines.is_clean(part)).for_each(|part| self.versions.forget(part));
        while let Some(&number) = self.waiting.front() {
            let range = self.pending.get(number).range();
            if !self.has_room(&range) {
                break;
            }
            self.waiting.pop_front();
            self.take_write(now, number);
        }
    }

    /// Something that I/O waited for is over.
    fn came(&mut self, now: Instant, number: u32, times: &Times, fault: Option<Fault>) {
        let request = self.pending.get(number);
        request.pending -= 1;
        request.fault = request.fault.or(fault);
        if request.pending == 0 {
            // One that joined another's read has waited for less than that took.
            let waited = now.since(request.since);
            request.times = if times.total() <= waited { *times } else { Times { queue: waited, ..Times::default() } };
            self.cross(now, number);
        }
    }

    /// A sweep over everything dirty begins when it is time.
    fn look_at_clock(&mut self, now: Instant) {
        if self.next_sweep.is_none_or(|at| at > now) {
            return;
        }
        let is_dirty = self.lines.unclean() > 0;
        self.sweep = self.sweep.or(is_dirty.then_some(0));
        self.next_sweep = is_dirty.then(|| now + self.spec.flush_every);
    }
}

impl Service for Controller {
    fn kind(&self) -> &'static str {
        crate::CONTROLLER
    }

    fn capacity(&self) -> Bytes {
        Bytes(self.capacity)
    }

    fn keeps_addresses(&self) -> bool {
        true
    }

    fn submit(&mut self, now: Instant, io: ServiceIo) {
        let number = self.pending.ask(now, io);
        match io.op {
            Op::Read => self.read(now, number),
            Op::Write => self.write(now, number),
            // Protected memory is as good as the media.
            Op::Flush if self.spec.is_protected => self.cross(now, number),
            Op::Flush | Op::Trim => self.pass(number, io.op),
        }
        self.destage();
    }

    fn answered(&mut self, now: Instant, token: u64, times: &Times, fault: Option<Fault>) {
        match self.pending.answered(now, token) {
            For::Through(number) => {
                // A read that overtook the write on its way has brought what was there before.
                let range = self.pending.get(number).range();
                self.spoil(&range);
                self.came(now, number, times, fault);
            }
            For::Destage { stripe, bytes } => self.destaged(now, (stripe, bytes), fault),
            For::Fetch { range, stale, waiting } => {
                if !stale && fault.is_none() {
                    self.lines.keep(&range);
                }
                for number in waiting {
                    self.came(now, number, times, fault);
                }
            }
        }
        self.destage();
    }

    fn wake(&self) -> Option<Instant> {
        self.pending.wake().into_iter().chain(self.next_sweep).min()
    }

    fn advance(&mut self, now: Instant, out: &mut ServiceOut) {
        self.pending.tick(now);
        self.pending.answer_due(now);
        self.look_at_clock(now);
        self.destage();
        self.pending.hand_over(out);
    }

    fn cut_power(&mut self, _: Instant) -> Versions {
        let mut left = Versions::default();
        for part in self.lines.protected() {
            self.versions.held(part).for_each(|(range, version)| left.set(range, version));
        }
        left
    }

    fn dropped(&self) -> u64 {
        self.counts.dropped_bytes.min(self.capacity)
    }

    fn report(&self) -> Vec<PartReport> {
        let counts = &self.counts;
        vec![PartReport {
            id: "cache".to_owned(),
            kind: "controller",
            counters: vec![
                ("reads", counts.reads),
                ("read_hits", counts.read_hits),
                ("writes", counts.writes),
                ("cached_writes", counts.cached_writes),
                ("waited_writes", counts.waited_writes),
                ("destages", counts.destages),
                ("full_stripes", counts.full_stripes),
                ("destaged_bytes", counts.destaged_bytes),
                ("read_ahead_bytes", counts.read_ahead_bytes),
                ("destage_faults", counts.destage_faults),
            ],
            at_end: vec![("dirty_bytes", self.lines.unclean()), ("held_bytes", self.lines.held())],
        }]
    }
}
