//! The stripe cache: heads by row, those in use and those that are not, the one left alone longest first.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::md::head::{Head, Idle};

/// The heads there are.
#[derive(Debug)]
pub struct Heads {
    by_row: FxHashMap<u64, Head>,
    /// Idle heads, by the time of their last use.
    idle: [BTreeMap<u64, u64>; 3],
    most: u64,
    in_use: u64,
    /// Whether no head was left (`R5_INACTIVE_BLOCKED`).
    is_short: bool,
    turn: u64,
}

impl Heads {
    /// Create this number of heads.
    pub fn new(most: u64) -> Self {
        Self { by_row: FxHashMap::default(), idle: Default::default(), most, in_use: 0, is_short: false, turn: 0 }
    }

    /// Return the number of heads.
    pub fn most(&self) -> u64 {
        self.most
    }

    /// Return the number of heads in use.
    pub fn in_use(&self) -> u64 {
        self.in_use
    }

    /// Number of rows with data that the members lack, and of those with all data of the row.
    pub fn cached(&self) -> (u64, u64) {
        let full = self.idle[Idle::Full as usize].len() as u64;
        (self.idle[Idle::Partial as usize].len() as u64 + full, full)
    }

    /// Whether an I/O waits for a head.
    pub fn is_short(&self) -> bool {
        self.is_short
    }

    /// Takes a head into use, if there is one: whose row it is, or the one left alone longest. Once there was none, a
    /// quarter has to be free again (`raid5_get_active_stripe`).
    pub fn take(&mut self, row: u64) -> bool {
        if let Some(head) = self.by_row.get_mut(&row) {
            if let Some((idle, turn)) = head.idle.take() {
                self.idle[idle as usize].remove(&turn);
                self.in_use += 1;
            }
            return true;
        }
        if self.is_short && self.in_use >= self.most * 3 / 4 {
            return false;
        }
        if self.by_row.len() as u64 >= self.most {
            let oldest = self.idle[Idle::Clean as usize].pop_first();
            self.is_short = oldest.is_none();
            let Some((_, old)) = oldest else { return false };
            self.by_row.remove(&old);
        }
        self.is_short = false;
        self.in_use += 1;
        self.by_row.insert(row, Head::default());
        true
    }

    /// A head that is in use.
    pub fn get(&mut self, row: u64) -> &mut Head {
        self.by_row.get_mut(&row).expect("only rows in use are asked for")
    }

    /// A row, if it is in memory.
    pub fn find(&self, row: u64) -> Option<&Head> {
        self.by_row.get(&row)
    }

    /// A head is not in use any more.
    pub fn rest(&mut self, row: u64, idle: Idle) {
        self.turn += 1;
        self.in_use -= 1;
        self.get(row).idle = Some((idle, self.turn));
        let turn = self.turn;
        self.idle[idle as usize].insert(turn, row);
    }

    /// The row that has waited longest of these.
    pub fn oldest(&self, idle: Idle) -> Option<u64> {
        self.idle[idle as usize].first_key_value().map(|(_, row)| *row)
    }

    /// Iterates over all heads, in no order.
    pub fn all(&self) -> impl Iterator<Item = (u64, &Head)> {
        self.by_row.iter().map(|(row, head)| (*row, head))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_left_alone_longest_becomes_another_rows() {
        let mut heads = Heads::new(4);
        assert!((0..4).all(|row| heads.take(row)) && !heads.take(4), "all are in use");
        heads.rest(2, Idle::Clean);
        assert!(heads.take(3) && heads.take(2), "those that are there are found");
        heads.rest(2, Idle::Clean);
        assert!(!heads.take(4), "three of four are in use, and one waited");
        heads.rest(1, Idle::Partial);
        assert!(heads.take(4) && heads.find(2).is_none() && heads.find(1).is_some());
        assert!(!heads.take(5) && heads.is_short(), "what the members have not is not forgotten");
        assert_eq!((heads.in_use(), heads.cached(), heads.oldest(Idle::Partial)), (3, (1, 0), Some(1)));
    }
}
