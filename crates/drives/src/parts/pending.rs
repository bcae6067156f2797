//! Commands waiting for the arm, sorted by address, and the orders in which a drive may take them.

use std::hint::select_unpredictable;

use hotband_units::{Instant, Span};

use super::geometry::Place;
use super::rotation::{REVOLUTION, Rotation};
use super::seek::SeekCurve;

/// Sectors that a stream may leave out before its next command, in lengths of that command: the parity of RAID 6 is two
/// chunks in a row.
const MOST_LEFT_OUT: u64 = 2;

/// Order in which a drive serves its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// First come, first served.
    Fcfs,
    /// Shortest seek first.
    Sstf,
    /// Upwards through the addresses, then back to the lowest.
    Clook,
    /// Shortest positioning time (seek and rotation) first.
    Positioning,
}

/// Something that waits for the arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// First sector.
    pub sector: u64,
    /// Sectors.
    pub count: u32,
    /// Whether the media is written.
    pub write: bool,
    /// Place where the first sector is.
    pub place: Place,
    /// Angle of the first sector.
    pub angle: u64,
    /// Time when it may first be served.
    pub ready: Instant,
    /// Time when the drive could have served it: a command without a tag waited outside.
    pub since: Instant,
    /// Order of arrival.
    pub sequence: u64,
    /// The owner's handle.
    pub slot: u32,
}

impl Waiting {
    /// First sector beyond.
    #[inline]
    pub fn end(&self) -> u64 {
        self.sector + u64::from(self.count)
    }
}

/// Position of the head and the time, to weigh commands.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// Time.
    pub now: Instant,
    /// Cylinder under the head.
    pub cylinder: u32,
    /// Track within the cylinder.
    pub track: u32,
    /// First sector beyond the last one served: sectors below it are at this cylinder or before,
    /// others at it or beyond.
    pub reached: u64,
    /// The spindle.
    pub rotation: Rotation,
    /// Seek time of reads.
    pub read_curve: &'a SeekCurve,
    /// Seek time of writes.
    pub write_curve: &'a SeekCurve,
    /// Time to switch heads within a cylinder, in nanoseconds.
    pub head_switch: u32,
    /// A sector that has passed the head by no more than this (angle units) is still met: rounding to whole
    /// nanoseconds must not cost a stream a revolution.
    pub slack: u64,
}

impl Head<'_> {
    /// Seek time to a command, in nanoseconds.
    #[inline]
    pub fn seek(&self, to: &Place, write: bool) -> u32 {
        self.seek_to(to.cylinder, to.track, write)
    }

    #[inline]
    fn seek_to(&self, cylinder: u32, track: u32, write: bool) -> u32 {
        let distance = self.cylinder.abs_diff(cylinder);
        if distance == 0 {
            return if self.track == track { 0 } else { self.head_switch };
        }
        if write { self.write_curve.nanos(distance) } else { self.read_curve.nanos(distance) }
    }

    /// Angle to wait for after a seek of `seek` nanoseconds that begins when the platter is at `from`.
    #[inline]
    pub fn wait(&self, from: u64, seek: u32, angle: u64) -> u64 {
        self.wait_or_late(from, seek, angle).0
    }

    /// Angle to wait for, and by how much (within the slack) the sector has already passed: one of them is zero.
    #[inline]
    pub fn wait_or_late(&self, from: u64, seek: u32, angle: u64) -> (u64, u64) {
        let arrival = (from + u64::from(seek) * self.rotation_speed()) % REVOLUTION;
        // Written without a branch: which side of the head a sector is on cannot be predicted.
        let wait = angle + REVOLUTION * u64::from(angle < arrival) - arrival;
        if wait > REVOLUTION - self.slack { (0, REVOLUTION - wait) } else { (wait, 0) }
    }

    #[inline]
    fn rotation_speed(&self) -> u64 {
        self.rotation.turned(Span(1))
    }

    /// Positioning cost (seek and rotation, in angle units) from angle `from`.
    #[inline]
    fn cost(&self, from: u64, near: &Near) -> u64 {
        self.cost_after(from, self.seek_near(near), near)
    }

    #[inline]
    fn seek_near(&self, near: &Near) -> u32 {
        self.seek_to(near.cylinder, near.track(), near.write())
    }

    /// The cost where the seek is known. The sector passes at an angle that is known without it, and again a revolution
    /// later: the first pass after the seek counts. This saves one division per weighed command
    /// compared with [`Head::wait`].
    #[inline]
    fn cost_after(&self, from: u64, seek: u32, near: &Near) -> u64 {
        let sought = u64::from(seek) * self.rotation_speed();
        // Which side of the head a sector is on, and whether it passes in time, cannot be predicted: no branches.
        let passes = select_unpredictable(near.angle < from, near.angle + REVOLUTION, near.angle) - from;
        let next = select_unpredictable(passes < sought, passes + REVOLUTION, passes);
        let cost = if next < sought { first_pass(next, sought) } else { next };
        select_unpredictable(cost - sought > REVOLUTION - self.slack, sought, cost)
    }
}

/// When a sector passes that passes at `angle` and once a revolution, not before `sought`: a seek of more than one
/// revolution.
#[cold]
fn first_pass(angle: u64, sought: u64) -> u64 {
    angle + (sought - angle).next_multiple_of(REVOLUTION)
}

/// Data of a command for weighing. Stored separately so that a whole queue lies in a few cache lines.
#[derive(Clone, Copy, Debug)]
struct Near {
    sector: u64,
    angle: u64,
    cylinder: u32,
    /// Track within the cylinder, and in the lowest bit whether the media is written.
    track_write: u32,
    /// Slot that holds the command.
    slot: u32,
    /// Sectors.
    count: u32,
}

impl Near {
    #[inline]
    fn track(&self) -> u32 {
        self.track_write >> 1
    }

    #[inline]
    fn write(&self) -> bool {
        self.track_write & 1 != 0
    }
}

/// A set of waiting commands, sorted by (sector, sequence).
#[derive(Clone, Debug, Default)]
pub struct Pending {
    near: Vec<Near>,
    all: Vec<Waiting>,
    free: Vec<u32>,
    /// Number of writes.
    writes: usize,
    /// Sequence and readiness of the oldest, recomputed when it leaves.
    oldest: Option<(u64, Instant)>,
}

impl Pending {
    /// Number waiting.
    #[inline]
    pub fn len(&self) -> usize {
        self.near.len()
    }

    /// Whether none wait.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.near.is_empty()
    }

    /// The command at `index`, counted by address.
    #[inline]
    pub fn get(&self, index: usize) -> &Waiting {
        &self.all[self.near[index].slot as usize]
    }

    /// The commands, by address.
    pub fn by_address(&self) -> impl Iterator<Item = &Waiting> {
        self.near.iter().map(|near| &self.all[near.slot as usize])
    }

    /// First sector beyond the command at `index`.
    #[inline]
    pub fn end(&self, index: usize) -> u64 {
        let near = &self.near[index];
        near.sector + u64::from(near.count)
    }

    /// Number of commands that begin before `sector`.
    #[inline]
    pub fn before(&self, sector: u64) -> usize {
        self.near.partition_point(|have| have.sector < sector)
    }

    /// Adds a command.
    pub fn insert(&mut self, waiting: Waiting) {
        let Waiting { sector, sequence, .. } = waiting;
        let mut at = self.before(sector);
        while at < self.len() && self.near[at].sector == sector && self.get(at).sequence < sequence {
            at += 1;
        }
        self.insert_at(at, waiting);
    }

    /// Adds a command where its place, counted by address, is known.
    pub fn insert_at(&mut self, at: usize, waiting: Waiting) {
        let sequence = waiting.sequence;
        if self.oldest.is_none_or(|(oldest, _)| sequence < oldest) {
            self.oldest = Some((sequence, waiting.since));
        }
        self.writes += usize::from(waiting.write);
        let slot = self.free.pop().unwrap_or_else(|| {
            self.all.push(waiting);
            self.all.len() as u32 - 1
        });
        self.all[slot as usize] = waiting;
        let Waiting { sector, count, angle, write, place: Place { cylinder, track, .. }, .. } = waiting;
        let track_write = (track << 1) | u32::from(write);
        self.near.insert(at, Near { sector, angle, cylinder, track_write, slot, count });
    }

    /// Removes and returns the command at `index`.
    pub fn remove(&mut self, index: usize) -> Waiting {
        let slot = self.near.remove(index).slot;
        self.free.push(slot);
        let removed = self.all[slot as usize];
        self.writes -= usize::from(removed.write);
        if self.oldest.is_some_and(|(sequence, _)| sequence == removed.sequence) {
            self.oldest = self.by_address().map(|have| (have.sequence, have.since)).min();
        }
        removed
    }

    /// Since when the oldest command waits.
    #[inline]
    pub fn oldest_since(&self) -> Option<Instant> {
        self.oldest.map(|(_, since)| since)
    }

    /// The command with the least positioning time of those that waited already at `latest`: serving whatever has
    /// waited too long, and nothing else, bounds every wait without giving up the order when much has waited.
    pub fn choose_aged(&self, head: &Head, latest: Instant) -> Option<(usize, u64)> {
        self.soonest(self.before(head.reached), head, |index| self.get(index).since <= latest)
    }

    /// The read with the least positioning time.
    pub fn choose_read(&self, head: &Head) -> Option<usize> {
        if self.writes == self.len() {
            return None;
        }
        self.soonest(self.before(head.reached), head, |index| !self.near[index].write()).map(|(index, _)| index)
    }

    /// Index of the oldest command.
    pub fn oldest(&self) -> Option<usize> {
        let (sequence, _) = self.oldest?;
        self.by_address().position(|have| have.sequence == sequence)
    }

    /// Index of the command that `order` takes next of the `window` oldest, and what it costs in angle units.
    ///
    /// In positioning order, a command that continues at the head's position goes first: a stream is not left for a
    /// command that would be reached a little sooner, since the commands left behind would wait for as long as the
    /// stream runs. The same for a stream that leaves out a little each time, as those of members of RAID 5 leave out
    /// parity, while nothing else waits longer. (SSTF and C-LOOK stay on it by themselves.)
    #[inline]
    pub fn choose_among(&self, window: usize, order: Order, head: &Head) -> Option<(usize, u64)> {
        if self.is_empty() {
            return None;
        }
        if order != Order::Positioning {
            return if self.len() <= window {
                self.choose(order, head)
            } else {
                self.choose_of_oldest(window, order, head)
            };
        }
        let middle = self.before(head.reached);
        if let Some(next) = self.stays(middle, head) {
            return Some(next);
        }
        if self.len() <= window {
            return self.soonest(middle, head, |_| true);
        }
        let last = self.youngest_of_oldest(window);
        self.soonest(middle, head, |index| self.get(index).sequence <= last)
    }

    /// Like `choose_among` in positioning order, but prefers commands that have waited: it takes the one of the
    /// `window` oldest whose positioning time minus `weight` millionths of its wait is smallest (Jacobson and Wilkes,
    /// Disk scheduling algorithms based on rotational position, HPL-CSP-91-7, 1991). The cost is its positioning time.
    pub fn choose_weighed(&self, window: usize, weight: u32, head: &Head) -> Option<(usize, u64)> {
        if let Some(next) = self.stays(self.before(head.reached), head) {
            return Some(next);
        }
        let last = if self.len() <= window { u64::MAX } else { self.youngest_of_oldest(window) };
        let from = head.rotation.angle(head.now);
        let weighed = self.near.iter().enumerate().filter_map(|(index, near)| {
            let waiting = &self.all[near.slot as usize];
            let waited = head.now.since(waiting.since).0.saturating_mul(u64::from(weight)) / 1_000_000;
            let cost = head.cost(from, near);
            let weighed = cost as i64 - head.rotation.turned(Span(waited)) as i64;
            (waiting.sequence <= last).then_some((weighed, waiting.sequence, index, cost))
        });
        weighed.min().map(|(_, _, index, cost)| (index, cost))
    }

    /// Index and cost of the command at `middle` (by address) if it continues the stream under the head.
    #[inline]
    fn stays(&self, middle: usize, head: &Head) -> Option<(usize, u64)> {
        let next = self.near.get(middle)?;
        if next.sector - head.reached > MOST_LEFT_OUT * u64::from(next.count) {
            return None;
        }
        Some((middle, self.goes_on(next, head)?))
    }

    /// Cost of the next command by address if it continues a stream. If that leaves out something, it has
    /// to be a read that the head has not passed yet, and the oldest: else what waits longer would wait for the stream.
    #[inline]
    fn goes_on(&self, next: &Near, head: &Head) -> Option<u64> {
        if next.sector == head.reached {
            return Some(0);
        }
        let sequence = self.all[next.slot as usize].sequence;
        if next.write() || self.oldest.is_none_or(|(oldest, _)| oldest != sequence) {
            return None;
        }
        let cost = head.cost(head.rotation.angle(head.now), next);
        (cost < REVOLUTION / 2).then_some(cost)
    }

    /// Sequence of the last of the `window` oldest commands.
    #[cold]
    fn youngest_of_oldest(&self, window: usize) -> u64 {
        let mut sequences: Vec<u64> = self.by_address().map(|have| have.sequence).collect();
        *sequences.select_nth_unstable(window - 1).1
    }

    /// A separate function, so that drives that consider their whole queue do not pay for it.
    #[cold]
    fn choose_of_oldest(&self, window: usize, order: Order, head: &Head) -> Option<(usize, u64)> {
        let last = self.youngest_of_oldest(window);
        let mut among = Self::default();
        self.by_address().filter(|have| have.sequence <= last).for_each(|have| among.insert(*have));
        let (index, cost) = among.choose(order, head)?;
        let sequence = among.get(index).sequence;
        self.by_address().position(|have| have.sequence == sequence).map(|index| (index, cost))
    }

    /// Index of the command that `order` selects next, and its cost in angle units.
    pub fn choose(&self, order: Order, head: &Head) -> Option<(usize, u64)> {
        let with_cost = |index: usize| (index, head.cost(head.rotation.angle(head.now), &self.near[index]));
        match order {
            Order::Positioning => self.soonest(self.before(head.reached), head, |_| true),
            Order::Fcfs => self.oldest().map(with_cost),
            Order::Sstf => {
                let distance = |index: usize| head.cylinder.abs_diff(self.near[index].cylinder);
                (0..self.len()).min_by_key(|&i| (distance(i), self.get(i).sequence)).map(with_cost)
            }
            Order::Clook => {
                let here = (head.cylinder, head.track);
                let ahead = self.near.partition_point(|have| (have.cylinder, have.track()) < here);
                let index = if ahead < self.len() { ahead } else { 0 };
                (index < self.len()).then(|| with_cost(index))
            }
        }
    }

    /// Among `eligible` commands, the one with the least positioning time. Looks outwards from the head, which is at
    /// `middle`, on one side and then on the other, until the seek alone costs more than the best command found.
    #[inline]
    fn soonest(&self, middle: usize, head: &Head, eligible: impl Fn(usize) -> bool) -> Option<(usize, u64)> {
        let from = head.rotation.angle(head.now);
        let none = (usize::MAX, u64::MAX);
        let inwards = self.near.iter().enumerate().skip(middle);
        let best = self.soonest_of(inwards, none, (head, from), &eligible);
        let outwards = self.near[..middle].iter().enumerate().rev();
        let best = self.soonest_of(outwards, best, (head, from), &eligible);
        (best.1 < u64::MAX).then_some(best)
    }

    /// The best of `side`, whose distance from the head grows, and of `best`; the platter is at `from`.
    #[inline]
    fn soonest_of<'a>(
        &'a self,
        side: impl Iterator<Item = (usize, &'a Near)>,
        mut best: (usize, u64),
        (head, from): (&Head, u64),
        eligible: impl Fn(usize) -> bool,
    ) -> (usize, u64) {
        let nearest = if self.writes == self.len() { head.write_curve } else { head.read_curve };
        let mixed = self.writes > 0 && self.writes < self.len();
        for (index, have) in side {
            let distance = head.cylinder.abs_diff(have.cylinder);
            let least = nearest.nanos(distance);
            if u64::from(least) * head.rotation_speed() > best.1 {
                break;
            }
            let seek = if distance == 0 || mixed { head.seek_near(have) } else { least };
            let cost = head.cost_after(from, seek, have);
            if cost <= best.1 && eligible(index) && (cost < best.1 || self.is_older(index, best.0)) {
                best = (index, cost);
            }
        }
        best
    }

    #[cold]
    fn is_older(&self, index: usize, than: usize) -> bool {
        self.get(index).sequence < self.get(than).sequence
    }
}

#[cfg(test)]
mod tests;
