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
    /// Keys that are kept before the next call, the newest first: few daemons of a large pool are used in a short run.
    first: Option<Arc<[u32]>>,
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
            first: None,
        }
    }

    /// Keeps these keys, the newest first, as soon as it is used.
    pub fn keep_first(&mut self, newest_first: Arc<[u32]>) {
        self.first = Some(newest_first);
    }

    #[inline]
    fn enter_first(&mut self) {
        if self.first.is_some() {
            self.enter();
        }
    }

    #[cold]
    fn enter(&mut self) {
        let keys = self.first.take().unwrap_or_default();
        self.places.reserve(keys.len());
        self.entries.reserve_exact(keys.len());
        keys.iter().rev().for_each(|key| self.keep(u64::from(*key)));
    }

    /// Keys that it has room for.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Keys in memory.
    pub fn len(&self) -> usize {
        let first = self.first.as_ref().map_or(0, |keys| keys.len());
        first + self.lists[List::Hot as usize].len + self.lists[List::New as usize].len
    }

    /// Whether `key` is in memory; it counts as used.
    pub fn touch(&mut self, key: u64) -> bool {
        self.enter_first();
        let Some(&at) = self.places.get(&key) else { return false };
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
        self.enter_first();
        if let Some(at) = self.places.get(&key).copied() {
            self.remove(at);
        }
    }

    fn forget_one(&mut self) {
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
    fn keys_that_are_kept_first_are_those_of_a_memory_that_kept_them_one_after_the_other() {
        for policy in [Policy::Lru, Policy::TwoQueues] {
            let filled = || {
                let mut memory = Memory::new(4, policy);
                memory.keep_first(Arc::from([4, 3, 2, 1]));
                memory
            };
            let mut other = Memory::new(4, policy);
            (1..5).for_each(|key| other.keep(key));
            let held = |mut memory: Memory| (0..9).map(|key| memory.touch(key)).collect::<Vec<_>>();
            assert_eq!((filled().len(), held(filled())), (4, held(other.clone())));
            let mut forgetful = filled();
            for memory in [&mut forgetful, &mut other] {
                memory.forget(2);
                (7..9).for_each(|key| memory.keep(key));
            }
            assert_eq!(held(forgetful), held(other));
        }
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
