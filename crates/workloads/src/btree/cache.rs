//! The block cache: pages in memory, which of them are dirty, and which clean one makes room next (second chance).

/// State of a page in the cache.
pub mod flag {
    /// IoRequest for since the hand last passed.
    pub const REFERENCED: u8 = 1;
    /// Changed since it was last written, or since that write began.
    pub const DIRTY: u8 = 2;
    /// Being read.
    pub const READING: u8 = 4;
    /// Being written.
    pub const WRITING: u8 = 8;
    /// The running checkpoint has yet to write it.
    pub const CHECKPOINT: u8 = 16;
    /// The page is in the queue of dirty pages.
    pub const QUEUED: u8 = 32;
    /// Holds a page.
    pub const USED: u8 = 64;
    /// The running checkpoint writes it once the write of it that is under way has ended.
    pub const HELD: u8 = 128;
}

/// Marks the absence of a slot or client.
pub const NONE: u32 = u32::MAX;

/// A place in the cache.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// The page.
    pub page: u32,
    /// First of the clients that wait until it is read.
    pub waiter: u32,
    /// See [`flag`].
    pub flags: u8,
}

/// Pages in memory.
#[derive(Clone, Debug)]
pub struct Cache {
    /// All places; those not used are in `empty`.
    pub slots: Vec<Slot>,
    empty: Vec<u32>,
    hand: usize,
    /// Bytes it may hold, and holds.
    pub size: u64,
    pub used: u64,
}

impl Cache {
    /// An empty cache of `size` bytes.
    pub fn new(size: u64) -> Self {
        Self { slots: Vec::new(), empty: Vec::new(), hand: 0, size, used: 0 }
    }

    /// Whether a slot has any of `flags`.
    #[inline]
    pub fn has(&self, slot: u32, flags: u8) -> bool {
        self.slots[slot as usize].flags & flags != 0
    }

    #[inline]
    pub fn set(&mut self, slot: u32, flags: u8) {
        self.slots[slot as usize].flags |= flags;
    }

    #[inline]
    pub fn clear(&mut self, slot: u32, flags: u8) {
        self.slots[slot as usize].flags &= !flags;
    }

    /// Puts a page of `bytes` bytes, for which there is room, into the cache.
    pub fn add(&mut self, page: u32, bytes: u64, flags: u8) -> u32 {
        self.used += bytes;
        debug_assert!(self.used <= self.size, "room is made first");
        let slot = Slot { page, waiter: NONE, flags: flags | flag::USED | flag::REFERENCED };
        let Some(index) = self.empty.pop() else {
            self.slots.push(slot);
            return self.slots.len() as u32 - 1;
        };
        // A place keeps its place in the queue of dirty pages: what is queued there is looked at again when its turn comes.
        let queued = self.slots[index as usize].flags & flag::QUEUED;
        self.slots[index as usize] = Slot { flags: slot.flags | queued, ..slot };
        index
    }

    /// Takes a clean page out that was not asked for since the hand last passed; returns it.
    ///
    /// # Panics
    /// If there is none: the cache is larger than what is dirty and what is being read (`Shape::check_cache`).
    pub fn drop_one(&mut self, bytes_of: impl Fn(u32) -> u64) -> u32 {
        for _ in 0..=2 * self.slots.len() {
            let index = self.hand;
            self.hand = if index + 1 == self.slots.len() { 0 } else { index + 1 };
            let slot = &mut self.slots[index];
            if slot.flags & (flag::DIRTY | flag::READING | flag::WRITING) != 0 || slot.flags & flag::USED == 0 {
                continue;
            }
            if slot.flags & flag::REFERENCED != 0 {
                slot.flags &= !flag::REFERENCED;
                continue;
            }
            slot.flags &= flag::QUEUED;
            self.used -= bytes_of(slot.page);
            self.empty.push(index as u32);
            return slot.page;
        }
        unreachable!("a cache holds more than what is dirty and what is being read")
    }
}
