//! The drive's own connection: one transfer at a time.

use hotband_units::{Instant, Rate, Span};

use crate::parts::pcie::{Direction, Pcie};

/// A dedicated port of a given rate.
///
/// With several arms every transfer takes the wire, in either direction, and goes into the first idle time that is long
/// enough. With one, data of writes that go to the media takes its time without waiting for the wire, and of several
/// idle times between transfers that are booked for later only the last is used.
///
/// Data may be packed for the wire ([`Port::of_lanes`]): it then takes what its packets take, and no less than the
/// drive's own path.
///
/// Leaves out: the command phase (part of the command overhead), full duplex (one port per direction), and the overlap
/// of media and wire within one command: data crosses the wire when the whole command has been read.
#[derive(Clone, Debug)]
pub struct Port {
    rate: Rate,
    free_at: Instant,
    /// The wire is idle from here to there, before a transfer that is booked for later.
    idle: (Instant, Instant),
    /// The last length sent and its time: most commands are as long as the one before.
    last: (u64, Span),
    /// Packing of data: the lanes that carry it and the direction.
    packed: Option<(Pcie, Direction)>,
    /// Several arms use it.
    is_shared: bool,
    /// Where they do: when it is busy, by time, no two times touching.
    booked: Vec<(Instant, Instant)>,
}

impl Port {
    /// An idle port.
    pub fn new(rate: Rate) -> Self {
        Self {
            rate,
            free_at: Instant::ZERO,
            idle: (Instant::ZERO, Instant::ZERO),
            last: (0, Span::ZERO),
            packed: None,
            is_shared: false,
            booked: Vec::new(),
        }
    }

    /// One direction of PCI Express lanes; `rate` is that of the drive's own path to them.
    pub fn of_lanes(lanes: Pcie, direction: Direction, rate: Rate) -> Self {
        Self { packed: Some((lanes, direction)), ..Self::new(rate) }
    }

    /// An idle port that several arms use.
    pub fn shared(rate: Rate) -> Self {
        Self { is_shared: true, ..Self::new(rate) }
    }

    /// Sends `bytes` that are ready at `ready`: when they have arrived.
    #[inline]
    pub fn send(&mut self, ready: Instant, bytes: u64) -> Instant {
        let time = self.time_for(bytes);
        if self.is_shared {
            return self.book(ready, time);
        }
        // A read books its transfer when the arm begins it: until then, what memory answers goes first.
        let before = ready.max(self.idle.0) + time;
        if before <= self.idle.1 {
            self.idle.0 = before;
            return before;
        }
        if ready > self.free_at {
            self.idle = (self.free_at, ready);
        }
        self.free_at = ready.max(self.free_at) + time;
        self.free_at
    }

    /// Receives the data of a write that goes to the media, from `now` on; returns how long that takes.
    #[inline]
    pub fn receive(&mut self, now: Instant, bytes: u64) -> Span {
        let time = self.time_for(bytes);
        if self.is_shared { self.book(now, time).since(now) } else { time }
    }

    /// Takes the first idle time of this length from `ready` on; returns its end.
    fn book(&mut self, ready: Instant, time: Span) -> Instant {
        let mut begin = ready;
        let mut at = self.booked.partition_point(|(_, to)| *to <= ready);
        while let Some((_, to)) = self.booked.get(at).filter(|(from, _)| begin + time > *from) {
            begin = begin.max(*to);
            at += 1;
        }
        let mut end = begin + time;
        if time > Span::ZERO {
            if let Some((_, to)) = self.booked.get(at).filter(|(from, _)| *from == end) {
                end = *to;
                self.booked.remove(at);
            }
            match at.checked_sub(1).map(|before| &mut self.booked[before]) {
                Some((_, to)) if *to == begin => *to = end,
                _ => self.booked.insert(at, (begin, end)),
            }
        }
        begin + time
    }

    /// Bookings before `now` are over.
    pub fn forget_before(&mut self, now: Instant) {
        let over = self.booked.partition_point(|(_, to)| *to <= now);
        self.booked.drain(..over);
    }

    /// Time that `bytes` take on an idle wire.
    #[inline]
    pub fn time_for(&mut self, bytes: u64) -> Span {
        if self.last.0 != bytes {
            let packed = self
                .packed
                .map_or(Span::ZERO, |(lanes, direction)| lanes.rate().time_for(lanes.wire_bytes(direction, bytes)));
            self.last = (bytes, self.rate.time_for(bytes).max(packed));
        }
        self.last.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A byte takes a nanosecond.
    fn shared() -> Port {
        Port::shared(Rate(1_000_000_000))
    }

    #[test]
    fn a_transfer_takes_the_first_idle_time_that_is_long_enough() {
        let mut port = shared();
        assert_eq!(port.send(Instant(100), 50), Instant(150));
        assert_eq!(port.send(Instant(200), 50), Instant(250));
        // Before the first, not quite before the first, exactly between, and behind.
        assert_eq!(port.send(Instant(0), 50), Instant(50));
        assert_eq!(port.send(Instant(55), 50), Instant(200));
        assert_eq!(port.send(Instant(55), 45), Instant(100));
        assert_eq!(port.send(Instant(140), 10), Instant(260));
        assert_eq!(port.booked, [(Instant(0), Instant(50)), (Instant(55), Instant(260))]);
    }

    #[test]
    fn nothing_takes_no_time_on_an_idle_wire_and_waits_for_a_busy_one() {
        let mut port = shared();
        port.send(Instant(100), 50);
        assert_eq!(port.send(Instant(90), 0), Instant(90));
        assert_eq!(port.send(Instant(120), 0), Instant(150));
        assert_eq!(port.booked.len(), 1);
    }

    #[test]
    fn what_is_over_is_forgotten_and_what_is_under_way_is_not() {
        let mut port = shared();
        port.send(Instant(100), 50);
        port.send(Instant(200), 50);
        port.forget_before(Instant(150));
        assert_eq!(port.booked, [(Instant(200), Instant(250))]);
        port.forget_before(Instant(249));
        assert_eq!(port.send(Instant(249), 1), Instant(251));
    }

    #[test]
    fn both_directions_take_the_wire_where_it_is_shared() {
        let mut port = shared();
        assert_eq!(port.receive(Instant(0), 100), Span(100));
        assert_eq!(port.receive(Instant(0), 100), Span(200));
        assert_eq!(port.send(Instant(50), 10), Instant(210));
        let mut single = Port::new(Rate(1_000_000_000));
        assert_eq!((single.receive(Instant(0), 100), single.receive(Instant(0), 100)), (Span(100), Span(100)));
    }

    #[test]
    fn one_arm_has_the_last_idle_time_before_a_transfer_that_is_booked_for_later() {
        let mut port = Port::new(Rate(1_000_000_000));
        assert_eq!(port.send(Instant(100), 50), Instant(150));
        // Two fit in before it, the third does not.
        assert_eq!(port.send(Instant(0), 50), Instant(50));
        assert_eq!(port.send(Instant(20), 50), Instant(100));
        assert_eq!(port.send(Instant(20), 1), Instant(151));
        assert_eq!(port.send(Instant(200), 50), Instant(250));
        assert_eq!(port.send(Instant(160), 41), Instant(291), "too long for what is idle");
        assert_eq!(port.send(Instant(160), 40), Instant(200));
        assert_eq!(port.booked, []);
    }

    #[test]
    fn packed_data_takes_what_its_packets_take_and_no_less_than_the_path_to_them() {
        let lanes = Pcie { generation: 3, lanes: 1, payload: 256 };
        for direction in [Direction::ToHost, Direction::FromHost] {
            let wire = |bytes| lanes.rate().time_for(lanes.wire_bytes(direction, bytes));
            let mut fast = Port::of_lanes(lanes, direction, Rate(10_000_000_000));
            assert_eq!([4096, 8192, 4096].map(|bytes| fast.time_for(bytes)), [4096, 8192, 4096].map(wire));
            let mut slow = Port::of_lanes(lanes, direction, Rate(100_000_000));
            assert_eq!([4096, 8192, 8192].map(|bytes| slow.time_for(bytes)), [40_960, 81_920, 81_920].map(Span));
        }
    }

    #[test]
    fn a_transfer_that_follows_at_once_leaves_the_idle_time_before_as_it_is() {
        let mut port = Port::new(Rate(1_000_000_000));
        assert_eq!(
            [(100, 50), (150, 10), (0, 50)].map(|(ready, bytes)| port.send(Instant(ready), bytes).0),
            [150, 160, 50]
        );
    }
}
