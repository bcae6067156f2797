//! Streams of reads that follow one another, and what was read ahead of each.

use std::collections::VecDeque;
use std::ops::Range;

use hotband_units::Instant;

use crate::parts::ftl::PAGE;
use crate::parts::nand::NandParams;
use crate::ssd::read_ahead::params::ReadAheadParams;

/// Reads whose ends are remembered: the one that begins at one of these is a stream's second.
const REMEMBERED: usize = 8;

/// Pages that are read ahead together.
#[derive(Clone, Debug)]
struct Chunk {
    number: u32,
    pages: Range<u64>,
    /// Parts that are still to come.
    parts: u32,
    /// When what has come so far is in memory.
    ready: Instant,
    /// Commands that wait for it.
    waiting: Vec<u32>,
}

/// Reads that follow one another.
#[derive(Clone, Debug)]
struct Stream {
    /// Where the last of them ended.
    end: u64,
    /// Bytes that were read in a row since its second read, or since it left out some.
    run: u64,
    /// When it went on last, in streams that went on.
    used: u64,
    /// The page behind the last that was read ahead, or asked for.
    frontier: u64,
    chunks: VecDeque<Chunk>,
}

/// The streams of a drive.
#[derive(Clone, Debug)]
pub struct Streams {
    pub params: ReadAheadParams,
    /// Pages of a chunk: a sense of all planes.
    chunk: u64,
    /// Pages of the drive.
    pages: u64,
    known: Vec<Stream>,
    /// Chunks of streams that were forgotten, for which commands wait.
    left: Vec<Chunk>,
    /// Where the last reads that belong to no stream ended: the lower bits, which are compared at once, and all of them.
    low: [u32; REMEMBERED],
    ends: [u64; REMEMBERED],
    oldest: usize,
    went_on: u64,
    number: u32,
}

impl Streams {
    /// No stream, of a drive of `pages` pages with such flash.
    pub fn new(params: ReadAheadParams, nand: &NandParams, pages: u64) -> Self {
        Self::of_chunks(params, nand.page_bytes * u64::from(nand.planes) / PAGE, pages)
    }

    /// The same where `chunk` pages are sensed at once.
    fn of_chunks(params: ReadAheadParams, chunk: u64, pages: u64) -> Self {
        Self {
            params,
            chunk,
            pages,
            known: Vec::new(),
            left: Vec::new(),
            low: [u32::MAX; REMEMBERED],
            ends: [u64::MAX; REMEMBERED],
            oldest: 0,
            went_on: 0,
            number: 0,
        }
    }

    /// The stream that a read goes on with, or makes. It begins where the last one of the stream ended, or, as those of
    /// members of a layout with parity do, behind that within what was read ahead.
    #[inline]
    pub fn follow(&mut self, offset: u64, len: u64) -> Option<usize> {
        if len > self.params.bytes {
            return None;
        }
        let goes_on = |stream: &Stream| stream.end <= offset && offset <= stream.frontier * PAGE;
        if !self.known.is_empty()
            && let Some(index) = self.known.iter().position(goes_on)
        {
            self.go_on(index, offset, len);
            return Some(index);
        }
        // All are compared, whatever is found: that is a few instructions for all of them.
        let low = offset as u32;
        let found = self.low.iter().fold(0, |found, end| found | u32::from(*end == low));
        if found != 0
            && let Some(at) = self.ends.iter().position(|end| *end == offset)
        {
            (self.low[at], self.ends[at]) = (u32::MAX, u64::MAX);
            return Some(self.make(offset, len));
        }
        (self.low[self.oldest], self.ends[self.oldest]) = ((offset + len) as u32, offset + len);
        self.oldest = (self.oldest + 1) % REMEMBERED;
        None
    }

    #[inline(never)]
    fn go_on(&mut self, index: usize, offset: u64, len: u64) {
        self.went_on += 1;
        let stream = &mut self.known[index];
        while stream.chunks.front().is_some_and(|chunk| chunk.parts == 0 && chunk.pages.end * PAGE <= offset) {
            stream.chunks.pop_front();
        }
        stream.run = if offset == stream.end { stream.run + len } else { 0 };
        stream.end = offset + len;
        stream.frontier = stream.frontier.max(stream.end.div_ceil(PAGE));
        stream.used = self.went_on;
    }

    /// A stream of two reads, the second of which is this one. It takes the place of the one that went on least lately.
    #[cold]
    fn make(&mut self, offset: u64, len: u64) -> usize {
        self.went_on += 1;
        let end = offset + len;
        let frontier = end.div_ceil(PAGE);
        let made = Stream { end, run: 0, used: self.went_on, frontier, chunks: VecDeque::new() };
        if self.known.len() < self.params.streams {
            self.known.push(made);
            return self.known.len() - 1;
        }
        let least = |at: &usize| self.known[*at].used;
        let index = (0..self.known.len()).min_by_key(least).expect("a drive that reads ahead has a stream");
        let forgotten = std::mem::replace(&mut self.known[index], made);
        self.left.extend(forgotten.chunks.into_iter().filter(|chunk| !chunk.waiting.is_empty()));
        index
    }

    /// Of a read of these pages, all of which were read ahead: how many chunks it waits for, and when the others are in
    /// memory. None where some were not.
    pub fn find(&mut self, stream: usize, pages: &Range<u64>, index: u32) -> Option<(u32, Instant)> {
        let chunks = &mut self.known[stream].chunks;
        let first = chunks.iter().position(|chunk| chunk.pages.end > pages.start)?;
        let (mut from, mut last) = (pages.start, first);
        for chunk in chunks.range(first..) {
            if !chunk.pages.contains(&from) {
                return None;
            }
            (from, last) = (chunk.pages.end, last + 1);
            if from >= pages.end {
                break;
            }
        }
        if from < pages.end {
            return None;
        }
        let (mut parts, mut ready) = (0, Instant::ZERO);
        for chunk in chunks.range_mut(first..last) {
            if chunk.parts == 0 {
                ready = ready.max(chunk.ready);
            } else {
                chunk.waiting.push(index);
                parts += 1;
            }
        }
        Some((parts, ready))
    }

    /// What is to be read ahead next of a stream: from its third read on as much as was read in a row, and no more than the
    /// drive does.
    pub fn next(&mut self, stream: usize) -> Option<(u32, Range<u64>)> {
        let stream = &mut self.known[stream];
        let until = (stream.end.div_ceil(PAGE) + stream.run.min(self.params.bytes).div_ceil(PAGE)).min(self.pages);
        if stream.frontier >= until {
            return None;
        }
        let from = stream.frontier;
        stream.frontier = ((from / self.chunk + 1) * self.chunk).min(self.pages);
        self.number = self.number.wrapping_add(1);
        let pages = from..stream.frontier;
        let (ready, waiting) = (Instant::ZERO, Vec::new());
        stream.chunks.push_back(Chunk { number: self.number, pages: pages.clone(), parts: 0, ready, waiting });
        Some((self.number, pages))
    }

    /// The chunk that was asked for last comes in so many parts; without any, it is in memory at `at`.
    pub fn asked(&mut self, stream: usize, parts: u32, at: Instant) {
        if let Some(chunk) = self.known[stream].chunks.back_mut() {
            (chunk.parts, chunk.ready) = (parts, at);
        }
    }

    /// A part of a chunk is in memory at `at`: whoever waited for the whole of it, and since when that is there.
    pub fn arrived(&mut self, number: u32, at: Instant) -> (Instant, Vec<u32>) {
        let held = self.known.iter_mut().flat_map(|stream| &mut stream.chunks).chain(&mut self.left);
        let Some(chunk) = held.into_iter().find(|chunk| chunk.number == number) else {
            return (at, Vec::new());
        };
        chunk.parts -= 1;
        chunk.ready = chunk.ready.max(at);
        if chunk.parts > 0 {
            return (chunk.ready, Vec::new());
        }
        let come = (chunk.ready, std::mem::take(&mut chunk.waiting));
        self.left.retain(|chunk| chunk.number != number);
        come
    }
}

#[cfg(test)]
mod tests {
    use hotband_units::Span;

    use super::*;

    fn streams(bytes: u64, count: usize) -> Streams {
        Streams::of_chunks(ReadAheadParams { bytes, streams: count, overhead: Span(1_000) }, 8, 1_000)
    }

    fn all(streams: &mut Streams, stream: usize, at: u64) -> Vec<(u64, u64)> {
        let mut asked = Vec::new();
        while let Some((_, pages)) = streams.next(stream) {
            streams.asked(stream, 1, Instant(at));
            asked.push((pages.start, pages.end));
        }
        asked
    }

    #[test]
    fn a_stream_is_read_ahead_as_far_as_it_has_come() {
        let mut streams = streams(32 * PAGE, 2);
        assert_eq!(streams.follow(0, 2 * PAGE), None, "one read is no stream");
        assert_eq!(streams.follow(2 * PAGE, 2 * PAGE), Some(0));
        assert_eq!(all(&mut streams, 0, 0), [], "two reads may follow one another by chance");
        assert_eq!(streams.follow(4 * PAGE, 2 * PAGE), Some(0));
        assert_eq!(all(&mut streams, 0, 0), [(6, 8)], "as far as one read, to the end of a sense");
        assert_eq!(streams.follow(6 * PAGE, 2 * PAGE), Some(0));
        assert_eq!(all(&mut streams, 0, 0), [(8, 16)], "pages 8 to 12");
        for page in (8..40).step_by(2) {
            assert_eq!(streams.follow(page * PAGE, 2 * PAGE), Some(0));
            all(&mut streams, 0, 0);
        }
        assert_eq!(streams.known[0].frontier, 72, "40 and 32 pages");
        assert_eq!(streams.find(0, &(40..42), 7), Some((1, Instant::ZERO)));
        assert_eq!(streams.arrived(6, Instant(9)).1, [7], "pages 40 to 48 are the sixth chunk");
        assert_eq!(streams.find(0, &(40..42), 7), Some((0, Instant(9))));
    }

    #[test]
    fn the_end_of_the_drive_ends_it() {
        let mut streams = streams(32 * PAGE, 2);
        for page in [986, 990, 994] {
            streams.follow(page * PAGE, 4 * PAGE);
        }
        assert_eq!(all(&mut streams, 0, 0), [(998, 1_000)]);
        assert_eq!(streams.follow(998 * PAGE, 2 * PAGE), Some(0));
        assert_eq!(all(&mut streams, 0, 0), []);
    }

    #[test]
    fn a_stream_may_leave_out_what_was_read_ahead_and_no_more() {
        let mut streams = streams(32 * PAGE, 2);
        for page in [0, 4, 8, 12] {
            streams.follow(page * PAGE, 4 * PAGE);
        }
        assert_eq!(all(&mut streams, 0, 0), [(16, 24)]);
        assert_eq!(streams.follow(20 * PAGE, 2 * PAGE), Some(0), "four pages are left out");
        assert_eq!(all(&mut streams, 0, 0), [], "it begins anew");
        assert_eq!(streams.follow(16 * PAGE, 4 * PAGE), None, "it does not go back");
        assert_eq!(streams.follow(26 * PAGE, 4 * PAGE), None, "nor beyond what was read ahead");
        assert_eq!(streams.follow(22 * PAGE, 3 * PAGE), Some(0));
        assert_eq!(all(&mut streams, 0, 0), [(25, 32)]);
        assert_eq!(streams.follow(90 * PAGE, 4 * PAGE), None);
        assert_eq!(streams.follow(0, 64 * PAGE), None, "longer than what is read ahead");
        assert_eq!(streams.follow(64 * PAGE, PAGE), None, "which is not remembered");
    }

    #[test]
    fn random_reads_between_those_of_a_stream_do_not_end_it_but_more_streams_do() {
        let mut streams = streams(8 * PAGE, 2);
        for (number, page) in [0, 100, 200].into_iter().enumerate() {
            streams.follow(page * PAGE, PAGE);
            for next in 1..3 {
                assert_eq!(streams.follow((page + next) * PAGE, PAGE), Some(number % 2));
            }
            assert_eq!(all(&mut streams, number % 2, 0).len(), 1);
            for random in 0..20 {
                assert_eq!(streams.follow((500 + 7 * random) * PAGE, PAGE), None);
            }
            if number == 0 {
                assert_eq!(streams.find(0, &(3..4), 5), Some((1, Instant::ZERO)));
            }
        }
        assert_eq!(streams.follow(3 * PAGE, PAGE), None, "the first was forgotten");
        assert_eq!(streams.follow(103 * PAGE, PAGE), Some(1));
        assert_eq!(streams.arrived(1, Instant(3)), (Instant(3), vec![5]), "whoever waits is still told");
        assert_eq!(streams.left.len(), 0);
        assert_eq!(streams.arrived(1, Instant(3)).1, [], "and only once");
    }

    #[test]
    fn parts_of_sectors_wait_for_one_page() {
        let mut streams = streams(32 * PAGE, 2);
        for sector in 0..3 {
            streams.follow(sector * 512, 512);
        }
        assert_eq!(all(&mut streams, 0, 0), [(1, 8)]);
        assert_eq!(streams.follow(1_536, 512), Some(0));
        assert_eq!(streams.find(0, &(0..1), 1), None, "the page that it begins in was not read ahead");
        for sector in 4..9 {
            assert_eq!(streams.follow(sector * 512, 512), Some(0));
        }
        assert_eq!(streams.find(0, &(1..2), 1), Some((1, Instant::ZERO)));
    }
}
