//! The stream of all data: counted first, then read item by item.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

use serde::Serialize;

use crate::compress::DEFLATE_WINDOW;
use crate::control::Control;
use crate::extents::{EXTENT, Extents, Packer, open_file};
use crate::sample::{Choice, Want};
use crate::walk::{Found, Regular, Walk};

/// Most paths of unreadable files and folders that are stored.
const EXAMPLES: usize = 10;

/// Omitted files and the reasons.
#[derive(Clone, Debug, Default, Serialize, PartialEq, Eq)]
pub struct Skipped {
    /// Symbolic links, and further names of files.
    pub links: u64,
    /// Symbolic links alone.
    pub symbolic_links: u64,
    /// Number of further names of files.
    pub hard_links: u64,
    /// FIFOs, sockets and devices.
    pub special: u64,
    /// File systems that were mounted in the tree.
    pub mounts: u64,
    /// Length of the holes of sparse files.
    pub holes_bytes: u64,
}

/// Unreadable files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unreadable {
    /// Files and folders.
    pub count: u64,
    /// The first of them, each with the reason.
    pub examples: Vec<String>,
}

impl Unreadable {
    /// Counts one.
    pub fn add(&mut self, path: &Path, error: &io::Error) {
        self.count += 1;
        if self.examples.len() < EXAMPLES {
            self.examples.push(format!("{}: {error}", path.to_string_lossy()));
        }
    }

    /// Counts those of `other` too.
    pub fn join(&mut self, other: Self) {
        self.count += other.count;
        self.examples.extend(other.examples);
        self.examples.truncate(EXAMPLES);
    }
}

/// Inventory from a first walk that reads no data.
#[derive(Clone, Debug, Default)]
pub struct Census {
    /// Regular files, each once.
    pub files: u64,
    /// Their data, without holes.
    pub bytes: u64,
    /// Items that the data is read in.
    pub items: u64,
    /// Omitted files.
    pub skipped: Skipped,
    /// Unreadable folders, and files that vanished meanwhile.
    pub unreadable: Unreadable,
    /// Files with several names that could not be remembered: they may count again.
    pub links_forgotten: u64,
    /// The most bytes of names that were held at a time.
    pub names_held: usize,
}

impl Census {
    /// Walks through everything; None if it was stopped.
    pub fn take(mut walk: Walk, control: &Control) -> Option<Self> {
        let mut census = Self::default();
        let mut packer = Packer::default();
        for entry in walk.by_ref() {
            if control.stopped() {
                return None;
            }
            census.count(entry, &mut packer);
            control.counted(census.files, census.bytes);
        }
        census.items = packer.items();
        census.links_forgotten = walk.links_forgotten();
        census.names_held = walk.most_held();
        Some(census)
    }

    fn count(&mut self, entry: Found, packer: &mut Packer) {
        match entry {
            Found::File(file) => {
                let mut data = 0;
                for extent in Extents::new(&file) {
                    data += extent.end - extent.start;
                    packer.add(extent.end - extent.start);
                }
                self.files += 1;
                self.bytes += data;
                self.skipped.holes_bytes += file.size - data;
            }
            Found::SymbolicLink => self.skipped.symbolic_links += 1,
            Found::HardLink => self.skipped.hard_links += 1,
            Found::Special => self.skipped.special += 1,
            Found::Mount => self.skipped.mounts += 1,
            Found::Unreadable(path, error) => self.unreadable.add(&path, &error),
        }
        self.skipped.links = self.skipped.symbolic_links + self.skipped.hard_links;
    }
}

/// Part of a file in an item.
#[derive(Clone, Copy, Debug)]
struct Extract {
    at: usize,
    len: usize,
    offset: u64,
}

/// Data that is compressed at a time: pieces of files, and the data before them in the stream. One
/// per thread, made once.
pub struct Item {
    buffer: Box<[u8]>,
    lead: usize,
    len: usize,
    pieces: Vec<Extract>,
}

impl Default for Item {
    fn default() -> Self {
        let longest = DEFLATE_WINDOW + 2 * EXTENT as usize;
        Self { buffer: vec![0; longest].into_boxed_slice(), lead: 0, len: 0, pieces: Vec::new() }
    }
}

impl Item {
    /// Preceding data of the stream within the window of deflate.
    pub fn lead(&self) -> &[u8] {
        &self.buffer[..self.lead]
    }

    /// Its data.
    pub fn data(&self) -> &[u8] {
        &self.buffer[self.lead..self.len]
    }

    /// Its data in chunks: cut at multiples of `size` of the files' offsets, shorter at the ends of files and at holes.
    pub fn chunks(&self, size: u64) -> impl Iterator<Item = &[u8]> {
        self.pieces.iter().flat_map(move |piece| {
            let first = ((size - piece.offset % size) as usize).min(piece.len);
            let (head, tail) = self.buffer[piece.at..piece.at + piece.len].split_at(first);
            std::iter::once(head).filter(|head| !head.is_empty()).chain(tail.chunks(size as usize))
        })
    }

    /// Starts over after `lead`.
    fn begin(&mut self, lead: &[u8]) {
        self.buffer[..lead.len()].copy_from_slice(lead);
        (self.lead, self.len) = (lead.len(), lead.len());
        self.pieces.clear();
    }

    /// Reads a piece of `file`; what could be read stays. Returns how long it is.
    fn read(&mut self, file: &File, range: &Range<u64>) -> io::Result<usize> {
        let (from, want) = (self.len, (range.end - range.start) as usize);
        let result = read_at(file, &mut self.buffer[from..from + want], range.start);
        let len = *result.as_ref().unwrap_or(&0);
        self.len += len;
        if len > 0 {
            self.pieces.push(Extract { at: from, len, offset: range.start });
        }
        result
    }
}

/// Fills `buffer` from `offset` on; fewer bytes where the file ends before.
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut done = 0;
    while done < buffer.len() {
        match file.read_at(&mut buffer[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(read) => done += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

/// A file that is being read.
struct Current {
    file: Regular,
    extents: Extents,
    open: Option<File>,
    /// Whether it is counted among the unreadable or the changed.
    counted: bool,
}

/// The second walk, which reads; threads take turns with it.
pub struct Source {
    walk: Walk,
    packer: Packer,
    choice: Choice,
    index: u64,
    current: Option<Current>,
    /// Data before the next item, at most `window` bytes.
    lead: Vec<u8>,
    window: usize,
    /// Files that could not be read, from the place on where it failed.
    pub unreadable: Unreadable,
    /// Files that were shorter than when they were counted.
    pub changed: u64,
}

impl Source {
    /// Reads what `choice` chooses of what `walk` meets; `leads` says whether what came before an item matters.
    pub fn new(walk: Walk, choice: Choice, leads: bool) -> Self {
        let window = if leads { DEFLATE_WINDOW } else { 0 };
        let lead = Vec::with_capacity(2 * window);
        let (packer, unreadable) = (Packer::default(), Unreadable::default());
        Self { walk, packer, choice, index: 0, current: None, lead, window, unreadable, changed: 0 }
    }

    /// The most bytes of names that were held at a time.
    pub fn names_held(&self) -> usize {
        self.walk.most_held()
    }

    /// Reads the next item that is measured; false after the last one or if it was stopped.
    pub fn next_item(&mut self, item: &mut Item, control: &Control) -> bool {
        while !control.stopped() && !self.choice.is_over(self.index) {
            let want = self.choice.of(self.index);
            item.begin(if want == Want::Measure { &self.lead } else { &[] });
            self.lead.clear();
            if !self.gather(want, item) || control.stopped() {
                return false;
            }
            self.index += 1;
            if want == Want::Measure {
                let end = &item.buffer[..item.len];
                self.lead.extend_from_slice(&end[end.len().saturating_sub(self.window)..]);
                return true;
            }
        }
        false
    }

    /// Goes through the extents of one item; false if there are none left.
    fn gather(&mut self, want: Want, item: &mut Item) -> bool {
        let mut any = false;
        while let Some(extent) = self.next_extent() {
            any = true;
            match want {
                Want::Lead if self.window > 0 => self.read_lead(&extent),
                Want::Skip | Want::Lead => {}
                Want::Measure => self.read_piece(&extent, item),
            }
            if self.packer.add(extent.end - extent.start) {
                break;
            }
        }
        any
    }

    fn next_extent(&mut self) -> Option<Range<u64>> {
        loop {
            if let Some(current) = &mut self.current {
                if let Some(extent) = current.extents.next() {
                    return Some(extent);
                }
                self.current = None;
            }
            // What is not a file was counted by the census.
            if let Found::File(file) = self.walk.next()? {
                let extents = Extents::new(&file);
                self.current = Some(Current { file, extents, open: None, counted: false });
            }
        }
    }

    /// Does `read` with the open file; counts the file if that fails or yields less than was there.
    fn with_file(&mut self, len: u64, read: impl FnOnce(&File) -> io::Result<usize>) {
        let current = self.current.as_mut().expect("an extent is of the current file");
        let result = match &current.open {
            Some(file) => read(file),
            None if current.counted => return,
            None => open_file(&current.file).and_then(|file| read(current.open.insert(file))),
        };
        let whole = result.as_ref().is_ok_and(|&done| done as u64 == len);
        if whole || current.counted {
            return;
        }
        current.counted = true;
        match result {
            Ok(_) => self.changed += 1,
            Err(error) => self.unreadable.add(&current.file.path, &error),
        }
    }

    fn read_piece(&mut self, extent: &Range<u64>, item: &mut Item) {
        self.with_file(extent.end - extent.start, |file| item.read(file, extent));
    }

    /// Keeps the end of the extent, and of those before it what deflate still refers to.
    fn read_lead(&mut self, extent: &Range<u64>) {
        let from = extent.start.max(extent.end.saturating_sub(self.window as u64));
        let len = extent.end - from;
        let mut lead = std::mem::take(&mut self.lead);
        self.with_file(len, |file| {
            let lead_len = lead.len();
            lead.resize(lead_len + len as usize, 0);
            let result = read_at(file, &mut lead[lead_len..], from);
            lead.truncate(lead_len + *result.as_ref().unwrap_or(&0));
            result
        });
        lead.drain(..lead.len().saturating_sub(self.window));
        self.lead = lead;
    }
}
