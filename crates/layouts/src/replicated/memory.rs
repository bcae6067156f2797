//! Memory of a daemon: a bounded set of blocks or objects, with the two policies that BlueStore has.
//!
//! `lru` forgets what was used longest ago. `2q` (Johnson and Shasha, VLDB 1994, simplified) lets new entries pass
//! through a queue of half the size; only those asked for again soon after they left it go among the hot ones.

use std::sync::Arc;

use rustc_hash::FxHashMap;

/// Eviction policy of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The least recently used.
    Lru,
    /// New entries prove themselves first.
    TwoQueues,
}

impl Policy {
    /// Names in specs.
    pub const NAMES: [(&'static str, Self); 2] = [("lru", Self::Lru), ("2q", Self::TwoQueues)];
}

const NONE: u32 = u32::MAX;

/// List of an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    /// In use: all of an LRU, the hot ones of two queues.
    Hot,
    /// New ones, first in first out.
    New,
    /// Names of those that left the queue of new ones; not in memory.
    Gone,
}

#[derive(Clone)]
struct Entry {
    key: u64,
    older: u32,
    newer: u32,
    list: List,
}

#[derive(Clone, Copy)]
struct Ends {
    oldest: u32,
    newest: u32,
    len: usize,
}

/// A bounded set of keys.
#[derive(Clone)]
pub struct Memory {
    places: FxHashMap<u64, u32>,
    entries: Vec<Entry>,
    free: Vec<u32>,
    lists: [Ends; 3],
    policy: Policy,
    capacity: usize,
    first: First,
}

/// Keys that an LRU holds from the beginning. All others are newer, so these are forgotten first; until they are used
/// they need no entry.
#[derive(Clone)]
enum First {
    /// No entry is left: all keys were forgotten or have entries.
    None,
    /// A number of keys, found when the memory is first used: a short run uses few daemons of a large pool.
    Unknown(usize, Arc<dyn Fn() -> Vec<u32> + Send + Sync>),
    Known(Unused),
}

/// Keys without an entry.
#[derive(Clone)]
struct Unused {
    /// The highest, which is the newest, first. Keys forgotten for lack of room are cut off.
    keys: Vec<u32>,
    /// A bit for each key: whether it has an entry, or was forgotten on purpose.
    is_gone: Vec<u64>,
    /// Number of keys whose bit is not set.
    len: usize,
}

impl Unused {
    fn new(keys: Vec<u32>) -> Self {
        Self { is_gone: vec![0; keys.len().div_ceil(64)], len: keys.len(), keys }
    }

    fn bit(&mut self, at: usize) -> (&mut u64, u64) {
        (&mut self.is_gone[at / 64], 1 << (at % 64))
    }

    /// Take a key out; returns whether it was there.
    fn take(&mut self, key: u64) -> bool {
        let Ok(at) = self.keys.binary_search_by(|have| key.cmp(&u64::from(*have))) else { return false };
        let (bits, bit) = self.bit(at);
        let is_there = *bits & bit == 0;
        *bits |= bit;
        self.len -= usize::from(is_there);
        is_there
    }

    fn forget_oldest(&mut self) {
        while let Some(at) = self.keys.len().checked_sub(1) {
            self.keys.truncate(at);
            let (bits, bit) = self.bit(at);
            if *bits & bit == 0 {
                self.len -= 1;
                return;
            }
        }
    }
}

impl Memory {
    /// Bytes of a key that is kept: its entry, and its place in a hash table that is between half and all full.
    pub const OF_KEY: u64 = (size_of::<Entry>() + 2 * size_of::<(u64, u32)>()) as u64;

    /// An empty memory for `capacity` keys.
    pub fn new(capacity: usize, policy: Policy) -> Self {
        let empty = Ends { oldest: NONE, newest: NONE, len: 0 };
        Self {
            places: FxHashMap::default(),
            entries: Vec::new(),
            free: Vec::new(),
            lists: [empty; 3],
            policy,
            capacity,
            first: First::None,
        }
    }

    /// Makes an LRU hold the `count` keys that `find` returns, the highest first, or as many as fit: as if they had
    /// been kept in ascending order.
    pub fn keep_first(&mut self, count: usize, find: impl Fn() -> Vec<u32> + Send + Sync + 'static) {
        debug_assert!(self.policy == Policy::Lru && self.places.is_empty(), "they are the oldest of an LRU");
        let count = count.min(self.capacity);
        self.first = if count > 0 { First::Unknown(count, Arc::new(find)) } else { First::None };
    }

    /// Takes `key` out of the keys without an entry; returns whether it was one.
    #[inline]
    fn take_first(&mut self, key: u64) -> bool {
        !matches!(self.first, First::None) && self.take_known(key)
    }

    fn take_known(&mut self, key: u64) -> bool {
        if let First::Unknown(_, find) = &self.first {
            self.first = First::Known(Unused::new(find()));
        }
        let First::Known(unused) = &mut self.first else { return false };
        unused.take(key)
    }

    fn unused(&self) -> usize {
        match &self.first {
            First::None => 0,
            First::Unknown(count, _) => *count,
            First::Known(unused) => unused.len,
        }
    }

    /// Keys that it has room for.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Keys in memory.
    pub fn len(&self) -> usize {
        self.unused() + self.lists[List::Hot as usize].len + self.lists[List::New as usize].len
    }

    /// Whether `key` is in memory; it counts as used.
    pub fn touch(&mut self, key: u64) -> bool {
        let Some(&at) = self.places.get(&key) else {
            let is_held = self.take_first(key);
            if is_held {
                let at = self.add(key);
                self.link(at, List::Hot);
            }
            return is_held;
        };
        match self.entries[at as usize].list {
            List::Hot => {
                self.unlink(at);
                self.link(at, List::Hot);
                true
            }
            List::New => true,
            List::Gone => false,
        }
    }

    /// Keeps `key`, forgetting others if there is no room.
    pub fn keep(&mut self, key: u64) {
        if self.capacity == 0 || self.touch(key) {
            return;
        }
        let (at, list) = match (self.places.get(&key).copied(), self.policy) {
            (Some(gone), _) => {
                self.unlink(gone);
                (gone, List::Hot)
            }
            (None, Policy::Lru) => (self.add(key), List::Hot),
            (None, Policy::TwoQueues) => (self.add(key), List::New),
        };
        self.link(at, list);
        while self.len() > self.capacity {
            self.forget_one();
        }
    }

    /// Forgets `key`.
    pub fn forget(&mut self, key: u64) {
        match self.places.get(&key).copied() {
            Some(at) => self.remove(at),
            None => drop(self.take_first(key)),
        }
    }

    fn forget_one(&mut self) {
        if let First::Known(unused) = &mut self.first {
            unused.forget_oldest();
            if unused.len == 0 {
                self.first = First::None;
            }
            return;
        }
        let new = self.lists[List::New as usize];
        let from_new = self.policy == Policy::TwoQueues
            && (new.len > self.capacity / 2 || self.lists[List::Hot as usize].len == 0);
        if !from_new {
            return self.remove(self.lists[List::Hot as usize].oldest);
        }
        self.unlink(new.oldest);
        self.link(new.oldest, List::Gone);
        let gone = self.lists[List::Gone as usize];
        if gone.len > self.capacity / 2 {
            self.remove(gone.oldest);
        }
    }

    fn add(&mut self, key: u64) -> u32 {
        let entry = Entry { key, older: NONE, newer: NONE, list: List::Hot };
        let at = if let Some(at) = self.free.pop() {
            self.entries[at as usize] = entry;
            at
        } else {
            self.entries.push(entry);
            u32::try_from(self.entries.len() - 1).expect("a memory holds fewer than 2^32 keys")
        };
        self.places.insert(key, at);
        at
    }

    fn remove(&mut self, at: u32) {
        self.unlink(at);
        self.places.remove(&self.entries[at as usize].key);
        self.free.push(at);
    }

    fn link(&mut self, at: u32, list: List) {
        let ends = &mut self.lists[list as usize];
        let before = std::mem::replace(&mut ends.newest, at);
        ends.len += 1;
        if before == NONE {
            ends.oldest = at;
        } else {
            self.entries[before as usize].newer = at;
        }
        let entry = &mut self.entries[at as usize];
        (entry.older, entry.newer, entry.list) = (before, NONE, list);
    }

    fn unlink(&mut self, at: u32) {
        let &Entry { older, newer, list, .. } = &self.entries[at as usize];
        if older == NONE {
            self.lists[list as usize].oldest = newer;
        } else {
            self.entries[older as usize].newer = newer;
        }
        if newer == NONE {
            self.lists[list as usize].newest = older;
        } else {
            self.entries[newer as usize].older = older;
        }
        self.lists[list as usize].len -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_scan_of_more_than_fits_leaves_an_lru_with_nothing_useful() {
        let mut memory = Memory::new(100, Policy::Lru);
        (0..150).for_each(|key| memory.keep(key));
        let hits = (0..150).filter(|key| {
            let hit = memory.touch(*key);
            memory.keep(*key);
            hit
        });
        assert_eq!(hits.count(), 0, "each key was forgotten just before it is asked for again");
    }

    #[test]
    fn two_queues_keep_some_of_a_scan_that_comes_again() {
        let mut memory = Memory::new(100, Policy::TwoQueues);
        let mut pass = || {
            let hits = (0..150).filter(|key| {
                let hit = memory.touch(*key);
                memory.keep(*key);
                hit
            });
            hits.count()
        };
        pass();
        assert!((0..5).map(|_| pass()).sum::<usize>() > 0);
    }

    #[test]
    fn what_is_forgotten_on_purpose_is_gone_and_leaves_room() {
        let mut memory = Memory::new(2, Policy::Lru);
        for key in [1, 2] {
            memory.keep(key);
        }
        memory.forget(1);
        memory.keep(3);
        assert_eq!([1, 2, 3].map(|key| memory.touch(key)), [false, true, true]);
    }

    proptest! {
        #[test]
        fn an_lru_holds_the_last_distinct_keys(keys in proptest::collection::vec(0_u64..30, 1..300), capacity in 1_usize..20) {
            let mut memory = Memory::new(capacity, Policy::Lru);
            let mut model: Vec<u64> = Vec::new();
            for key in keys {
                prop_assert_eq!(memory.touch(key), model.contains(&key));
                memory.keep(key);
                model.retain(|have| *have != key);
                model.push(key);
                model.drain(..model.len().saturating_sub(capacity));
                prop_assert_eq!(memory.len(), model.len());
            }
        }

        #[test]
        fn keys_that_are_kept_first_are_as_those_kept_one_after_the_other(
            held in 0_u32..40, capacity in 1_usize..30, calls in prop::collection::vec((0_u64..60, 0_u8..8), 1..200),
        ) {
            let (mut first, mut other) = (Memory::new(capacity, Policy::Lru), Memory::new(capacity, Policy::Lru));
            first.keep_first(held as usize, move || (0..held).rev().take(capacity).collect());
            (0..held).for_each(|key| other.keep(u64::from(key)));
            for (key, call) in calls {
                prop_assert_eq!(first.len(), other.len());
                match call {
                    0 => [&mut first, &mut other].into_iter().for_each(|memory| memory.forget(key)),
                    1..5 => [&mut first, &mut other].into_iter().for_each(|memory| memory.keep(key)),
                    _ => prop_assert_eq!(first.touch(key), other.touch(key), "key {}", key),
                }
            }
            prop_assert!((0..60).all(|key| first.touch(key) == other.touch(key)));
        }

        #[test]
        fn two_queues_never_hold_too_much(keys in proptest::collection::vec(0_u64..60, 1..400), capacity in 1_usize..20) {
            let mut memory = Memory::new(capacity, Policy::TwoQueues);
            for key in keys {
                memory.keep(key);
                prop_assert!(memory.touch(key), "what was just kept is there");
                prop_assert!(memory.len() <= capacity);
                prop_assert!(memory.places.len() <= 2 * capacity);
            }
        }
    }
}
