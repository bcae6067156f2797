//! Work of the arm: choosing the next command, serving it, reading ahead.

use hotband_machine::{Done, Times};
use hotband_units::{Instant, Span};

use crate::disk::params::ReadAhead;
use crate::disk::{Ahead, Arm, Arrived, Disk, STREAM_SLACK, Work};
use crate::parts::dirty::is_cached;
use crate::parts::flash::Flash;
use crate::parts::geometry::{Place, SECTOR};
use crate::parts::pending::{Head, Waiting};
use crate::parts::rotation::REVOLUTION;

/// Commands up to which the age bound holds as the catalog states it: the depth at which data sheets rate disks.
const BOUNDED_QUEUE: usize = 32;

/// Seek, wait and transfer of one command.
#[derive(Clone, Copy, Debug)]
pub(super) struct MediaAccess {
    pub start: Instant,
    pub seek: Span,
    pub rotation: Span,
    pub transfer: Span,
    last: Place,
}

impl MediaAccess {
    pub(super) fn end(&self) -> Instant {
        self.start + self.seek + self.rotation + self.transfer
    }
}

/// Source of the next command.
#[derive(Clone, Copy, Debug)]
enum Pick {
    Queue(usize),
    Dirty(usize),
}

impl Disk {
    /// Time at which the arm next has work, if anything waits for it.
    pub(super) fn arm_wake(&self) -> Option<Instant> {
        match self.arm {
            Arm::Idle => None,
            Arm::Held { until, .. } => Some(until),
            Arm::Busy { until, work } => {
                let wanted = !self.nothing_waits() || !self.blocked.is_empty() || !self.flushes.is_empty();
                let sequential = matches!(work, Work::Read { sequential: Some(_), .. });
                let landing = matches!(work, Work::Destage);
                let filling = self.flash.as_ref().is_some_and(Flash::is_filling);
                (wanted || sequential || landing || filling).then_some(until)
            }
            Arm::Ahead(ahead) => (!self.nothing_waits()).then(|| self.passes(&ahead, ahead.committed)),
        }
    }

    /// Completes the work that the arm finished by `now`.
    #[inline]
    pub(super) fn catch_up(&mut self, now: Instant) {
        if let Arm::Busy { until, work } = self.arm
            && until <= now
        {
            self.arm = Arm::Idle;
            self.worked = until;
            self.end_work(until, work);
        }
    }

    fn end_work(&mut self, at: Instant, work: Work) {
        match work {
            Work::Scan => {}
            Work::Write { first, end } => {
                // Forgotten once more: a read may have been under way, or gone first, since the write came.
                self.landed(at, first, end);
                self.note(first, end, |account, _| account.landed());
                if self.write_back() {
                    // Older data stays held until now, so that a flush does not overlook it.
                    self.dirty.supersede(&self.geometry, first, end);
                    self.end_flushes(at);
                    self.admit_blocked(at);
                }
            }
            Work::Destage => {
                if let Some(extent) = self.dirty.landed().filter(|extent| extent.write) {
                    self.landed(at, extent.sector, extent.end());
                    self.note(extent.sector, extent.end(), |account, _| account.landed());
                    if !self.is_scanned(&extent) {
                        self.counters.verified_writes += u64::from(self.dirty.verify(extent));
                    }
                }
                self.end_flushes(at);
                self.admit_blocked(at);
            }
            Work::Read { first, end, sequential } => {
                if let Some(flash) = &mut self.flash {
                    flash.fill(at, first, end);
                }
                let segment = match sequential {
                    Some(segment) if self.shared.segments.get(segment).end >= first => {
                        self.shared.segments.extend(segment, first, end);
                        self.shared.segments.give(segment, end);
                        self.shared.segments.touch(segment);
                        Some(segment)
                    }
                    _ => self.shared.segments.replace(first, end),
                };
                self.streamed = segment.filter(|_| sequential.is_some());
                if (sequential.is_some() || self.params.read_ahead == ReadAhead::Always)
                    && let Some(segment) = segment
                    && self.params.look_ahead_sectors > 0
                    && self.nothing_waits()
                {
                    self.begin_ahead(at, segment, end, end + self.params.look_ahead_sectors);
                }
            }
        }
    }

    /// Records that `first..end` is on the media, so that older copies in the read caches are stale.
    pub(super) fn landed(&mut self, at: Instant, first: u64, end: u64) {
        self.shared.segments.forget(first, end);
        if let Some(flash) = &mut self.flash {
            flash.landed(at, first, end);
        }
    }

    /// Gives the arm its next command, if it is free and there is one. Twice for every command, so that a call of its
    /// own costs 1 % of a simulated I/O.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    pub(super) fn dispatch(&mut self, now: Instant) {
        match self.arm {
            Arm::Busy { .. } => return,
            Arm::Ahead(ahead) => {
                if self.nothing_waits() || self.passes(&ahead, ahead.committed) > now {
                    return;
                }
                self.end_ahead(now, &ahead);
            }
            Arm::Idle | Arm::Held { .. } => {}
        }
        if self.params.writes_in_turn {
            return self.dispatch_in_turn(now);
        }
        let pick = self.choose(now);
        self.begin(now, pick);
    }

    #[inline]
    fn begin(&mut self, now: Instant, pick: Option<Pick>) {
        match pick {
            Some(Pick::Queue(index)) => self.take_from_queue(now, index),
            Some(Pick::Dirty(index)) => self.destage(now, index),
            None => {}
        }
    }

    /// A separate function, so that disks whose arms never wait for one another do not pay for it.
    #[cold]
    #[inline(never)]
    fn dispatch_in_turn(&mut self, now: Instant) {
        let pick = self.choose(now);
        let pick = self.in_turn(now, pick);
        self.begin(now, pick);
    }

    /// Commands that the arm may begin, where arms move to write in turn: while another does, or holds its
    /// writes back longer, only reads.
    fn in_turn(&mut self, now: Instant, pick: Option<Pick>) -> Option<Pick> {
        let since = match std::mem::replace(&mut self.arm, Arm::Idle) {
            Arm::Held { since, .. } => since,
            _ => now,
        };
        let waiting = match pick? {
            Pick::Queue(index) => self.queue.get(index),
            Pick::Dirty(index) => self.dirty.extents().get(index),
        };
        let others = self.shared.others;
        let until = others.writes_until.filter(|until| *until > now);
        let goes_first = others.held_since.is_some_and(|have| have < since);
        let moves_to_write = waiting.write && waiting.place.cylinder != self.cylinder;
        self.moved_to_write = moves_to_write;
        if !moves_to_write || !(until.is_some() || goes_first) {
            return pick;
        }
        let read = self.queue.choose_read(&self.head(now));
        if read.is_none() {
            self.arm = Arm::Held { since, until: until.unwrap_or(now) };
        }
        read.map(Pick::Queue)
    }

    fn choose(&mut self, now: Instant) -> Option<Pick> {
        if self.nothing_waits() {
            return None;
        }
        if self.queue.len() == 1 && self.dirty.extents().is_empty() {
            return Some(Pick::Queue(0));
        }
        let head = self.head(now);
        let bound = self.age_bound();
        if self.queue.oldest_since().is_some_and(|since| now.since(since) > bound) {
            let latest = Instant(now.0 - bound.0);
            let aged = self.queue.choose_aged(&head, latest);
            self.counters.aged += 1;
            return aged.map(|(index, _)| Pick::Queue(index));
        }
        let others = &self.shared.others;
        let full = self.dirty.entries() + others.extents >= self.params.drain_extents;
        let blocked = !self.blocked.is_empty() || others.waits_since.is_some();
        let urgent = full || blocked || !self.flushes.is_empty() || self.switching.is_some();
        let queued = match self.params.age_weight {
            0 => self.queue.choose_among(self.params.reorder_window, self.params.order, &head),
            weight => self.queue.choose_weighed(self.params.reorder_window, weight, &head),
        };
        if queued.is_some() && !urgent {
            return queued.map(|(index, _)| Pick::Queue(index));
        }
        let dirty = self.dirty.extents().choose_among(self.params.destage_window, self.params.destage_order, &head);
        match (queued, dirty) {
            (Some((index, cost)), Some((_, other))) if cost <= other => Some(Pick::Queue(index)),
            (_, Some((index, _))) => Some(Pick::Dirty(index)),
            (queued, None) => queued.map(|(index, _)| Pick::Queue(index)),
        }
    }

    /// The longest wait with the commands that are queued now. A bound near the mean wait would make most picks
    /// late ones and the order worthless, so beyond [`BOUNDED_QUEUE`] commands it grows with the queue.
    fn age_bound(&self) -> Span {
        let queued = self.queue.len().max(BOUNDED_QUEUE) as u64;
        Span(self.params.age_bound.0 * queued / BOUNDED_QUEUE as u64)
    }

    fn head(&self, now: Instant) -> Head<'_> {
        let rotation = self.params.geometry.rotation;
        Head {
            now,
            cylinder: self.cylinder,
            track: self.track,
            reached: self.reached,
            rotation,
            read_curve: &self.read_curve,
            write_curve: &self.write_curve,
            head_switch: self.params.head_switch.0 as u32,
            slack: rotation.turned(STREAM_SLACK),
        }
    }

    /// Time to serve `waiting` from `start`, and where that leaves the head.
    pub(super) fn service(&self, start: Instant, waiting: &Waiting) -> MediaAccess {
        self.service_after::<false>(start, 0, waiting)
    }

    /// Like `service`, where the head may not begin before a number of nanoseconds from `start`.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "a call of its own costs 1 % of a simulated I/O")]
    pub(super) fn service_after<const ANY_ORDER: bool>(
        &self,
        start: Instant,
        earliest: u32,
        waiting: &Waiting,
    ) -> MediaAccess {
        let head = self.head(start);
        let rotation = head.rotation;
        let seek = head.seek(&waiting.place, waiting.write).max(earliest);
        let (mut wait, late) = head.wait_or_late(rotation.angle(start), seek, waiting.angle);
        let (last, turned) = self.geometry.run(&waiting.place, waiting.sector, u64::from(waiting.count));
        if ANY_ORDER {
            wait -= self.order_saves(wait, turned, waiting);
        }
        // The transfer ends with the last sector, however late it was joined: lateness must not add up in a stream.
        let mut transfer = rotation.time_for(turned.saturating_sub(late));
        if waiting.write && self.is_misaligned(waiting) {
            transfer += self.another_pass(turned);
        }
        if self.is_verified_at_once(waiting) {
            transfer += self.another_pass(turned);
        }
        MediaAccess { start, seek: Span(u64::from(seek)), rotation: rotation.time_for(wait), transfer, last }
    }

    fn is_misaligned(&self, waiting: &Waiting) -> bool {
        let physical = self.params.format.physical() / SECTOR;
        (waiting.sector | u64::from(waiting.count)) & (physical - 1) != 0
    }

    /// Whether the first scan of the media has come by. Data written elsewhere is read back (Media Pre-Scan).
    #[inline]
    fn is_scanned(&self, waiting: &Waiting) -> bool {
        waiting.end() <= self.scanned_to
    }

    /// Whether a command is completed only after it was read back. Cached data is read back when it suits the arm.
    #[inline]
    fn is_verified_at_once(&self, waiting: &Waiting) -> bool {
        waiting.write && !self.is_scanned(waiting) && !is_cached(waiting)
    }

    /// Time that a second pass adds: the platter comes round to the beginning again. The ends of a misaligned write to
    /// 4 KiB sectors are read in a first pass; a verified write is read in a second.
    fn another_pass(&self, turned: u64) -> Span {
        self.params.geometry.rotation.time_for(turned.div_ceil(REVOLUTION) * REVOLUTION)
    }

    fn take_from_queue(&mut self, now: Instant, index: usize) {
        let waiting = self.queue.remove(index);
        let arrived = self.slots[waiting.slot as usize];
        self.free_slots.push(waiting.slot);
        let sequential = if waiting.write {
            None
        } else {
            self.continued((waiting.sector, waiting.end())).or_else(|| self.reads_over(waiting.sector))
        };
        self.serve(now, &waiting, &arrived, sequential);
    }

    /// The stream that the arm has just read, where `first` lies on its way: it would have been read ahead, had nothing
    /// waited, so what lies between is kept as it passes. Members of arrays with parity have such gaps. A distance of
    /// a turn or more is reached without passing all of it.
    #[inline]
    fn reads_over(&self, first: u64) -> Option<usize> {
        let segment = self.streamed?;
        let end = self.shared.segments.get(segment).end;
        let is_near = end == self.reached && end < first && first - end <= self.params.look_ahead_sectors;
        (is_near && self.geometry.place(first).flow - self.geometry.flow_to(end) < REVOLUTION).then_some(segment)
    }

    /// The arm serves a command; `sequential` is the segment that it continues.
    pub(super) fn serve(&mut self, now: Instant, waiting: &Waiting, arrived: &Arrived, sequential: Option<usize>) {
        let (first, end) = (waiting.sector, waiting.end());
        // A sequential reader's next sectors are read whether or not its command is decoded yet: that is what reading
        // ahead means. Without it a short queue of small reads would lose a revolution each time it is refilled.
        let streams = sequential.is_some() && first == self.reached && self.params.look_ahead_sectors > 0;
        let start = if streams { now } else { now.max(waiting.ready) };
        // What a segment keeps of it begins with its first sector, or with what passes before that.
        let mut cached_end = sequential.map_or(first, |segment| self.shared.segments.get(segment).end.min(first));
        let (mut service, early) = if self.params.is_pipelined {
            let pipelined = self.service_pipelined(start, waiting, arrived);
            if sequential.is_none() {
                cached_end = pipelined.from;
            }
            (pipelined.service, pipelined.early)
        } else {
            (self.service(start, waiting), Span::ZERO)
        };
        if let (Some(recovery), false) = (&mut self.recovery, waiting.write) {
            service.transfer += recovery.of_read(u64::from(waiting.count), SECTOR);
        }
        self.account(&service, waiting);
        let command = &arrived.command;
        // The host does not wait for what is read beyond its command, for the flash.
        let transfer =
            if end > arrived.end() { self.transfer_to(&service, waiting, arrived.end()) } else { service.transfer };
        let finished = service.start + service.seek + service.rotation + transfer;
        let answered = finished.max(waiting.ready);
        let overheads = self.params.overheads;
        let (at, bytes_back, overhead, data_in) = if waiting.write {
            let overhead = overheads.media_write;
            (finished, 0, overhead, waiting.ready.since(arrived.at) - overhead)
        } else {
            let at = self.shared.port.send(Instant(answered.0 - early.0), u64::from(command.len));
            (at, command.len, overheads.media_read, Span::ZERO)
        };
        let mut times = Times {
            queue: service.start.since(waiting.ready),
            overhead,
            seek: service.seek,
            rotation: service.rotation,
            transfer,
            flash: Span::ZERO,
            link: data_in + at.since(answered),
        };
        if service.start < waiting.ready {
            // What passed the head before the command was decoded cost it nothing.
            (times.seek, times.rotation) = (Span::ZERO, Span::ZERO);
            times.transfer = finished.since(waiting.ready);
        }
        // A command that waited for a tag was accepted later than it arrived at the drive's door.
        self.finish(Done { token: command.token, at, times, bytes_back, fault: None });
        let work =
            if waiting.write { Work::Write { first, end } } else { Work::Read { first: cached_end, end, sequential } };
        if waiting.write {
            self.note(first, end, |account, range| account.write(range, command.version, finished));
        }
        self.arm = Arm::Busy { until: service.end(), work };
    }

    /// Transfer until `end`, within a longer one.
    fn transfer_to(&self, service: &MediaAccess, waiting: &Waiting, end: u64) -> Span {
        let (_, turned) = self.geometry.run(&waiting.place, waiting.sector, end - waiting.sector);
        service.transfer.min(self.params.geometry.rotation.time_for(turned))
    }

    fn destage(&mut self, now: Instant, index: usize) {
        let extent = self.dirty.send(index);
        let service = self.service(now, &extent);
        self.account(&service, &extent);
        self.counters.destages += 1;
        self.counters.destaged_bytes += u64::from(extent.count) * SECTOR;
        if extent.write {
            self.note(extent.sector, extent.end(), |account, range| account.send(range, service.end()));
        }
        self.arm = Arm::Busy { until: service.end(), work: Work::Destage };
    }

    pub(super) fn account(&mut self, service: &MediaAccess, waiting: &Waiting) {
        (self.cylinder, self.track) = (service.last.cylinder, service.last.track);
        self.reached = waiting.end();
        let counters = &mut self.counters;
        counters.busy += service.seek + service.rotation + service.transfer;
        counters.seeks += u64::from(service.seek > Span::ZERO);
        counters.seek += service.seek;
        counters.rotation += service.rotation;
        counters.transfer += service.transfer;
        if waiting.write {
            counters.media_writes += 1;
            if self.is_verified_at_once(waiting) {
                self.counters.verified_writes += 1;
            }
            if self.is_misaligned(waiting) {
                self.counters.read_modify_writes += 1;
            }
        } else {
            counters.media_reads += 1;
        }
    }

    /// Starts a stream at sector `from` into `segment`, up to `limit`.
    pub(super) fn begin_ahead(&mut self, now: Instant, segment: usize, from: u64, limit: u64) {
        let limit = limit.min(self.geometry.end());
        if from >= limit {
            return;
        }
        let head = self.head(now);
        let position = self.geometry.place(from);
        let seek = head.seek(&position, false);
        let wait = head.wait(head.rotation.angle(now), seek, position.angle());
        let begins = now + Span(u64::from(seek)) + head.rotation.time_for(wait);
        let ahead = Ahead { segment, from, begins, flow: position.flow, limit, committed: from, counted: begins };
        self.arm = Arm::Ahead(ahead);
    }

    /// Time when the stream has passed every sector before `end`.
    pub(super) fn passes(&self, ahead: &Ahead, end: u64) -> Instant {
        if end <= ahead.from {
            return ahead.begins;
        }
        let turned = self.geometry.flow_to(end) - ahead.flow;
        ahead.begins + self.params.geometry.rotation.time_for(turned)
    }

    /// Stops reading ahead; the segment has the data that has passed the head.
    pub(super) fn end_ahead(&mut self, now: Instant, ahead: &Ahead) {
        self.arm = Arm::Idle;
        let reached = if self.passes(ahead, ahead.limit) <= now {
            ahead.limit
        } else {
            let turned = self.params.geometry.rotation.turned(now.since(ahead.begins));
            self.geometry.sector_at(ahead.flow + turned).clamp(ahead.committed, ahead.limit)
        };
        self.shared.segments.extend(ahead.segment, ahead.from, reached);
        let position = self.geometry.place(reached.min(self.geometry.end() - 1));
        (self.cylinder, self.track) = (position.cylinder, position.track);
        self.reached = reached;
        self.count_stream(ahead, self.passes(ahead, reached));
    }

    /// Counts the time spent streaming up to `until` that is not counted yet; returns the time up to which it is counted.
    pub(super) fn count_stream(&mut self, ahead: &Ahead, until: Instant) -> Instant {
        let counted = ahead.counted.max(until);
        let streamed = counted.since(ahead.counted);
        self.counters.transfer += streamed;
        self.counters.busy += streamed;
        counted
    }
}
