//! Erasure-coded objects: k shards of data and m of parity, each on a daemon of its own (Ceph's `ECBackend`).
//!
//! An object is cut into stripes of k units, and unit j of each stripe lies in shard j. The primary gathers: a read
//! requests k shards (or those touched, `reads = "touched"`) and completes with the last one. A write encodes whole
//! stripes: what it touches only in part is read first, from k shards, and every shard is written and committed as a
//! copy of a replicated pool is. If shards are missing, others are read instead.
//!
//! Leaves out: the cache of stripes under way (`ECUtil`, `ExtentCache`), so that two writes to one stripe both read it;
//! copies of what an overwrite replaces, for rolling back; ordering of writes to one object; `fast_read`; processor
//! time to encode and decode beyond that of every block (`cpu_block`); the order of CRUSH's `indep`:
//! shards are found as copies.

use std::ops::Range;

use hotband_machine::{Fault, Op};
use hotband_units::Instant;

use super::object_io::{ObjectIo, Sub, Task};
use super::place::GONE;
use super::spec::Erasure;
use super::{Due, Pool};

/// Bytes of a shard, the same in each.
type Part = (u32, u32);

impl Erasure {
    /// Stripes that a range of an object touches.
    fn stripes(&self, within: u64, len: u64) -> Range<u64> {
        within / self.width()..(within + len).div_ceil(self.width())
    }

    /// Data bytes of a stripe.
    fn width(&self) -> u64 {
        self.data as u64 * self.unit
    }

    /// Bytes of a number of stripes in every shard.
    fn part(&self, stripes: &Range<u64>) -> Part {
        ((stripes.start * self.unit) as u32, ((stripes.end - stripes.start) * self.unit) as u32)
    }

    /// Stripes of every shard that a write touches only in part: the first, the last, or both in one.
    fn partial(&self, within: u64, len: u64) -> Vec<Part> {
        let (width, stripes) = (self.width(), self.stripes(within, len));
        let is_partial = |stripe: u64| within > stripe * width || within + len < (stripe + 1) * width;
        let (first, last) = (stripes.start, stripes.end - 1);
        let partial: Vec<u64> = [first, last].into_iter().filter(|stripe| is_partial(*stripe)).collect();
        match partial[..] {
            [one, two] if one + 1 == two => vec![self.part(&(one..two + 1))],
            [one, two] if one != two => vec![self.part(&(one..one + 1)), self.part(&(two..two + 1))],
            [one, ..] => vec![self.part(&(one..one + 1))],
            [] => Vec::new(),
        }
    }

    /// The shards with the data of a range, and the part read of each; all of the stripes if there are several.
    fn touched(&self, within: u64, len: u64) -> (Vec<usize>, Part) {
        let (first, last) = (within / self.unit, (within + len - 1) / self.unit);
        let stripes = self.stripes(within, len);
        let count = (last - first + 1).min(self.data as u64);
        let shards = (first..first + count).map(|unit| (unit % self.data as u64) as usize).collect();
        let part = if first == last {
            ((stripes.start * self.unit + within % self.unit) as u32, len as u32)
        } else {
            self.part(&stripes)
        };
        (shards, part)
    }
}

impl Pool {
    /// The daemon that serves an object, and which copy or shard it has.
    pub(super) fn primary(&self, object: u32) -> (u16, usize) {
        let group = self.places.group_of(object);
        let osd = self.places.primary(group).unwrap_or(GONE);
        (osd, self.places.acting(group).iter().position(|have| *have == osd).unwrap_or(0))
    }

    fn erasure(&self) -> Erasure {
        self.spec.erasure.expect("asked only of coded objects")
    }

    /// The primary has finished computing for an I/O: it requests shards, or writes at once.
    pub(super) fn begin_coded(&mut self, now: Instant, id: u32) {
        let base = self.subs.take(id);
        let piece = *self.pieces.get(base.piece);
        let (erasure, within, len) = (self.erasure(), u64::from(piece.within), u64::from(piece.len));
        if piece.op == Op::Write {
            let parts = erasure.partial(within, len);
            if parts.is_empty() {
                return self.write_shards(now, &base);
            }
            return self.ask_shards(now, &base, &(0..self.spec.replicas).collect::<Vec<_>>(), &parts);
        }
        if erasure.touched_only {
            let (shards, part) = erasure.touched(within, len);
            let acting = self.places.acting(self.places.group_of(piece.object));
            if shards.iter().all(|shard| acting[*shard] != GONE) {
                self.pieces.get(base.piece).waiting = 0;
                return self.send_asks(now, &base, &shards, &[part]);
            }
        }
        let part = erasure.part(&erasure.stripes(within, len));
        self.ask_shards(now, &base, &(0..self.spec.replicas).collect::<Vec<_>>(), &[part]);
    }

    /// Requests parts from the first k available `shards`.
    fn ask_shards(&mut self, now: Instant, base: &Sub, shards: &[usize], parts: &[Part]) {
        let acting = self.places.acting(self.places.group_of(self.pieces.get(base.piece).object));
        let present = shards.iter().copied().filter(|shard| acting[*shard] != GONE);
        let chosen: Vec<usize> = present.take(self.erasure().data).collect();
        self.pieces.get(base.piece).waiting = 0;
        if chosen.len() < self.erasure().data {
            self.note_fault(base.piece, Some(Fault::Gone));
            return self.send_answer(now, base);
        }
        self.send_asks(now, base, &chosen, parts);
    }

    fn send_asks(&mut self, now: Instant, base: &Sub, shards: &[usize], parts: &[Part]) {
        let piece = *self.pieces.get(base.piece);
        let group = self.places.group_of(piece.object);
        for shard in shards {
            let osd = self.places.acting(group)[*shard];
            let slot = self.places.slot(piece.object, *shard);
            for (within, len) in parts {
                let at =
                    if osd == base.osd { now } else { self.between(now, usize::from(base.osd), usize::from(osd), 0) };
                let wire = base.wire + at.since(now);
                let (task, copy) = (Task::Read, *shard as u8);
                let sub = Sub { osd, copy, task, within: *within, len: *len, slot, wire, ..*base };
                let sub = self.subs.add(sub);
                let based = self.pieces.get(base.piece);
                based.waiting += 1;
                based.asked |= 1 << shard;
                self.push(at, Due::Arrive(sub));
            }
        }
    }

    /// A daemon has read its shard and sends it to the primary.
    pub(super) fn send_shard(&mut self, now: Instant, id: u32) {
        let sub = *self.subs.get(id);
        if self.primary_of(sub.piece) == Some(usize::from(sub.osd)) {
            return self.shard_arrived(now, id);
        }
        self.tell_primary(now, id, u64::from(sub.len));
    }

    /// A shard is at the primary: the last one answers a read, or lets a write continue.
    pub(super) fn shard_arrived(&mut self, now: Instant, id: u32) {
        let sub = self.subs.take(id);
        let piece = self.pieces.get(sub.piece);
        piece.waiting -= 1;
        if piece.waiting > 0 {
            return;
        }
        if piece.op == Op::Read || piece.fault.is_some() {
            return self.send_answer(now, &sub);
        }
        self.write_shards(now, &sub);
    }

    /// A daemon with a requested shard is gone: as many others are read as are needed to compute it.
    pub(super) fn read_elsewhere(&mut self, now: Instant, id: u32) {
        let sub = *self.subs.get(id);
        let piece: ObjectIo = *self.pieces.get(sub.piece);
        let acting = self.places.acting(self.places.group_of(piece.object));
        let is_there = |shard: &usize| acting[*shard] != GONE;
        let is_asked = |shard: &usize| piece.asked & 1 << shard != 0;
        let reads = (0..acting.len()).filter(|shard| is_there(shard) && is_asked(shard)).count();
        let others: Vec<usize> = (0..acting.len()).filter(|shard| is_there(shard) && !is_asked(shard)).collect();
        let needed = self.erasure().data.saturating_sub(reads);
        if others.len() < needed {
            self.note_fault(sub.piece, Some(Fault::Gone));
        } else if let (primary, _) = self.primary(piece.object)
            && primary != GONE
        {
            let base = Sub { osd: primary, ..sub };
            self.send_asks(now, &base, &others[..needed], &[(sub.within, sub.len)]);
        }
        self.shard_arrived(now, id);
    }

    /// The primary has all that it needs: every shard is written, its own too.
    fn write_shards(&mut self, now: Instant, base: &Sub) {
        let piece = *self.pieces.get(base.piece);
        let group = self.places.group_of(piece.object);
        let (primary, own) = self.primary(piece.object);
        if primary == GONE {
            self.note_fault(base.piece, Some(Fault::Gone));
            return self.send_answer(now, base);
        }
        let erasure = self.erasure();
        let (within, len) = erasure.part(&erasure.stripes(u64::from(piece.within), u64::from(piece.len)));
        let deferred = len < self.params.defer_below;
        let shards: Vec<(usize, u16)> = self.places.acting(group).iter().copied().enumerate().collect();
        let present = shards.iter().filter(|(_, osd)| *osd != GONE);
        self.pieces.get(base.piece).waiting = present.clone().count() as u8;
        for (shard, osd) in present.filter(|(shard, _)| *shard != own) {
            let at = self.between(now, usize::from(primary), usize::from(*osd), u64::from(len));
            let (slot, wire) = (self.places.slot(piece.object, *shard), base.wire + at.since(now));
            let (osd, copy, task) = (*osd, *shard as u8, Task::Write);
            let sub = self.subs.add(Sub { osd, copy, task, within, len, slot, wire, deferred, ..*base });
            self.push(at, Due::Arrive(sub));
        }
        let (slot, copy) = (self.places.slot(piece.object, own), own as u8);
        let task = Task::Client;
        let local = Sub { osd: primary, copy, task, within, len, slot, deferred, ..*base };
        let local = self.subs.add(local);
        self.write_local(now, local);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1024;
    const OF: Erasure = Erasure { data: 4, parities: 2, unit: 4 * KIB, touched_only: false };

    #[test]
    fn whole_stripes_need_no_reads_and_others_are_read_in_whole_units() {
        let part = |from: u64, units: u64| ((from * 4 * KIB) as u32, (units * 4 * KIB) as u32);
        for (within, len, parts) in [
            (0, 16 * KIB, vec![]),
            (32 * KIB, 64 * KIB, vec![]),
            (0, 4 * KIB, vec![part(0, 1)]),
            (20 * KIB, 4 * KIB, vec![part(1, 1)]),
            (12 * KIB, 8 * KIB, vec![part(0, 2)]),
            (8 * KIB, 64 * KIB, vec![part(0, 1), part(4, 1)]),
            (16 * KIB, 20 * KIB, vec![part(2, 1)]),
        ] {
            assert_eq!(OF.partial(within, len), parts, "{within} {len}");
        }
    }

    #[test]
    fn small_reads_touch_the_shards_with_their_units() {
        assert_eq!(OF.touched(5 * KIB, KIB), (vec![1], (KIB as u32, KIB as u32)));
        assert_eq!(OF.touched(12 * KIB, 8 * KIB), (vec![3, 0], (0, 8 * KIB as u32)));
        assert_eq!(OF.touched(16 * KIB, 64 * KIB).0, vec![0, 1, 2, 3]);
    }
}
