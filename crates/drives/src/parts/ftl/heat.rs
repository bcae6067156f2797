//! Hot and cold data, distinguished without an extra byte per page.
//!
//! Every block knows the mean time at which the host wrote what it holds; relocated data keeps the time of the block it
//! came from. A page that is overwritten sooner than the host writes the whole drive once is hot, and so is one that
//! has to be relocated before that; what stays longer is cold.

use super::Ftl;
use super::blocks::State;
use super::frontier::{HOST, HOT, RELOCATED};
use super::map::UNMAPPED;
use super::params::{PAGE_UNITS, Separation};

impl Ftl {
    /// Frontier for host data that replaces data at `old`.
    #[inline]
    pub(super) fn frontier_of_host(&self, old: u32) -> usize {
        if self.params.separation == Separation::HotCold && old != UNMAPPED && self.is_young(self.map.block_of(old)) {
            return HOT;
        }
        HOST
    }

    /// Frontier for data of `victim`.
    #[inline]
    pub(super) fn frontier_of_relocated(&self, victim: u32) -> usize {
        match self.params.separation {
            Separation::None => HOST,
            Separation::HotCold if self.is_young(victim) => HOT,
            _ => RELOCATED,
        }
    }

    fn is_young(&self, block: u32) -> bool {
        let entry = &self.blocks.all[block as usize];
        entry.state == State::Open || self.clock.saturating_sub(entry.born) < self.params.pages * u64::from(PAGE_UNITS)
    }

    /// `units` that the host wrote at `born` are appended to a frontier.
    #[inline]
    pub(super) fn note_birth(&mut self, which: usize, units: u32, born: u64) {
        if self.params.separation == Separation::HotCold {
            self.frontiers[which].born += f64::from(units) * born as f64;
        }
    }
}
