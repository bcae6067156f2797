//! The one queue of things to come, ordered by (time, class, sequence).

use hotband_units::Instant;

/// Order of events at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Before everything else: nothing is done any more at the time at which power goes off.
    First,
    /// Drives and links.
    Usual,
    /// Services, after all drive completions of this time.
    Late,
    /// Changes of parts, and repair, after all other events.
    Last,
}

/// Events with a payload below 2^24, in order of time and, at the same time, of class and of insertion.
///
/// A binary heap that leaves the place of a removed event open: nearly always the part that was woken requests its
/// next wake-up at once, and that one fills the place with one walk down the heap instead of two.
#[derive(Debug)]
pub struct EventQueue {
    heap: Vec<u128>,
    /// Whether the root has left and its place is open.
    open: bool,
    /// Number of the next event, of class `Usual`.
    sequence: u64,
}

/// Bits of a key that hold the payload; 38 bits of sequence stay above them (2.7 * 10^11 events), then two of class.
const PAYLOAD_BITS: u32 = 24;
const CLASS_SHIFT: u32 = 38;

impl Default for EventQueue {
    fn default() -> Self {
        Self { heap: Vec::new(), open: false, sequence: (Class::Usual as u64) << CLASS_SHIFT }
    }
}

impl EventQueue {
    /// Adds an event at `at`.
    #[inline]
    pub fn push(&mut self, at: Instant, payload: u32) {
        self.insert(at, self.sequence, payload);
        self.sequence += 1;
    }

    /// Adds an event of another class than `Usual`.
    pub fn push_as(&mut self, class: Class, at: Instant, payload: u32) {
        let number = self.sequence & ((1 << CLASS_SHIFT) - 1);
        self.push_in_order(class, at, number, payload);
        self.sequence += 1;
    }

    /// Adds an event that goes, among those of its class at the same time, by `order` and not by insertion.
    pub fn push_in_order(&mut self, class: Class, at: Instant, order: u64, payload: u32) {
        self.insert(at, (class as u64) << CLASS_SHIFT | order, payload);
    }

    #[inline]
    fn insert(&mut self, at: Instant, order: u64, payload: u32) {
        debug_assert!(payload >> PAYLOAD_BITS == 0, "payloads are part ids and slots, far below 2^24");
        let key = (u128::from(at.0) << 64) | u128::from(order << PAYLOAD_BITS | u64::from(payload));
        if self.open {
            self.open = false;
            self.sink(key);
        } else {
            self.heap.push(key);
            self.rise(self.heap.len() - 1, key);
        }
    }

    /// Time and payload of the next event.
    #[inline]
    pub fn peek(&self) -> Option<(Instant, u32)> {
        let key = if self.open { self.heap.get(1..)?.iter().take(2).min()? } else { self.heap.first()? };
        Some((Instant((key >> 64) as u64), (*key as u32) & ((1 << PAYLOAD_BITS) - 1)))
    }

    /// Removes the next event.
    #[inline]
    pub fn pop(&mut self) {
        if self.open
            && let Some(last) = self.heap.pop()
            && !self.heap.is_empty()
        {
            self.sink(last);
        }
        self.open = !self.heap.is_empty();
    }

    /// Removes the events whose payload `is_out` tells of; returns their times and payloads, in their order.
    pub fn remove(&mut self, is_out: impl Fn(u32) -> bool) -> Vec<(Instant, u32)> {
        let payload = |key: u128| (key as u32) & ((1 << PAYLOAD_BITS) - 1);
        // The key at an open root has left.
        let waiting = std::mem::take(&mut self.heap).into_iter().skip(usize::from(std::mem::take(&mut self.open)));
        let (mut out, mut kept): (Vec<u128>, Vec<u128>) = waiting.partition(|key| is_out(payload(*key)));
        out.sort_unstable();
        // What is in order is a heap.
        kept.sort_unstable();
        self.heap = kept;
        out.into_iter().map(|key| (Instant((key >> 64) as u64), payload(key))).collect()
    }

    /// Removes all events.
    pub fn clear(&mut self) {
        self.heap.clear();
        self.open = false;
    }

    /// Puts `key` into the open root and lets it sink to where it belongs. The open place goes down to the end first,
    /// and the key rises from there: it is nearly always later than most, so that this takes half the comparisons.
    #[inline]
    fn sink(&mut self, key: u128) {
        let heap = self.heap.as_mut_slice();
        let mut at = 0;
        loop {
            let left = 2 * at + 1;
            let child = match heap.get(left..) {
                // Added and not branched on: which child is earlier cannot be predicted.
                Some([one, other, ..]) => left + usize::from(other < one),
                Some([_]) => left,
                _ => break,
            };
            heap[at] = heap[child];
            at = child;
        }
        self.rise(at, key);
    }

    /// Lets `key` rise from the open place `at` to where it belongs.
    #[inline]
    fn rise(&mut self, mut at: usize, key: u128) {
        let heap = self.heap.as_mut_slice();
        while at > 0 && heap[(at - 1) / 2] > key {
            heap[at] = heap[(at - 1) / 2];
            at = (at - 1) / 2;
        }
        heap[at] = key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ties_leave_in_order_of_arrival() {
        let mut queue = EventQueue::default();
        for (at, payload) in [(5, 1), (3, 2), (5, 3), (3, 4), (0, 5)] {
            queue.push(Instant(at), payload);
        }
        let mut order = Vec::new();
        while let Some((at, payload)) = queue.peek() {
            order.push((at.0, payload));
            queue.pop();
        }
        assert_eq!(order, [(0, 5), (3, 2), (3, 4), (5, 1), (5, 3)]);
    }

    #[test]
    fn a_removed_event_leaves_no_trace() {
        let mut queue = EventQueue::default();
        queue.pop();
        queue.push(Instant(1), 1);
        queue.pop();
        assert_eq!(queue.peek(), None);
        queue.pop();
        queue.push(Instant(2), 2);
        assert_eq!(queue.peek(), Some((Instant(2), 2)));
    }

    #[test]
    fn classes_go_before_insertion_and_time_before_classes() {
        let mut queue = EventQueue::default();
        queue.push_as(Class::Last, Instant(5), 1);
        queue.push_in_order(Class::Late, Instant(5), 8, 2);
        queue.push_in_order(Class::Late, Instant(5), 7, 3);
        queue.push(Instant(5), 4);
        queue.push_as(Class::First, Instant(5), 5);
        queue.push_as(Class::Last, Instant(4), 6);
        let mut order = Vec::new();
        while let Some((_, payload)) = queue.peek() {
            order.push(payload);
            queue.pop();
        }
        assert_eq!(order, [6, 5, 4, 3, 2, 1]);
    }

    #[test]
    fn what_is_removed_comes_back_in_order_and_the_rest_stays() {
        for is_open in [false, true] {
            let mut queue = EventQueue::default();
            queue.push(Instant(0), 9);
            for (at, payload) in [(5, 1), (3, 2), (9, 3), (1, 4), (7, 5), (3, 6)] {
                queue.push(Instant(at), payload);
            }
            if is_open {
                queue.pop();
            }
            let odd = queue.remove(|payload| payload % 2 == 1 && payload != 9);
            assert_eq!(odd, [(Instant(5), 1), (Instant(7), 5), (Instant(9), 3)]);
            let mut left = Vec::new();
            while let Some((_, payload)) = queue.peek() {
                left.push(payload);
                queue.pop();
            }
            assert_eq!(left, if is_open { vec![4, 2, 6] } else { vec![9, 4, 2, 6] });
        }
    }

    proptest! {
        #[test]
        fn events_leave_as_from_a_sorted_list(steps in proptest::collection::vec(0_u64..40, 1..300)) {
            let (mut queue, mut model) = (EventQueue::default(), Vec::new());
            for (sequence, step) in steps.into_iter().enumerate() {
                // Two steps of five remove, so that the queue runs empty now and then.
                if step < 16 {
                    queue.pop();
                    model.sort_unstable();
                    model.drain(..model.len().min(1));
                } else {
                    queue.push(Instant(step), sequence as u32);
                    model.push((step, sequence as u32));
                }
                prop_assert_eq!(queue.peek(), model.iter().min().map(|(at, payload)| (Instant(*at), *payload)));
            }
        }
    }
}
