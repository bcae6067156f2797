//! Work of the journal: writes to it, completions from it, and the time when its data goes to the
//! members (`raid5-cache.c`).

use std::ops::Range;

use hotband_machine::{Fault, Op, Times, Versions};
use hotband_units::Span;

use crate::md::head::Idle;
use crate::md::head::bytes;
use crate::md::journal::Journal;
use crate::md::rows::PAGE;
use crate::md::{For, Md, UnderWay};

/// Rows that are written out together if there is pressure (`R5C_RECLAIM_STRIPE_GROUP`).
const GROUP: u64 = 16;
/// Time to complete an I/O from memory [our estimate, range 2 to 20 us: a system call and a copy]. Above zero, so
/// that time advances even if a host issues its next I/O at once.
const FROM_MEMORY: Span = Span(10_000);

impl Md {
    /// Return the bytes that the journal keeps free for the parity of its data.
    pub(super) fn reserve(&self) -> u64 {
        let journal = self.journal.as_ref().expect("only what is written back has a reserve");
        journal.reserve(self.rows.data(), self.rows.parities())
    }

    /// The writes of a row go to the journal, and no further for now.
    pub(super) fn cache(&mut self, row: u64) {
        let reserve = self.reserve();
        let head = self.heads.get(row);
        let journal = self.journal.as_mut().expect("only with a journal");
        // Rows that are not there wait earlier, so that those that are can be written out (`R5C_LOG_CRITICAL`).
        let needs = Journal::needs(head.wanted.len() as u64);
        let is_critical = head.in_journal == 0 && journal.free() < 2 * reserve;
        if is_critical || journal.free() < needs + reserve + Journal::needs(self.rows.parities()) {
            if head.in_journal != 0 && journal.rows().next() == Some(row) {
                // It is what nothing here can be written over for: waiting, it would wait for itself. The kernel takes care
                // that it is never so (`BUG` in `r5l_write_stripe`).
                head.is_flushing = true;
                return self.list(row);
            }
            return self.without_room.push(row);
        }
        if std::mem::take(&mut head.may_read) {
            self.readers -= 1;
        }
        head.is_delayed = false;
        let drained = head.drain(true);
        drained.is_caching = true;
        let written = drained.pages();
        head.writing = written;
        head.log_start = Some(journal.append(row, u64::from(written.count_ones()), 0, head.log_start));
        self.counts.cached_pages += u64::from(written.count_ones());
    }

    /// A flush is completed when a block of its own is in the journal, and all before it.
    pub(super) fn flush(&mut self, number: u32) {
        self.pending.get(number).pending = 1;
        self.flushes.push(number);
        self.is_due = true;
    }

    /// Flushes that wait are in one block, once there is room for it.
    pub(super) fn append_flushes(&mut self) {
        if self.flushes.is_empty() {
            return;
        }
        let reserve = self.reserve();
        let journal = self.journal.as_mut().expect("only with a journal");
        if journal.free() >= reserve + Journal::needs(0) {
            journal.append_flushes(std::mem::take(&mut self.flushes));
        }
    }

    pub(super) fn send_units(&mut self) {
        let Some(journal) = &mut self.journal else { return };
        let units = journal.take_units();
        for unit in units {
            let number = self.next_unit;
            self.next_unit += 1;
            let parts = self.journal.as_ref().expect("it was just there").on_drive(&unit.place);
            self.counts.journal_bytes += unit.place.end - unit.place.start;
            let commands = parts.len() as u32;
            for part in parts {
                self.send(For::Journal(number), 1, Op::Write, part, (true, 0));
            }
            self.units.insert(number, UnderWay { unit, commands, times: Times::default(), fault: None });
        }
    }

    /// A unit, or a part of it, is in the journal.
    pub(super) fn unit_came(&mut self, number: u64, times: &Times, fault: Option<Fault>) {
        let under_way = self.units.get_mut(&number).expect("only what is under way is answered");
        under_way.commands -= 1;
        under_way.fault = under_way.fault.or(fault);
        under_way.times = *times;
        if under_way.commands > 0 {
            return;
        }
        let UnderWay { unit, times, fault, .. } = self.units.remove(&number).expect("it was just there");
        for row in unit.rows {
            self.journalled(row, times, fault);
        }
        unit.flushes.into_iter().for_each(|flush| self.ended(flush, (times, times), fault));
    }

    fn journalled(&mut self, row: u64, times: Times, fault: Option<Fault>) {
        let head = self.heads.get(row);
        if fault.is_some() {
            return self.refused(row, times, fault);
        }
        let drained = head.drained.as_mut().expect("only what is drained is in the journal");
        drained.is_journalled = true;
        if !drained.is_caching {
            head.times = head.times.then(&times);
            return self.write_members(row);
        }
        let drained = head.drained.take().expect("it was just there");
        let is_first = head.in_journal == 0;
        head.writing = 0;
        head.in_journal |= drained.pages();
        let wanted = drained.wanted.iter().filter(|wanted| wanted.version > 0);
        wanted.for_each(|wanted| _ = head.versions.insert(wanted.page, wanted.version));
        let all = std::mem::take(&mut head.times).then(&times);
        if is_first {
            *self.cached_rows.entry(self.rows.stripe_of(row)).or_default() += 1;
        }
        self.answer_writers(&drained, (all, times), None);
        self.list(row);
    }

    /// An array whose journal is gone takes no writes; its data in memory goes to the members
    /// (`log_failed` in `handle_stripe`).
    fn refused(&mut self, row: u64, times: Times, fault: Option<Fault>) {
        self.is_without_journal = true;
        let parities = self.rows.all_parities();
        let head = self.heads.get(row);
        let drained = head.drained.take().expect("only what is drained is in the journal");
        let flushed = if head.is_flushing { head.in_journal } else { 0 };
        head.there &= !(drained.pages() & !head.in_journal);
        head.writing = 0;
        if flushed != 0 {
            head.drain(false);
            head.writing = flushed | parities;
            self.write_members(row);
        } else {
            head.there &= !parities;
            if let Some((journal, start)) = self.journal.as_mut().zip(head.log_start.filter(|_| head.in_journal == 0)) {
                journal.let_go(start, 0, std::iter::empty());
                head.log_start = None;
            }
            self.list(row);
        }
        self.answer_writers(&drained, (times, times), fault);
    }

    /// Counts one cached row less in the stripe of `row`, whose data the members have.
    pub(super) fn forget_cached(&mut self, row: u64) {
        let stripe = self.rows.stripe_of(row);
        let count = self.cached_rows.get_mut(&stripe).expect("the row is counted");
        *count -= 1;
        if *count == 0 {
            self.cached_rows.remove(&stripe);
        }
    }

    /// Rows are written out where stripe heads or the journal run short, or many are full (`r5c_do_reclaim`); returns
    /// whether any were.
    pub(super) fn reclaim(&mut self) -> bool {
        if !self.is_written_back() {
            return false;
        }
        let ((cached, full), most) = (self.heads.cached(), self.heads.most());
        let mut rows = 0;
        if self.is_without_journal {
            rows = self.write_out(Idle::Full, u64::MAX) + self.write_out(Idle::Partial, u64::MAX);
        } else if cached > most * 3 / 4 || self.heads.is_short() {
            rows = self.write_out(Idle::Full, u64::MAX);
            rows += self.write_out(Idle::Partial, GROUP.saturating_sub(rows));
        } else if cached > most / 2 || full > most / 4 {
            rows = self.write_out(Idle::Full, u64::MAX);
        }
        if self.is_tight() {
            let journal = self.journal.as_ref().expect("only with a journal");
            let idle = journal.rows().filter(|row| self.heads.find(*row).is_some_and(|head| head.idle.is_some()));
            let oldest: Vec<u64> = idle.take(GROUP as usize).collect();
            rows += oldest.len() as u64;
            for row in oldest {
                self.write_out_row(row);
            }
        }
        rows > 0
    }

    /// Whether the journal has too little room (`R5C_LOG_TIGHT`).
    fn is_tight(&self) -> bool {
        self.journal.as_ref().is_some_and(|journal| self.is_written_back() && journal.free() < 3 * self.reserve())
    }

    fn write_out(&mut self, idle: Idle, most: u64) -> u64 {
        let mut rows = 0;
        while rows < most
            && let Some(row) = self.heads.oldest(idle)
        {
            self.write_out_row(row);
            rows += 1;
        }
        rows
    }

    fn write_out_row(&mut self, row: u64) {
        assert!(self.heads.take(row), "a row that is there has its head");
        self.heads.get(row).is_flushing = true;
        self.list(row);
    }

    /// Journal space may be reused once the members have flushed its data to the media.
    pub(super) fn move_checkpoint(&mut self) {
        let is_needed = self.is_tight() || !self.without_room.is_empty() || !self.flushes.is_empty();
        if self.journal.as_mut().is_some_and(|journal| journal.begins_checkpoint(is_needed)) {
            self.send(For::Checkpoint, 0, Op::Flush, (0, 0), (false, 0));
        }
    }

    /// A read goes to the members, as it does without stripe heads, unless the journal has data of a stripe that it
    /// touches: then memory has what is there of these (`r5c_big_stripe_cached`).
    pub(super) fn read(&mut self, number: u32, range: &Range<u64>) {
        let stripes = self.rows.stripe_at(range.start)..=self.rows.stripe_at(range.end - 1);
        if self.cached_rows.range(stripes).next().is_none() {
            return self.pass(number, range);
        }
        let mut missing: Vec<Range<u64>> = Vec::new();
        let mut at = range.start;
        while at < range.end {
            let stop = range.end.min((at / PAGE + 1) * PAGE);
            if !self.is_in_memory(at) {
                match missing.last_mut().filter(|last| last.end == at) {
                    Some(last) => last.end = stop,
                    None => missing.push(at..stop),
                }
            }
            at = stop;
        }
        for part in &missing {
            self.pass(number, part);
        }
        if missing.is_empty() {
            self.counts.reads_from_memory += 1;
            let request = self.pending.get(number);
            request.times.overhead = FROM_MEMORY;
            self.pending.answer_at(self.now + FROM_MEMORY, number);
        }
    }

    fn is_in_memory(&self, address: u64) -> bool {
        let (row, page) = self.rows.page_at(address);
        let is_cached = self.cached_rows.contains_key(&self.rows.stripe_of(row));
        is_cached && self.heads.find(row).is_some_and(|head| head.there & 1 << page != 0)
    }

    /// Journal data that may not be on the members, and its bytes: written to them when power comes back.
    pub(super) fn replayed(&self) -> (Versions, u64) {
        let Some(journal) = &self.journal else { return <_>::default() };
        let (mut left, mut replayed) = journal.replayed();
        for (row, head) in self.heads.all() {
            replayed += bytes(head.in_journal);
            for (page, version) in &head.versions {
                let from = self.rows.address(row, *page);
                left.set(from..from + PAGE, *version);
            }
            let Some(drained) = head.drained.as_ref().filter(|drained| drained.is_journalled) else { continue };
            replayed += bytes(drained.pages() & !head.in_journal);
            for wanted in drained.wanted.iter().filter(|wanted| wanted.version > 0) {
                let (first, len) = wanted.bytes();
                let from = self.rows.address(row, wanted.page) + first;
                left.set(from..from + len, wanted.version);
            }
        }
        (left, replayed)
    }
}
