//! Work of md's thread on rows that need handling (`raid5d`, `handle_stripe`): read, write, answer.

use hotband_machine::{Entropy, Fault, MemberCommand, Op, Times};

use crate::md::head::Idle;
use crate::md::head::{Drained, Step, bytes};
use crate::md::journal::Journal;
use crate::md::member_ios::{MOST, PageIo, merged};
use crate::md::rows::{PAGE, pages};
use crate::md::{BelowIo, For, Md};

impl Md {
    /// Examines all due rows, and sends the resulting I/Os, once all requests of the same time have arrived.
    pub(super) fn work(&mut self) {
        loop {
            while self.take_waiting() {}
            if let Some(row) = self.listed.pop_front() {
                self.look_at(row);
            } else if !self.begin_delayed() && !self.reclaim() {
                break;
            }
        }
        for waiting in self.waiting.iter_mut().filter(|waiting| !waiting.is_counted) {
            waiting.is_counted = true;
            self.counts.waited_writes += 1;
        }
        self.is_due = false;
        self.append_flushes();
        self.send_units();
        self.send_pages();
        self.send_below();
        self.move_checkpoint();
    }

    /// Starts delayed reads when no row reads (`raid5_activate_delayed`, `IO_THRESHOLD` 1).
    fn begin_delayed(&mut self) -> bool {
        if self.readers > 0 || self.delayed.is_empty() {
            return false;
        }
        for row in std::mem::take(&mut self.delayed) {
            // One that has become full has gone already.
            if !self.heads.find(row).is_some_and(|head| head.is_delayed) {
                continue;
            }
            let head = self.heads.get(row);
            (head.is_delayed, head.may_read) = (false, true);
            self.readers += 1;
            self.list(row);
        }
        true
    }

    fn look_at(&mut self, row: u64) {
        let (data, parities) = (self.rows.all_data(), self.rows.all_parities());
        let is_written_back = self.is_written_back();
        let head = self.heads.get(row);
        head.is_listed = false;
        if head.is_idle() {
            return self.rest(row);
        }
        if head.wanted.is_empty() && !head.is_flushing {
            return;
        }
        if is_written_back && head.may_cache() {
            if head.drained.is_none() && head.reading == 0 {
                self.cache(row);
            }
            return;
        }
        // Parts of pages, and what is flushed, are written out.
        head.is_flushing |= is_written_back;
        if head.drained.is_some() && head.is_flushing {
            return;
        }
        match head.step(data, parities) {
            _ if head.is_gone => {
                if head.reading | head.writing == 0 {
                    self.drain(row);
                }
            }
            Step::Wait => {}
            Step::Write => self.drain(row),
            Step::Read(mask) if head.may_read || head.is_flushing => self.read_first(row, mask),
            Step::Read(_) => {
                if !std::mem::replace(&mut head.is_delayed, true) {
                    self.delayed.push(row);
                }
            }
        }
    }

    fn rest(&mut self, row: u64) {
        let (data, head) = (self.rows.all_data(), self.heads.get(row));
        if head.idle.is_some() {
            return;
        }
        if std::mem::take(&mut head.may_read) {
            self.readers -= 1;
        }
        let idle = match head.in_journal {
            0 => Idle::Clean,
            all if all == data => Idle::Full,
            _ => Idle::Partial,
        };
        self.heads.rest(row, idle);
    }

    fn read_first(&mut self, row: u64, mask: u128) {
        self.heads.get(row).reading |= mask;
        self.counts.read_pages += u64::from(mask.count_ones());
        for page in pages(mask) {
            let member = self.rows.member_of(row, page);
            self.pages.push(PageIo { op: Op::Read, member, row, fua: false, version: 0 });
        }
    }

    /// The writes of a row go out: to the journal first, if there is one.
    fn drain(&mut self, row: u64) {
        let (data, parities) = (self.rows.all_data(), self.rows.all_parities());
        let reserve = if self.is_written_back() { self.reserve() } else { 0 };
        let head = self.heads.get(row);
        let needs = Journal::needs(head.wanted.len() as u64 + self.rows.parities());
        let has_room = self.journal.as_ref().is_none_or(|journal| journal.free() >= needs + reserve);
        let flushed = if head.is_flushing { head.in_journal } else { 0 };
        if !has_room && flushed == 0 {
            return self.without_room.push(row);
        }
        if std::mem::take(&mut head.may_read) {
            self.readers -= 1;
        }
        self.counts.rows += 1;
        self.counts.full_rows += u64::from(head.is_full(data));
        head.is_delayed = false;
        let written = head.drain(has_room).pages();
        head.writing = written | flushed | parities;
        head.there |= parities;
        let begins = head.log_start;
        let Some(journal) = &mut self.journal else { return self.write_members(row) };
        let start = journal.append(row, u64::from(written.count_ones()), self.rows.parities(), begins);
        self.heads.get(row).log_start = Some(start);
    }

    /// Drained data of a row goes to the members, past the layout below, unless that misses one of them.
    pub(super) fn write_members(&mut self, row: u64) {
        let head = self.heads.get(row);
        if head.is_gone {
            return self.write_layout(row);
        }
        let fua = head.drained.as_ref().is_some_and(|drained| drained.fua);
        for page in pages(head.writing) {
            let (member, version) = (self.rows.member_of(row, page), head.version_of(page));
            self.pages.push(PageIo { op: Op::Write, member, row, fua, version });
        }
    }

    /// Writes the drained pages of a row and its parity through the layout below, which reads and computes.
    fn write_layout(&mut self, row: u64) {
        let (data, parities) = (self.rows.all_data(), self.rows.all_parities());
        let head = self.heads.get(row);
        head.there &= !parities;
        head.writing &= data;
        let drained = head.drained.as_mut().expect("only what is drained is written");
        (drained.is_below, drained.commands) = (true, head.writing.count_ones());
        let fua = drained.fua;
        for page in pages(head.writing) {
            let from = self.rows.address(row, page);
            let (first, len) = head.bytes_of(page);
            let version = head.version_of(page);
            self.below.push(BelowIo { from: from + first, to: from + first + len, row, fua, version });
        }
    }

    fn send_pages(&mut self) {
        let mut pages = std::mem::take(&mut self.pages);
        for io in merged(&mut pages) {
            let (offset, len) = (self.rows.on_members(io.rows.start), io.bytes() as u32);
            let (op, member, fua, version) = (io.op, io.member, io.fua, io.version);
            let entropy = Entropy::INCOMPRESSIBLE;
            let command = MemberCommand { token: 0, member, op, offset, len, fua, version, entropy };
            self.pending.send_below(For::Pages(op, member, io.rows), command);
        }
        self.pages = pages;
    }

    fn send_below(&mut self) {
        self.below.sort_unstable();
        let mut ios: Vec<(BelowIo, Vec<u64>)> = Vec::new();
        for io in self.below.drain(..) {
            let joins = |(have, _): &&mut (BelowIo, Vec<u64>)| {
                have.to == io.from && have.fua == io.fua && io.to - have.from <= MOST * PAGE
            };
            match ios.last_mut().filter(joins) {
                Some((have, rows)) => {
                    (have.to, have.version) = (io.to, have.version.max(io.version));
                    rows.push(io.row);
                }
                None => ios.push((io.clone(), vec![io.row])),
            }
        }
        self.counts.layout_ios += ios.len() as u64;
        for (io, rows) in ios {
            self.send(For::Below(rows), 0, Op::Write, (io.from, io.to - io.from), (io.fua, io.version));
        }
    }

    /// A page was read from, or written to, its member.
    pub(super) fn page_came(&mut self, row: u64, (op, page): (Op, u64), times: &Times, fault: Option<Fault>) {
        let (head, bit) = (self.heads.get(row), 1 << page);
        head.is_gone |= fault.is_some();
        if op == Op::Read {
            head.reading &= !bit;
            let known = if head.in_journal & bit == 0 { &mut head.there } else { &mut head.old };
            *known |= if fault.is_none() { bit } else { 0 };
            if head.reading == 0 {
                head.times = head.times.then(times);
            }
            return self.list(row);
        }
        head.writing &= !bit;
        if head.writing == 0 {
            self.written(row, times);
        }
    }

    /// All members have completed their I/Os; the layout below repeats it if one of them was gone.
    fn written(&mut self, row: u64, times: &Times) {
        let (data, head) = (self.rows.all_data(), self.heads.get(row));
        let (is_gone, in_journal) = (head.is_gone, head.in_journal);
        let drained = head.drained.as_ref().expect("only what is drained is written");
        if is_gone && !drained.is_below {
            let flushed = if head.is_flushing { in_journal } else { 0 };
            head.writing = (drained.pages() | flushed) & data;
            return self.write_members(row);
        }
        self.finish(row, times);
    }

    /// The layout below has written a page of a row.
    pub(super) fn below_came(&mut self, row: u64, times: &Times, fault: Option<Fault>) {
        let head = self.heads.get(row);
        head.fault = head.fault.or(fault);
        let drained = head.drained.as_mut().expect("only what is drained is written");
        drained.commands -= 1;
        if drained.commands == 0 {
            head.writing = 0;
            self.finish(row, times);
        }
    }

    /// The members have all drained data of a row, and its journal data.
    pub(super) fn finish(&mut self, row: u64, last: &Times) {
        let head = self.heads.get(row);
        let drained = head.drained.take().expect("only what is drained is written");
        let (in_journal, log_start) = (std::mem::take(&mut head.in_journal), head.log_start.take());
        let versions = std::mem::take(&mut head.versions);
        (head.is_flushing, head.is_gone, head.old, head.writing) = (false, false, 0, 0);
        let times = std::mem::take(&mut head.times).then(last);
        let fault = head.fault.take();
        if in_journal != 0 {
            self.forget_cached(row);
        }
        if let Some((journal, start)) = self.journal.as_mut().zip(log_start) {
            let rows = &self.rows;
            let of_page = |page: u64, version: u64, (first, len): (u64, u64)| {
                let from = rows.address(row, page) + first;
                (from..from + len, version)
            };
            let cached = versions.into_iter().map(|(page, version)| of_page(page, version, (0, PAGE)));
            let wanted = drained.wanted.iter().filter(|wanted| wanted.version > 0);
            let wanted = wanted.map(|wanted| of_page(wanted.page, wanted.version, wanted.bytes()));
            journal.let_go(start, bytes(drained.pages() | in_journal), cached.chain(wanted));
        }
        self.answer_writers(&drained, (times, *last), fault);
        self.list(row);
    }

    pub(super) fn answer_writers(&mut self, drained: &Drained, times: (Times, Times), fault: Option<Fault>) {
        for number in &drained.writers {
            self.ended(*number, times, fault);
        }
    }
}
