//! State of a disk after a power loss.
//!
//! Sectors land in the order in which they pass the head, each whole or not at all: a drive has the energy to end the
//! physical sector that is under the head, and what it cannot end it does not begin. A sector counts when all of it
//! that is written has passed. Whether a cache survives depends on what it is kept in.
//!
//! Leaves out: sectors that power loss damages, and the time a drive needs to come back.

use std::ops::Range;

use hotband_machine::Versions;
use hotband_units::Instant;

use crate::disk::params::WriteCache;
use crate::disk::{Arm, Disk, Work};
use crate::parts::account::{Account, UnderWay};
use crate::parts::geometry::SECTOR;

/// Sectors on their way to the media.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Writing {
    /// First sector.
    pub first: u64,
    /// First sector beyond.
    pub end: u64,
    /// Time when the last has passed the head.
    pub ends: Instant,
    /// Whether they come from the write cache.
    pub cached: bool,
}

impl Disk {
    /// Return the extent that the arm is writing, with or without an account.
    pub fn writing(&self) -> Option<Writing> {
        let Arm::Busy { until: ends, work } = self.arm else { return None };
        match work {
            Work::Read { .. } | Work::Scan => None,
            Work::Write { first, end } => Some(Writing { first, end, ends, cached: false }),
            Work::Destage => {
                let extent = self.dirty.on_its_way().filter(|extent| extent.write)?;
                Some(Writing { first: extent.sector, end: extent.end(), ends, cached: true })
            }
        }
    }

    /// Whether the contents of the write cache survive a loss of power.
    fn cache_survives(&self) -> bool {
        match self.params.write_cache {
            WriteCache::Off | WriteCache::Volatile => false,
            WriteCache::Protected => true,
        }
    }

    pub(super) fn open_account(&mut self) {
        self.account = Some(Box::default());
    }

    /// Records an event of sectors `first..end` in the account, if there is one.
    #[inline]
    pub(super) fn note(&mut self, first: u64, end: u64, what: impl FnOnce(&mut Account, Range<u64>)) {
        if let Some(account) = &mut self.account {
            what(account, first * SECTOR..end * SECTOR);
        }
    }

    pub(super) fn left_at(&mut self, now: Instant) -> Versions {
        let Some(mut account) = self.account.take() else { return Versions::default() };
        let written = account.under_way().map_or(0, |under_way| self.written(under_way, now));
        account.left(written, self.cache_survives())
    }

    /// First byte beyond the whole physical sectors of `under_way` that have passed the head by `now`.
    fn written(&self, under_way: &UnderWay, now: Instant) -> u64 {
        if under_way.ends <= now {
            return under_way.range.end;
        }
        let (first, end) = (under_way.range.start / SECTOR, under_way.range.end / SECTOR);
        let position = self.geometry.place(first);
        let turned = |to: u64| self.geometry.run(&position, first, to - first).1;
        // Counted back from the end: a write that reads its sectors first passes over them twice.
        let (left, whole) = (under_way.ends.since(now), turned(end));
        let has_passed = |to: u64| self.params.geometry.rotation.time_for(whole - turned(to)) >= left;
        let (mut passed, mut not_yet) = (first, end);
        while not_yet - passed > 1 {
            let middle = u64::midpoint(passed, not_yet);
            *(if has_passed(middle) { &mut passed } else { &mut not_yet }) = middle;
        }
        let physical = self.params.format.physical();
        (passed * SECTOR / physical * physical).max(under_way.range.start)
    }
}
