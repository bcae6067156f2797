//! Puts I/Os in order that touch the same columns of a layout: whoever changes a column has it alone.

use std::collections::VecDeque;
use std::ops::Range;

/// Columns with an owner or a waiting request, under their own number.
#[derive(Debug)]
struct Lock {
    key: u64,
    ranges: Vec<Range<u64>>,
    /// Nobody else may hold any of them; otherwise only those who hold them alone may not.
    alone: bool,
    /// The request that continues when it is granted.
    request: u32,
}

impl Lock {
    fn conflicts(&self, other: &Self) -> bool {
        let meets =
            |range: &Range<u64>| other.ranges.iter().any(|locked| range.start < locked.end && locked.start < range.end);
        (self.alone || other.alone) && self.ranges.iter().any(meets)
    }
}

/// The columns of one layout, granted in the order in which they were requested where they overlap.
#[derive(Debug, Default)]
pub(crate) struct Locks {
    granted: Vec<Lock>,
    waiting: VecDeque<Lock>,
}

impl Locks {
    /// Requests columns under `key`; returns whether `request` has them now. If not, `release` will name it.
    pub fn acquire(&mut self, key: u64, request: u32, ranges: Vec<Range<u64>>, alone: bool) -> bool {
        let lock = Lock { key, ranges, alone, request };
        let is_free = !self.granted.iter().chain(&self.waiting).any(|have| have.conflicts(&lock));
        if is_free {
            self.granted.push(lock);
        } else {
            self.waiting.push_back(lock);
        }
        is_free
    }

    /// Releases the lock of `key`; appends the requests that hold theirs now.
    pub fn release(&mut self, key: u64, now_granted: &mut Vec<u32>) {
        self.granted.retain(|lock| lock.key != key);
        let mut still: VecDeque<Lock> = VecDeque::with_capacity(self.waiting.len());
        for lock in self.waiting.drain(..) {
            if self.granted.iter().chain(&still).any(|have| have.conflicts(&lock)) {
                still.push_back(lock);
            } else {
                now_granted.push(lock.request);
                self.granted.push(lock);
            }
        }
        self.waiting = still;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(from: u64, to: u64) -> Vec<Range<u64>> {
        std::iter::once(from..to).collect()
    }

    fn released(locks: &mut Locks, key: u64) -> Vec<u32> {
        let mut granted = Vec::new();
        locks.release(key, &mut granted);
        granted
    }

    #[test]
    fn who_changes_a_column_has_it_alone() {
        let mut locks = Locks::default();
        assert!(locks.acquire(1, 1, columns(0, 8), true));
        assert!(locks.acquire(2, 2, columns(8, 16), true), "neighbours do not meet");
        assert!(!locks.acquire(3, 3, columns(7, 9), true));
        assert_eq!(released(&mut locks, 1), [0_u32; 0], "the other is still held");
        assert_eq!(released(&mut locks, 2), [3]);
    }

    #[test]
    fn readers_share_and_nobody_overtakes_who_waits_for_the_same() {
        let mut locks = Locks::default();
        assert!(locks.acquire(1, 1, columns(0, 8), false));
        assert!(locks.acquire(2, 2, columns(0, 8), false));
        assert!(!locks.acquire(3, 3, columns(0, 4), true));
        assert!(!locks.acquire(4, 4, columns(0, 8), false), "a reader after the writer");
        assert_eq!(released(&mut locks, 1), [0_u32; 0]);
        assert_eq!(released(&mut locks, 2), [3]);
        assert_eq!(released(&mut locks, 3), [4]);
    }
}
