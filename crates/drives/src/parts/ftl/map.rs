//! From logical pages to places.

use hotband_machine::Carrier;
use memmap2::MmapMut;

use super::params::{FtlParams, PAGE_UNITS};

/// The newest data of a page is in the write buffer; the remaining bits of the entry locate older data.
pub(super) const DIRTY: u32 = 1 << 31;
/// The page has no data on flash.
pub(super) const UNMAPPED: u32 = DIRTY - 1;

/// The system refused memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Bytes requested.
    pub bytes: u64,
}

/// Four bytes per page: block and flash page in it. One byte more where pages are compressed.
#[derive(Debug)]
pub(super) struct Map {
    entries: Zeroed,
    /// Units of every page, less one; none if all are identical.
    sizes: Option<Zeroed>,
    shift: u32,
}

impl Map {
    /// Nothing is mapped.
    ///
    /// # Errors
    /// The system refuses the memory.
    ///
    /// # Panics
    /// If places do not fit into 31 bits: 32 TiB of flash with pages of 16 KiB; checked when a drive is read.
    pub fn new(params: &FtlParams) -> Result<Self, Refused> {
        let shift = bits(params.block_units.div_ceil(params.flash_page_units));
        let blocks = params.blocks + params.spare_blocks;
        assert!(shift + bits(blocks + 1) <= 31, "places fit into 31 bits");
        let pages = params.pages as usize;
        let sizes = params.compressed.then(|| Zeroed::new(pages)).transpose()?;
        Ok(Self { entries: Zeroed::new(pages * size_of::<u32>())?, sizes, shift })
    }

    /// Bytes of the map after every page was written.
    pub fn memory(params: &FtlParams) -> u64 {
        params.pages * (size_of::<u32>() as u64 + u64::from(params.compressed))
    }

    #[inline]
    pub fn get(&self, page: u32) -> u32 {
        u32::from_ne_bytes(self.entries.words()[page as usize]) ^ UNMAPPED
    }

    #[inline]
    pub fn set(&mut self, page: u32, entry: u32) {
        self.entries.words_mut()[page as usize] = Self::stored(entry);
    }

    /// Form in which an entry is stored.
    #[inline]
    pub(super) fn stored(entry: u32) -> [u8; 4] {
        (entry ^ UNMAPPED).to_ne_bytes()
    }

    /// All entries, as they are stored.
    pub(super) fn entries_mut(&mut self) -> &mut [[u8; 4]] {
        self.entries.words_mut()
    }

    /// The page lies at `place` and is `units` long. Newer data in the buffer stays there.
    #[inline]
    pub fn place(&mut self, page: u32, place: u32, units: u32) {
        self.set(page, place);
        if let Some(sizes) = &mut self.sizes {
            sizes.memory[page as usize] = (units - 1) as u8;
        }
    }

    /// Loads the entries of these pages at once, so that the latencies of distant memory overlap.
    #[inline]
    pub fn touch(&self, pages: impl Iterator<Item = u32> + Clone) {
        let entries = pages.clone().fold(0, |sum, page| sum ^ self.get(page));
        let sizes = if self.sizes.is_some() { pages.fold(0, |sum, page| sum ^ self.size(page)) } else { 0 };
        std::hint::black_box((entries, sizes));
    }

    /// Units of a page on flash.
    #[inline]
    pub fn size(&self, page: u32) -> u32 {
        self.sizes.as_ref().map_or(PAGE_UNITS, |sizes| u32::from(sizes.memory[page as usize]) + 1)
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

    pub fn carry(&mut self, carrier: &mut Carrier) {
        let Self { entries, sizes, shift: _ } = self;
        carrier.bytes(&mut entries.memory);
        if let Some(sizes) = sizes {
            carrier.bytes(&mut sizes.memory);
        }
    }

    pub fn pages(&self) -> u32 {
        self.entries.words().len() as u32
    }
}

/// Zeroed bytes in memory of their own, in huge pages where the system has them: a table of a gigabyte that is accessed
/// at random would otherwise spend most of its time in page tables. Entries are kept so that zero means unmapped: a
/// new drive costs nothing.
#[derive(Debug)]
struct Zeroed {
    memory: MmapMut,
}

impl Zeroed {
    fn new(bytes: usize) -> Result<Self, Refused> {
        let memory = MmapMut::map_anon(bytes.max(1)).map_err(|_| Refused { bytes: bytes as u64 })?;
        // Without huge pages it is slower, and no less right.
        #[cfg(target_os = "linux")]
        let _ = memory.advise(memmap2::Advice::HugePage);
        Ok(Self { memory })
    }

    #[inline]
    fn words(&self) -> &[[u8; 4]] {
        self.memory.as_chunks().0
    }

    #[inline]
    fn words_mut(&mut self) -> &mut [[u8; 4]] {
        self.memory.as_chunks_mut().0
    }
}

/// Bits that numbers below `count` need.
fn bits(count: u32) -> u32 {
    u32::BITS - (count.max(1) - 1).leading_zeros()
}
