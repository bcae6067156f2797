//! A spare that takes the place of a member is resilvered: record by record, in the order of their places, what the
//! member had of it is computed from the others. Free places are passed over.
//!
//! Records that follow each other are read and written together, up to a MiB a member (OpenZFS joins such I/Os up to
//! `zfs_vdev_aggregation_limit` = 1 MiB). One member is resilvered after the other; OpenZFS does all in one pass.

use std::collections::VecDeque;
use std::ops::Range;

use hotband_machine::{Entropy, Fault, JobState, MemberRebuild, Op};
use hotband_units::{Instant, Rate, Span};

use super::{Due, For, Presence, RaidZ, Work};

/// Bytes of a member that a step reads or writes: `zfs_vdev_aggregation_limit` (zfs(4)).
const STEP: u64 = 1 << 20;
/// Steps under way while hosts ask for nothing, and while they do: `zfs_vdev_scrub_max_active` and
/// `zfs_vdev_scrub_min_active` are 3 and 1 a member (zfs(4)).
const STEPS: usize = 3;
const STEPS_UNDER_LOAD: usize = 1;

/// Some places that follow each other.
struct Step {
    number: u32,
    to: u64,
    /// Outstanding commands, and the writes that follow the last read.
    left: u32,
    write: Option<(u64, u32)>,
    bytes: u64,
    is_done: bool,
}

/// A spare that is to be written.
struct Spare {
    member: u16,
    limit: Option<Rate>,
    /// Index among all rebuilds.
    number: usize,
}

/// Members that wait for it, the first of them at work.
#[derive(Default)]
pub(super) struct Resilver {
    members: VecDeque<Spare>,
    /// All rebuilds ever requested. The remaining work of an unfinished one is not included.
    all: Vec<MemberRebuild>,
    steps: VecDeque<Step>,
    /// First place that no step has taken, and the first that is not done.
    next: u64,
    done: u64,
    numbers: u32,
    /// Places of steps that became free since.
    freed: Vec<u64>,
    /// When the limit lets the next step begin, and whether it is waited for.
    allowed: Instant,
    is_paused: bool,
}

impl Resilver {
    /// Whether a member that is resilvered already has the contents of `place`.
    pub fn has(&self, member: u16, place: u64) -> bool {
        self.is_first(member) && place < self.done
    }

    fn is_first(&self, member: u16) -> bool {
        self.members.front().is_some_and(|first| first.member == member)
    }

    pub fn is_under_way(&self) -> bool {
        !self.members.is_empty()
    }

    /// Return the duration of the last one that ended.
    pub fn took(&self) -> Option<Span> {
        let done =
            self.all.iter().filter(|rebuild| rebuild.state == JobState::Done).max_by_key(|rebuild| rebuild.ended)?;
        done.began.zip(done.ended).map(|(began, ended)| ended.since(began))
    }

    /// Places of steps that became free since.
    #[cfg(test)]
    pub fn freed(&self) -> &[u64] {
        &self.freed
    }

    /// The first member begins, from the first place.
    fn restart(&mut self, now: Instant) {
        self.steps.clear();
        (self.next, self.done, self.allowed) = (0, 0, now);
        if let Some(first) = self.members.front() {
            let rebuild = &mut self.all[first.number];
            (rebuild.state, rebuild.began) = (JobState::Running, Some(now));
        }
    }
}

impl RaidZ {
    pub(super) fn begin_resilver(&mut self, now: Instant, member: u16, limit: Option<Rate>) {
        let number = self.resilver.all.len();
        let (state, began, ended) = (JobState::Waiting, None, None);
        self.resilver.all.push(MemberRebuild { state, began, ended, bytes: 0, of_bytes: 0 });
        self.resilver.members.push_back(Spare { member, limit, number });
        if self.resilver.members.len() == 1 {
            self.resilver.restart(now);
            self.resilver_more(now);
        }
    }

    /// A member failed: if it was to be resilvered, it is not any more.
    pub(super) fn stop_resilver(&mut self, now: Instant, member: u16) {
        let was_first = self.resilver.is_first(member);
        let is_over = self.is_suspended();
        for spare in std::mem::take(&mut self.resilver.members) {
            if spare.member == member {
                self.rebuild_ends(now, &spare, JobState::SpareFailed);
            } else if is_over {
                self.rebuild_ends(now, &spare, JobState::Stopped);
            } else {
                self.resilver.members.push_back(spare);
            }
        }
        if is_over {
            self.resilver.steps.clear();
            return self.finish_steps();
        }
        if was_first {
            self.resilver.restart(now);
            self.finish_steps();
            self.resilver_more(now);
        }
    }

    fn rebuild_ends(&mut self, now: Instant, spare: &Spare, state: JobState) {
        let rebuild = self.progress(&self.resilver.all[spare.number]);
        self.resilver.all[spare.number] = MemberRebuild { state, ended: Some(now), ..rebuild };
    }

    /// A rebuild with its total work: for one in progress, the finished part and the member's data
    /// in the remaining places.
    fn progress(&self, rebuild: &MemberRebuild) -> MemberRebuild {
        let from = match rebuild.state {
            JobState::Running => self.resilver.done,
            JobState::Waiting => 0,
            _ => return *rebuild,
        };
        let left = self.places.in_use_from(from) * self.allocated / self.geometry.columns;
        MemberRebuild { of_bytes: rebuild.bytes + left, ..*rebuild }
    }

    pub(super) fn all_rebuilds(&self) -> Vec<MemberRebuild> {
        self.resilver.all.iter().map(|rebuild| self.progress(rebuild)).collect()
    }

    /// Takes as many steps as there is room for and the limit allows.
    pub(super) fn resilver_more(&mut self, now: Instant) {
        if self.resilver.allowed <= now {
            self.resilver.is_paused = false;
        }
        while let Some(&Spare { member, limit, .. }) = self.resilver.members.front() {
            let room = if self.busy.is_empty() { STEPS } else { STEPS_UNDER_LOAD };
            if self.resilver.next >= self.places.used() {
                if self.resilver.steps.is_empty() {
                    self.resilvered(now, member);
                    continue;
                }
                return;
            }
            if self.resilver.steps.len() >= room || self.is_suspended() {
                return;
            }
            let allowed = self.resilver.allowed;
            if allowed > now {
                if !std::mem::replace(&mut self.resilver.is_paused, true) {
                    self.push(allowed, Due::Resilver);
                }
                return;
            }
            let places = self.next_places(member);
            if places.is_empty() && self.resilver.next < self.places.used() {
                return;
            }
            let bytes = self.step(member, places);
            if let Some(limit) = limit {
                self.resilver.allowed = now + Span(limit.time_for(bytes).0);
            }
        }
    }

    /// Whether a record lies in a place, and is not just being written there (to the spare, too).
    fn is_settled(&self, place: u64) -> bool {
        self.places.is_used(place) && self.written_to(place).is_none()
    }

    /// Whether a record is being written to a place since before the spare came: it lacks that part.
    fn is_awaited(&self, place: u64, member: u16) -> bool {
        self.written_to(place).is_some_and(|work| work.lacks.contains(&member))
    }

    fn written_to(&self, place: u64) -> Option<&Work> {
        self.busy.values().find(|work| work.to == Some(place))
    }

    /// Passes over places with nothing to resilver; returns the next ones that follow each other, up to a step. None,
    /// where the next is awaited.
    fn next_places(&mut self, member: u16) -> Range<u64> {
        let end = self.places.used();
        let is_next = |slot: &u64| self.is_settled(*slot) || self.is_awaited(*slot, member);
        let from = (self.resilver.next..end).find(is_next).unwrap_or(end);
        let most = (STEP * self.geometry.columns / self.allocated).max(1);
        let to = (from..end.min(from + most)).find(|slot| !self.is_settled(*slot)).unwrap_or(end.min(from + most));
        self.resilver.next = to;
        from..to
    }

    /// Reads what places of a member can be computed from; returns the bytes that it has there.
    fn step(&mut self, member: u16, places: Range<u64>) -> u64 {
        // Of every member from the first byte to the last.
        let mut reads: Vec<Option<(u64, u64)>> = vec![None; self.present.len()];
        let mut write: Option<(u64, u64)> = None;
        let widen = |have: Option<(u64, u64)>, from: u64, to: u64| {
            Some(have.map_or((from, to), |(first, last)| (first.min(from), last.max(to))))
        };
        let to = places.end;
        for slot in places {
            let Some(own) = self.columns_of(slot).into_iter().find(|column| column.member == member) else { continue };
            let Some(sources) = self.sources(slot, Some(member)) else { continue };
            write = widen(write, own.offset, own.offset + u64::from(own.len));
            for column in sources {
                let read = &mut reads[usize::from(column.member)];
                *read = widen(*read, column.offset, column.offset + u64::from(column.len));
            }
        }
        let number = self.resilver.numbers;
        self.resilver.numbers += 1;
        let reads = (0..).zip(reads).filter_map(|(member, range)| range.map(|(from, to)| (member, from, to)));
        let reads: Vec<(u16, u64, u64)> = reads.collect();
        let write = write.map(|(from, to)| (from, (to - from) as u32));
        let (left, bytes) = (reads.len() as u32, write.map_or(0, |(_, len)| u64::from(len)));
        self.resilver.steps.push_back(Step { number, to, left, write, bytes, is_done: reads.is_empty() });
        for (member, from, to) in reads {
            let extent = (member, from, (to - from) as u32);
            self.command(Op::Read, extent, For::Resilver(number), Entropy::INCOMPRESSIBLE);
        }
        self.finish_steps();
        bytes
    }

    /// A place holds nothing any more. Places that a step has read and not yet written stay in use until it is over, so
    /// that nobody writes what the step would write over.
    pub(super) fn free(&mut self, place: u64) {
        if self.resilver.steps.is_empty() || !(self.resilver.done..self.resilver.next).contains(&place) {
            return self.places.give_back(place);
        }
        self.resilver.freed.push(place);
    }

    /// A command of a step is completed. A step of a member that has failed since is ignored.
    pub(super) fn resilver_goes_on(&mut self, now: Instant, number: u32, fault: Option<Fault>) {
        let Some(at) = self.resilver.steps.iter().position(|step| step.number == number) else { return };
        let member = self.resilver.members.front().expect("steps are of a member").member;
        let step = &mut self.resilver.steps[at];
        step.left -= 1;
        if fault.is_some() && !self.is_suspended() {
            // A source failed: what is not done yet is read again from those that are left.
            self.resilver.steps.clear();
            self.finish_steps();
            self.resilver.next = self.resilver.done;
            return self.resilver_more(now);
        }
        let step = &mut self.resilver.steps[at];
        if step.left > 0 {
            return;
        }
        if let Some((offset, len)) = step.write.take() {
            step.left = 1;
            self.counters.resilvered_bytes += u64::from(len);
            self.command(Op::Write, (member, offset, len), For::Resilver(number), Entropy::INCOMPRESSIBLE);
        } else {
            step.is_done = true;
            self.finish_steps();
            self.resilver_more(now);
        }
    }

    /// Steps at the front that are done are over, and so are those that were thrown away.
    fn finish_steps(&mut self) {
        while self.resilver.steps.front().is_some_and(|step| step.is_done) {
            let step = self.resilver.steps.pop_front().expect("there is a first");
            self.resilver.done = step.to;
            let first = self.resilver.members.front().expect("steps are of a member").number;
            self.resilver.all[first].bytes += step.bytes;
        }
        if self.resilver.steps.is_empty() {
            for slot in std::mem::take(&mut self.resilver.freed) {
                self.places.give_back(slot);
            }
        }
    }

    /// The first member has all that it had.
    fn resilvered(&mut self, now: Instant, member: u16) {
        self.present[usize::from(member)] = Presence::Whole;
        let spare = self.resilver.members.pop_front().expect("it was at work");
        self.rebuild_ends(now, &spare, JobState::Done);
        self.resilver.restart(now);
    }
}
