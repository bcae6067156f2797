//! Number of things used since a given one: a bit for each at its place in the order of last uses, and counts of bits
//! in a binary indexed tree over words of 64 of them (Fenwick, 1994), so that all of it stays in the processor's cache.

/// Bits of a word.
const WORD: usize = 64;

/// Places in order of last use.
#[derive(Debug)]
pub(super) struct Order {
    words: Vec<u64>,
    /// Fenwick tree of the bits set in each word; entry 0 is unused.
    tree: Vec<u32>,
    /// The next place, and how many are taken.
    next: usize,
    taken: usize,
}

impl Order {
    /// Return an order with this many places, rounded up.
    pub(super) fn new(places: usize) -> Self {
        let words = places.div_ceil(WORD);
        Self { words: vec![0; words], tree: vec![0; words + 1], next: 0, taken: 0 }
    }

    /// Whether no place is left: `compact` makes some.
    pub(super) fn is_full(&self) -> bool {
        self.next == self.words.len() * WORD
    }

    /// Append a place for the item used now.
    pub(super) fn push(&mut self) -> u32 {
        let position = self.next;
        self.words[position / WORD] |= 1 << (position % WORD);
        self.count(position / WORD, 1);
        (self.next, self.taken) = (position + 1, self.taken + 1);
        position as u32
    }

    /// Remove the entry at a position.
    pub(super) fn remove(&mut self, position: u32) {
        let position = position as usize;
        debug_assert!(self.words[position / WORD] >> (position % WORD) & 1 == 1);
        self.words[position / WORD] &= !(1 << (position % WORD));
        self.count(position / WORD, u32::MAX);
        self.taken -= 1;
    }

    /// Adds to the count of a word; `u32::MAX` is minus one.
    fn count(&mut self, word: usize, by: u32) {
        let mut at = word + 1;
        while at < self.tree.len() {
            self.tree[at] = self.tree[at].wrapping_add(by);
            at += at & at.wrapping_neg();
        }
    }

    /// Things that lie before a place.
    pub(super) fn before(&self, position: u32) -> u32 {
        let position = position as usize;
        let (mut at, mut sum) = (position / WORD, 0);
        while at > 0 {
            sum += self.tree[at];
            at &= at - 1;
        }
        let below = self.words[position / WORD] & ((1 << (position % WORD)) - 1);
        sum + below.count_ones()
    }

    /// Number of items after a place, which were used since.
    pub(super) fn after(&self, place: u32) -> u64 {
        self.taken as u64 - u64::from(self.before(place)) - 1
    }

    /// Removes all gaps; callers with a place get the new one from [`Self::before`] first.
    pub(super) fn compact(&mut self) {
        self.next = self.taken;
        for (index, word) in self.words.iter_mut().enumerate() {
            let bits = self.taken.saturating_sub(index * WORD).min(WORD);
            *word = if bits == WORD { u64::MAX } else { (1 << bits) - 1 };
        }
        self.tree.fill(0);
        for at in 1..self.tree.len() {
            self.tree[at] += self.words[at - 1].count_ones();
            let up = at + (at & at.wrapping_neg());
            if up < self.tree.len() {
                self.tree[up] += self.tree[at];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_what_lies_behind_also_after_gaps_were_taken_out() {
        let mut order = Order::new(200);
        let places: Vec<u32> = (0..150).map(|_| order.push()).collect();
        (0..150).step_by(3).for_each(|index| order.remove(places[index]));
        assert_eq!((order.before(places[1]), order.after(places[1]), order.after(places[149])), (0, 99, 0));
        let at = order.before(places[100]);
        order.compact();
        assert_eq!((at, order.after(at), order.push()), (66, 33, 100));
        assert_eq!(order.after(at), 34);
        assert!(!order.is_full());
    }
}
