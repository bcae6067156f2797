//! I/Os of streams that a clock issues, and the flushes between them. A rate counts data I/Os, as fio's `rate_iops` does:
//! a flush is issued when the write that it follows is done.

use super::shares::Shares;
use super::source::{PhaseStart, SourceIo};
use crate::Random;
use crate::phase::Phase;
use crate::stream::{IoRequest, Stream};

/// Token of an I/O that no flush follows.
pub const NOT_FLUSHED: u32 = 0;
/// Token of a flush. A write that a flush follows has the number of its stream as its token, from 1.
const FLUSH: u32 = u32::MAX;

/// Streams, and the flushes that they owe.
pub(crate) struct Arriving {
    shares: Shares,
    /// Streams whose flushes are due.
    due: Vec<u32>,
    /// Writes that a flush follows, until that is done.
    unflushed: u32,
}

impl Arriving {
    /// I/Os of the streams of `shares`.
    pub fn new(shares: Shares) -> Self {
        Self { shares, due: Vec::new(), unflushed: 0 }
    }

    /// A phase begins; flushes of earlier writes are still issued.
    pub fn begin_phase(&mut self, start: &PhaseStart) {
        self.shares.begin_phase(start.phase, start.streams);
    }

    /// Whether no stream runs.
    pub fn is_idle(&self) -> bool {
        self.shares.is_idle()
    }

    /// All streams and their shares.
    pub fn streams(&self) -> &[(usize, f64)] {
        self.shares.all()
    }

    /// Return the generator of arrival times in `phase`.
    pub fn times(&self, phase: &Phase) -> Random {
        self.shares.arrivals(phase)
    }

    /// The I/O that arrives.
    #[inline]
    pub fn next(&mut self, streams: &mut [Stream]) -> SourceIo {
        let stream = self.shares.choose(streams, 0);
        let (request, is_flushed) = streams[stream].next_data();
        let stream = stream as u32;
        self.unflushed += u32::from(is_flushed);
        SourceIo { stream, token: if is_flushed { stream + 1 } else { NOT_FLUSHED }, request }
    }

    /// A flush that is due.
    #[inline]
    pub fn flush(&mut self) -> Option<SourceIo> {
        let stream = self.due.pop()?;
        Some(SourceIo { stream, token: FLUSH, request: IoRequest::FLUSH })
    }

    /// The I/O of `token` is done.
    pub fn completed(&mut self, token: u32) {
        match token {
            NOT_FLUSHED => {}
            FLUSH => self.unflushed -= 1,
            of_stream => self.due.push(of_stream - 1),
        }
    }

    /// Whether a flush is due, or will be when an outstanding write is done, or is outstanding.
    pub fn awaits_flush(&self) -> bool {
        self.unflushed > 0
    }
}
