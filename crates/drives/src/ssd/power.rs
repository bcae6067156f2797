//! State of a solid-state drive after a power loss.
//!
//! A protected buffer is written to flash on the energy that the drive stores: every acknowledged write survives. The
//! contents of a volatile buffer and passes that are not fully programmed are lost; the mapping then names what
//! lay there before, which is still there, because a block is erased only after what replaces its data is programmed.
//!
//! Leaves out: the time that recovery takes, and pages that a broken pass damages in others of the same cells.

use std::collections::BTreeMap;

use hotband_machine::Versions;

use crate::parts::ftl::{FRONTIERS, PAGE, Placement};

/// Versions of all bytes and their places.
#[derive(Clone, Debug)]
pub struct SsdAccount {
    protected: bool,
    /// Acknowledged, and not placed.
    buffer: Versions,
    /// Placed on a pass that is not full, by frontier.
    open: [Versions; FRONTIERS],
    /// On passes that are not programmed.
    under_way: BTreeMap<u64, Versions>,
    flash: Versions,
}

impl SsdAccount {
    /// Return an account in which nothing is written.
    pub fn new(protected: bool) -> Self {
        Self {
            protected,
            buffer: Versions::default(),
            open: Default::default(),
            under_way: BTreeMap::new(),
            flash: Versions::default(),
        }
    }

    /// Records a write that the buffer accepts.
    pub fn take_in(&mut self, range: std::ops::Range<u64>, version: u64) {
        let to = if self.protected { &mut self.flash } else { &mut self.buffer };
        to.set(range, version);
    }

    /// Records that a buffered page is now in the open pass of a frontier.
    pub fn placed(&mut self, placement: &Placement) {
        if placement.relocated {
            return;
        }
        let range = u64::from(placement.page) * PAGE..(u64::from(placement.page) + 1) * PAGE;
        let held: Vec<_> = self.buffer.held(range.clone()).collect();
        for (part, version) in held {
            self.open[placement.frontier].set(part, version);
        }
        self.buffer.forget(range);
    }

    /// The open pass of a frontier is sent, as number `number`.
    pub fn sent(&mut self, number: u64, frontier: usize) {
        self.under_way.insert(number, std::mem::take(&mut self.open[frontier]));
    }

    /// Pass `number` is programmed.
    pub fn programmed(&mut self, number: u64) {
        let Some(versions) = self.under_way.remove(&number) else { return };
        for (part, version) in versions.iter() {
            // A pass with newer data of the same page may have been faster.
            for (piece, older) in self.flash.all(part) {
                if older < version {
                    self.flash.set(piece, version);
                }
            }
        }
    }

    /// State when power comes back.
    pub fn left(self) -> Versions {
        self.flash
    }
}
