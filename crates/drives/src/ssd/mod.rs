//! A solid-state drive: a controller, a link, a write buffer, a translation layer and flash dies.
//!
//! Reads: decoded by the controller, read by one or several dies, carried over a channel, decompressed, sent over the
//! link. Writes: decoded, received over the link, taken into the write buffer and acknowledged; the oldest pages of
//! the buffer are placed on flash, and garbage collection does its share, in counts that do not depend on time (see
//! [`crate::parts::ftl`]). If more passes wait for the flash than the drive holds, writes wait.
//!
//! A table that does not fit into memory: [`mapping`]. Reads that follow one another: [`read_ahead`]. What makes single
//! commands slow ([`tails`]) and what a flush does ([`flushes`]) are values of the drive.
//!
//! Leaves out: temperature. A relocated page may be programmed before its read is over. See
//! `docs/models/ssd.md` for what was checked against what.

mod background;
mod cores;
mod counters;
mod flushes;
mod mapping;
mod model;
mod namespaces;
mod options;
pub mod params;
mod power;
mod put_off;
mod read_ahead;
mod reading;
mod reads;
mod slot;
mod smart;
pub mod tails;
mod work;
mod writes;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use hotband_machine::{
    Carrier, Command, Counter, Done, Draw, Drive, Fault, Op, Random, Smart, Times, Unit, UntimedWrite, Versions,
};
use hotband_units::{Bytes, Instant, Span};

use crate::parts::admission::Admission;
use crate::parts::compression::Compression;
use crate::parts::ftl::{Ftl, Refused};
use crate::parts::nand::Nand;
use crate::parts::pcie::Direction;
use crate::parts::port::Port;
use crate::parts::senses::Senses;
use crate::parts::stalls::Stalls;
use crate::ssd::cores::Cores;
use crate::ssd::counters::SsdCounters;
use crate::ssd::flushes::{Flushes, Journal};
use crate::ssd::params::SsdParams;
use crate::ssd::power::SsdAccount;
use crate::ssd::read_ahead::Streams;
use crate::ssd::slot::{Event, PutOff, Slot};
use crate::ssd::work::WorkQueue;

/// Logical blocks.
const SECTOR: u64 = 512;

/// A solid-state drive.
pub struct Ssd {
    params: SsdParams,
    ftl: Ftl,
    nand: Nand,
    senses: Senses,
    stalls: Stalls,
    admission: Admission,
    journal: Journal,
    compression: Compression,
    to_host: Port,
    from_host: Port,
    controller_free: Instant,
    /// Cores of the controller, if it has several.
    cores: Option<Box<Cores>>,
    slots: Vec<Slot>,
    free_slots: Vec<u32>,
    events: BinaryHeap<Reverse<(Instant, u64, Event)>>,
    sequence: u64,
    /// Finished commands on the link, the next one first.
    done: VecDeque<Done>,
    /// Commands that wait for a tag.
    beyond_tags: VecDeque<(Command, Instant)>,
    in_drive: usize,
    /// Bytes of the reads among them.
    reading: u64,
    /// Reads of one page that were accepted and whose place is to be looked up, several at once; in order.
    put_off: Vec<PutOff>,
    /// Reads that follow one another, where the drive reads ahead of them.
    streams: Option<Box<Streams>>,
    /// First pages of writes that were accepted and whose map entries are to be loaded, several at once.
    untouched: Vec<u64>,
    /// Writes that wait for the flash.
    stalled: VecDeque<u32>,
    /// Flushes and forced writes that wait for programs.
    waiting_flush: VecDeque<u32>,
    flushes: Flushes,
    work: WorkQueue,
    /// When the drive turns to work in the background; `NEVER` while it is busy or has none.
    idle_at: Instant,
    /// The last time it turned to that it found nothing worth doing, and no command came since.
    rested: bool,
    counters: SsdCounters,
    account: Option<Box<SsdAccount>>,
    programmed: Vec<u64>,
}

impl Ssd {
    /// A new drive, fresh out of the box.
    ///
    /// # Panics
    /// If the system refuses the memory.
    pub fn new(params: SsdParams) -> Self {
        Self::try_new(params).expect("memory for the map of a drive")
    }

    /// Like `new`, but reports insufficient memory.
    ///
    /// # Errors
    /// The system refuses the memory.
    pub fn try_new(params: SsdParams) -> Result<Self, Refused> {
        let port = |direction, rate| match params.pcie {
            Some(lanes) => Port::of_lanes(lanes, direction, rate),
            None => Port::new(rate),
        };
        Ok(Self {
            ftl: Ftl::try_new(params.ftl.clone())?,
            nand: Nand::new(params.nand.clone()),
            senses: params.new_senses(Random::new(0, "senses")),
            stalls: Stalls::new(params.stalls, Random::new(0, "stalls")),
            admission: Admission::new(params.admission, Random::new(0, "admission")),
            journal: Journal::new(params.journal),
            compression: Compression::new(params.compression),
            to_host: port(Direction::ToHost, params.link_rate),
            from_host: port(Direction::FromHost, params.link_write_rate),
            controller_free: Instant::ZERO,
            cores: Cores::of(params.controller_cores),
            slots: Vec::new(),
            free_slots: Vec::new(),
            events: BinaryHeap::new(),
            sequence: 0,
            done: VecDeque::new(),
            beyond_tags: VecDeque::new(),
            in_drive: 0,
            reading: 0,
            put_off: Vec::new(),
            streams: params.read_ahead.map(|ahead| Box::new(Streams::new(ahead, &params.nand, params.ftl.pages))),
            untouched: Vec::new(),
            stalled: VecDeque::new(),
            waiting_flush: VecDeque::new(),
            flushes: Flushes::default(),
            work: WorkQueue::new(&params),
            idle_at: Instant::NEVER,
            rested: false,
            counters: SsdCounters::default(),
            account: None,
            programmed: Vec::new(),
            params,
        })
    }

    /// Like the above, with slow reads, stalls and times of writes from the generators of this seed and name.
    #[must_use]
    pub fn with_seed(self, seed: u64, name: &str) -> Self {
        let random = |part: &str| Random::new(seed, &format!("drives.{name}.{part}"));
        let senses = self.params.new_senses(random("senses"));
        let stalls = Stalls::new(self.params.stalls, random("stalls"));
        let admission = Admission::new(self.params.admission, random("admission"));
        Self { senses, stalls, admission, ..self }
    }

    /// Parameters that it was built with.
    pub fn params(&self) -> &SsdParams {
        &self.params
    }

    /// Its translation layer.
    pub fn ftl(&self) -> &Ftl {
        &self.ftl
    }

    /// Lets a command in that has a tag.
    fn accept(&mut self, now: Instant, command: Command, submitted: Instant) {
        self.in_drive += 1;
        if command.op == Op::Flush && !self.params.cache.volatile {
            return self.forgo_flush(now, command, submitted);
        }
        self.idle_at = Instant::NEVER;
        self.rested = false;
        if self.cores.is_some() {
            return self.queue_on_core(now, command, submitted);
        }
        let begun = self.stalls.begin(now.max(self.controller_free));
        self.controller_free = begun + self.params.command_interval;
        self.begin(begun, command, submitted);
    }

    /// The controller begins with a command.
    #[expect(clippy::inline_always, reason = "it is called once per I/O, from few places")]
    #[inline(always)]
    fn begin(&mut self, begun: Instant, command: Command, submitted: Instant) {
        if let Some(fault) = self.fault_of(&command) {
            return self.refuse(fault, begun, &command, submitted);
        }
        let index = self.take_slot(Slot::new(begun, command, submitted));
        if command.op != Op::Read {
            self.ask_put_off();
        }
        match command.op {
            Op::Read => {
                self.reading += u64::from(command.len);
                let stream = self.follow(&command);
                self.accept_read(index, stream);
            }
            Op::Write => self.accept_write(index),
            Op::Flush | Op::Trim => self.push(begun + self.params.write_overhead, Event::Ready(index)),
        }
    }

    #[cold]
    fn refuse(&mut self, fault: Fault, begun: Instant, command: &Command, submitted: Instant) {
        self.counters.faults += 1;
        let at = begun + self.params.write_overhead;
        let times = Times { queue: begun.since(submitted), overhead: self.params.write_overhead, ..Times::default() };
        self.finish(Done { token: command.token, at, times, bytes_back: 0, fault: Some(fault) });
    }

    fn fault_of(&self, command: &Command) -> Option<Fault> {
        if command.op == Op::Flush {
            return None;
        }
        let len = u64::from(command.len);
        if len == 0 || (command.offset | len) & (SECTOR - 1) != 0 {
            return Some(Fault::Misaligned);
        }
        if command.offset + len > self.params.capacity {
            return Some(Fault::OutOfRange);
        }
        (command.op == Op::Write && self.ftl.is_write_protected()).then_some(Fault::WriteProtected)
    }

    fn take_slot(&mut self, slot: Slot) -> u32 {
        if let Some(index) = self.free_slots.pop() {
            self.slots[index as usize] = slot;
            return index;
        }
        self.slots.push(slot);
        self.slots.len() as u32 - 1
    }

    #[inline]
    fn push(&mut self, at: Instant, event: Event) {
        self.sequence += 1;
        self.events.push(Reverse((at, self.sequence, event)));
    }

    fn happen(&mut self, at: Instant, event: Event) {
        match event {
            Event::Part(index, die, bytes) => {
                let crossed = self.nand.cross(at, die, u64::from(bytes));
                let slot = &mut self.slots[index as usize];
                slot.parts -= 1;
                slot.ready = slot.ready.max(crossed);
                slot.channel = crossed.since(at);
                if slot.parts > 0 {
                    return;
                }
                let ready = slot.ready;
                if slot.command.op == Op::Read {
                    self.send_to_host(index);
                } else {
                    self.push(ready.max(at), Event::Ready(index));
                }
            }
            Event::Ahead(number, die, bytes) => self.go_on_with_stream(at, number, die, bytes),
            Event::Table(load, die) => self.go_on_with_table(at, load, die),
            Event::Ready(index) => self.go_on_with(at, index),
            Event::Flushed => self.begin_flush(at),
            Event::CoreFree(core) => self.go_on_with_core(at, core),
        }
    }

    /// The data that a command needs is available.
    fn go_on_with(&mut self, at: Instant, index: u32) {
        let op = self.slots[index as usize].command.op;
        if op != Op::Read {
            self.ask_put_off();
        }
        match op {
            Op::Read => self.send_to_host(index),
            Op::Write if self.nand.programs() >= self.params.backlog || !self.stalled.is_empty() => {
                self.counters.stalls += 1;
                self.stalled.push_back(index);
            }
            Op::Write => self.take_in(at, index),
            Op::Flush => self.take_flush(at, index),
            Op::Trim => self.trim(at, index),
        }
    }

    fn give_back(&mut self, index: u32) {
        self.free_slots.push(index);
    }

    /// Puts a completion on its way to the host.
    fn finish(&mut self, done: Done) {
        self.counters.command += done.times.total();
        let mut at = self.done.len();
        while at > 0 && self.done[at - 1].at > done.at {
            at -= 1;
        }
        self.done.insert(at, done);
    }

    fn hand_over(&mut self, now: Instant, done: &mut Vec<Done>) {
        while self.done.front().is_some_and(|next| next.at <= now) {
            done.extend(self.done.pop_front());
            self.in_drive -= 1;
            if let Some((command, submitted)) = self.beyond_tags.pop_front() {
                self.accept(now, command, submitted);
            }
        }
        if self.in_drive == 0 && self.idle_at == Instant::NEVER && self.has_background_work() {
            self.idle_at = now + self.params.idle_delay;
        }
    }

    /// Continues the work that waited for the programmed passes.
    fn go_on(&mut self, now: Instant) {
        for number in std::mem::take(&mut self.programmed) {
            self.work.done(number);
            if let Some(account) = &mut self.account {
                account.programmed(number);
            }
        }
        self.work.release_erases(now, &mut self.nand);
        while let Some(&index) = self.waiting_flush.front() {
            if !self.work.is_done(self.slots[index as usize].until) {
                break;
            }
            self.waiting_flush.pop_front();
            self.save_map(now);
        }
        while self.nand.programs() < self.params.backlog {
            let Some(index) = self.stalled.pop_front() else { break };
            self.take_in(now, index);
        }
    }
}

impl Drive for Ssd {
    fn kind(&self) -> &'static str {
        "ssd"
    }

    fn capacity(&self) -> Bytes {
        Bytes(self.params.capacity)
    }

    fn units(&self) -> Vec<Unit> {
        self.params.namespaces.clone()
    }

    fn draw(&self) -> Option<Draw> {
        self.params.draw
    }

    fn activity(&self) -> [Span; 3] {
        self.all_activity()
    }

    fn waiting(&self) -> Option<u64> {
        Some((self.in_drive + self.beyond_tags.len()) as u64)
    }

    fn volatile(&self) -> bool {
        self.params.cache.volatile
    }

    fn forces_by_flush(&self) -> bool {
        self.params.cache.forces_by_flush
    }

    fn block(&self) -> Bytes {
        Bytes(SECTOR)
    }

    #[inline]
    fn submit(&mut self, now: Instant, command: Command) {
        if self.in_drive == self.params.tags {
            self.beyond_tags.push_back((command, now));
            return;
        }
        self.accept(now, command, now);
        if self.is_put_off_due(self.wake()) {
            self.ask_put_off();
        }
    }

    #[inline]
    fn wake(&self) -> Option<Instant> {
        let events = self.events.peek().map(|Reverse((at, ..))| *at);
        let done = self.done.front().map(|done| done.at);
        let idle = (self.idle_at != Instant::NEVER).then_some(self.idle_at);
        events.into_iter().chain(done).chain(self.nand.wake()).chain(idle).min()
    }

    fn advance(&mut self, now: Instant, done: &mut Vec<Done>) {
        loop {
            let next = self.wake();
            if self.is_put_off_due(next) {
                self.ask_put_off();
                continue;
            }
            let Some(at) = next.filter(|at| *at <= now) else { break };
            if self.nand.wake().is_some_and(|wake| wake <= at) {
                self.ask_put_off();
                self.nand.advance(at, &mut self.programmed);
                if !self.programmed.is_empty() {
                    self.go_on(at);
                }
            }
            while let Some(Reverse((when, _, event))) = self.events.peek().copied() {
                if when > at {
                    break;
                }
                self.events.pop();
                self.happen(at, event);
            }
            if self.idle_at <= at {
                self.work_in_background(at);
            }
            self.hand_over(at, done);
        }
    }

    fn counters(&self) -> Vec<Counter> {
        self.all_counters()
    }

    fn levels(&self) -> Vec<Counter> {
        self.all_levels()
    }

    fn write_untimed(&mut self, writes: &[UntimedWrite]) {
        self.write_all_untimed(writes);
    }

    fn contents_key(&self) -> Option<String> {
        let SsdParams { ftl, compression, unit_pages, .. } = &self.params;
        Some(format!("ssd {ftl:?} {compression:?} {unit_pages}"))
    }

    fn carry_contents(&mut self, carrier: &mut Carrier) {
        self.ftl.carry(carrier);
        self.compression.carry(carrier);
        self.counters.carry_contents(carrier);
    }

    fn has_valid_contents(&self) -> bool {
        self.ftl.is_within_bounds()
    }

    fn model(&self, most: u64) -> Option<Box<dyn Drive>> {
        let params = self.params.model(most)?;
        Some(Box::new(Self::try_new(params).ok()?))
    }

    fn enlarge_contents(&mut self, model: &mut dyn Drive) {
        self.take_enlarged(model);
    }

    fn smart(&self) -> Option<Smart> {
        Some(self.smart_attributes())
    }

    fn keep_account(&mut self) {
        self.work.tells_placements = true;
        self.account = Some(Box::new(SsdAccount::new(self.params.cache.protected)));
    }

    fn cut_power(&mut self, now: Instant) -> Versions {
        // What is due at this moment still happens.
        self.advance(now, &mut Vec::new());
        self.account.take().map_or_else(Versions::default, |account| account.left())
    }
}
