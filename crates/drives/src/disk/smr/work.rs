//! Background work of the arm: appends to the media cache and cleanings, in steps.

use hotband_machine::{Done, Drive, Times};
use hotband_units::{Instant, Span};

use crate::disk::params::WriteCache;
use crate::disk::smr::SmrDisk;
use crate::disk::smr::layer::Step;
use crate::disk::smr::params::PHYSICAL;
use crate::disk::{Arm, Work};
use crate::parts::geometry::SECTOR;
use crate::parts::pending::Waiting;

/// A write, or a part of one, that is to be appended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    id: u64,
    at: u64,
    count: u64,
    /// When its data is in, and how long that takes; none if it is acknowledged before it is on the media.
    ready: Option<(Instant, Span)>,
}

/// A step that the arm is doing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Doing {
    until: Instant,
    step: Step,
    appends: bool,
}

/// The append under way.
#[derive(Clone, Debug, Default)]
pub(super) struct Append {
    writes: Vec<Pending>,
    start: Instant,
    times: Times,
}

impl SmrDisk {
    /// Takes a part of a write that has room in the media cache.
    pub(super) fn take_in(&mut self, now: Instant, id: u64, (first, count): (u64, u64)) {
        let at = self.layer.log.put(first, count);
        self.counters.cache_writes += 1;
        self.counters.cache_written_bytes += count * SECTOR;
        let command = self.own(id).command;
        let params = &self.disk.params;
        let (writes, sectors) = self.acknowledged;
        let has_room = writes < params.room.entries && sectors + count <= params.room.sectors;
        if params.write_cache != WriteCache::Off && !command.fua && (has_room || writes == 0) {
            self.acknowledged = (writes + 1, sectors + count);
            self.pending.push_back(Pending { id, at, count, ready: None });
            self.disk.counters.cached_writes += 1;
            return self.end_part(now, id);
        }
        let data_in = self.disk.shared.port.receive(now, count * SECTOR);
        let ready = now + self.disk.params.overheads.media_write + data_in;
        self.pending.push_back(Pending { id, at, count, ready: Some((ready, data_in)) });
    }

    /// A part of a write is done in memory; with the last one it is acknowledged.
    fn end_part(&mut self, now: Instant, id: u64) {
        let open = self.open_mut(id);
        if open.left > 1 {
            open.left -= 1;
        } else {
            self.answer(now, id);
        }
    }

    /// Parts of writes that waited for room continue, first come first served; flushes continue when the writes they
    /// wait for are done.
    pub(super) fn admit(&mut self, now: Instant) {
        while let Some(next) = self.blocked.front().copied().filter(|next| self.layer.log.has_room(next.count)) {
            self.blocked.pop_front();
            self.take_in(now, next.id, (next.first, next.count));
        }
        let appended = self.appended;
        for (_, flush) in self.flushes.extract_if(.., |(barrier, _)| *barrier <= appended) {
            self.disk.submit(now, flush);
        }
    }

    /// Whether a step goes before commands that come now.
    pub(super) fn is_due(&self) -> bool {
        let params = &self.disk.params;
        let is_wanted = self.pending.iter().any(|write| write.ready.is_some()) || !self.flushes.is_empty();
        let (writes, sectors) = self.acknowledged;
        is_wanted || writes >= params.room.entries || sectors >= params.room.sectors || self.is_pressed()
    }

    /// Whether the media cache has to be cleaned now.
    fn is_pressed(&self) -> bool {
        !self.blocked.is_empty() || self.layer.is_full()
    }

    /// When a rest is long enough to clean, if there is something to clean.
    fn rests_from(&self) -> Option<Instant> {
        let is_quiet = self.open.is_empty() && self.door.is_empty() && self.finished.is_empty();
        (is_quiet && self.layer.wants_rest()).then(|| self.active + self.params.idle)
    }

    /// Time at which the arm is free, if no command waits for it.
    pub(super) fn arm_free(&self) -> Option<Instant> {
        self.disk.nothing_waits().then(|| match self.disk.arm {
            Arm::Idle | Arm::Held { .. } => Instant::ZERO,
            Arm::Busy { until, .. } => until,
            Arm::Ahead(ahead) => self.disk.passes(&ahead, ahead.committed),
        })
    }

    /// When the next step begins, as far as is known.
    pub(super) fn step_from(&self) -> Option<Instant> {
        if self.doing.is_some() {
            return None;
        }
        let is_wanted = !self.pending.is_empty() || self.is_pressed();
        let from = if is_wanted { Some(self.active) } else { self.rests_from() };
        from.and_then(|from| self.arm_free().map(|free| free.max(from)))
    }

    pub(super) fn doing_until(&self) -> Option<Instant> {
        self.doing.map(|doing| doing.until)
    }

    /// Begins the next step, if there is one and the arm is free: an append before a cleaning.
    pub(super) fn begin_step(&mut self, now: Instant) {
        if self.doing.is_some() {
            return;
        }
        if !self.is_due() {
            // A stream wrote over what made the step due: nothing is held for it any more.
            self.release(now);
        }
        if self.step_from().is_none_or(|from| from > now) {
            return;
        }
        if let Arm::Ahead(ahead) = self.disk.arm {
            self.disk.end_ahead(now, &ahead);
        }
        if !self.pending.is_empty() {
            return self.begin_append(now);
        }
        let is_pressed = self.is_pressed();
        if self.cleaning.is_none() {
            if !is_pressed {
                self.layer.end_runs();
            }
            self.cleaning = self.layer.clean(self.appended, is_pressed);
        }
        let Some(cleaning) = &mut self.cleaning else { return };
        let Some(next) = cleaning.steps.front_mut() else { return };
        let count = next.count.min(self.params.step);
        let step = Step { count, ..*next };
        (next.first, next.count) = (next.first + count, next.count - count);
        if next.count == 0 {
            cleaning.steps.pop_front();
        }
        let (times, until) = self.serve_step(now, step, 0);
        self.counters.cleaning += times.seek + times.rotation + times.transfer;
        let bytes =
            if step.write { &mut self.counters.cleaning_written_bytes } else { &mut self.counters.cleaning_read_bytes };
        *bytes += count * SECTOR;
        self.doing = Some(Doing { until, step, appends: false });
    }

    /// Appends waiting writes one behind the other, up to the length of a step.
    fn begin_append(&mut self, now: Instant) {
        let first = self.pending[0].at;
        let (mut start, mut end) = (now, first);
        self.append.writes.clear();
        while let Some(&write) = self.pending.front() {
            let stop = write.at + write.count.next_multiple_of(PHYSICAL);
            let goes_on = write.at == end && (end == first || end % self.params.cache > 0);
            if !goes_on || end > first && stop - first > self.params.step {
                break;
            }
            start = start.max(write.ready.map_or(now, |(ready, _)| ready));
            end = stop;
            self.append.writes.push(write);
            self.pending.pop_front();
        }
        let step = Step { first: self.layer.in_log(first), count: end - first, write: true };
        let (times, until) = self.serve_step(start, step, self.params.append_revolutions);
        self.append = Append { writes: std::mem::take(&mut self.append.writes), start, times };
        self.counters.appends += 1;
        self.counters.appended_bytes += step.count * SECTOR;
        self.doing = Some(Doing { until, step, appends: true });
    }

    /// The arm serves a step, and then waits for this many revolutions.
    fn serve_step(&mut self, start: Instant, step: Step, revolutions: u64) -> (Times, Instant) {
        let disk = &mut self.disk;
        let position = disk.geometry.place(step.first);
        let waiting = Waiting {
            sector: step.first,
            count: step.count as u32,
            write: step.write,
            place: position,
            angle: position.angle(),
            ready: start,
            since: start,
            sequence: 0,
            slot: 0,
        };
        let service = disk.service(start, &waiting);
        disk.account(&service, &waiting);
        let more = Span(disk.params.geometry.rotation.period().0 * revolutions);
        disk.counters.rotation += more;
        disk.counters.busy += more;
        let times = Times {
            seek: service.seek,
            rotation: service.rotation + more,
            transfer: service.transfer,
            ..Times::default()
        };
        let until = service.end() + more;
        disk.arm = Arm::Busy { until, work: Work::Destage };
        (times, until)
    }

    /// Ends the step that is over by `now`.
    pub(super) fn end_step(&mut self, now: Instant) {
        let Some(doing) = self.doing.filter(|doing| doing.until <= now) else { return };
        self.doing = None;
        if doing.step.write {
            self.disk.landed(now, doing.step.first, doing.step.first + doing.step.count);
        }
        if doing.appends {
            self.end_append(doing.until);
        } else if self.cleaning.as_ref().is_some_and(|cleaning| cleaning.steps.is_empty()) {
            let cleaning = self.cleaning.take().expect("it was there a line above");
            self.layer.cleaned(&cleaning);
            self.counters.bands_cleaned += 1;
        }
        self.release(now);
    }

    /// Commands that waited for a step go to the arm.
    fn release(&mut self, now: Instant) {
        while let Some(command) = self.held.pop_front() {
            self.disk.submit(now, command);
        }
    }

    fn end_append(&mut self, at: Instant) {
        let Append { writes, start, times } = std::mem::take(&mut self.append);
        for write in &writes {
            self.appended = write.at + write.count.next_multiple_of(PHYSICAL);
            let Some((ready, link)) = write.ready else {
                self.acknowledged.0 -= 1;
                self.acknowledged.1 -= write.count;
                continue;
            };
            let overhead = self.disk.params.overheads.media_write;
            let times = Times { queue: start.since(ready), overhead, link, ..times };
            self.disk.in_drive += 1;
            self.disk.finish(Done { token: write.id, at, times, bytes_back: 0, fault: None });
        }
        self.append.writes = writes;
        self.append.writes.clear();
    }
}
