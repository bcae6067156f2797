//! Reading and writing of records: what is asked of one record at once is done at once.

use hotband_machine::{Entropy, Fault, Op, Served, ServiceIo, Times};
use hotband_units::Instant;

use super::log::Over;
use super::{Due, FROM_MEMORY, For, Presence, RaidZ};

/// An I/O of a host.
#[derive(Clone, Copy)]
pub(super) struct Io {
    token: u32,
    submitted: Instant,
    entropy: Entropy,
    /// Records that it touches.
    records: u32,
    /// Whether the I/O still has to go through the log when its records are written.
    is_forced: bool,
    /// Records, or members to flush, that it waits for.
    left: u32,
    /// Breakdown of its time before the log.
    times: Times,
    fault: Option<Fault>,
}

/// A record that is read or written.
pub(super) struct Work {
    /// Place to which it is written; none while it is read.
    pub to: Option<u64>,
    /// Spares that came while it was being written: it was not sent to them.
    pub lacks: Vec<u16>,
    /// I/Os that wait for a read, and those whose data is being written.
    served: Vec<u32>,
    /// I/Os that write to it next.
    writes: Vec<u32>,
    /// Commands to members that are not completed.
    left: u32,
    /// A member failed under it.
    failed: bool,
    fault: Option<Fault>,
    /// Times of finished commands, and of the one that was completed last.
    times: Times,
    last: Times,
}

impl RaidZ {
    pub(super) fn take(&mut self, now: Instant, request: ServiceIo) {
        let ServiceIo { token, op, offset, len, fua, entropy, .. } = request;
        let (is_forced, times) = (fua && op == Op::Write, Times::default());
        let io = Io { token, submitted: now, entropy, records: 0, is_forced, left: 0, times, fault: None };
        let io = self.ios.add(io);
        if op == Op::Flush {
            return self.flush(now, io);
        }
        let (mut at, end) = (offset, offset + u64::from(len));
        let mut parts = Vec::new();
        while at < end && op != Op::Trim {
            let (record, stop) = (at / self.record, end.min((at / self.record + 1) * self.record));
            parts.push((record, stop - at == self.record));
            at = stop;
        }
        let state = self.ios.get(io);
        (state.records, state.left) = (parts.len() as u32, parts.len().max(1) as u32);
        if parts.is_empty() {
            return self.push(now + FROM_MEMORY, Due::Answer(io));
        }
        for (record, is_whole) in parts {
            match op {
                Op::Read => self.read(now, io, record),
                _ => self.write(now, io, record, is_whole),
            }
        }
    }

    fn read(&mut self, now: Instant, io: u32, record: u64) {
        if let Some(work) = self.busy.get_mut(&record) {
            if work.to.is_none() {
                return work.served.push(io);
            }
        } else if self.is_suspended() || !self.memory.touch(record) {
            self.begin(record, vec![io], Vec::new());
            return self.begin_read(now, record);
        }
        self.counters.records_in_memory += 1;
        self.push(now + FROM_MEMORY, Due::Answer(io));
    }

    fn write(&mut self, now: Instant, io: u32, record: u64, is_whole: bool) {
        if let Some(work) = self.busy.get_mut(&record) {
            return work.writes.push(io);
        }
        let is_known = is_whole || self.memory.touch(record);
        self.begin(record, Vec::new(), vec![io]);
        if is_known { self.begin_write(now, record) } else { self.begin_read(now, record) }
    }

    fn begin(&mut self, record: u64, served: Vec<u32>, writes: Vec<u32>) {
        let (times, last) = (Times::default(), Times::default());
        let work =
            Work { to: None, lacks: Vec::new(), served, writes, left: 0, failed: false, fault: None, times, last };
        self.busy.insert(record, work);
    }

    fn at(&mut self, record: u64) -> &mut Work {
        self.busy.get_mut(&record).expect("a record is under way until its last command is answered")
    }

    /// Neither read nor write is possible; waiting I/Os fail in a moment.
    fn refuse(&mut self, now: Instant, record: u64) {
        self.refused.push_back(record);
        self.push(now + FROM_MEMORY, Due::GiveUp);
    }

    /// Reads the data of a record, or the columns from which it can be computed.
    fn begin_read(&mut self, now: Instant, record: u64) {
        let slot = self.places.of(record);
        let sources = if self.is_suspended() { None } else { self.sources(slot, None) };
        let Some(sources) = sources else { return self.refuse(now, record) };
        self.counters.records_read += 1;
        self.at(record).left = sources.len() as u32;
        for column in sources {
            let extent = (column.member, column.offset, column.len);
            self.command(Op::Read, extent, For::Record(record), Entropy::INCOMPRESSIBLE);
        }
    }

    /// Writes a record to a new place, on all members that are there: whatever waits to be written to it.
    pub(super) fn begin_write(&mut self, now: Instant, record: u64) {
        if self.is_suspended() {
            return self.refuse(now, record);
        }
        let Some(place) = self.places.take() else { return self.without_place.push_back(record) };
        let work = self.at(record);
        work.to = Some(place);
        let first = work.writes[0];
        let mut writes = std::mem::take(&mut work.writes);
        work.served.append(&mut writes);
        let entropy = self.ios.get(first).entropy;
        let mut columns = self.columns_of(place);
        columns.retain(|column| self.present[usize::from(column.member)] != Presence::Gone);
        self.counters.records_written += 1;
        self.at(record).left = columns.len() as u32;
        for column in columns {
            let bytes = if column.is_parity { &mut self.counters.parity_bytes } else { &mut self.counters.data_bytes };
            *bytes += u64::from(column.len);
            self.command(Op::Write, (column.member, column.offset, column.len), For::Record(record), entropy);
        }
    }

    pub(super) fn column_done(&mut self, now: Instant, record: u64, times: &Times, fault: Option<Fault>) {
        let work = self.at(record);
        work.left -= 1;
        work.last = *times;
        work.failed |= fault == Some(Fault::Gone);
        work.fault = work.fault.or(fault.filter(|fault| *fault != Fault::Gone));
        if work.left > 0 {
            return;
        }
        work.times = work.times.then(&work.last);
        let (to, failed) = (work.to, std::mem::take(&mut work.failed));
        match to {
            None if failed => self.begin_read(now, record),
            None => self.read_done(now, record),
            Some(_) if failed && self.is_suspended() => self.give_up(now, record),
            Some(place) => self.written(now, record, place),
        }
    }

    fn read_done(&mut self, now: Instant, record: u64) {
        self.answer_all(now, record);
        self.memory.keep(record);
        if self.at(record).writes.is_empty() { self.end(record) } else { self.begin_write(now, record) }
    }

    fn written(&mut self, now: Instant, record: u64, place: u64) {
        let before = self.places.put(record, place);
        self.free(before);
        self.memory.keep(record);
        self.answer_all(now, record);
        let work = self.at(record);
        (work.to, work.times) = (None, Times::default());
        let is_awaited = !std::mem::take(&mut work.lacks).is_empty();
        if work.writes.is_empty() {
            self.end(record);
        } else {
            self.begin_write(now, record);
        }
        if is_awaited {
            self.resilver_more(now);
        }
    }

    /// A record can be neither read nor written: all I/Os that wait for it fail.
    pub(super) fn give_up(&mut self, now: Instant, record: u64) {
        let work = self.at(record);
        work.fault = Some(Fault::Gone);
        let mut writes = std::mem::take(&mut work.writes);
        work.served.append(&mut writes);
        if let Some(place) = work.to.take() {
            self.free(place);
        }
        self.answer_all(now, record);
        self.end(record);
    }

    fn answer_all(&mut self, now: Instant, record: u64) {
        let work = self.at(record);
        let (served, times, fault) = (std::mem::take(&mut work.served), work.times, work.fault);
        for io in served {
            self.answer(now, io, &times, fault);
        }
    }

    fn end(&mut self, record: u64) {
        self.busy.remove(&record);
    }

    /// Completes a record of an I/O, or the log's block that refers to it; the last one completes the I/O.
    pub(super) fn answer(&mut self, now: Instant, id: u32, times: &Times, fault: Option<Fault>) {
        let io = self.ios.get(id);
        io.fault = io.fault.or(fault);
        io.left -= 1;
        if io.left > 0 {
            return;
        }
        let elapsed = now.since(io.submitted);
        // Who came while its record was under way has waited for part of what was done.
        let done = io.times.then(times);
        let mut times = if done.total() > elapsed { Times::default() } else { done };
        times.queue += elapsed - times.total();
        if io.is_forced && io.fault.is_none() {
            (io.is_forced, io.left, io.times) = (false, 1, times);
            let records = io.records;
            self.log.add(id, records);
            return self.begin_block(now);
        }
        let io = self.ios.take(id);
        self.served.push(Served { token: io.token, times, fault: io.fault });
    }

    /// Writes the waiting records to the log, unless a block is being written.
    fn begin_block(&mut self, now: Instant) {
        if self.log.is_under_way() {
            return;
        }
        if self.is_suspended() {
            return self.log_gives_up(now);
        }
        let mut columns = self.log.begin_block();
        columns.retain(|column| self.present[usize::from(column.member)] != Presence::Gone);
        self.log.sent(columns.len());
        for column in columns {
            self.counters.log_bytes += u64::from(column.len);
            self.command(Op::Write, (column.member, column.offset, column.len), For::Log, Entropy::INCOMPRESSIBLE);
        }
    }

    /// A member has written its part of the log's block, or is flushed. One that failed meanwhile
    /// has nothing to wait for.
    pub(super) fn log_goes_on(&mut self, now: Instant, times: &Times) {
        let Some(over) = self.log.answered(times) else { return };
        if self.is_suspended() {
            return self.log_gives_up(now);
        }
        match over {
            Over::Written => {
                let members = self.members_there();
                self.log.sent(members.len());
                for member in members {
                    self.command(Op::Flush, (member, 0, 0), For::Log, Entropy::INCOMPRESSIBLE);
                }
            }
            Over::Flushed => {
                let times = self.log.times();
                for io in self.log.take_block() {
                    self.answer(now, io, &times, None);
                }
                self.begin_block(now);
            }
        }
    }

    /// Nothing can be logged any more: all I/Os that wait for it fail.
    fn log_gives_up(&mut self, now: Instant) {
        for io in self.log.give_up() {
            self.answer(now, io, &Times::default(), Some(Fault::Gone));
        }
    }

    /// Members that have not failed.
    pub(super) fn members_there(&self) -> Vec<u16> {
        let all = 0..self.present.len() as u16;
        all.filter(|member| self.present[usize::from(*member)] != Presence::Gone).collect()
    }

    fn flush(&mut self, now: Instant, io: u32) {
        let members = self.members_there();
        self.ios.get(io).left = members.len().max(1) as u32;
        if members.is_empty() {
            self.ios.get(io).fault = Some(Fault::Gone);
            return self.push(now + FROM_MEMORY, Due::Answer(io));
        }
        for member in members {
            self.command(Op::Flush, (member, 0, 0), For::Flush(io), Entropy::INCOMPRESSIBLE);
        }
    }

    /// A member is flushed; one that failed has nothing left to flush.
    pub(super) fn flushed(&mut self, now: Instant, io: u32, times: &Times, fault: Option<Fault>) {
        let fault = fault.filter(|fault| *fault != Fault::Gone || self.is_suspended());
        self.answer(now, io, times, fault);
    }
}
