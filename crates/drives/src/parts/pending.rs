//! Commands waiting for the arm, sorted by address, and the orders in which a drive may take them.

use hotband_units::Instant;

use super::geometry::Place;
use super::rotation::{REVOLUTION, Rotation};
use super::seek::SeekCurve;

/// In which order a drive takes the commands of its queue.
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
    /// Where the first sector is.
    pub place: Place,
    /// Angle of the first sector.
    pub angle: u64,
    /// When it may first be served.
    pub ready: Instant,
    /// Order of arrival.
    pub sequence: u64,
    /// The owner's handle.
    pub slot: u32,
}

/// Where the head is and what time it is, for weighing commands.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// Time.
    pub now: Instant,
    /// Cylinder under the head.
    pub cylinder: u32,
    /// Track within the cylinder.
    pub track: u32,
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
        let distance = self.cylinder.abs_diff(to.cylinder);
        if distance == 0 {
            return if self.track == to.track { 0 } else { self.head_switch };
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
        let wait = if angle >= arrival { angle - arrival } else { angle + REVOLUTION - arrival };
        if wait > REVOLUTION - self.slack { (0, REVOLUTION - wait) } else { (wait, 0) }
    }

    #[inline]
    fn rotation_speed(&self) -> u64 {
        self.rotation.turned(hotband_units::Span(1))
    }

    /// Positioning cost (seek and rotation, in angle units) from angle `from`.
    #[inline]
    fn cost(&self, from: u64, waiting: &Waiting) -> u64 {
        let seek = self.seek(&waiting.place, waiting.write);
        u64::from(seek) * self.rotation_speed() + self.wait(from, seek, waiting.angle)
    }

    /// No command this far away can be reached in less (angle units).
    #[inline]
    fn least(&self, cylinder: u32) -> u64 {
        u64::from(self.read_curve.nanos(self.cylinder.abs_diff(cylinder))) * self.rotation_speed()
    }
}

/// A set of waiting commands, sorted by (sector, sequence).
#[derive(Clone, Debug, Default)]
pub struct Pending {
    sorted: Vec<Waiting>,
    /// Sequence and readiness of the oldest, recomputed when it leaves.
    oldest: Option<(u64, Instant)>,
}

impl Pending {
    /// Number waiting.
    #[inline]
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    /// Whether none wait.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// The commands, by address.
    pub fn by_address(&self) -> &[Waiting] {
        &self.sorted
    }

    /// Adds a command.
    pub fn insert(&mut self, waiting: Waiting) {
        let key = (waiting.sector, waiting.sequence);
        let at = self.sorted.partition_point(|have| (have.sector, have.sequence) < key);
        if self.oldest.is_none_or(|(sequence, _)| waiting.sequence < sequence) {
            self.oldest = Some((waiting.sequence, waiting.ready));
        }
        self.sorted.insert(at, waiting);
    }

    /// Removes and returns the command at `index`.
    pub fn remove(&mut self, index: usize) -> Waiting {
        let removed = self.sorted.remove(index);
        if self.oldest.is_some_and(|(sequence, _)| sequence == removed.sequence) {
            self.oldest = self.sorted.iter().map(|have| (have.sequence, have.ready)).min();
        }
        removed
    }

    /// When the oldest command became ready.
    #[inline]
    pub fn oldest_ready(&self) -> Option<Instant> {
        self.oldest.map(|(_, ready)| ready)
    }

    /// Index of the oldest command that begins at `sector`, if any does.
    #[inline]
    pub fn beginning_at(&self, sector: u64) -> Option<usize> {
        let index = self.sorted.partition_point(|have| have.sector < sector);
        self.sorted.get(index).filter(|have| have.sector == sector).map(|_| index)
    }

    /// Of the commands that were ready by `latest`, the one with the least positioning time: serving whatever has
    /// waited too long, and nothing else, bounds every wait without giving up the order when much has waited.
    pub fn choose_aged(&self, head: &Head, latest: Instant) -> Option<(usize, u64)> {
        self.soonest(head, head.rotation.angle(head.now), latest)
    }

    /// Index of the oldest command.
    pub fn oldest(&self) -> Option<usize> {
        let (sequence, _) = self.oldest?;
        self.sorted.iter().position(|have| have.sequence == sequence)
    }

    /// Index of the command that `order` takes next, and what it costs in angle units.
    pub fn choose(&self, order: Order, head: &Head) -> Option<(usize, u64)> {
        let from = head.rotation.angle(head.now);
        match order {
            Order::Positioning => self.soonest(head, from, Instant::NEVER),
            Order::Fcfs => self.oldest().map(|index| (index, head.cost(from, &self.sorted[index]))),
            Order::Sstf => {
                let distance = |waiting: &Waiting| head.cylinder.abs_diff(waiting.place.cylinder);
                let nearest = (0..self.sorted.len()).min_by_key(|&i| (distance(&self.sorted[i]), self.sorted[i].sequence));
                nearest.map(|index| (index, head.cost(from, &self.sorted[index])))
            }
            Order::Clook => {
                let here = (head.cylinder, head.track);
                let ahead = self.sorted.partition_point(|have| (have.place.cylinder, have.place.track) < here);
                let index = if ahead < self.sorted.len() { ahead } else { 0 };
                self.sorted.get(index).map(|waiting| (index, head.cost(from, waiting)))
            }
        }
    }

    /// Among commands ready by `latest`, the one with the least positioning time. Looks outwards from the head on both sides and stops when the
    /// seek alone costs more than the best command found.
    fn soonest(&self, head: &Head, from: u64, latest: Instant) -> Option<(usize, u64)> {
        let all = self.sorted.as_slice();
        let middle = all.partition_point(|have| have.place.cylinder < head.cylinder);
        let (mut best, mut best_cost, mut best_sequence) = (None, u64::MAX, u64::MAX);
        let mut consider = |index: usize| {
            let waiting = &all[index];
            if best_cost < u64::MAX && head.least(waiting.place.cylinder) > best_cost {
                return false;
            }
            if waiting.ready > latest {
                return true;
            }
            let cost = head.cost(from, waiting);
            if (cost, waiting.sequence) < (best_cost, best_sequence) {
                (best, best_cost, best_sequence) = (Some(index), cost, waiting.sequence);
            }
            true
        };
        let (mut below, mut above) = (middle, middle);
        let (mut more_below, mut more_above) = (true, true);
        while more_below || more_above {
            more_above = more_above && above < all.len() && consider(above);
            above += 1;
            more_below = more_below && below > 0 && consider(below - 1);
            below = below.saturating_sub(1);
        }
        best.map(|index| (index, best_cost))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::seek::SeekPoints;
    use hotband_units::{Rpm, Span};
    use proptest::prelude::*;

    const TRACKS: u32 = 10_000;

    fn curve() -> SeekCurve {
        let ms = Span::from_millis_f64;
        SeekCurve::new(SeekPoints { track: ms(0.2), average: ms(3.0), full: ms(6.0) }, TRACKS)
    }

    fn head(curve: &SeekCurve, cylinder: u32, now: u64) -> Head<'_> {
        Head {
            now: Instant(now),
            cylinder,
            track: 0,
            rotation: Rotation::new(Rpm(15_000)),
            read_curve: curve,
            write_curve: curve,
            head_switch: 200_000,
            slack: 0,
        }
    }

    fn waiting(cylinder: u32, angle: u64, sequence: u64) -> Waiting {
        let place = Place { cylinder, track: 0, flow: angle };
        Waiting {
            sector: u64::from(cylinder) * 1000,
            count: 8,
            write: false,
            place,
            angle,
            ready: Instant(sequence),
            sequence,
            slot: 0,
        }
    }

    fn set(of: &[(u32, u64)]) -> Pending {
        let mut pending = Pending::default();
        for (sequence, (cylinder, angle)) in of.iter().enumerate() {
            pending.insert(waiting(*cylinder, *angle, sequence as u64));
        }
        pending
    }

    fn chosen(pending: &Pending, order: Order, head: &Head) -> u64 {
        pending.by_address()[pending.choose(order, head).unwrap().0].sequence
    }

    #[test]
    fn each_order_takes_its_own() {
        let curve = curve();
        let head = head(&curve, 5_000, 0);
        // 0: far; 1: next track, but just missed; 2: near and soon under the head; 3: a little below.
        let half = REVOLUTION / 2;
        let pending = set(&[(9_000, half), (5_001, 0), (5_100, half), (4_999, 1)]);
        assert_eq!(chosen(&pending, Order::Fcfs, &head), 0);
        assert_eq!(chosen(&pending, Order::Sstf, &head), 1);
        assert_eq!(chosen(&pending, Order::Clook, &head), 1);
        assert_eq!(chosen(&pending, Order::Positioning, &head), 2);
    }

    #[test]
    fn clook_turns_back_to_the_lowest_address() {
        let curve = curve();
        assert_eq!(chosen(&set(&[(3_000, 0), (40, 0)]), Order::Clook, &head(&curve, 5_000, 0)), 1);
    }

    #[test]
    fn what_has_waited_too_long_goes_first() {
        let curve = curve();
        let pending = set(&[(9_000, 0), (5_000, 1)]);
        let head = head(&curve, 5_000, 1_000_000);
        let (index, _) = pending.choose_aged(&head, Instant(0)).unwrap();
        assert_eq!(pending.by_address()[index].sequence, 0, "only the first was ready at time 0");
    }

    proptest! {
        #[test]
        fn looking_outwards_finds_what_looking_everywhere_finds(
            commands in proptest::collection::vec((0..TRACKS, 0..REVOLUTION), 1..80),
            cylinder in 0..TRACKS,
            now in 0_u64..10_000_000_000,
        ) {
            let curve = curve();
            let head = head(&curve, cylinder, now);
            let pending = set(&commands);
            let from = head.rotation.angle(head.now);
            let everywhere = pending.by_address().iter().map(|w| (head.cost(from, w), w.sequence)).min().unwrap();
            let (index, cost) = pending.choose(Order::Positioning, &head).unwrap();
            prop_assert_eq!((cost, pending.by_address()[index].sequence), everywhere);
        }

        #[test]
        fn the_oldest_is_known_after_any_removal(removals in proptest::collection::vec(0_usize..20, 1..19)) {
            let mut pending = set(&(0..20).map(|i| (i * 37 % 500, 0)).collect::<Vec<_>>());
            for at in removals {
                pending.remove(at % pending.len());
                let oldest = pending.by_address().iter().map(|w| w.ready).min();
                prop_assert_eq!(pending.oldest_ready(), oldest);
            }
        }
    }
}
