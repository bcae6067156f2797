//! The one queue of things to come, ordered by (time, sequence).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hotband_units::Instant;

/// Events with a payload below 2^24, in order of time and, at the same time, of insertion.
#[derive(Debug, Default)]
pub struct EventQueue {
    heap: BinaryHeap<Reverse<u128>>,
    sequence: u64,
}

/// Bits of a key that hold the payload; 40 bits of sequence stay above them (10^12 events).
const PAYLOAD_BITS: u32 = 24;

impl EventQueue {
    /// Adds an event at `at`.
    #[inline]
    pub fn push(&mut self, at: Instant, payload: u32) {
        debug_assert!(payload >> PAYLOAD_BITS == 0, "payloads are part ids and slots, far below 2^24");
        let low = (self.sequence << PAYLOAD_BITS) | u64::from(payload);
        self.sequence += 1;
        self.heap.push(Reverse((u128::from(at.0) << 64) | u128::from(low)));
    }

    /// Time and payload of the next event.
    #[inline]
    pub fn peek(&self) -> Option<(Instant, u32)> {
        let Reverse(key) = self.heap.peek()?;
        Some((Instant((key >> 64) as u64), (*key as u32) & ((1 << PAYLOAD_BITS) - 1)))
    }

    /// Removes the next event.
    #[inline]
    pub fn pop(&mut self) {
        self.heap.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
