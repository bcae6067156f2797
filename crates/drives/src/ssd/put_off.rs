//! Reads whose location is not yet looked up.
//!
//! The map of a drive is larger than a processor's caches, and a look-up waits longer than all else that is done for a
//! read. Look-ups of reads that wait for the controller are therefore delayed and made together, so that their waits
//! overlap. Nobody can tell: they are made before anything else happens to the map or the dies, before the first of
//! them could complete, and their events keep the numbers that they would have had.

use hotband_units::{Instant, Span};

use crate::ssd::Ssd;
use crate::ssd::reads::Lies;
use crate::ssd::slot::PutOff;

/// Look-ups that are made together at most: as many as a processor of 2024 has misses under way.
const TOGETHER: usize = 16;

/// Counts of delayed reads.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Owed {
    pub buffer_hits: u64,
    pub unmapped_reads: u64,
    pub page_reads: u64,
    pub retried: u64,
    pub die_busy: Span,
}

impl Ssd {
    /// Puts off the look-up of a read of one page. It has one event, whatever is found.
    #[inline]
    pub(super) fn put_off(&mut self, index: u32, page: u64) {
        self.sequence += 1;
        let at = self.slots[index as usize].asked;
        self.put_off.push(PutOff { index, page, at, sequence: self.sequence });
        if self.put_off.len() == TOGETHER {
            self.ask_put_off();
        }
    }

    /// Whether a delayed read may complete before anything else happens.
    #[inline]
    pub(super) fn is_put_off_due(&self, next: Option<Instant>) -> bool {
        self.put_off.first().is_some_and(|first| next.is_none_or(|next| first.at <= next))
    }

    /// Looks up the locations of delayed reads, and requests their data from the flash.
    #[inline]
    pub(super) fn ask_put_off(&mut self) {
        if !self.put_off.is_empty() {
            self.ask_all_put_off();
        }
    }

    fn ask_all_put_off(&mut self) {
        self.ftl.touch(self.put_off.iter().map(|read| read.page));
        let newest = self.sequence;
        let mut reads = std::mem::take(&mut self.put_off);
        for PutOff { index, page, at, sequence } in reads.drain(..) {
            self.sequence = sequence - 1;
            self.read_data(index, at, page..page + 1);
        }
        self.sequence = newest;
        self.put_off = reads;
    }

    /// Counts that the delayed reads will have when they are requested.
    pub(super) fn owed(&self) -> Owed {
        let mut owed = Owed::default();
        let mut senses = self.senses.clone();
        for read in &self.put_off {
            match self.lies(read.page) {
                Lies::Flash(_, pass, flash_page) => {
                    let physical = self.work.place_of(flash_page, pass);
                    let time = senses.time(1, physical, || self.ftl.wear().0 / self.params.rated_cycles);
                    owed.page_reads += 1;
                    owed.die_busy += self.nand.busy_for(1, time);
                }
                Lies::Nowhere => owed.unmapped_reads += 1,
                Lies::Buffered | Lies::Cached => owed.buffer_hits += 1,
            }
        }
        owed.retried = senses.retried - self.senses.retried;
        owed
    }
}
