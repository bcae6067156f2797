//! I/Os of a trace in order of issue, whatever order they come in, in bounded memory.
//!
//! Two halves of a buffer are sorted, the earlier half goes into a temporary file, the other waits for what comes next.
//! A trace whose I/Os are out of place by less than half a buffer is one run, which is read as it was written; else a
//! run begins whenever one comes too late, and the runs are merged. Sorting is stable, and quick
//! if most I/Os are in order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use hotband_workloads::TraceIo;

/// I/Os of half a buffer: 19 MB for both halves.
const HALF: usize = 128 * 1024;
/// Bytes of an I/O in the temporary file: a row, its order, and the number of its stream.
const ENTRY: usize = 48 + 8 + 8;
/// Read at once of each run.
const AT_ONCE: usize = 32 * 1024;

/// An I/O, its order among those of one time, and its stream, of which there may be more than rows can number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub io: TraceIo,
    pub order: u64,
    pub stream: u32,
}

impl Entry {
    fn key(&self) -> (u64, u64) {
        (self.io.issue.0, self.order)
    }

    fn write(&self, file: &mut impl Write) -> io::Result<()> {
        file.write_all(&self.io.to_bytes())?;
        file.write_all(&self.order.to_le_bytes())?;
        file.write_all(&u64::from(self.stream).to_le_bytes())
    }

    fn read(file: &mut impl Read) -> io::Result<Self> {
        let mut bytes = [0; ENTRY];
        file.read_exact(&mut bytes)?;
        let (row, rest) = bytes.split_at(48);
        let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        let io = TraceIo::of_bytes(row.try_into().expect("a row has 48 bytes")).map_err(io::Error::other)?;
        Ok(Self { io, order: number(&rest[..8]), stream: number(&rest[8..]) as u32 })
    }
}

/// Sorts the I/Os that it receives.
#[derive(Debug)]
pub(crate) struct Sorter {
    buffer: Vec<Entry>,
    half: usize,
    folder: PathBuf,
    spilled: Option<BufWriter<File>>,
    /// Entries of each run.
    runs: Vec<Range<u64>>,
    last: (u64, u64),
}

impl Sorter {
    /// Return a sorter whose temporary file is in `folder`.
    pub(crate) fn new(folder: &Path) -> Self {
        Self::of(folder, HALF)
    }

    fn of(folder: &Path, half: usize) -> Self {
        let folder = folder.to_owned();
        Self { buffer: Vec::new(), half, folder, spilled: None, runs: Vec::new(), last: (0, 0) }
    }

    /// One more I/O.
    #[inline]
    pub(crate) fn push(&mut self, entry: Entry) -> io::Result<()> {
        self.buffer.push(entry);
        if self.buffer.len() == 2 * self.half { self.spill(self.half) } else { Ok(()) }
    }

    /// Writes the first `count` of the buffer.
    fn spill(&mut self, count: usize) -> io::Result<()> {
        self.buffer.sort_by_key(Entry::key);
        let spilled = match &mut self.spilled {
            Some(spilled) => spilled,
            None => self.spilled.insert(BufWriter::with_capacity(1 << 18, tempfile::tempfile_in(&self.folder)?)),
        };
        let begin = self.runs.last().map_or(0, |run| run.end);
        let goes_on = self.buffer.first().is_some_and(|first| first.key() >= self.last) && !self.runs.is_empty();
        for entry in &self.buffer[..count] {
            entry.write(spilled)?;
        }
        let end = begin + count as u64;
        match self.runs.last_mut().filter(|_| goes_on) {
            Some(run) => run.end = end,
            None => self.runs.push(begin..end),
        }
        self.last = self.buffer[..count].last().map_or(self.last, Entry::key);
        self.buffer.drain(..count);
        Ok(())
    }

    /// Gives all to `each`, in order.
    pub(crate) fn finish(mut self, mut each: impl FnMut(&Entry) -> io::Result<()>) -> io::Result<()> {
        if self.spilled.is_none() {
            self.buffer.sort_by_key(Entry::key);
            return self.buffer.iter().try_for_each(each);
        }
        if !self.buffer.is_empty() {
            self.spill(self.buffer.len())?;
        }
        let file =
            self.spilled.take().expect("something was spilled").into_inner().map_err(io::IntoInnerError::into_error)?;
        let file = Rc::new(file);
        let mut runs: Vec<Run> = self.runs.iter().map(|run| Run::new(&file, run)).collect();
        if let [run] = &mut runs[..] {
            while let Some(entry) = run.next()? {
                each(&entry)?;
            }
            return Ok(());
        }
        let mut next = BinaryHeap::new();
        for (number, run) in runs.iter_mut().enumerate() {
            next.extend(run.next()?.map(|entry| Reverse(Head { entry, number })));
        }
        while let Some(Reverse(Head { entry, number })) = next.pop() {
            each(&entry)?;
            next.extend(runs[number].next()?.map(|entry| Reverse(Head { entry, number })));
        }
        Ok(())
    }
}

/// Puts I/Os in order without a file, as long as none is out of place by more than half a buffer.
#[derive(Debug)]
pub(crate) struct Window {
    buffer: Vec<Entry>,
    half: usize,
    last: (u64, u64),
}

impl Window {
    pub(crate) fn new() -> Self {
        Self { buffer: Vec::new(), half: HALF, last: (0, 0) }
    }

    /// Adds an I/O; returns whether it is in time. `each` receives those that are in order now.
    #[inline]
    pub(crate) fn push(&mut self, entry: Entry, each: impl FnMut(&Entry)) -> bool {
        self.buffer.push(entry);
        self.buffer.len() < 2 * self.half || self.give(self.half, each)
    }

    /// The rest.
    pub(crate) fn finish(mut self, each: impl FnMut(&Entry)) -> bool {
        self.give(self.buffer.len(), each)
    }

    fn give(&mut self, count: usize, each: impl FnMut(&Entry)) -> bool {
        self.buffer.sort_by_key(Entry::key);
        if self.buffer.first().is_some_and(|first| first.key() < self.last) {
            return false;
        }
        self.last = self.buffer[..count].last().map_or(self.last, Entry::key);
        self.buffer[..count].iter().for_each(each);
        self.buffer.drain(..count);
        true
    }
}

/// The first I/O of a run, ordered by time and then by run: an earlier run was read earlier.
struct Head {
    entry: Entry,
    number: usize,
}

impl Head {
    fn key(&self) -> ((u64, u64), usize) {
        (self.entry.key(), self.number)
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Head {}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Head {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

/// A run being read: it reads its own places of the one file.
struct Run {
    rows: BufReader<Part>,
    left: u64,
}

impl Run {
    fn new(file: &Rc<File>, run: &Range<u64>) -> Self {
        let part = Part { file: Rc::clone(file), at: run.start * ENTRY as u64 };
        Self { rows: BufReader::with_capacity(AT_ONCE, part), left: run.end - run.start }
    }

    fn next(&mut self) -> io::Result<Option<Entry>> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        Entry::read(&mut self.rows).map(Some)
    }
}

/// A file that is read from its own position, while others read from theirs.
struct Part {
    file: Rc<File>,
    at: u64,
}

impl Read for Part {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut file = &*self.file;
        file.seek(SeekFrom::Start(self.at))?;
        let read = file.read(buffer)?;
        self.at += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use hotband_machine::Op;
    use hotband_units::Instant;
    use proptest::prelude::*;

    use super::*;

    fn entry(issue: u64, order: u64) -> Entry {
        let io = TraceIo {
            issue: Instant(issue),
            latency: None,
            op: Op::Read,
            fua: false,
            failed: false,
            stream: 0,
            offset: order,
            len: 512,
            row: order,
        };
        Entry { io, order, stream: 70_000 }
    }

    proptest! {
        #[test]
        fn what_comes_out_is_sorted_and_all_of_it(times in prop::collection::vec(0_u64..50, 0..400), half in 1_usize..40) {
            let mut sorter = Sorter::of(&std::env::temp_dir(), half);
            for (index, time) in times.iter().enumerate() {
                sorter.push(entry(*time, index as u64)).expect("a temporary file");
            }
            let mut sorted = Vec::new();
            let each = |entry: &Entry| { sorted.push((entry.io.issue.0, entry.io.row, entry.stream)); Ok(()) };
            sorter.finish(each).expect("a temporary file");
            let mut expected: Vec<_> = times.iter().enumerate().map(|(index, time)| (*time, index as u64, 70_000)).collect();
            expected.sort_unstable();
            prop_assert_eq!(sorted, expected);
        }
    }

    #[test]
    fn what_is_far_out_of_order_comes_too_late_for_a_window() {
        let give = |times: &[u64]| {
            let mut window = Window { half: 4, ..Window::new() };
            let mut sorted = Vec::new();
            let in_time = times
                .iter()
                .zip(0..)
                .all(|(time, order)| window.push(entry(*time, order), |entry| sorted.push(entry.io.issue.0)));
            (in_time && window.finish(|entry| sorted.push(entry.io.issue.0))).then_some(sorted)
        };
        assert_eq!(give(&[3, 1, 0, 2, 7, 5, 4, 6, 9, 8]), Some((0..10).collect()));
        assert_eq!(give(&[1, 2, 3, 4, 5, 6, 7, 8, 0]), None);
    }

    #[test]
    fn what_is_nearly_in_order_is_one_run() {
        let mut sorter = Sorter::of(&std::env::temp_dir(), 16);
        for index in 0..1000_u64 {
            sorter.push(entry(index ^ 7, index)).expect("a temporary file");
        }
        assert_eq!(sorter.runs.len(), 1);
    }
}
