//! The block that is being collected, and at what pace.

use super::blocks::NONE;
use super::params::PAGE_UNITS;

/// The collection under way.
#[derive(Clone, Debug)]
pub(super) struct Collection {
    pub victim: u32,
    /// Log entries of the victim that are done.
    pub cursor: usize,
    /// Flash page that was read last.
    pub last_page: u32,
    /// Units to relocate for every unit of the host.
    pub ratio: f64,
    /// Units that are due.
    pub due: f64,
    /// Victims chosen so far.
    pub victims: u64,
}

impl Default for Collection {
    fn default() -> Self {
        Self { victim: NONE, cursor: 0, last_page: NONE, ratio: 0.0, due: 0.0, victims: 0 }
    }
}

impl Collection {
    /// Begins with `block`, in which `live` of its units are valid.
    pub fn begin(&mut self, block: u32, live: u32, block_units: u32) {
        let space = block_units - live.min(block_units - 1);
        (self.victim, self.cursor, self.last_page) = (block, 0, NONE);
        // An empty victim costs nothing, but somebody has to erase it.
        self.ratio = (f64::from(live) / f64::from(space)).clamp(1.0 / f64::from(PAGE_UNITS), 1e4);
    }
}
