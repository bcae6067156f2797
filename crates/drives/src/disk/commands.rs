//! Arrival of commands at a disk: answer from the cache, queue, or wait for room.

use hotband_machine::{Done, Times};
use hotband_units::{Instant, Span};

use crate::disk::params::WriteCache;
use crate::disk::{Ahead, Arm, Arrived, Disk, Flush, Work};
use crate::parts::flash::FlashRead;
use crate::parts::pending::Waiting;
use crate::parts::segments::Found;

/// Sequential writers distinguished.
pub(super) const WRITERS: usize = 8;

impl Disk {
    pub(super) fn accept_read(&mut self, now: Instant, arrived: &Arrived) {
        let (first, end) = (arrived.first(), arrived.end());
        if self.write_back() && self.dirty.covers(first, end) {
            self.counters.cache_hits += 1;
            return self.answer(now, arrived, now);
        }
        if let Arm::Ahead(ahead) = self.arm {
            if self.passes(&ahead, ahead.limit) <= now {
                self.end_ahead(now, &ahead);
            } else if self.read_from_stream(now, arrived, ahead) {
                return;
            }
        }
        let hit = self.shared.segments.find(first, end);
        match hit {
            Found::Hit(segment) if self.params.rereads || first >= self.shared.segments.get(segment).given => {
                self.shared.segments.give(segment, end);
                self.counters.cache_hits += 1;
                self.shared.segments.touch(segment);
                self.answer(now, arrived, now);
                self.read_on(now, segment, end);
            }
            Found::Continues(_) => self.enqueue_read(now, arrived, (first, end), Some(hit)),
            Found::Hit(_) | Found::Miss => self.read_past_memory(now, arrived, hit),
        }
    }

    /// A random read that memory does not hold: from flash, or from the media and perhaps into flash.
    fn read_past_memory(&mut self, now: Instant, arrived: &Arrived, in_memory: Found) {
        let (first, end) = (arrived.first(), arrived.end());
        let mut range = (first, end);
        if let Some(flash) = &mut self.flash {
            let (from, to) = flash.whole_pages(first, end);
            // Flash and media are both old where a write still waits.
            let flash_read = if self.dirty.overlaps(from, to) { FlashRead::Miss } else { flash.read(now, first, end) };
            match flash_read {
                FlashRead::Hit(begins, ready) => return self.answer_from_flash(now, arrived, begins, ready),
                FlashRead::Promote(from, to) => range = (from, to),
                FlashRead::Miss => {}
            }
        }
        self.enqueue_read(now, arrived, range, (range == (first, end)).then_some(in_memory));
    }

    /// Puts a read into the queue. `found` is the part of `range` in memory, if just looked up: a read served at once
    /// need not repeat the look-up.
    fn enqueue_read(&mut self, now: Instant, arrived: &Arrived, range: (u64, u64), hit: Option<Found>) {
        let waiting = self.waiting(arrived, range, false, Span::ZERO);
        if self.is_at_rest() {
            let sequential = hit.map_or_else(|| self.continued(range), continued);
            return self.serve(now, &waiting, arrived, sequential);
        }
        self.queue_up(waiting, arrived);
    }

    /// The segment that a read of `range` continues.
    #[inline]
    pub(super) fn continued(&self, (first, end): (u64, u64)) -> Option<usize> {
        continued(self.shared.segments.find(first, end))
    }

    fn answer_from_flash(&mut self, now: Instant, arrived: &Arrived, begins: Instant, ready: Instant) {
        let overhead = self.params.overheads.cache_read;
        let flash = ready.since(begins);
        let ready = ready + overhead;
        let at = self.shared.port.send(ready, u64::from(arrived.command.len));
        let queue = now.since(arrived.at) + begins.since(now);
        let times = Times { queue, overhead, flash, link: at.since(ready), ..Times::default() };
        self.finish(Done { token: arrived.command.token, at, times, bytes_back: arrived.command.len, fault: None });
    }

    /// A read that the stream has passed or will pass: waits for it, and lets it run on. False if it lies elsewhere.
    fn read_from_stream(&mut self, now: Instant, arrived: &Arrived, ahead: Ahead) -> bool {
        let (first, end) = (arrived.first(), arrived.end());
        let have = self.shared.segments.get(ahead.segment);
        let begun = if self.params.rereads { have.start } else { have.given };
        // A read longer than the segment streams through it: what matters is that its beginning is still held when it comes.
        if first < begun || first > ahead.limit || ahead.limit > first + self.shared.segments.size() {
            return false;
        }
        let limit = (end + self.params.look_ahead_sectors).min(self.geometry.end());
        let before = ahead.committed;
        let ahead = Ahead { limit: ahead.limit.max(limit), committed: ahead.committed.max(end), ..ahead };
        let passes = if end <= ahead.from { now } else { self.passes(&ahead, end) };
        self.shared.segments.extend(ahead.segment, ahead.from, before);
        self.shared.segments.give(ahead.segment, end);
        // A stream that never ends is counted as it is read, not when it ends.
        let counted = self.count_stream(&ahead, passes);
        self.arm = Arm::Ahead(Ahead { counted, ..ahead });
        self.counters.look_ahead_hits += 1;
        self.counters.cache_hits += 1;
        let ready = if self.params.read_overlap {
            self.crosses_from(self.passes(&ahead, first + 1), passes, u64::from(arrived.command.len))
        } else {
            passes
        };
        self.answer(now, arrived, ready);
        true
    }

    /// After a hit near the end of a sequential segment the idle arm continues reading ahead.
    fn read_on(&mut self, now: Instant, segment: usize, end: u64) {
        let held = self.shared.segments.get(segment).end;
        let near = held - end < self.params.look_ahead_sectors / 2;
        if near && held > end && matches!(self.arm, Arm::Idle) && self.nothing_waits() {
            self.begin_ahead(now, segment, held, end + self.params.look_ahead_sectors);
        }
    }

    pub(super) fn accept_write(&mut self, now: Instant, arrived: &Arrived) {
        let (first, end) = (arrived.first(), arrived.end());
        self.shared.segments.forget(first, end);
        if let Arm::Ahead(ahead) = &mut self.arm
            && first < ahead.limit
            && end > ahead.from
        {
            // What is read ahead after this would be old: the stream ends where the write begins.
            ahead.limit = first.max(ahead.committed);
        }
        if let Some(flash) = &mut self.flash {
            flash.write(first, end);
        }
        let forced = arrived.command.fua && self.params.write_cache != WriteCache::Protected;
        if !self.write_back() || forced {
            return self.enqueue_write(now, arrived);
        }
        if self.switching.is_some() {
            return self.blocked.push_back(*arrived);
        }
        if self.bypasses(first, end) {
            self.counters.bypassed_writes += 1;
            return self.enqueue_write(now, arrived);
        }
        if !self.params.waits_for_room {
            // What is taken in must not be older than what is still to be written past it.
            let fits = self.has_room(arrived) && !self.is_being_written(first, end);
            return if fits { self.take_in(now, arrived) } else { self.enqueue_write(now, arrived) };
        }
        let next = self.blocked.is_empty() && self.shared.others.waits_since.is_none();
        if next && self.has_room(arrived) {
            self.take_in(now, arrived);
        } else {
            self.blocked.push_back(*arrived);
        }
    }

    /// Whether a write past the cache of any of `first..end` is queued or under way.
    fn is_being_written(&self, first: u64, end: u64) -> bool {
        let under_way = match self.arm {
            Arm::Busy { work: Work::Write { first, end }, .. } => Some((first, end)),
            _ => None,
        };
        let queued = self.queue.by_address().filter(|have| have.write).map(|have| (have.sector, have.end()));
        queued.chain(under_way).any(|have| have.0 < end && first < have.1)
    }

    /// Whether a write is large and continues where one of the last writes ended.
    fn bypasses(&mut self, first: u64, end: u64) -> bool {
        if self.params.bypass_sectors == u64::MAX {
            return false;
        }
        let goes_on = self.write_ends.iter().position(|have| *have == first);
        // A sequential writer keeps its place; a new one takes the place of the oldest.
        self.write_ends[..=goes_on.unwrap_or(WRITERS - 1)].rotate_right(1);
        self.write_ends[0] = end;
        goes_on.is_some() && end - first >= self.params.bypass_sectors
    }

    /// Acknowledges a write from the cache.
    fn take_in(&mut self, now: Instant, arrived: &Arrived) {
        let sequence = self.next_sequence();
        self.counters.cached_writes += 1;
        self.dirty.insert(&self.geometry, now, arrived.first(), arrived.count(), sequence);
        let version = arrived.command.version;
        self.note(arrived.first(), arrived.end(), |account, range| account.take_in(range, version));
        self.answer(now, arrived, now);
    }

    fn has_room(&self, arrived: &Arrived) -> bool {
        let others = &self.shared.others;
        self.dirty.has_room(arrived.first(), arrived.count(), (others.extents, others.sectors))
    }

    /// Takes in writes that waited for room, first come first served.
    pub(super) fn admit_blocked(&mut self, now: Instant) {
        if self.switching.is_some() {
            return self.end_switch(now);
        }
        while let Some(next) = self.blocked.front() {
            let not_first = self.shared.others.waits_since.is_some_and(|since| since < next.at);
            if not_first || !self.has_room(next) {
                break;
            }
            let arrived = self.blocked.pop_front().expect("front was there");
            self.take_in(now, &arrived);
        }
    }

    pub(super) fn accept_flush(&mut self, now: Instant, arrived: &Arrived) {
        let barrier = self.sequence + 1;
        if self.dirty.is_empty() || self.params.write_cache == WriteCache::Protected {
            return self.answer(now, arrived, now);
        }
        self.flushes.push(Flush { arrived: *arrived, barrier });
    }

    /// Answers the flushes whose writes are all on the media.
    pub(super) fn end_flushes(&mut self, now: Instant) {
        if self.flushes.is_empty() {
            return;
        }
        let oldest = self.dirty.oldest().unwrap_or(u64::MAX);
        while self.flushes.first().is_some_and(|flush| flush.barrier <= oldest) {
            let flush = self.flushes.remove(0);
            self.answer(now, &flush.arrived, now);
        }
    }

    /// Puts a write into the queue, or serves it at once.
    fn enqueue_write(&mut self, now: Instant, arrived: &Arrived) {
        let data_in = self.shared.port.receive(now, u64::from(arrived.command.len));
        // Where wire and arm overlap, the arm need not wait for the data to begin (`Disk::service_pipelined`).
        let before = if self.params.write_overlap { Span::ZERO } else { data_in };
        let waiting = self.waiting(arrived, (arrived.first(), arrived.end()), true, before);
        if self.is_at_rest() && !self.params.writes_in_turn {
            return self.serve(now, &waiting, arrived, None);
        }
        self.queue_up(waiting, arrived);
    }

    /// A command that needs the media, as the arm sees it: it covers the sectors of `range`, which may be more than the
    /// command's, and can begin when its data is in.
    #[inline]
    fn waiting(&mut self, arrived: &Arrived, range: (u64, u64), write: bool, data_in: Span) -> Waiting {
        let position = self.geometry.place(range.0);
        let before = self.params.overheads.media(write) + data_in;
        Waiting {
            sector: range.0,
            count: (range.1 - range.0) as u32,
            write,
            place: position,
            angle: position.angle(),
            ready: arrived.at + before,
            since: arrived.tagged + before,
            sequence: self.next_sequence(),
            slot: 0,
        }
    }

    /// Whether the command that has just come is alone in a drive at rest: there is nothing to choose from.
    #[inline]
    fn is_at_rest(&self) -> bool {
        self.in_drive == 1 && matches!(self.arm, Arm::Idle) && self.nothing_waits()
    }

    fn queue_up(&mut self, mut waiting: Waiting, arrived: &Arrived) {
        waiting.slot = self.free_slots.pop().unwrap_or_else(|| {
            self.slots.push(*arrived);
            self.slots.len() as u32 - 1
        });
        self.slots[waiting.slot as usize] = *arrived;
        self.queue.insert(waiting);
    }

    /// Return whether only reading ahead is left to do.
    pub(super) fn nothing_waits(&self) -> bool {
        self.queue.is_empty() && self.dirty.extents().is_empty()
    }
}

/// The segment that a read continues, where memory has `found` of it.
#[inline]
fn continued(hit: Found) -> Option<usize> {
    match hit {
        Found::Continues(segment) => Some(segment),
        Found::Hit(_) | Found::Miss => None,
    }
}
