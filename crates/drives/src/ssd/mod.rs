//! A solid-state drive: a controller, a link, a write buffer, a translation layer and flash dies.
//!
//! Reads: decoded by the controller, read by one or several dies, carried over a channel, decompressed, sent over the
//! link. Writes: decoded, received over the link, taken into the write buffer and acknowledged; the oldest pages of
//! the buffer are placed on flash, and garbage collection does its share, in counts that do not depend on time (see
//! [`crate::parts::ftl`]). Where more passes wait for the flash than the drive holds, writes wait.
//!
//! Leaves out: mapping tables in flash, read-ahead, a pseudo-SLC cache, temperature, errors and refresh. A relocated
//! page may be programmed before its read is over. See `docs/models/ssd.md` for what was checked against what.

pub mod params;
mod power;
mod smart;
mod work;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use hotband_machine::{Command, Counter, Done, Draw, Drive, Fault, Op, Smart, Times, UntimedWrite, Versions};
use hotband_units::{Bytes, Instant, Span};

use crate::parts::compression::Compression;
use crate::parts::ftl::{Ftl, PAGE, Refused, Untimed};
use crate::parts::nand::Nand;
use crate::parts::port::Port;
use crate::ssd::params::SsdParams;
use crate::ssd::power::SsdAccount;
use crate::ssd::work::{Timed, WorkQueue};

/// Logical blocks.
const SECTOR: u64 = 512;

/// A command inside the drive.
#[derive(Clone, Copy, Debug)]
struct Slot {
    pub command: Command,
    submitted: Instant,
    /// When the controller began with it.
    begun: Instant,
    /// When the flash was asked.
    asked: Instant,
    /// Parts that are still to come.
    parts: u32,
    /// When the data is in the controller.
    ready: Instant,
    /// Time on flash of the last part, without waiting.
    flash: Span,
    channel: Span,
    /// Passes up to this number must be programmed first.
    pub until: u64,
}

/// What happens next to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A die has read a part of it: die and bytes.
    Part(u32, u32, u32),
    /// It needs no flash, or its data has been received.
    Ready(u32),
}

/// Commands that were served, and time.
#[derive(Clone, Copy, Debug, Default)]
struct SsdCounters {
    pub reads: u64,
    pub writes: u64,
    pub flushes: u64,
    pub trims: u64,
    pub read_bytes: u64,
    pub written_bytes: u64,
    pub trimmed_bytes: u64,
    pub buffer_hits: u64,
    pub unmapped_reads: u64,
    pub faults: u64,
    pub stalls: u64,
    pub command: Span,
}

/// A solid-state drive.
pub struct Ssd {
    params: SsdParams,
    ftl: Ftl,
    nand: Nand,
    compression: Compression,
    to_host: Port,
    from_host: Port,
    controller_free: Instant,
    slots: Vec<Slot>,
    free_slots: Vec<u32>,
    events: BinaryHeap<Reverse<(Instant, u64, Event)>>,
    sequence: u64,
    /// Finished commands on the link, the next one first.
    done: VecDeque<Done>,
    /// Commands that wait for a tag.
    beyond_tags: VecDeque<(Command, Instant)>,
    in_drive: usize,
    /// Writes that wait for the flash.
    stalled: VecDeque<u32>,
    /// Flushes and forced writes that wait for programs.
    waiting_flush: VecDeque<u32>,
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

    /// The same where there may be no memory for it.
    ///
    /// # Errors
    /// The system refuses the memory.
    pub fn try_new(params: SsdParams) -> Result<Self, Refused> {
        let port = Port::new(params.link_rate);
        Ok(Self {
            ftl: Ftl::try_new(params.ftl.clone())?,
            nand: Nand::new(params.nand.clone()),
            compression: Compression::new(params.compression),
            to_host: port.clone(),
            from_host: port,
            controller_free: Instant::ZERO,
            slots: Vec::new(),
            free_slots: Vec::new(),
            events: BinaryHeap::new(),
            sequence: 0,
            done: VecDeque::new(),
            beyond_tags: VecDeque::new(),
            in_drive: 0,
            stalled: VecDeque::new(),
            waiting_flush: VecDeque::new(),
            work: WorkQueue::new(&params),
            idle_at: Instant::NEVER,
            rested: false,
            counters: SsdCounters::default(),
            account: None,
            programmed: Vec::new(),
            params,
        })
    }

    /// What it was built with.
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
        self.idle_at = Instant::NEVER;
        self.rested = false;
        let begun = now.max(self.controller_free);
        self.controller_free = begun + self.params.command_interval;
        let slot = Slot {
            command,
            submitted,
            begun,
            asked: begun,
            parts: 0,
            ready: begun,
            flash: Span::ZERO,
            channel: Span::ZERO,
            until: 0,
        };
        if let Some(fault) = self.fault_of(&command) {
            self.counters.faults += 1;
            let at = begun + self.params.write_overhead;
            let times =
                Times { queue: begun.since(submitted), overhead: self.params.write_overhead, ..Times::default() };
            return self.finish(Done { token: command.token, at, times, bytes_back: 0, fault: Some(fault) });
        }
        let index = self.take_slot(slot);
        match command.op {
            Op::Read => self.accept_read(index),
            Op::Write => self.accept_write(index),
            Op::Flush | Op::Trim => self.push(begun + self.params.write_overhead, Event::Ready(index)),
        }
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

    fn accept_read(&mut self, index: u32) {
        let slot = self.slots[index as usize];
        let (command, at) = (slot.command, slot.begun + self.params.read_overhead);
        self.counters.reads += 1;
        self.counters.read_bytes += u64::from(command.len);
        self.slots[index as usize].asked = at;
        let pages = command.offset / PAGE..(command.offset + u64::from(command.len)).div_ceil(PAGE);
        let parts = self.ask_flash(index, at, pages);
        if parts == 0 {
            self.slots[index as usize].ready = at;
            self.push(at, Event::Ready(index));
        }
        self.slots[index as usize].parts = parts;
    }

    /// Asks the dies for what lies on flash of these pages; returns how many parts will come.
    fn ask_flash(&mut self, index: u32, at: Instant, pages: std::ops::Range<u64>) -> u32 {
        let (mut parts, mut current) = (0, None);
        for page in pages {
            if self.ftl.is_buffered(page) {
                self.counters.buffer_hits += 1;
                continue;
            }
            let Some((block, flash_page)) = self.ftl.place_of(page) else {
                self.counters.unmapped_reads += 1;
                continue;
            };
            let pass = self.work.pass_of(flash_page);
            if !self.ftl.is_programmed(block, pass) {
                self.counters.buffer_hits += 1;
                continue;
            }
            let bytes = self.ftl.size_of(page) * 16;
            match &mut current {
                Some((b, p, last, count, sum)) if (*b, *p) == (block, pass) => {
                    *count += u32::from(*last != flash_page);
                    *last = flash_page;
                    *sum += bytes;
                }
                _ => {
                    parts += self.ask_die(index, at, current);
                    current = Some((block, pass, flash_page, 1, bytes));
                }
            }
        }
        parts + self.ask_die(index, at, current)
    }

    #[inline]
    fn ask_die(&mut self, index: u32, at: Instant, part: Option<(u32, u32, u32, u32, u32)>) -> u32 {
        let Some((block, pass, _, pages, bytes)) = part else { return 0 };
        let die = self.work.die_of(block, pass);
        let read = self.nand.read(at, die, pages);
        let slot = &mut self.slots[index as usize];
        slot.flash = Span(self.params.nand.read.0 * u64::from(pages.div_ceil(self.params.nand.planes)));
        self.push(read, Event::Part(index, die, bytes));
        1
    }

    fn accept_write(&mut self, index: u32) {
        let slot = self.slots[index as usize];
        let command = slot.command;
        self.counters.writes += 1;
        self.counters.written_bytes += u64::from(command.len);
        let decoded = slot.begun + self.params.command_interval;
        let port = if self.params.link_duplex { &mut self.from_host } else { &mut self.to_host };
        let arrived = port.send(decoded, u64::from(command.len));
        self.slots[index as usize].ready = arrived;
        // Its entry in the map is looked at when it has been received: by then it is in the processor's cache.
        std::hint::black_box(self.ftl.touch(std::iter::once(command.offset / PAGE)));
        // A write that begins or ends within a page first reads what the page holds.
        let end = command.offset + u64::from(command.len);
        let (first, last) = (command.offset / PAGE, (end - 1) / PAGE);
        let (cut_first, cut_last) = (!command.offset.is_multiple_of(PAGE), !end.is_multiple_of(PAGE));
        let mut parts = 0;
        if cut_first {
            parts += self.ask_flash(index, decoded, first..first + 1);
        }
        if cut_last && !(cut_first && first == last) {
            parts += self.ask_flash(index, decoded, last..last + 1);
        }
        self.slots[index as usize].parts = parts;
        if parts == 0 {
            self.push(arrived, Event::Ready(index));
        }
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
            Event::Ready(index) => match self.slots[index as usize].command.op {
                Op::Read => self.send_to_host(index),
                Op::Write if self.nand.programs() >= self.params.backlog || !self.stalled.is_empty() => {
                    self.counters.stalls += 1;
                    self.stalled.push_back(index);
                }
                Op::Write => self.take_in(at, index),
                Op::Flush => self.flush(at, index),
                Op::Trim => self.trim(at, index),
            },
        }
    }

    /// All data of a read is in the controller: it is decompressed and crosses the link.
    fn send_to_host(&mut self, index: u32) {
        let slot = self.slots[index as usize];
        let compressed = self.compression.is_on() && slot.flash > Span::ZERO;
        let ready = slot.ready + if compressed { self.params.decompression } else { Span::ZERO };
        let at = self.to_host.send(ready, u64::from(slot.command.len));
        let mut times = Times {
            overhead: slot.asked.since(slot.begun) + ready.since(slot.ready),
            flash: slot.flash,
            transfer: slot.channel,
            link: at.since(ready),
            ..Times::default()
        };
        times.queue = at.since(slot.submitted) - times.total();
        // With several parts at work at once the sum of the last one's may be longer than the time that passed.
        let over = times.total() - at.since(slot.submitted);
        times.flash = times.flash - over;
        self.give_back(index);
        self.finish(Done { token: slot.command.token, at, times, bytes_back: slot.command.len, fault: None });
    }

    fn give_back(&mut self, index: u32) {
        self.free_slots.push(index);
    }

    /// A write, a trim or a flush is acknowledged at `at`.
    fn acknowledge(&mut self, at: Instant, index: u32) {
        let Slot { command, submitted, begun, ready, .. } = self.slots[index as usize];
        let overhead = if command.op == Op::Write { self.params.write_overhead } else { at.since(begun) };
        let link = if command.op == Op::Write { ready.since(begun) - self.params.command_interval } else { Span::ZERO };
        let mut times = Times { overhead, link, ..Times::default() };
        times.queue = at.since(submitted) - times.total();
        times.link = times.link - (times.total() - at.since(submitted));
        self.give_back(index);
        self.finish(Done { token: command.token, at, times, bytes_back: 0, fault: None });
    }

    /// Takes the data of a write into the buffer.
    fn take_in(&mut self, now: Instant, index: u32) {
        let command = self.slots[index as usize].command;
        let pages = command.offset / PAGE..(command.offset + u64::from(command.len)).div_ceil(PAGE);
        self.note_taken_in(&command);
        let mut flash =
            Timed { nand: &mut self.nand, queue: &mut self.work, account: self.account.as_deref_mut(), now };
        for page in pages {
            let units = self.compression.units(command.entropy);
            self.ftl.write(page, units, &mut flash);
        }
        flash.flush_reads();
        let at = now + (self.params.write_overhead - self.params.command_interval);
        if command.fua && !self.params.protected {
            return self.flush(now, index);
        }
        self.acknowledge(at, index);
    }

    /// Everything acknowledged becomes durable: at once where the buffer is protected.
    fn flush(&mut self, now: Instant, index: u32) {
        self.counters.flushes += u64::from(self.slots[index as usize].command.op == Op::Flush);
        if self.params.protected {
            return self.acknowledge(now, index);
        }
        let mut flash =
            Timed { nand: &mut self.nand, queue: &mut self.work, account: self.account.as_deref_mut(), now };
        self.ftl.drain(&mut flash);
        flash.flush_reads();
        self.slots[index as usize].until = self.work.issued();
        if self.work.is_done(self.work.issued()) {
            return self.acknowledge(now, index);
        }
        self.waiting_flush.push_back(index);
    }

    fn trim(&mut self, now: Instant, index: u32) {
        let command = self.slots[index as usize].command;
        self.counters.trims += 1;
        self.trim_range(command.offset, u64::from(command.len));
        self.acknowledge(now, index);
    }

    /// Whole pages inside the range are forgotten.
    fn trim_range(&mut self, offset: u64, len: u64) {
        self.counters.trimmed_bytes += len;
        for page in offset.div_ceil(PAGE)..(offset + len) / PAGE {
            self.ftl.trim(page);
        }
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

    fn has_background_work(&self) -> bool {
        !self.rested && (self.ftl.buffered() > 0 || self.ftl.free_blocks() < self.params.ftl.free_high)
    }

    /// Passes are programmed: what waited for them goes on.
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
            self.acknowledge(now, index);
        }
        while self.nand.programs() < self.params.backlog {
            let Some(index) = self.stalled.pop_front() else { break };
            self.take_in(now, index);
        }
    }

    /// Nobody asks for anything: the buffer is emptied, and blocks are collected, a little at a time.
    fn work_in_background(&mut self, now: Instant) {
        self.idle_at = Instant::NEVER;
        if !self.nand.is_idle() {
            self.idle_at = now + self.params.nand.program;
            return;
        }
        let before = self.work.issued();
        let mut flash =
            Timed { nand: &mut self.nand, queue: &mut self.work, account: self.account.as_deref_mut(), now };
        let mut busy = true;
        while busy && flash.queue.issued() < before + u64::from(self.params.nand.dies) {
            busy = self.ftl.buffered() > 0;
            self.ftl.place_oldest(&mut flash);
            busy = busy || self.ftl.collect_idle(&mut flash);
        }
        flash.flush_reads();
        self.rested = !busy;
        if busy {
            self.idle_at = now + self.params.nand.program;
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
        !self.params.protected
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
    }

    #[inline]
    fn wake(&self) -> Option<Instant> {
        let events = self.events.peek().map(|Reverse((at, ..))| *at);
        let done = self.done.front().map(|done| done.at);
        let idle = (self.idle_at != Instant::NEVER).then_some(self.idle_at);
        events.into_iter().chain(done).chain(self.nand.wake()).chain(idle).min()
    }

    fn advance(&mut self, now: Instant, done: &mut Vec<Done>) {
        while let Some(at) = self.wake().filter(|at| *at <= now) {
            if self.nand.wake().is_some_and(|wake| wake <= at) {
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
        if let [only] = writes
            && !only.trim
        {
            return self.write_range(only);
        }
        for batch in writes.chunks(64) {
            let pages = batch.iter().map(|write| write.offset / PAGE);
            std::hint::black_box(self.ftl.touch(pages));
            for write in batch {
                if write.trim {
                    self.trim_range(write.offset, u64::from(write.len));
                } else {
                    self.write_range(write);
                }
            }
        }
    }

    fn smart(&self) -> Option<Smart> {
        Some(self.smart_attributes())
    }

    fn keep_account(&mut self) {
        self.account = Some(Box::new(SsdAccount::new(self.params.protected)));
    }

    fn cut_power(&mut self, now: Instant) -> Versions {
        // What is due at this moment still happens.
        self.advance(now, &mut Vec::new());
        self.account.take().map_or_else(Versions::default, |account| account.left())
    }
}

impl Ssd {
    #[inline]
    fn write_range(&mut self, write: &UntimedWrite) {
        // Refused as a command would be: no byte of it is the host's.
        if self.ftl.is_write_protected() {
            self.counters.faults += 1;
            return;
        }
        self.counters.written_bytes += u64::from(write.len);
        let pages = write.offset / PAGE..(write.offset + u64::from(write.len)).div_ceil(PAGE);
        for page in pages {
            let units = self.compression.units(write.entropy);
            self.ftl.write(page, units, &mut Untimed);
        }
    }

    fn note_taken_in(&mut self, command: &Command) {
        if let Some(account) = &mut self.account {
            account.take_in(command.offset..command.offset + u64::from(command.len), command.version);
        }
    }
}
