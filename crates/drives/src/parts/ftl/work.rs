//! Flash operations that a translation layer requests.

use super::map::{DIRTY, UNMAPPED};

/// Work of the flash, in order.
pub trait FlashWork {
    /// A pass of frontier number `frontier` is full: program number `pass` of `block`.
    fn program(&mut self, block: u32, pass: u32, frontier: usize);
    /// A pass of the pseudo-SLC cache is full, the `pass`th.
    fn program_cache(&mut self, pass: u64, frontier: usize) {
        let _ = (pass, frontier);
    }
    /// A flash page with valid data is read for relocation.
    fn read(&mut self, block: u32, flash_page: u32);
    /// All of `block` is erased.
    fn erase(&mut self, block: u32);
    /// A page is placed; its last byte is on the pass of its frontier that is programmed next.
    fn placed(&mut self, placement: &Placement) {
        let _ = placement;
    }
}

/// Source of placed data: the entry that the map had for its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The write buffer, which has it no more.
    Host(u32),
    /// A victim. Where the buffer has newer data, it still does.
    Relocated(u32),
}

impl Origin {
    /// Place where the page lay.
    #[inline]
    pub fn place(self) -> u32 {
        let (Self::Host(entry) | Self::Relocated(entry)) = self;
        entry & !DIRTY
    }

    /// Part of the old entry that remains in the new one.
    #[inline]
    pub fn kept(self) -> u32 {
        match self {
            Self::Host(_) => 0,
            Self::Relocated(entry) => entry & DIRTY,
        }
    }
}

/// A page was placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The logical page.
    pub page: u32,
    /// Place where it lay before.
    pub(super) old: u32,
    /// Its size there, in units.
    pub(super) old_units: u32,
    /// Place where it lies now.
    pub(super) place: u32,
    /// The frontier it was appended to.
    pub frontier: usize,
    /// Whether it was relocated.
    pub relocated: bool,
}

impl Placement {
    /// Whether the page had a place before.
    pub fn replaces(&self) -> bool {
        self.old != UNMAPPED
    }
}

/// Nobody times it.
pub struct Untimed;

impl FlashWork for Untimed {
    #[inline]
    fn program(&mut self, _: u32, _: u32, _: usize) {}
    #[inline]
    fn read(&mut self, _: u32, _: u32) {}
    #[inline]
    fn erase(&mut self, _: u32) {}
}
