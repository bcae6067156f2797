//! An open loop with a bound: I/Os arrive at a rate, and the number outstanding is limited
//! (`open = { rate_iops = 500, arrival = "fixed", outstanding = 32 }`).
//!
//! fio's `rate_iops` with `iodepth`, vdbench's `iorate` with `threads`. An I/O that is due while the bound is reached
//! is issued when an earlier one completes, so the loop catches up as fast as the machine allows. As with these tools,
//! latency begins at issue and excludes that delay.
//!
//! With `drain = true`, a loop that is ahead of its rate waits until nothing is outstanding, and then pauses for the time
//! that was left until the next I/O. fio does this (`io_u.c`, `rate_ddir`), and its I/Os bunch. With fio 3.33 at 150
//! IOPS on an emulated disk with 5 ms per I/O the mean latency was 8.1 ms; this loop has 7.0 ms, evenly spaced I/Os 5.0.
//! A flush that is due comes before the pause, as in fio (`get_rw_ddir`), and replaces its write among those outstanding.

use hotband_units::{Instant, Span};

use super::open::OpenLoop;
use super::source::{Answer, PhaseStart, Source, SourceIo, Turns};
use crate::stream::Stream;

/// Reason why a loop that is ahead of its rate waits.
enum Pause {
    /// Nothing: the next I/O is issued when it is due.
    No,
    /// Its outstanding I/Os, and then this time.
    Draining(Span),
    /// This moment.
    Until(Instant),
}

/// An open loop and its bound.
pub struct BoundedLoop {
    arrivals: OpenLoop,
    most: u32,
    drains: bool,
    outstanding: u32,
    pause: Pause,
}

impl BoundedLoop {
    /// The I/Os of `arrivals`, at most `most` of them outstanding; none at a pause if it `drains`.
    pub fn new(arrivals: OpenLoop, most: u32, drains: bool) -> Self {
        Self { arrivals, most, drains, outstanding: 0, pause: Pause::No }
    }
}

impl Source for BoundedLoop {
    fn begin_phase(&mut self, start: &PhaseStart) {
        self.arrivals.begin_phase(start);
        if self.arrivals.next_time().is_none() {
            self.pause = Pause::No;
        }
    }

    fn next_time(&self) -> Option<Instant> {
        match self.pause {
            Pause::No => self.arrivals.next_time().filter(|_| self.outstanding < self.most),
            Pause::Draining(_) => None,
            Pause::Until(at) => Some(at),
        }
    }

    fn wake(&mut self, now: Instant) {
        self.pause = Pause::No;
        self.arrivals.wake(now);
    }

    fn next_io(&mut self, now: Instant, streams: &mut [Stream]) -> Option<SourceIo> {
        if self.outstanding == self.most || !matches!(self.pause, Pause::No) {
            return None;
        }
        let io = self.arrivals.next_io(now, streams);
        if io.is_some() {
            self.outstanding += 1;
        } else if self.drains
            && self.outstanding > 0
            && !self.arrivals.awaits_flush()
            && let Some(due) = self.arrivals.next_time()
        {
            self.pause = Pause::Draining(due.since(now));
        }
        io
    }

    fn completed(&mut self, now: Instant, answer: Answer) {
        self.outstanding -= 1;
        self.arrivals.completed(now, answer);
        self.arrivals.wake(now);
        if let (Pause::Draining(length), 0) = (&self.pause, self.outstanding) {
            self.pause = Pause::Until(now + *length);
        }
    }

    fn turns(&self) -> Option<Turns<'_>> {
        self.arrivals.turns()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Load, LoadSource};
    use crate::{Random, Shares, Workload};
    use hotband_machine::Op;

    const MS: u64 = 1_000_000;

    /// When the first I/Os of a load are issued, in us, on a drive that serves each for 5 ms, one after the other.
    fn issued(load: &str, count: usize) -> Vec<u64> {
        issued_by(load, "read_pct = 100", count).into_iter().map(|(at, _)| at).collect()
    }

    /// The I/Os of a stream, with their operations.
    fn issued_by(load: &str, stream: &str, count: usize) -> Vec<(u64, Op)> {
        let text = format!(
            "[load]\nopen = {{ {load} }}\n[[streams]]\n{stream}\nrandom_pct = 0\nsize = \"4 KiB\"\n\
             [[phases]]\nduration = \"1 s\"\nmeasure = true\n"
        );
        let workload = Workload::read("test", &text).unwrap();
        let spec = workload.streams[0].clone();
        let bounds = spec.bounds("test", &(1_u64 << 30).into(), 512).unwrap();
        let mut streams = [Stream::new(spec, bounds, 1, Random::new(1, "test"))];
        let shares = Shares::new(vec![(0, 1.0)], Random::new(1, "load"), 1, 0);
        let load = workload.load.as_ref().map(|load: &Load| load.source(shares, false));
        let Some(LoadSource::Other(mut source)) = load else { panic!("a loop with a bound") };
        let phase = &workload.phases[0];
        source.begin_phase(&PhaseStart { now: Instant(0), phase, threads: None, streams: &streams });
        let (mut issued, mut ends) = (Vec::new(), std::collections::VecDeque::<(Instant, u32)>::new());
        while issued.len() < count {
            let (end, token) = ends.front().copied().unwrap_or((Instant::NEVER, 0));
            let now = end.min(source.next_time().unwrap_or(Instant::NEVER));
            if now == end {
                ends.pop_front();
                source.completed(now, Answer { token, op: Op::Read, len: 4096, failed: false });
            } else {
                source.wake(now);
            }
            while let Some(io) = source.next_io(now, &mut streams) {
                issued.push((now.0 / 1000, io.request.op));
                let free = ends.back().map_or(now, |(end, _)| now.max(*end));
                ends.push_back((free + Span(5 * MS), io.token));
            }
        }
        issued
    }

    #[test]
    fn a_pause_begins_when_nothing_is_outstanding() {
        let even = "rate_iops = 150, arrival = \"fixed\", outstanding = 8";
        assert_eq!(issued(even, 4), [6_666, 13_333, 20_000, 26_666]);
        // The first ends at 11.7 ms, and the second was due 6.7 ms after the first; it ends at 23.3 ms.
        assert_eq!(issued(&format!("{even}, drain = true"), 4), [6_666, 18_333, 25_000, 31_666]);
    }

    #[test]
    fn a_loop_that_is_late_does_not_pause() {
        let late = "rate_iops = 1000, arrival = \"fixed\", outstanding = 2, drain = true";
        // The second was due a millisecond after the first, which ends at 6 ms; then five are late, two at a time.
        assert_eq!(issued(late, 6), [1_000, 7_000, 7_000, 12_000, 17_000, 22_000]);
    }

    #[test]
    fn a_flush_follows_its_write_and_is_no_arrival() {
        let flushed = |load: &str, count| issued_by(load, "read_pct = 0\nflush_every = 1", count);
        let (writes, flushes) = ([13_333, 26_666, 40_000], [18_333, 31_666, 45_000]);
        let each = writes.into_iter().zip(flushes).flat_map(|(at, then)| [(at, Op::Write), (then, Op::Flush)]);
        let each: Vec<_> = each.collect();
        let most = |more: &str| format!("rate_iops = 75, arrival = \"fixed\", outstanding = {more}");
        for load in [most("1"), most("8"), most("8, drain = true")] {
            assert_eq!(flushed(&load, 6), each, "{load}");
        }
        // Served one after the other, a write and its flush take 10 ms: the second write waits for the first flush.
        let late = "rate_iops = 1000, arrival = \"fixed\", outstanding = 1";
        let (write, flush) = (Op::Write, Op::Flush);
        assert_eq!(flushed(late, 4), [(1_000, write), (6_000, flush), (11_000, write), (16_000, flush)]);
    }

    #[test]
    fn one_at_a_time_is_never_ahead_with_an_io_outstanding() {
        let one = "rate_iops = 150, arrival = \"fixed\", outstanding = 1";
        assert_eq!(issued(one, 9), issued(&format!("{one}, drain = true"), 9));
    }
}
