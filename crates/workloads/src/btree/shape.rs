//! Sizes and locations of everything, computed once.

use hotband_machine::SpecError;
use hotband_units::Span;

use crate::app::AppVolume;
use crate::btree::spec::BTreeSpec;

/// Unit in which the engine allocates (WiredTiger's `allocation_size=4KB`).
pub const GRAIN: u64 = 4096;
/// Bytes of a field in addition to its value in BSON: type, "field0" and a zero, length, subtype (bsonspec.org, 1.1).
const FIELD_OVERHEAD: u64 = 13;
/// Like the above, for a document: length, end, and `_id`, a text of 23 characters.
const RECORD_OVERHEAD: u64 = 38;
/// Bytes of a record on its page in addition to the document: cell and key. Estimated; range 4 to 12.
const CELL: u64 = 8;
/// Page header (28 B) and block header (12 B) of WiredTiger, recalled.
const PAGE_HEADER: u64 = 40;
/// Fill of pages written in order (`split_pct=90`).
const FULL_IN_ORDER: f64 = 0.90;
/// Fill of pages written at random: ln 2 (Yao, "On random 2-3 trees", Acta Informatica 9, 1978).
const FULL_AT_RANDOM: f64 = std::f64::consts::LN_2;
/// Bytes of an entry of the index of keys: a text of 23 characters and a record number, prefix compressed. Estimated;
/// range 24 to 40.
const INDEX_ENTRY: f64 = 32.0;
/// Children of an internal page of 4 KiB. Estimated; range 60 to 200.
pub const FANOUT: u64 = 100;
/// Most pages in all: 16 B each in memory.
const MOST_PAGES: u64 = 1 << 26;
/// The data file is allowed to grow to this many times its first size.
const MOST_GROWTH: u64 = 4;

/// A file of extents of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    /// First byte on its volume.
    pub from: u64,
    /// Bytes of an extent.
    pub extent: u64,
    /// Extents that fit.
    pub slots: u64,
}

/// Sizes and places.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// Records on a leaf page.
    pub per_page: u64,
    /// Bytes of a leaf page in memory.
    pub leaf_bytes: u64,
    /// Bytes of an index page in memory.
    pub index_bytes: u64,
    /// Entries of an index page.
    pub per_index_page: u64,
    /// Leaf pages of the index, and of the data when it starts.
    pub index_pages: u64,
    pub data_pages: u64,
    /// The file of the index, of the data, and of the internal pages of both.
    pub areas: [Area; 3],
    /// Root of the last checkpoint.
    pub root: u64,
    /// The journal: first byte and size.
    pub journal: (u64, u64),
    /// Bytes that an update, and an insert, add to the journal.
    pub update_bytes: u64,
    pub insert_bytes: u64,
    /// Time of a processor for an operation on one record.
    pub cpu: Span,
}

/// Index of a file in [`Shape::areas`].
pub const INDEX: usize = 0;
pub const DATA: usize = 1;
pub const INTERNAL: usize = 2;

/// Bytes that a record of the journal adds to what it says, and the multiple that it is rounded to (WiredTiger's
/// `WT_LOG_ALIGN`, recalled). The first is estimated; range 32 to 128.
const JOURNAL_OVERHEAD: u64 = 64;
const JOURNAL_ALIGN: u64 = 128;

impl Shape {
    /// Shape of the engine of `spec` on `volumes` (data, journal).
    ///
    /// # Errors
    /// What does not fit.
    pub fn new(spec: &BTreeSpec, volumes: &[AppVolume]) -> Result<Self, SpecError> {
        let record = spec.fields * (spec.field_length + FIELD_OVERHEAD) + RECORD_OVERHEAD;
        let per_page = ((spec.leaf_page as f64 * FULL_IN_ORDER) as u64 / (record + CELL)).max(1);
        let leaf_bytes = per_page * (record + CELL) + PAGE_HEADER;
        let stored = |bytes: u64| ((bytes as f64 * spec.stored) as u64).next_multiple_of(GRAIN).max(GRAIN);
        let per_index_page = (spec.index_page as f64 * FULL_AT_RANDOM / INDEX_ENTRY) as u64;
        let (index_pages, data_pages) = (spec.records.div_ceil(per_index_page), spec.records.div_ceil(per_page));
        if index_pages + data_pages > MOST_PAGES {
            let accepted = format!("{} pages; the model holds at most {MOST_PAGES}", index_pages + data_pages);
            return Err(spec.error("records", spec.records.to_string(), accepted));
        }
        let changed = match (spec.journal_whole, spec.write_all_fields) {
            (true, _) => record,
            (false, true) => spec.fields * (spec.field_length + FIELD_OVERHEAD),
            (false, false) => spec.field_length + FIELD_OVERHEAD,
        };
        let journal_bytes = |says: u64| (says + JOURNAL_OVERHEAD).next_multiple_of(JOURNAL_ALIGN);
        let mut shape = Self {
            per_page,
            leaf_bytes: leaf_bytes.max(GRAIN),
            index_bytes: spec.index_page,
            per_index_page,
            index_pages,
            data_pages,
            areas: [Area { from: 0, extent: stored(spec.index_page), slots: 0 }; 3],
            root: 0,
            journal: (0, 2 * spec.checkpoint_journal),
            update_bytes: journal_bytes(changed),
            insert_bytes: journal_bytes(record),
            cpu: spec.cpu + Span((spec.cpu_per_mib.0 as f64 * record as f64 / f64::from(1 << 20)).round() as u64),
        };
        shape.areas[DATA].extent = stored(leaf_bytes);
        shape.areas[INTERNAL].extent = GRAIN;
        shape.check_cache(spec)?;
        shape.place(spec, volumes)?;
        Ok(shape)
    }

    /// A cache in which clients never wait for one another: dirty pages and pages being read fit together.
    fn check_cache(&self, spec: &BTreeSpec) -> Result<(), SpecError> {
        let page = self.leaf_bytes.max(self.index_bytes) as f64;
        let clean = page * (2.0 * f64::from(spec.clients) + 1.0) / (1.0 - spec.dirty_trigger);
        let dirty = 2.0 * page / spec.dirty_trigger;
        let least = clean.max(dirty).ceil() as u64;
        if spec.cache < least {
            let accepted = format!("expected at least {least} B for {} clients and pages of {page} B", spec.clients);
            return Err(spec.error("cache", format!("{} B", spec.cache), accepted));
        }
        Ok(())
    }

    /// Root, journal (where it is on the same volume), index, internal pages, data to the end of the volume.
    fn place(&mut self, spec: &BTreeSpec, volumes: &[AppVolume]) -> Result<(), SpecError> {
        let [data, journal] = volumes else { unreachable!("an engine has two streams") };
        for volume in volumes {
            if !GRAIN.is_multiple_of(volume.block) {
                let accepted = format!(
                    "the drives take multiples of {} B, the engine writes multiples of {GRAIN} B",
                    volume.block
                );
                return Err(spec.error("volume", String::new(), accepted));
            }
        }
        let shared = data.target == journal.target;
        if !shared && journal.capacity < self.journal.1 {
            let accepted = format!("the journal takes twice as much, its volume has {} B", journal.capacity);
            return Err(spec.error("checkpoint_journal", format!("{} B", spec.checkpoint_journal), accepted));
        }
        let mut at = GRAIN;
        if shared {
            self.journal.0 = at;
            at += self.journal.1;
        }
        // A page has at most an extent in the last checkpoint, one since, and one that is being written.
        let spare = u64::from(spec.write_depth + spec.eviction_threads + spec.clients);
        self.areas[INDEX].from = at;
        self.areas[INDEX].slots = 2 * self.index_pages + spare;
        at += self.areas[INDEX].slots * self.areas[INDEX].extent;
        let least = self.data_pages + self.data_pages / 50 + spare;
        let extent = self.areas[DATA].extent;
        let most = (data.capacity.saturating_sub(at) / extent).min(MOST_GROWTH * self.data_pages + 4 * spare);
        self.areas[INTERNAL].from = at;
        self.areas[INTERNAL].slots = 2 * (most.div_ceil(FANOUT) + self.index_pages.div_ceil(FANOUT) + 2) + spare;
        at += self.areas[INTERNAL].slots * GRAIN;
        self.areas[DATA].from = at;
        self.areas[DATA].slots = most.min(data.capacity.saturating_sub(at) / extent);
        if self.areas[DATA].slots < least {
            let needed = at + least * extent;
            let accepted =
                format!("with journal, index and 2 % of room they need {needed} B, the volume has {} B", data.capacity);
            return Err(spec.error("records", spec.records.to_string(), accepted));
        }
        Ok(())
    }

    /// Bytes in memory of a page.
    pub fn bytes(&self, page: u32) -> u64 {
        if u64::from(page) < self.index_pages { self.index_bytes } else { self.leaf_bytes }
    }

    /// File of a page.
    pub fn file(&self, page: u32) -> usize {
        if u64::from(page) < self.index_pages { INDEX } else { DATA }
    }

    /// Internal page above a page; those of the index come first.
    pub fn parent(&self, page: u32) -> usize {
        let page = u64::from(page);
        let parent = match page.checked_sub(self.index_pages) {
            None => page / FANOUT,
            Some(data) => self.index_pages.div_ceil(FANOUT) + data / FANOUT,
        };
        parent as usize
    }
}
