//! Streams of reads that follow one another, and what was read ahead of each.

use std::collections::VecDeque;
use std::ops::Range;

use hotband_units::Instant;

use crate::parts::ftl::PAGE;
use crate::parts::nand::NandParams;
use crate::ssd::read_ahead::params::ReadAheadParams;

/// Ends of reads that are remembered, in a table of as many places: the read that begins at one of them is a stream's
/// second. Random reads are forgotten in the order they came, some hundreds later.
const REMEMBERED: usize = 1024;
/// Reads of the drive after which a stream of two is forgotten.
const FORGOTTEN: u64 = REMEMBERED as u64;
/// A stream may leave out this many lengths of its next read: members of layouts with parity do.
const MOST_LEFT_OUT: u64 = 2;

/// The place of an offset in the table.
#[inline]
fn place(offset: u64) -> usize {
    // Fibonacci hashing [Knuth, volume 3, 6.4]: neighbours are spread over all places.
    ((offset >> 9).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - REMEMBERED.ilog2())) as usize
}

/// Pages that are read ahead together.
#[derive(Clone, Debug)]
struct Chunk {
    number: u32,
    pages: Range<u64>,
    /// Parts that are still to come.
    parts: u32,
    /// Time when the parts that have come so far are in memory.
    ready: Instant,
    /// Commands that wait for this chunk.
    waiting: Vec<u32>,
}

/// Reads that follow one another.
#[derive(Clone, Debug)]
struct Stream {
    /// End of the last read.
    end: u64,
    /// Bytes that were read of it since its second read.
    run: u64,
    /// When it last continued, counted in reads of the drive.
    used: u64,
    /// The page after the last one that was read ahead or requested.
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
    /// Ends of the last reads outside streams, each at its place.
    ends: Box<[u64; REMEMBERED]>,
    /// Reads of the drive.
    reads: u64,
    number: u32,
}

impl Streams {
    /// Return no streams, for a drive of `pages` pages.
    pub fn new(params: ReadAheadParams, nand: &NandParams, pages: u64) -> Self {
        Self::of_chunks(params, nand.page_bytes * u64::from(nand.planes) / PAGE, pages)
    }

    /// Like the above, with `chunk` pages sensed at once.
    fn of_chunks(params: ReadAheadParams, chunk: u64, pages: u64) -> Self {
        Self {
            params,
            chunk,
            pages,
            known: Vec::new(),
            left: Vec::new(),
            ends: Box::new([u64::MAX; REMEMBERED]),
            reads: 0,
            number: 0,
        }
    }

    /// The stream that a read continues, or makes. The read begins where the last read of the stream ended. It may also
    /// begin near that end if the read before it did, because members of a layout with parity skip blocks. A near read
    /// without such a predecessor may be served from read-ahead data, and does not move the stream.
    #[inline]
    pub fn follow(&mut self, offset: u64, len: u64) -> Option<usize> {
        self.reads += 1;
        let from = &mut self.ends[place(offset)];
        let is_second = *from == offset;
        if is_second {
            *from = u64::MAX;
        }
        if !self.known.is_empty()
            && let Some(index) = self.known.iter().position(|stream| stream.end == offset)
        {
            self.go_on(index, offset, len);
            return Some(index);
        }
        let near = if self.known.is_empty() { None } else { self.near(offset, len) };
        match near {
            Some(index) if is_second => self.go_on(index, offset, len),
            None if is_second => return Some(self.make(offset, len)),
            _ => self.ends[place(offset + len)] = offset + len,
        }
        near
    }

    /// The stream that a read may belong to that leaves out a little.
    #[inline(never)]
    fn near(&self, offset: u64, len: u64) -> Option<usize> {
        let reach = |stream: &Stream| (stream.frontier * PAGE).max(stream.end + MOST_LEFT_OUT * len);
        self.known.iter().position(|stream| stream.end < offset && offset <= reach(stream))
    }

    #[inline(never)]
    fn go_on(&mut self, index: usize, offset: u64, len: u64) {
        let stream = &mut self.known[index];
        while stream.chunks.front().is_some_and(|chunk| chunk.parts == 0 && chunk.pages.end * PAGE <= offset) {
            stream.chunks.pop_front();
        }
        stream.run += len;
        stream.end = offset + len;
        stream.frontier = stream.frontier.max(stream.end.div_ceil(PAGE));
        stream.used = self.reads;
    }

    /// A stream of two reads, the second of which is this one. It replaces the stream that continued least recently.
    #[cold]
    fn make(&mut self, offset: u64, len: u64) -> usize {
        // Two reads that followed one another by chance make one, too, which costs every read a look.
        let reads = self.reads;
        self.known.retain(|stream| stream.run > 0 || reads - stream.used <= FORGOTTEN);
        let end = offset + len;
        let frontier = end.div_ceil(PAGE);
        let made = Stream { end, run: 0, used: self.reads, frontier, chunks: VecDeque::new() };
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

    /// For a read of these pages: the page up to which they were read ahead, how many chunks it waits for, and when the
    /// others are in memory. None if the first page was not; with `wholly`, where any was not.
    pub fn find(&mut self, stream: usize, pages: &Range<u64>, index: u32, wholly: bool) -> Option<(u64, u32, Instant)> {
        let until = self.ahead_until(stream, pages);
        if until == pages.start || (wholly && until < pages.end) {
            return None;
        }
        let (mut parts, mut ready) = (0, Instant::ZERO);
        let has_some = |chunk: &&mut Chunk| chunk.pages.start < until && pages.start < chunk.pages.end;
        for chunk in self.known[stream].chunks.iter_mut().filter(has_some) {
            if chunk.parts == 0 {
                ready = ready.max(chunk.ready);
            } else {
                chunk.waiting.push(index);
                parts += 1;
            }
        }
        Some((until, parts, ready))
    }

    /// Up to which of these pages all were read ahead.
    fn ahead_until(&self, stream: usize, pages: &Range<u64>) -> u64 {
        let until = self.known[stream]
            .chunks
            .iter()
            .fold(pages.start, |until, chunk| if chunk.pages.contains(&until) { chunk.pages.end } else { until });
        until.min(pages.end)
    }

    /// Part of a stream to read ahead next while other reads of `under_way` bytes are in the drive: from its
    /// third read on as much as was read of it, and no more than the drive reads ahead. Bytes under way beyond those
    /// read of the stream belong to other reads and are subtracted: they keep the flash busy enough. For small reads,
    /// the remainder of their sense is read in any case.
    pub fn next(&mut self, stream: usize, under_way: u64, len: u64) -> Option<(u32, Range<u64>)> {
        let least = if len * 4 <= self.chunk * PAGE { self.chunk * PAGE } else { 0 };
        let stream = &mut self.known[stream];
        let of_others = under_way.saturating_sub(stream.run);
        let most = self.params.bytes.saturating_sub(of_others).max(least.min(self.params.bytes));
        let until = (stream.end.div_ceil(PAGE) + stream.run.min(most).div_ceil(PAGE)).min(self.pages);
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

    /// The chunk that was requested last comes in this many parts; without any, it is in memory at `at`.
    pub fn asked(&mut self, stream: usize, parts: u32, at: Instant) {
        if let Some(chunk) = self.known[stream].chunks.back_mut() {
            (chunk.parts, chunk.ready) = (parts, at);
        }
    }

    /// A part of a chunk is in memory at `at`: its waiters, and the time since it is complete.
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
        let mut reads = Vec::new();
        while let Some((_, pages)) = streams.next(stream, 0, PAGE) {
            streams.asked(stream, 1, Instant(at));
            reads.push((pages.start, pages.end));
        }
        reads
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
        assert_eq!(streams.find(0, &(40..42), 7, false), Some((42, 1, Instant::ZERO)));
        assert_eq!(streams.arrived(6, Instant(9)).1, [7], "pages 40 to 48 are the sixth chunk");
        assert_eq!(streams.find(0, &(40..42), 7, false), Some((42, 0, Instant(9))));
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
        assert_eq!(all(&mut streams, 0, 0), [], "it may be one of many");
        assert_eq!(streams.follow(16 * PAGE, PAGE), Some(0), "it is still where it was");
        assert_eq!(streams.follow(22 * PAGE, 3 * PAGE), Some(0), "the next of those that left out four");
        assert_eq!(all(&mut streams, 0, 0), [(25, 32), (32, 40)]);
        assert_eq!(streams.follow(12 * PAGE, 2 * PAGE), None, "it does not go back");
        assert_eq!(streams.follow(90 * PAGE, 4 * PAGE), None, "nor beyond what was read ahead");
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
                assert_eq!(streams.find(0, &(3..4), 5, false), Some((4, 1, Instant::ZERO)));
            }
        }
        assert_eq!(streams.follow(3 * PAGE, PAGE), None, "the first was forgotten");
        assert_eq!(streams.follow(103 * PAGE, PAGE), Some(1));
        assert_eq!(streams.arrived(1, Instant(3)), (Instant(3), vec![5]), "whoever waits is still told");
        assert_eq!(streams.left.len(), 0);
        assert_eq!(streams.arrived(1, Instant(3)).1, [], "and only once");
    }

    #[test]
    fn a_member_of_three_that_leaves_out_every_third_read_is_read_ahead() {
        let mut streams = streams(64 * PAGE, 8);
        let mut hits = 0;
        for row in 0..20 {
            for page in [24 * row, 24 * row + 8] {
                if let Some(stream) = streams.follow(page * PAGE, 8 * PAGE) {
                    hits += u32::from(streams.ahead_until(stream, &(page..page + 8)) == page + 8);
                    all(&mut streams, stream, 0);
                }
            }
        }
        assert_eq!(streams.known.len(), 1);
        assert!(hits > 30, "{hits} of 40");
    }

    #[test]
    fn reads_in_no_order_within_what_was_read_ahead_do_not_move_it() {
        let mut streams = streams(64 * PAGE, 8);
        for page in 0..20 {
            if let Some(stream) = streams.follow(page * PAGE, PAGE) {
                all(&mut streams, stream, 0);
            }
        }
        for page in [40, 22, 39, 30] {
            assert_eq!(streams.follow(page * PAGE, PAGE), Some(0));
        }
        assert_eq!(streams.known[0].end, 20 * PAGE);
        assert_eq!(streams.follow(20 * PAGE, PAGE), Some(0));
        assert_eq!((streams.known[0].end, streams.known.len()), (21 * PAGE, 1));
    }

    #[test]
    fn the_more_others_ask_for_the_less_is_read_ahead() {
        let ahead = |under_way: u64, len: u64| {
            let mut streams = streams(64 * PAGE, 8);
            for read in 0..40 {
                if let Some(stream) = streams.follow(read * len, len) {
                    while streams.next(stream, under_way, len).is_some() {}
                }
            }
            streams.known[0].frontier - 40 * len / PAGE
        };
        assert_eq!(ahead(0, 8 * PAGE), 64);
        let run = 38 * 8 * PAGE;
        assert_eq!(ahead(run, 8 * PAGE), 64, "all of it may be the stream's own");
        assert_eq!(ahead(run + 48 * PAGE, 8 * PAGE), 16);
        assert_eq!(ahead(run + 64 * PAGE, 8 * PAGE), 0);
        assert_eq!(ahead(run + 64 * PAGE, 2 * PAGE), 8, "the rest of a sense");
    }

    #[test]
    fn parts_of_sectors_wait_for_one_page() {
        let mut streams = streams(32 * PAGE, 2);
        for sector in 0..3 {
            streams.follow(sector * 512, 512);
        }
        assert_eq!(all(&mut streams, 0, 0), [(1, 8)]);
        assert_eq!(streams.follow(1_536, 512), Some(0));
        assert_eq!(streams.find(0, &(0..1), 1, false), None, "the page that it begins in was not read ahead");
        for sector in 4..9 {
            assert_eq!(streams.follow(sector * 512, 512), Some(0));
        }
        assert_eq!(streams.find(0, &(1..2), 1, false), Some((2, 1, Instant::ZERO)));
    }
}
