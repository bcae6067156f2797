//! Writes, flushes and trims: received over the link, taken into the buffer, placed on flash, acknowledged.

use hotband_machine::{Command, Done, Op, Times, UntimedWrite};
use hotband_units::Instant;

use crate::parts::ftl::{PAGE, Untimed};
use crate::parts::nand::Job;
use crate::ssd::Ssd;
use crate::ssd::reads::For;
use crate::ssd::slot::{Event, Slot};
use crate::ssd::work::Timed;

/// Writes whose map entries are loaded together, of commands and of writes without timing: as many as
/// a processor of 2024 has misses under way, and more where nothing else needs its first cache.
const TOUCHED: usize = 16;
const TOUCHED_UNTIMED: usize = 256;

impl Ssd {
    pub(super) fn accept_write(&mut self, index: u32) {
        let slot = self.slots[index as usize];
        let command = slot.command;
        self.counters.writes += 1;
        self.counters.written_bytes += u64::from(command.len);
        let decoded = slot.begun + self.params.command_interval;
        self.controller_free = slot.begun + self.params.write_interval;
        let port = if self.params.link_duplex { &mut self.from_host } else { &mut self.to_host };
        let arrived = port.send(decoded, u64::from(command.len));
        let admitted = self.admission.admit(arrived, u64::from(command.len));
        let slot = &mut self.slots[index as usize];
        (slot.asked, slot.ready) = (arrived, admitted);
        self.untouched.push(command.offset / PAGE);
        if self.untouched.len() == TOUCHED {
            self.touch_accepted();
        }
        // A write that begins or ends within a page first reads what the page holds.
        let is_cut = (command.offset | u64::from(command.len)) & (PAGE - 1) != 0;
        let parts = if is_cut && self.params.unit_pages == 1 { self.ask_cut_pages(index, decoded) } else { 0 };
        self.slots[index as usize].parts = parts;
        if parts == 0 {
            self.push(admitted, Event::Ready(index));
        }
    }

    /// Loads the map's entries of writes that were accepted, before they are examined.
    #[inline]
    fn touch_accepted(&mut self) {
        self.ftl.touch(self.untouched.iter().copied());
        self.untouched.clear();
    }

    /// Asks the dies for the pages that a write begins or ends in; returns how many parts will come.
    fn ask_cut_pages(&mut self, index: u32, at: Instant) -> u32 {
        let command = self.slots[index as usize].command;
        let end = command.offset + u64::from(command.len);
        let (first, last) = (command.offset / PAGE, (end - 1) / PAGE);
        let (cut_first, cut_last) = (!command.offset.is_multiple_of(PAGE), !end.is_multiple_of(PAGE));
        let mut parts = 0;
        if cut_first {
            parts += self.ask_flash(For::Command(index), at, first..first + 1);
        }
        if cut_last && !(cut_first && first == last) {
            parts += self.ask_flash(For::Command(index), at, last..last + 1);
        }
        parts
    }

    /// Pages that a write from `offset` to `end` changes: whole mapping units.
    #[inline]
    fn pages_of(&self, offset: u64, end: u64) -> std::ops::Range<u64> {
        let within = self.params.unit_pages - 1;
        (offset / PAGE) & !within..((end.div_ceil(PAGE) + within) & !within).min(self.params.ftl.pages)
    }

    /// For mapping units of several pages that a write covers in part, the remainder is read while it is in the buffer:
    /// the host does not wait for that.
    fn read_rest_of_units(&mut self, now: Instant, offset: u64, end: u64) {
        let unit = self.params.unit_pages * PAGE;
        let (first, last) = (offset / unit, (end - 1) / unit);
        let cut = [(first, !offset.is_multiple_of(unit)), (last, !end.is_multiple_of(unit))];
        let reads_once = first == last && cut[0].1;
        for (number, _) in cut.into_iter().filter(|(_, cut)| *cut).take(if reads_once { 1 } else { 2 }) {
            let page = number * self.params.unit_pages;
            if let Some((block, flash_page)) = self.ftl.place_of(page).filter(|_| !self.ftl.is_buffered(page)) {
                let die = self.work.die_of(block, self.work.pass_of(flash_page));
                self.nand.queue(now, die, Job::Read(1));
            }
        }
    }

    /// A write, a trim or a flush is acknowledged at `at`.
    pub(super) fn acknowledge(&mut self, at: Instant, index: u32) {
        let Slot { command, submitted, begun, asked, .. } = self.slots[index as usize];
        let took = at.since(begun);
        let overhead = if command.op == Op::Trim { took } else { self.params.write_overhead.min(took) };
        let mut times = Times { overhead, ..Times::default() };
        match command.op {
            Op::Write => times.link = asked.since(begun) - self.params.command_interval,
            // The flash programs what the buffer held.
            Op::Flush => times.transfer = took - overhead,
            Op::Read | Op::Trim => {}
        }
        times.queue = at.since(submitted) - times.total();
        times.link = times.link - (times.total() - at.since(submitted));
        self.give_back(index);
        self.finish(Done { token: command.token, at, times, bytes_back: 0, fault: None });
    }

    /// Takes the data of a write into the buffer.
    pub(super) fn take_in(&mut self, now: Instant, index: u32) {
        if !self.untouched.is_empty() {
            self.touch_accepted();
        }
        let command = self.slots[index as usize].command;
        let pages = self.pages_of(command.offset, command.offset + u64::from(command.len));
        if self.params.unit_pages > 1 {
            self.read_rest_of_units(now, command.offset, command.offset + u64::from(command.len));
        }
        self.note_taken_in(&command);
        let mut flash =
            Timed { nand: &mut self.nand, queue: &mut self.work, account: self.account.as_deref_mut(), now };
        for page in pages {
            let units = self.compression.units(command.entropy);
            self.ftl.write(page, units, &mut flash);
        }
        flash.flush_reads();
        if self.params.cache.waits[usize::from(command.fua)] {
            return self.join_flush(now, index);
        }
        let at = self.journal.written(now);
        let overhead = self.admission.acknowledged(self.params.write_overhead);
        self.acknowledge(at + (overhead - self.params.command_interval), index);
    }

    pub(super) fn trim(&mut self, now: Instant, index: u32) {
        let command = self.slots[index as usize].command;
        self.counters.trims += 1;
        self.trim_range(command.offset, u64::from(command.len));
        self.journal.note();
        self.acknowledge(now, index);
    }

    /// Whole mapping units inside the range are forgotten.
    fn trim_range(&mut self, offset: u64, len: u64) {
        self.counters.trimmed_bytes += len;
        let within = self.params.unit_pages - 1;
        for page in (offset.div_ceil(PAGE) + within) & !within..((offset + len) / PAGE) & !within {
            self.ftl.trim(page);
        }
    }

    /// Writes and trims that take no time: a single write alone, many with their map entries looked up together.
    #[inline]
    pub(super) fn write_all_untimed(&mut self, writes: &[UntimedWrite]) {
        self.ask_put_off();
        if let [only] = writes
            && !only.trim
        {
            return self.write_range(only);
        }
        for batch in writes.chunks(TOUCHED_UNTIMED) {
            self.ftl.touch(batch.iter().map(|write| write.offset / PAGE));
            for write in batch {
                if write.trim {
                    self.trim_range(write.offset, u64::from(write.len));
                } else {
                    self.write_range(write);
                }
            }
        }
    }

    #[inline]
    fn write_range(&mut self, write: &UntimedWrite) {
        // Refused as a command would be: no byte of it is the host's.
        if self.ftl.is_write_protected() {
            self.counters.faults += 1;
            return;
        }
        self.counters.written_bytes += u64::from(write.len);
        let pages = self.pages_of(write.offset, write.offset + u64::from(write.len));
        if !self.compression.is_on() {
            return self.ftl.write_run(pages);
        }
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
