//! Commits of a daemon, which make writes durable: many transactions with one log write and flush, data put in its
//! place later, and what the log gathered in memory written as a table of the database.

use hotband_machine::{Entropy, Fault, Op, Times};
use hotband_units::Instant;

use super::object_io::Task;
use super::osd::{Deferred, Stage, joined};
use super::params::BLOCK;
use super::{Due, For, Pool};

/// Longest in-place write that neighbours are joined to [our estimate: 512 KiB, the largest request of the block
/// layer].
const LONGEST: u32 = 512 << 10;

impl Pool {
    /// A transaction is ready to be committed. The committing thread takes all that wait when it turns to them.
    pub(super) fn queue_commit(&mut self, now: Instant, sub: u32) {
        let osd = usize::from(self.subs.get(sub).osd);
        self.osds[osd].queued.push(sub);
        self.begin_commit(now, osd);
    }

    fn begin_commit(&mut self, now: Instant, osd: usize) {
        if self.osds[osd].stage != Stage::Idle || self.osds[osd].queued.is_empty() {
            return;
        }
        self.osds[osd].stage = Stage::Preparing;
        let cpu = self.cpu.draw(self.params.cpu_commit);
        self.osds[osd].counters.cpu_ns += cpu.0;
        self.push(now + cpu, Due::Commit(osd as u32));
    }

    /// The committing thread takes what waits. A scheduler that anticipates lets one daemon's commit at a time to a
    /// disk: between its steps it keeps the disk idle, for the next step comes at once.
    pub(super) fn take_transactions(&mut self, now: Instant, number: usize) {
        debug_assert!(self.osds[number].committing.is_empty(), "one commit follows the other");
        let fits = self.fitting(number);
        let osd = &mut self.osds[number];
        std::mem::swap(&mut osd.queued, &mut osd.committing);
        osd.queued.extend(osd.committing.drain(fits..));
        osd.commit_times = Times::default();
        let turns = &mut self.turns[usize::from(osd.disk)];
        if self.params.anticipate && turns.holder.is_some() {
            return turns.waiting.push_back(number as u32);
        }
        turns.holder = Some(number as u32);
        self.write_log(now, number);
    }

    /// Number of waiting transactions that go into the log at once: the log does not lap itself.
    fn fitting(&mut self, number: usize) -> usize {
        let (waiting, mut room) = (self.osds[number].queued.len(), self.osds[number].wal.size());
        for at in 0..waiting {
            let bytes = self.log_bytes_of(self.osds[number].queued[at]);
            match room.checked_sub(bytes) {
                Some(left) => room = left,
                None => return at,
            }
        }
        waiting
    }

    /// Bytes that an operation adds to the log.
    fn log_bytes_of(&mut self, sub: u32) -> u64 {
        let sub = *self.subs.get(sub);
        let data = if sub.deferred { u64::from(sub.len) } else { 0 };
        self.params.wal_bytes + data
    }

    /// If data was written in place, the disk is flushed before the log.
    fn write_log(&mut self, now: Instant, number: usize) {
        let osd = &self.osds[number];
        let direct = (0..osd.committing.len()).any(|at| !self.subs.get(osd.committing[at]).deferred);
        if direct { self.flush(now, number, Stage::DataFlush) } else { self.append_log(number) }
    }

    fn append_log(&mut self, number: usize) {
        let mut bytes = 0;
        for at in 0..self.osds[number].committing.len() {
            bytes += self.log_bytes_of(self.osds[number].committing[at]);
        }
        self.append(number, bytes, Stage::LogWrite);
        if self.osds[number].tables.logged(bytes, &self.params) {
            self.go_on_with_tables(number);
        }
    }

    /// Appends to the log, or to the log of file sizes.
    fn append(&mut self, number: usize, bytes: u64, stage: Stage) {
        let len = bytes.next_multiple_of(BLOCK);
        let osd = &mut self.osds[number];
        osd.stage = stage;
        osd.counters.log_bytes += len;
        let ring = if stage == Stage::LogWrite { &mut osd.wal } else { &mut osd.sizes };
        let at = ring.take(len);
        self.command(number, Op::Write, (at, len as u32), For::Commit(number as u32), Entropy::INCOMPRESSIBLE);
    }

    /// Flushes the disk; nothing to do where it has no volatile cache.
    fn flush(&mut self, now: Instant, number: usize, stage: Stage) {
        self.osds[number].stage = stage;
        if !self.osds[number].flushed {
            return self.commit_goes_on(now, number, &Times::default(), None);
        }
        self.command(number, Op::Flush, (0, 0), For::Commit(number as u32), Entropy::INCOMPRESSIBLE);
    }

    /// A step of the commit is on the disk.
    pub(super) fn commit_goes_on(&mut self, now: Instant, number: usize, times: &Times, fault: Option<Fault>) {
        let osd = &mut self.osds[number];
        osd.commit_times = osd.commit_times.then(times);
        if fault.is_some() {
            for at in 0..self.osds[number].committing.len() {
                let piece = self.subs.get(self.osds[number].committing[at]).piece;
                let object = self.pieces.get(piece).object;
                self.note_fault(piece, self.fault_of_write(number as u16, object, fault));
            }
        }
        match self.osds[number].stage {
            Stage::DataFlush => self.append_log(number),
            Stage::LogWrite => self.flush(now, number, Stage::LogFlush),
            Stage::LogFlush if !self.params.recycle => self.append(number, self.params.bluefs_bytes, Stage::SizesWrite),
            Stage::SizesWrite => self.flush(now, number, Stage::SizesFlush),
            Stage::LogFlush | Stage::SizesFlush => self.committed(now, number),
            Stage::Idle | Stage::Preparing => unreachable!("the disk was asked for nothing"),
        }
    }

    fn committed(&mut self, now: Instant, number: usize) {
        let mut done = std::mem::take(&mut self.osds[number].committing);
        let times = self.osds[number].commit_times;
        let counters = &mut self.osds[number].counters;
        counters.commits += 1;
        counters.committed += done.len() as u64;
        for id in done.drain(..) {
            let sub = self.subs.get(id);
            sub.disk = sub.disk.then(&times);
            let sub = *sub;
            if sub.deferred {
                let (offset, len) = self.extent(&sub);
                self.osds[number].deferred.push(Deferred { offset, len });
            }
            if sub.task == Task::Client {
                self.copy_committed(now, id);
            } else {
                self.tell_primary(now, id, 0);
            }
        }
        let osd = &mut self.osds[number];
        (osd.committing, osd.stage) = (done, Stage::Idle);
        let turns = &mut self.turns[usize::from(osd.disk)];
        turns.holder = turns.waiting.pop_front();
        if let Some(next) = turns.holder {
            self.write_log(now, next as usize);
        }
        self.place_deferred(number);
        self.begin_commit(now, number);
    }

    /// A copy or shard goes back to the primary with this many bytes of data.
    pub(super) fn tell_primary(&mut self, now: Instant, id: u32, bytes: u64) {
        let sub = *self.subs.get(id);
        let number = usize::from(sub.osd);
        let primary = self.primary_of(sub.piece).unwrap_or(number);
        let at = self.between(now, number, primary, bytes);
        let cpu = self.cpu.draw(self.params.cpu_answer);
        let sub = self.subs.get(id);
        sub.wire += at.since(now);
        sub.cpu += cpu;
        self.push(at + cpu, Due::Ack(id));
    }

    /// The daemon that a replica reports to; none if no copy is left.
    pub(super) fn primary_of(&mut self, piece: u32) -> Option<usize> {
        let object = self.pieces.get(piece).object;
        self.places.primary(self.places.group_of(object)).map(usize::from)
    }

    /// Counts a durable copy; the last one completes the client's write.
    pub(super) fn copy_committed(&mut self, now: Instant, id: u32) {
        let sub = self.subs.take(id);
        let piece = self.pieces.get(sub.piece);
        piece.waiting -= 1;
        if piece.waiting == 0 {
            self.send_answer(now, &sub);
        }
    }

    /// Enough deferred writes go to their places, all at once and in order of address; one batch at a time.
    fn place_deferred(&mut self, number: usize) {
        let osd = &mut self.osds[number];
        if osd.placing > 0 || osd.deferred.len() < self.params.deferred_batch {
            return;
        }
        let batch = joined(std::mem::take(&mut osd.deferred), LONGEST);
        osd.placing = batch.len() as u32;
        osd.counters.deferred_batches += 1;
        osd.counters.deferred_writes += batch.len() as u64;
        for write in batch {
            let purpose = For::Place(number as u32);
            self.command(number, Op::Write, (write.offset, write.len), purpose, Entropy::INCOMPRESSIBLE);
        }
    }

    pub(super) fn placed(&mut self, number: usize) {
        self.osds[number].placing -= 1;
        if self.osds[number].placing == 0 {
            self.place_deferred(number);
        }
    }

    /// A piece is read or written; the thread of the database computes before it turns to the next.
    pub(super) fn work_on_table(&mut self, now: Instant, number: usize) {
        let cpu = self.cpu.of(self.params.table_rate.time_for(self.osds[number].tables.piece));
        self.osds[number].counters.cpu_ns += cpu.0;
        self.push(now + cpu, Due::Tables(number as u32));
    }

    /// Continues the database of a daemon, one command after the other.
    pub(super) fn go_on_with_tables(&mut self, number: usize) {
        let Some((op, extent)) = self.osds[number].tables.next() else { return };
        let counters = &mut self.osds[number].counters;
        let moved = if op == Op::Read { &mut counters.tables_read } else { &mut counters.tables_written };
        *moved += u64::from(extent.1);
        self.command(number, op, extent, For::Tables(number as u32), Entropy::INCOMPRESSIBLE);
    }
}
