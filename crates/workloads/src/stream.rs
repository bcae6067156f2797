//! A stream bound to a target: it makes one I/O after the other.

use hotband_machine::{Entropy, Op};

use crate::Random;
use crate::bounds::{GRAIN, StreamBounds};
use crate::data::Data;
use crate::files::{Files, FilesSpec};
use crate::hotband::HotBand;
use crate::offsets::{OffsetSpec, Offsets};
use crate::sizes::Sizes;

/// Next I/O of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoRequest {
    /// Read, write, flush or trim.
    pub op: Op,
    /// First byte on the target.
    pub offset: u64,
    /// Length in bytes; zero for a flush.
    pub len: u32,
    /// Force unit access.
    pub fua: bool,
    /// Compressibility of the data of a write.
    pub entropy: Entropy,
}

/// The two ways in which tools mean "random share".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RandomMode {
    /// Every I/O throws a coin: random, or on from the end of the last one (fio's percentage_random, Iometer).
    Coin,
    /// Every run begins at a random place and has 100 / random_pct I/Os (vdbench's seekpct).
    Run,
}

/// How a stream chooses its trims among the I/Os that are not reads.
#[derive(Clone, Debug)]
pub(crate) enum Trims {
    /// No trims.
    Never,
    /// This share of the I/Os.
    Share(f64),
    /// A trim before each write, of the same block: offset and length of each thread's next write.
    First(Vec<Option<(u64, u32)>>),
}

impl IoRequest {
    /// A flush.
    pub(crate) const FLUSH: Self =
        Self { op: Op::Flush, offset: 0, len: 0, fua: false, entropy: Entropy::INCOMPRESSIBLE };
}

/// A stream at work.
#[derive(Clone, Debug)]
pub struct Stream {
    pub(crate) name: String,
    /// Its key in the file, for errors.
    pub(crate) key: String,
    pub(crate) sizes: Sizes,
    pub(crate) align: Option<u64>,
    pub(crate) random_mode: RandomMode,
    pub(crate) offset_spec: OffsetSpec,
    pub(crate) flush_every: u64,
    /// Whether flushes or trims set some of its I/Os: checked for every I/O.
    pub(crate) has_follow_ups: bool,
    pub(crate) fua: bool,
    pub(crate) files_spec: Option<FilesSpec>,
    pub(crate) bounds: StreamBounds,
    pub(crate) offsets: Offsets,
    pub(crate) hot_band: Option<HotBand>,
    pub(crate) random: Random,
    pub(crate) read_share: f64,
    pub(crate) random_share: f64,
    /// Whether its offsets are not just drawn (strided, near, a hot band): checked for every I/O.
    pub(crate) has_own_offsets: bool,
    /// Whether the next I/O is random, if that was decided before it is drawn.
    pub(crate) decided: Option<bool>,
    /// End of the last I/O, by thread (or one for all).
    pub(crate) cursors: Vec<u64>,
    /// I/Os left in the current run, by thread, and the fraction carried over.
    pub(crate) runs: Vec<(u64, f64)>,
    pub(crate) writes: u64,
    /// Slots of the range for the one size of the stream; zero if sizes are mixed.
    pub(crate) slots: u64,
    /// Distance between the regions of two clients of a script; zero if they share one.
    pub(crate) per_client: u64,
    pub(crate) files: Option<Box<Files>>,
    pub(crate) trims: Trims,
    pub(crate) data: Data,
}

impl Stream {
    /// Name in records.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its range on its target.
    pub fn bounds(&self) -> StreamBounds {
        self.bounds
    }

    /// A key of it in the file, for errors.
    pub fn key(&self, name: &str) -> String {
        format!("{}.{name}", self.key)
    }

    /// Whether its offsets are those of a hot band.
    pub fn is_hot_band(&self) -> bool {
        self.hot_band.is_some()
    }

    /// Its files as their text states them.
    pub fn files_spec(&self) -> Option<FilesSpec> {
        self.files_spec
    }

    /// Return whether the stream writes to separate files.
    pub fn has_files(&self) -> bool {
        self.files.is_some()
    }

    /// Return the stream with its files.
    pub fn with_files(mut self, files: Files) -> Self {
        self.files = Some(Box::new(files));
        self
    }

    /// Return the stream with writes that carry `data`.
    pub fn with_data(mut self, data: Data) -> Self {
        self.data = data;
        self
    }

    /// Whether some of its I/Os are writes.
    pub fn writes(&self) -> bool {
        self.read_share < 1.0 && !matches!(self.trims, Trims::Share(share) if share >= 1.0)
    }

    /// The next I/O of a script's client, drawn from the client's own generator, in the client's own region.
    #[inline]
    pub fn next_of(&mut self, client: usize, random: &mut Random) -> IoRequest {
        std::mem::swap(&mut self.random, random);
        let mut request = self.next(client);
        std::mem::swap(&mut self.random, random);
        if request.len > 0 {
            request.offset += (self.per_client * client as u64).next_multiple_of(GRAIN);
        }
        request
    }

    /// A file to be read from front to back: its first byte, and the first byte beyond it.
    ///
    /// # Panics
    /// If the stream has no files; scripts are checked for that when they are read.
    pub fn draw_file(&self, random: &mut Random) -> (u64, u64) {
        self.files.as_ref().expect("a step that counts files has a stream of files").draw(random)
    }

    /// The piece of a file that begins at `offset`, where the file ends at `end`.
    #[inline]
    pub fn piece(&mut self, offset: u64, end: u64) -> IoRequest {
        let len = (end - offset).min(u64::from(self.sizes.largest())) as u32;
        let read = self.read_share >= 1.0;
        IoRequest {
            op: if read { Op::Read } else { Op::Write },
            offset,
            len,
            fua: self.fua && !read,
            entropy: if read { Entropy::INCOMPRESSIBLE } else { self.data.draw() },
        }
    }

    fn align_of(&self, size: u32) -> u64 {
        self.align.unwrap_or(u64::from(size))
    }

    pub(crate) fn slots_for(&self, size: u32) -> u64 {
        (self.bounds.to - self.bounds.from - u64::from(size)) / self.align_of(size) + 1
    }

    /// The next I/O of `thread`.
    #[inline]
    pub fn next(&mut self, thread: usize) -> IoRequest {
        if self.has_follow_ups
            && let Some(request) = self.follow_up(thread)
        {
            return request;
        }
        self.draw(thread)
    }

    /// The next I/O that is no flush, and whether a flush follows it.
    #[inline]
    pub fn next_data(&mut self) -> (IoRequest, bool) {
        if !self.has_follow_ups {
            return (self.draw(0), false);
        }
        let request = self.write_after_trim(0).unwrap_or_else(|| self.draw(0));
        (request, self.takes_flush())
    }

    #[inline]
    fn draw(&mut self, thread: usize) -> IoRequest {
        let read = self.read_share >= 1.0 || (self.read_share > 0.0 && self.random.unit() < self.read_share);
        let len = self.sizes.draw(&mut self.random);
        let cursor = self.cursor_of(thread);
        let offset =
            if self.is_random(cursor) { self.random_offset(len, cursor, read) } else { self.go_on(len, cursor) };
        self.cursors[cursor] = offset + u64::from(len);
        if read {
            return IoRequest { op: Op::Read, offset, len, fua: false, entropy: Entropy::INCOMPRESSIBLE };
        }
        if self.draw_trim(thread, offset, len) {
            return IoRequest { op: Op::Trim, offset, len, fua: false, entropy: Entropy::INCOMPRESSIBLE };
        }
        self.write(offset, len)
    }

    #[inline]
    fn write(&mut self, offset: u64, len: u32) -> IoRequest {
        self.writes += 1;
        IoRequest { op: Op::Write, offset, len, fua: self.fua, entropy: self.data.draw() }
    }

    /// The I/O that earlier ones of `thread` require: a flush after some writes, the write of a block after its trim.
    fn follow_up(&mut self, thread: usize) -> Option<IoRequest> {
        if self.takes_flush() { Some(IoRequest::FLUSH) } else { self.write_after_trim(thread) }
    }

    /// Whether a flush is due, whose writes are no longer counted then.
    fn takes_flush(&mut self) -> bool {
        let is_due = self.flush_every > 0 && self.writes >= self.flush_every;
        if is_due {
            self.writes = 0;
        }
        is_due
    }

    fn write_after_trim(&mut self, thread: usize) -> Option<IoRequest> {
        let Trims::First(next_writes) = &mut self.trims else { return None };
        let count = next_writes.len();
        let (offset, len) = next_writes[thread % count].take()?;
        Some(self.write(offset, len))
    }

    /// Decide whether the I/O of `thread`, which is not a read, is a trim; with `trim_first`, remember its write.
    #[inline]
    fn draw_trim(&mut self, thread: usize, offset: u64, len: u32) -> bool {
        match &mut self.trims {
            Trims::Never => false,
            Trims::Share(share) => *share >= 1.0 || self.random.unit() < *share,
            Trims::First(next_writes) => {
                let count = next_writes.len();
                next_writes[thread % count] = Some((offset, len));
                true
            }
        }
    }

    fn cursor_of(&self, thread: usize) -> usize {
        if self.cursors.len() == 1 { 0 } else { thread % self.cursors.len() }
    }

    /// Whether the next I/O of `thread` continues a run. In a fully sequential stream each is a run.
    pub(crate) fn goes_on(&mut self, thread: usize) -> bool {
        if self.random_share >= 1.0 || self.random_share <= 0.0 {
            return false;
        }
        let cursor = self.cursor_of(thread);
        let is_random = self.is_random(cursor);
        self.decided = Some(is_random);
        !is_random
    }

    /// Runs to an I/O, on average.
    pub(crate) fn runs_an_io(&self) -> f64 {
        if self.random_share > 0.0 { self.random_share } else { 1.0 }
    }

    fn is_random(&mut self, cursor: usize) -> bool {
        if self.random_share >= 1.0 {
            return true;
        }
        if self.random_share <= 0.0 {
            return false;
        }
        if let Some(decided) = self.decided.take() {
            return decided;
        }
        if self.random_mode == RandomMode::Coin {
            return self.random.unit() < self.random_share;
        }
        let (left, carried) = &mut self.runs[cursor];
        if *left > 0 {
            *left -= 1;
            return false;
        }
        let length = 1.0 / self.random_share + *carried;
        (*left, *carried) = (length as u64 - 1, length.fract());
        true
    }

    fn random_offset(&mut self, len: u32, cursor: usize, read: bool) -> u64 {
        if self.has_own_offsets
            && let Some(offset) = self.own_offset(len, cursor, read)
        {
            return offset;
        }
        let slots = if self.slots > 0 { self.slots } else { self.slots_for(len) };
        self.bounds.from + self.offsets.draw(&mut self.random, slots) * self.align_of(len)
    }

    /// Offset in a hot band, or one that the last I/O of the thread determines: a stride further, or near it; none for
    /// an I/O that jumps.
    #[inline(never)]
    fn own_offset(&mut self, len: u32, cursor: usize, read: bool) -> Option<u64> {
        let slots = if self.slots > 0 { self.slots } else { self.slots_for(len) };
        if let Some(band) = &mut self.hot_band {
            let align = self.align.unwrap_or(u64::from(len));
            return Some(self.bounds.from + band.draw(read, slots, align) * align);
        }
        match self.offset_spec {
            OffsetSpec::Strided { stride } => Some(self.strided(len, cursor, stride)),
            OffsetSpec::Near { ios, within, .. } if self.random.unit() < ios => self.near(len, cursor, within),
            _ => None,
        }
    }

    fn strided(&self, len: u32, cursor: usize, stride: i64) -> u64 {
        let align = self.align_of(len);
        let (len, StreamBounds { from, to }) = (u64::from(len), self.bounds);
        // The cursor stands at the end of the last I/O; strides count from begin to begin.
        let last = self.cursors[cursor].saturating_sub(len).max(from);
        let next = last.checked_add_signed(stride).filter(|next| *next >= from && *next + len <= to);
        // At the lower end a stride back goes on a stride before the upper one, as in fio.
        let wrapped = if stride > 0 { from } else { to.saturating_sub(len + stride.unsigned_abs()).max(from) };
        next.unwrap_or(from + (wrapped - from) / align * align)
    }

    /// A place up to so far from the end of the last I/O, the logarithm of the distance uniform; none beyond the range.
    fn near(&mut self, len: u32, cursor: usize, within: u64) -> Option<u64> {
        let (align, StreamBounds { from, to }) = (self.align_of(len), self.bounds);
        let octaves = libm::log((within as f64 / align as f64).max(1.0));
        let distance = (align as f64 * libm::exp(octaves * self.random.unit())) as u64;
        let end = self.cursors[cursor].max(from);
        let offset = if self.random.unit() < 0.5 { end.checked_sub(distance)? } else { end.checked_add(distance)? };
        let at = offset.checked_sub(from)? / align * align + from;
        (at.checked_add(u64::from(len))? <= to).then_some(at)
    }

    fn go_on(&mut self, len: u32, cursor: usize) -> u64 {
        let next = self.cursors[cursor];
        if next + u64::from(len) <= self.bounds.to { next } else { self.bounds.from }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::DataSpec;
    use crate::spec::Workload;
    use proptest::prelude::*;

    fn stream(keys: &str, capacity: u64) -> Stream {
        let text =
            format!("[load]\nclosed = {{ threads = 1 }}\n[[phases]]\nios = 1\nmeasure = true\n[[streams]]\n{keys}");
        let spec = Workload::read("test", &text).unwrap().streams.remove(0);
        let bounds = spec.bounds("test", &capacity.into(), 512).unwrap();
        Stream::new(spec, bounds, 4, Random::new(1, "test"))
    }

    fn offsets(stream: &mut Stream, count: usize) -> Vec<u64> {
        (0..count).map(|n| stream.next(n).offset).collect()
    }

    /// Share of I/Os that do not continue where the last one ended.
    fn jumps(stream: &mut Stream) -> Vec<bool> {
        let mut end = u64::MAX;
        let mut jump =
            |request: IoRequest| std::mem::replace(&mut end, request.offset + u64::from(request.len)) != request.offset;
        (0..10_000).map(|_| jump(stream.next(0))).collect()
    }

    #[test]
    fn sequential_goes_on_and_wraps() {
        let mut stream = stream("read_pct = 100\nrandom_pct = 0\nsize = \"4 KiB\"", 3 * 4096);
        assert_eq!(offsets(&mut stream, 5), [0, 4096, 8192, 0, 4096]);
    }

    #[test]
    fn threads_may_have_cursors_of_their_own() {
        let keys = "read_pct = 100\nrandom_pct = 0\nsize = \"4 KiB\"\ncursor = \"per-thread\"";
        let mut stream = stream(keys, 16 * 4096);
        assert_eq!(offsets(&mut stream, 6), [0, 4 * 4096, 8 * 4096, 12 * 4096, 4096, 5 * 4096]);
    }

    #[test]
    fn a_sequential_stream_begins_where_it_is_told_and_wraps() {
        let keys = "read_pct = 100\nrandom_pct = 0\nsize = \"4 KiB\"\nstart = \"60 %\"";
        assert_eq!(offsets(&mut stream(keys, 5 * 4096), 4), [3 * 4096, 4 * 4096, 0, 4096]);
        let uneven = keys.replace("60 %", "59 %");
        assert_eq!(offsets(&mut stream(&uneven, 5 * 4096), 1), [2 * 4096], "rounded down to whole I/Os");
        let threads = format!("{keys}\ncursor = \"per-thread\"").replace("60 %", "50 %");
        assert_eq!(offsets(&mut stream(&threads, 16 * 4096), 4), [8, 12, 0, 4].map(|n| n * 4096));
    }

    #[test]
    fn strides_are_counted_from_begin_to_begin() {
        let keys = "read_pct = 100\nrandom_pct = 100\nsize = \"4 KiB\"\noffsets = { stride = \"16 KiB\" }";
        let mut stream = stream(keys, 64 * 1024);
        assert_eq!(offsets(&mut stream, 5), [16384, 32768, 49152, 0, 16384]);
    }

    #[test]
    fn a_stride_back_goes_from_the_end_to_the_beginning() {
        let keys = "read_pct = 100\nrandom_pct = 100\nsize = \"4 KiB\"\noffsets = { stride = \"-4 KiB\" }";
        let blocks = [2, 1, 0, 2, 1].map(|block| block * 4096);
        assert_eq!(offsets(&mut stream(keys, 4 * 4096), 5), blocks, "fio 3.33 of rw=read:-8k over 16 KiB");
    }

    #[test]
    fn a_stride_back_stays_aligned_where_the_range_does_not_end_so() {
        let keys = "read_pct = 100\nrandom_pct = 100\nsize = \"4 KiB\"\nrange = [\"0 B\", \"20001 B\"]\n\
                    offsets = { stride = \"-4 KiB\" }";
        let offsets = offsets(&mut stream(keys, 1 << 20), 9);
        assert!(offsets.iter().all(|offset| offset.is_multiple_of(4096)), "{offsets:?}");
    }

    #[test]
    fn a_stride_has_one_sign() {
        let text = "[load]\nclosed = { threads = 1 }\n[[phases]]\nios = 1\nmeasure = true\n[[streams]]\nread_pct = 100\n\
                    random_pct = 100\nsize = \"4 KiB\"\noffsets = { stride = \"--4 KiB\" }";
        assert!(Workload::read("test", text).is_err_and(|error| error.to_string().contains("offsets.stride")));
    }

    #[test]
    fn a_coin_gives_the_share_and_runs_give_the_length() {
        let keys = "read_pct = 100\nrandom_pct = 20\nsize = \"4 KiB\"\nrandom_mode = ";
        let coin = jumps(&mut stream(&format!("{keys}\"coin\""), 1 << 40));
        let share = coin.iter().filter(|jump| **jump).count();
        assert!((1800..2200).contains(&share), "{share}");
        assert!(coin.windows(2).any(|pair| pair[0] && pair[1]), "a coin also throws two heads in a row");
        let run = jumps(&mut stream(&format!("{keys}\"run\""), 1 << 40));
        assert!(run.iter().enumerate().all(|(n, jump)| *jump == (n % 5 == 0)), "runs of exactly five");
    }

    #[test]
    fn a_hotspot_gets_its_share() {
        let keys = "read_pct = 100\nrandom_pct = 100\nsize = \"4 KiB\"\noffsets = { hotspot = { data = \"20 %\", ios = \"80 %\" } }";
        let mut stream = stream(keys, 1 << 30);
        let hot = offsets(&mut stream, 10_000).into_iter().filter(|offset| *offset < (1 << 30) / 5).count();
        assert!((7800..8200).contains(&hot), "{hot}");
    }

    #[test]
    fn a_flush_comes_after_its_writes() {
        let mut stream = stream("read_pct = 0\nrandom_pct = 100\nsize = \"4 KiB\"\nflush_every = 2", 1 << 30);
        let ops: Vec<Op> = (0..6).map(|_| stream.next(0).op).collect();
        assert_eq!(ops, [Op::Write, Op::Write, Op::Flush, Op::Write, Op::Write, Op::Flush]);
    }

    #[test]
    fn trims_are_a_share_of_what_is_no_read_and_no_writes_to_a_flush() {
        let keys = "read_pct = 50\nrandom_pct = 100\nsize = \"4 KiB\"\ntrim_pct = 20\nfua = true\nflush_every = 4";
        let mut stream = stream(keys, 1 << 30);
        let all: Vec<IoRequest> = (0..50_000).map(|_| stream.next(0)).collect();
        let count = |op: Op| all.iter().filter(|request| request.op == op).count();
        let (trims, writes) = (count(Op::Trim), count(Op::Write));
        // A fifth of about 23,800 (a flush comes after every fourth write): 5 standard errors are 310.
        assert!(trims.abs_diff((trims + writes) / 5) < 310, "{trims} of {}", trims + writes);
        assert!(count(Op::Flush).abs_diff(writes / 4) <= 1, "trims do not count");
        assert!(all.iter().all(|request| request.op != Op::Trim || (request.len == 4096 && !request.fua)));
    }

    #[test]
    fn each_write_follows_a_trim_of_its_block() {
        let keys = "read_pct = 0\nrandom_pct = 100\nsizes = { \"4 KiB\" = 1, \"8 KiB\" = 1 }\ntrim_first = true\n\
                    fua = true\nflush_every = 2";
        let mut stream = stream(keys, 1 << 30);
        // Two threads take turns: each writes what it trimmed itself. A flush comes where two writes are done.
        let all: Vec<(usize, IoRequest)> = (0..600).map(|n| (n % 2, stream.next(n % 2))).collect();
        for thread in 0..2 {
            let mine = all.iter().filter(|(by, request)| *by == thread && request.op != Op::Flush);
            let mine: Vec<&IoRequest> = mine.map(|(_, request)| request).collect();
            for [trim, write] in mine.as_chunks().0 {
                assert_eq!((trim.op, trim.fua, write.op, write.fua), (Op::Trim, false, Op::Write, true));
                assert_eq!((trim.offset, trim.len), (write.offset, write.len));
            }
        }
        let count = |op: Op| all.iter().filter(|(_, request)| request.op == op).count();
        assert_eq!((count(Op::Trim), count(Op::Write), count(Op::Flush)), (240, 240, 120));
    }

    #[test]
    fn a_sequential_stream_goes_on_after_the_write_of_a_trimmed_block() {
        let keys = "read_pct = 0\nrandom_pct = 0\nsize = \"4 KiB\"\ntrim_first = true";
        assert_eq!(offsets_of_one(&mut stream(keys, 3 * 4096), 8), [0, 0, 4096, 4096, 8192, 8192, 0, 0]);
    }

    fn offsets_of_one(stream: &mut Stream, count: usize) -> Vec<u64> {
        (0..count).map(|_| stream.next(0).offset).collect()
    }

    #[test]
    fn data_changes_the_entropy_of_writes_and_nothing_else() {
        let keys = "read_pct = 50\nrandom_pct = 100\nsize = \"4 KiB\"";
        let (mut plain, mut same) = (stream(keys, 1 << 30), stream(keys, 1 << 30));
        let mut constant = stream(keys, 1 << 30).with_data(Data::new(&DataSpec::Constant(0.4), Random::new(1, "data")));
        let spread = DataSpec::Uniform { mean: 0.4, low: 0.3, high: 0.5 };
        same = same.with_data(Data::new(&spread, Random::new(1, "data")));
        for n in 0..1000 {
            let (bare, one, two) = (plain.next(n), constant.next(n), same.next(n));
            let same_but = |request: IoRequest| IoRequest { entropy: Entropy::INCOMPRESSIBLE, ..request } == bare;
            assert!(same_but(one) && same_but(two));
            let write = bare.op == Op::Write;
            assert_eq!(one.entropy.share(), if write { 0.4 } else { 1.0 });
            assert!(if write { (0.3..=0.5).contains(&two.entropy.share()) } else { two.entropy.share() == 1.0 });
        }
    }

    proptest! {
        #[test]
        fn every_io_lies_in_its_range_and_is_aligned(
            kind in 0_usize..6, from in 0_u64..40, to in 60_u64..101, random in 1_u8..=100, thread in 0_usize..4,
        ) {
            let offsets = [
                "", "offsets = { zipf = { exponent = 0.99 } }", "offsets = { zipf = { exponent = 1.2, scramble = false } }",
                "offsets = { hotspot = { data = \"5 %\", ios = \"95 %\" } }", "offsets = { stride = \"64 KiB\" }",
                "offsets = { hotband = {} }",
            ][kind];
            let keys = format!(
                "read_pct = 50\nrandom_pct = {random}\nrandom_mode = \"coin\"\nrange = [\"{from} %\", \"{to} %\"]\n\
                 sizes = {{ \"4 KiB\" = 3, \"64 KiB\" = 1 }}\nalign = \"4 KiB\"\n{offsets}"
            );
            let mut stream = stream(&keys, 8 << 20);
            let (low, high) = (stream.bounds.from, stream.bounds.to);
            for _ in 0..300 {
                let request = stream.next(thread);
                prop_assert!(request.offset >= low && request.offset + u64::from(request.len) <= high);
                prop_assert!(request.offset.is_multiple_of(4096));
            }
        }
    }
}
