//! From logical pages to places.

use super::{FtlParams, PAGE_UNITS};

/// The newest data of a page is in the write buffer; the rest of the entry says where older data lies.
pub(super) const DIRTY: u32 = 1 << 31;
/// The page has no data on flash.
pub(super) const UNMAPPED: u32 = DIRTY - 1;

/// Four bytes a page: block and flash page in it. One byte more where pages are compressed.
#[derive(Clone, Debug)]
pub(super) struct Map {
    entries: Vec<u32>,
    /// Units of every page, less one; empty where all are alike.
    sizes: Vec<u8>,
    shift: u32,
}

impl Map {
    /// Nothing is mapped.
    ///
    /// # Panics
    /// If places do not fit into 31 bits: 32 TiB of flash with pages of 16 KiB; checked when a drive is read.
    pub fn new(params: &FtlParams) -> Self {
        let shift = bits(params.block_units.div_ceil(params.flash_page_units));
        let blocks = params.blocks + params.spare_blocks;
        assert!(shift + bits(blocks + 1) <= 31, "places fit into 31 bits");
        let pages = params.pages as usize;
        let sizes = if params.compressed { vec![0; pages] } else { Vec::new() };
        Self { entries: vec![UNMAPPED; pages], sizes, shift }
    }

    #[inline]
    pub fn get(&self, page: u32) -> u32 {
        self.entries[page as usize]
    }

    #[inline]
    pub fn set(&mut self, page: u32, entry: u32) {
        self.entries[page as usize] = entry;
    }

    /// The page lies at `place` and is `units` long. Where the buffer holds newer data, it still does.
    #[inline]
    pub fn place(&mut self, page: u32, place: u32, units: u32) {
        self.entries[page as usize] = place;
        if !self.sizes.is_empty() {
            self.sizes[page as usize] = (units - 1) as u8;
        }
    }

    /// Units of a page on flash.
    #[inline]
    pub fn size(&self, page: u32) -> u32 {
        if self.sizes.is_empty() { PAGE_UNITS } else { u32::from(self.sizes[page as usize]) + 1 }
    }

    #[inline]
    pub fn join(&self, block: u32, flash_page: u32) -> u32 {
        block << self.shift | flash_page
    }

    #[inline]
    pub fn block_of(&self, place: u32) -> u32 {
        place >> self.shift
    }

    /// Block and flash page of a place.
    #[inline]
    pub fn split(&self, place: u32) -> (u32, u32) {
        (place >> self.shift, place & ((1 << self.shift) - 1))
    }

    pub fn pages(&self) -> u32 {
        self.entries.len() as u32
    }
}

/// Bits that numbers below `count` need.
fn bits(count: u32) -> u32 {
    u32::BITS - (count.max(1) - 1).leading_zeros()
}
