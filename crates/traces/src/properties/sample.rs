//! Blocks that are followed: all of them while they are few, then those whose hash begins with zeros.
//!
//! SHARDS with a fixed size (Waldspurger, Park, Garthwaite, Ahmad: "Efficient MRC Construction with SHARDS", FAST
//! 2015): a block is in the sample or not for good, by its hash; if there are more than fit, the rate is halved (there
//! the block with the largest hash goes; halves need no order of hashes). Each access to a sampled block counts with
//! the inverse of the rate at that moment (Horvitz & Thompson, 1952), so nothing is counted again when it falls.

use rustc_hash::FxHashMap;

use super::figures::Footprint;
use super::order::Order;

/// Places of the order for each block that is followed: a fourth of them moves when gaps are taken out.
const PLACES: usize = 4;

/// The last step of splitmix64 (Steele, Lea & Flood, OOPSLA 2014): one to one, so that different blocks stay different.
#[inline]
pub(super) fn hash(block: u64) -> u64 {
    let mut z = block.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A block that is followed.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// When it was used last, and written last; [`NEVER`] if it was not.
    used: u64,
    written: u64,
    place: u32,
    accesses: u32,
    reads: bool,
    writes: bool,
    last_is_write: bool,
}

/// Marks a block that was never written.
const NEVER: u64 = u64::MAX;

/// State of a block before its reuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Before {
    /// Time when it was used last.
    pub used: u64,
    /// When it was written last, if it was.
    pub written: Option<u64>,
    /// Whether its last use was a write.
    pub last_is_write: bool,
    /// Different blocks that were used since, of the sample.
    pub distance: u64,
}

/// Blocks that are followed.
#[derive(Debug)]
pub(super) struct Sample {
    blocks: FxHashMap<u64, Block>,
    order: Order,
    most: usize,
    /// The rate is two to the minus of this.
    halvings: u32,
}

impl Sample {
    pub(super) fn new(most: usize) -> Self {
        Self { blocks: FxHashMap::default(), order: Order::new(PLACES * most + 1), most, halvings: 0 }
    }

    /// Whether a block with this hash is followed.
    #[inline]
    pub(super) fn takes(&self, hash: u64) -> bool {
        hash.leading_zeros() >= self.halvings
    }

    /// Blocks that one of the sample represents.
    pub(super) fn weight(&self) -> u64 {
        1 << self.halvings
    }

    pub(super) fn rate(&self) -> f64 {
        1.0 / self.weight() as f64
    }

    pub(super) fn is_exact(&self) -> bool {
        self.halvings == 0
    }

    pub(super) fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Times each was used.
    pub(super) fn accesses(&self) -> impl Iterator<Item = u32> {
        self.blocks.values().map(|block| block.accesses)
    }

    /// Time when each was used last.
    pub(super) fn last_used(&self) -> impl Iterator<Item = u64> {
        self.blocks.values().map(|block| block.used)
    }

    /// Records a use of a followed block; returns its previous state, if known.
    #[inline]
    pub(super) fn touch(&mut self, hash: u64, now: u64, is_write: bool) -> Option<Before> {
        if self.order.is_full() {
            self.compact();
        }
        let Some(block) = self.blocks.get_mut(&hash) else {
            self.insert(hash, now, is_write);
            return None;
        };
        let before = Before {
            used: block.used,
            written: (block.written != NEVER).then_some(block.written),
            last_is_write: block.last_is_write,
            distance: self.order.after(block.place),
        };
        self.order.remove(block.place);
        block.place = self.order.push();
        block.accesses = block.accesses.saturating_add(1);
        block.used = now;
        block.last_is_write = is_write;
        block.reads |= !is_write;
        if is_write {
            (block.written, block.writes) = (now, true);
        }
        Some(before)
    }

    fn insert(&mut self, hash: u64, now: u64, is_write: bool) {
        let written = if is_write { now } else { NEVER };
        let position = self.order.push();
        let block = Block {
            used: now,
            written,
            place: position,
            accesses: 1,
            reads: !is_write,
            writes: is_write,
            last_is_write: is_write,
        };
        self.blocks.insert(hash, block);
        while self.blocks.len() > self.most {
            self.halvings += 1;
            let (order, halvings) = (&mut self.order, self.halvings);
            self.blocks.retain(|hash, block| {
                let stays = hash.leading_zeros() >= halvings;
                if !stays {
                    order.remove(block.place);
                }
                stays
            });
        }
    }

    fn compact(&mut self) {
        for block in self.blocks.values_mut() {
            block.place = self.order.before(block.place);
        }
        self.order.compact();
    }

    /// Return the footprint.
    pub(super) fn footprint(&self, block: u64) -> Footprint {
        let size = self.weight() * block;
        let bytes_where =
            |which: fn(&Block) -> bool| self.blocks.values().filter(|block| which(block)).count() as u64 * size;
        // The number bytes_where blocks in the sample is binomial.
        let error = size as f64 * (self.len() as f64 * (1.0 - self.rate())).sqrt();
        Footprint {
            bytes: bytes_where(|_| true),
            read_bytes: bytes_where(|block| block.reads),
            written_bytes: bytes_where(|block| block.writes),
            both_bytes: bytes_where(|block| block.reads && block.writes),
            error_bytes: error,
        }
    }
}
