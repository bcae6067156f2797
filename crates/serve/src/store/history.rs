//! A store that can go back to what a machine without power holds.
//!
//! Everything that was written since the server began stays in a temporary file: the data of every write, and what was
//! there before the first one. It grows by the written bytes (once more by the bytes first overwritten), and
//! memory by about 100 bytes per write. None of it is released before the end, because only the drive knows which
//! writes it may still fall back to. It has no name in its folder and goes with the process, which leaves the store as
//! it was written: a server that is killed is not a machine that lost power.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rangemap::RangeMap;

use super::contract::{Extent, Left, Place, Store};
use super::pieces::pieces;

/// A store with its history.
#[derive(Debug)]
pub struct WithHistory<S> {
    store: S,
    log: File,
    history: Mutex<History>,
}

/// A write: ticket 0 stands for the contents before the first write.
#[derive(Clone, Copy, Debug)]
struct Kept {
    place: Place,
    /// Place where its data begins in the log; none for zeros.
    at: Option<u64>,
}

/// Earlier data in the log: its place is that in the address space, wrapped, and its length.
type Before = Option<u64>;

#[derive(Debug, Default)]
struct History {
    /// Bytes of the log.
    end: u64,
    /// Writes by ticket, from 1.
    writes: Vec<Kept>,
    /// Tickets by the number that the machine gave.
    tickets: HashMap<u64, u64>,
    spaces: HashMap<u32, Space>,
    is_off: bool,
}

#[derive(Debug, Default)]
struct Space {
    before: RangeMap<u64, Before>,
    /// Ticket of the current contents of each range.
    newest: RangeMap<u64, u64>,
}

impl<S: Store> WithHistory<S> {
    /// Keeps the history of `store` in `folder`.
    ///
    /// # Errors
    /// No file can be made there.
    pub fn new(store: S, folder: &Path) -> io::Result<Self> {
        Ok(Self { store, log: tempfile::tempfile_in(folder)?, history: Mutex::default() })
    }

    fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes of the log.
    pub fn bytes(&self) -> u64 {
        self.history().end
    }

    /// Appends data to the log; where it begins, none of zeros.
    fn append(&self, history: &mut History, data: &[u8]) -> io::Result<Option<u64>> {
        if data.iter().all(|byte| *byte == 0) {
            return Ok(None);
        }
        let at = history.end;
        self.log.write_all_at(data, at)?;
        history.end += data.len() as u64;
        Ok(Some(at))
    }

    /// Records the contents before the first write.
    fn note_before(&self, history: &mut History, address: Place, len: u64) -> io::Result<()> {
        let range = address.offset..address.offset + len;
        let before = &history.spaces.entry(address.space).or_default().before;
        let gaps: Vec<Range<u64>> = before.gaps(&range).collect();
        for gap in gaps {
            let mut at = Place { offset: gap.start, ..address };
            for extent in self.store.extents(at, gap.end - gap.start)? {
                if extent.is_hole {
                    let space = history.spaces.entry(address.space).or_default();
                    space.before.insert(at.offset..at.offset + extent.len, None);
                } else {
                    self.note_data(history, at, extent.len)?;
                }
                at.offset += extent.len;
            }
        }
        Ok(())
    }

    /// Like the above, for data, by pieces: a long range takes no memory of its length.
    fn note_data(&self, history: &mut History, address: Place, len: u64) -> io::Result<()> {
        let mut data = Vec::new();
        for piece in pieces(address.offset, len) {
            data.resize(piece.len() as usize, 0);
            self.store.read(Place { offset: piece.offset, ..address }, &mut data)?;
            let at = self.append(history, &data)?.map(|at| at.wrapping_sub(piece.offset));
            let space = history.spaces.entry(address.space).or_default();
            space.before.insert(piece.offset..piece.offset + piece.len(), at);
        }
        Ok(())
    }

    /// Keeps a write in the history and hands it to the store: one at a time, so that both have them in one order.
    fn keep(&self, address: Place, len: u64, data: Option<&[u8]>) -> io::Result<u64> {
        let mut history = self.history();
        let history = &mut *history;
        if history.is_off {
            return Err(io::Error::other("power is off"));
        }
        self.note_before(history, address, len)?;
        let at = data.map_or(Ok(None), |data| self.append(history, data))?;
        history.writes.push(Kept { place: address, at });
        let ticket = history.writes.len() as u64;
        if len > 0 {
            let newest = &mut history.spaces.entry(address.space).or_default().newest;
            newest.insert(address.offset..address.offset + len, ticket);
        }
        match data {
            Some(data) => self.store.write(address, data)?,
            None => self.store.zero(address, len)?,
        };
        Ok(ticket)
    }

    /// Writes the contents of a range into the store, from where `at` in the log belongs to its first byte.
    fn restore(&self, address: Place, len: u64, at: Option<u64>) -> io::Result<()> {
        let Some(at) = at else { return self.store.zero(address, len).map(|_| ()) };
        let mut data = Vec::new();
        for piece in pieces(address.offset, len) {
            data.resize(piece.len() as usize, 0);
            self.log.read_exact_at(&mut data, at + piece.of_range.start as u64)?;
            self.store.write(Place { offset: piece.offset, ..address }, &data)?;
        }
        Ok(())
    }
}

impl History {
    /// Data that each written part should hold if the store has other data: ticket 0 for older data.
    fn changes(&self, left: &[Left]) -> io::Result<Vec<(Place, u64, Option<u64>)>> {
        let mut wanted: HashMap<u32, RangeMap<u64, u64>> = HashMap::new();
        for Left { place, len, version } in left.iter().filter(|left| left.len > 0 && left.version > 0) {
            let ticket = self.tickets.get(version).ok_or_else(|| {
                io::Error::other(format!("write {version} is on a drive, but never reached the store"))
            })?;
            wanted.entry(place.space).or_default().insert(place.offset..place.offset + len, *ticket);
        }
        let mut changes = Vec::new();
        for (number, space) in &self.spaces {
            let wanted = wanted.remove(number).unwrap_or_default();
            for (range, have) in space.newest.iter() {
                let held = wanted.overlapping(range.clone()).map(|(extent, ticket)| (clip(extent, range), *ticket));
                let never = wanted.gaps(range).map(|gap| (gap, 0));
                for (range, ticket) in held.chain(never).filter(|(_, ticket)| ticket != have) {
                    self.change(space, Place { space: *number, offset: range.start }, range, ticket, &mut changes);
                }
            }
        }
        Ok(changes)
    }

    fn change(
        &self,
        space: &Space,
        place: Place,
        range: Range<u64>,
        ticket: u64,
        changes: &mut Vec<(Place, u64, Option<u64>)>,
    ) {
        if let Some(index) = ticket.checked_sub(1) {
            let Kept { place: extent, at } = self.writes[index as usize];
            return changes.push((place, range.end - range.start, at.map(|at| at + (place.offset - extent.offset))));
        }
        for (extent, at) in space.before.overlapping(range.clone()) {
            let Range { start, end } = clip(extent, &range);
            let at = at.map(|at| at.wrapping_add(start));
            changes.push((Place { offset: start, ..place }, end - start, at));
        }
    }
}

/// Return the overlap of two ranges.
fn clip(range: &Range<u64>, other: &Range<u64>) -> Range<u64> {
    range.start.max(other.start)..range.end.min(other.end)
}

impl<S: Store> Store for WithHistory<S> {
    fn read(&self, address: Place, buffer: &mut [u8]) -> io::Result<()> {
        self.store.read(address, buffer)
    }

    fn write(&self, address: Place, data: &[u8]) -> io::Result<u64> {
        self.keep(address, data.len() as u64, Some(data))
    }

    fn zero(&self, address: Place, len: u64) -> io::Result<u64> {
        self.keep(address, len, None)
    }

    fn number(&self, ticket: u64, version: u64) {
        self.history().tickets.insert(version, ticket);
    }

    fn extents(&self, address: Place, len: u64) -> io::Result<Vec<Extent>> {
        self.store.extents(address, len)
    }

    fn remarks(&self) -> Vec<String> {
        self.store.remarks()
    }

    /// Writes are no longer possible. Ranges that no drive reports are as before the first write.
    fn power_off(&self, left: &[Left]) -> io::Result<()> {
        let mut history = self.history();
        history.is_off = true;
        let changes = history.changes(left)?;
        changes.into_iter().try_for_each(|(address, len, at)| self.restore(address, len, at))
    }
}
