//! The journal of an array: a log written round and round in blocks of 4 KiB (`raid5-cache.c`, `md_p.h`).
//!
//! Positions count from the first block ever written. Data before the checkpoint may be overwritten: it moves once
//! the members have flushed, as md does when it writes its superblock (`r5l_do_reclaim`).

use std::collections::BTreeMap;
use std::ops::Range;

use hotband_machine::Versions;

use crate::md::rows::PAGE;

/// A block that describes others: its header (`struct r5l_meta_block`), and what it says of each (`struct
/// r5l_payload_data_parity`) before a checksum a page.
const META_HEADER: u64 = 32;
const PAYLOAD: u64 = 16;
const CHECKSUM: u64 = 4;
/// `RECLAIM_MAX_FREE_SPACE`: the checkpoint moves when so much can be freed, or a quarter of the journal
/// (`RECLAIM_MAX_FREE_SPACE_SHIFT`).
const RECLAIM: u64 = 10 << 30;

/// One journal write: descriptor blocks and the data they describe (`struct r5l_io_unit`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unit {
    /// Start and end.
    pub place: Range<u64>,
    /// Rows whose pages it has.
    pub rows: Vec<u64>,
    /// Flushes of hosts that wait for this write.
    pub flushes: Vec<u32>,
    /// Room left in its block that describes.
    room: u64,
}

/// The log.
#[derive(Debug)]
pub struct Journal {
    size: u64,
    /// Next write position, and the start of the part that may not be overwritten.
    head: u64,
    checkpoint: u64,
    /// Rows whose data here is not yet all on the members, by start position; and the start of the descriptor block.
    rows: BTreeMap<u64, (u64, u64)>,
    /// Entries not yet written.
    units: Vec<Unit>,
    /// Data that members received since the checkpoint: its writes, if versions are tracked, and its bytes.
    taken: (Versions, u64),
    /// Like the above, when the checkpoint began to move, and its destination.
    moving: Option<(Versions, u64, u64)>,
}

impl Journal {
    /// An empty one of `size` bytes.
    pub fn new(size: u64) -> Self {
        Self {
            size: size / PAGE * PAGE,
            head: 0,
            checkpoint: 0,
            rows: BTreeMap::new(),
            units: Vec::new(),
            taken: (Versions::default(), 0),
            moving: None,
        }
    }

    /// Bytes that a row with this many pages takes.
    pub fn needs(pages: u64) -> u64 {
        (1 + pages) * PAGE
    }

    /// Bytes that may be written.
    pub fn free(&self) -> u64 {
        self.size - (self.head - self.checkpoint)
    }

    /// Bytes that writing everything out takes that only the journal has (`r5c_log_required_to_flush_cache`).
    pub fn reserve(&self, data: u64, parities: u64) -> u64 {
        ((parities + 1) * self.rows.len() as u64 + data) * PAGE
    }

    /// Appends pages of a row, and returns where the row begins: its previous start if some of it is already here.
    pub fn append(&mut self, row: u64, data: u64, parities: u64, begins: Option<u64>) -> u64 {
        let of_parities = if parities > 0 { PAYLOAD + parities * CHECKSUM } else { 0 };
        self.describe(data * (PAYLOAD + CHECKSUM) + of_parities);
        let start = self.head;
        self.head += (data + parities) * PAGE;
        let unit = self.units.last_mut().expect("there is one now");
        unit.place.end = self.head;
        unit.rows.push(row);
        begins.unwrap_or_else(|| {
            self.rows.insert(start, (row, unit.place.start));
            start
        })
    }

    /// Flushes of hosts: a block is on the media when they are completed, if only an empty one
    /// (`r5l_handle_flush_request`).
    pub fn append_flushes(&mut self, flushes: Vec<u32>) {
        self.describe(0);
        self.units.last_mut().expect("there is one now").flushes = flushes;
    }

    /// Ensures that a block has room for this many more bytes of description.
    fn describe(&mut self, bytes: u64) {
        if let Some(unit) = self.units.last_mut().filter(|unit| unit.room >= bytes) {
            unit.room -= bytes;
            return;
        }
        let range = self.head..self.head + PAGE;
        self.head = range.end;
        self.units.push(Unit { place: range, room: (PAGE - META_HEADER).saturating_sub(bytes), ..Unit::default() });
    }

    /// Take the units to write.
    pub fn take_units(&mut self) -> Vec<Unit> {
        assert!(self.head - self.checkpoint <= self.size, "there was room for all that was appended");
        std::mem::take(&mut self.units)
    }

    /// Place of a unit on the drive: in two parts if it wraps.
    pub fn on_drive(&self, range: &Range<u64>) -> Vec<(u64, u64)> {
        let (at, len) = (range.start % self.size, range.end - range.start);
        let first = len.min(self.size - at);
        if first < len { vec![(at, first), (0, len - first)] } else { vec![(at, len)] }
    }

    /// The members have all of a row, this many bytes of which were here: `versions` by address.
    pub fn let_go(&mut self, start: u64, bytes: u64, versions: impl Iterator<Item = (Range<u64>, u64)>) {
        self.rows.remove(&start);
        versions.for_each(|(range, version)| self.taken.0.set(range, version));
        self.taken.1 += bytes;
    }

    /// Rows here, the oldest first.
    pub fn rows(&self) -> impl Iterator<Item = u64> {
        self.rows.values().map(|(row, _)| *row)
    }

    /// Whether the checkpoint is to move: much can be freed, or there is a need of it.
    pub fn begins_checkpoint(&mut self, is_needed: bool) -> bool {
        let to = self.rows.first_key_value().map_or(self.head, |(_, (_, block))| *block);
        let freed = to.saturating_sub(self.checkpoint);
        if self.moving.is_some() || freed == 0 || !(is_needed || freed > RECLAIM.min(self.size / 4)) {
            return false;
        }
        let (versions, bytes) = std::mem::take(&mut self.taken);
        self.moving = Some((versions, bytes, to));
        true
    }

    /// The members have flushed.
    pub fn checkpoint(&mut self) {
        let (_, _, to) = self.moving.take().expect("it had begun to move");
        self.checkpoint = to;
    }

    /// Data that members received since the checkpoint, and its bytes: replayed when power comes back.
    pub fn replayed(&self) -> (Versions, u64) {
        let (mut versions, mut bytes) = self.moving.as_ref().map_or_else(Default::default, |(v, b, _)| (v.clone(), *b));
        versions.overlay(&self.taken.0);
        bytes += self.taken.1;
        (versions, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_describes_as_many_pages_as_it_has_room_for() {
        let mut journal = Journal::new(16 << 20);
        // Rows of four pages of data and one of parity: 4 x 20 + 20 of 4064 bytes, so 40 rows.
        for row in 0..41 {
            journal.append(row, 4, 1, None);
        }
        let units = journal.take_units();
        assert_eq!(units.iter().map(|unit| unit.rows.len()).collect::<Vec<_>>(), [40, 1]);
        assert_eq!(units[0].place, 0..(1 + 40 * 5) * PAGE);
        assert_eq!(units[1].place, 201 * PAGE..207 * PAGE);
    }

    #[test]
    fn it_goes_round_behind_its_checkpoint() {
        let mut journal = Journal::new(8 * PAGE);
        let start = journal.append(5, 3, 1, None);
        assert_eq!((start, journal.free()), (PAGE, 3 * PAGE));
        assert!(!journal.begins_checkpoint(true), "the members have not what it holds");
        journal.let_go(start, 3 * PAGE, std::iter::once((0..4096, 7)));
        assert_eq!(journal.replayed().1, 3 * PAGE);
        assert!(journal.begins_checkpoint(false) && !journal.begins_checkpoint(true), "more than a quarter, once");
        assert_eq!((journal.free(), journal.replayed().1), (3 * PAGE, 3 * PAGE), "until the members have flushed");
        journal.checkpoint();
        assert_eq!((journal.free(), journal.replayed().0.iter().count()), (8 * PAGE, 0));
        journal.take_units();
        journal.append(6, 4, 0, None);
        let range = journal.take_units()[0].place.clone();
        assert_eq!(journal.on_drive(&range), [(5 * PAGE, 3 * PAGE), (0, 2 * PAGE)]);
    }
}
