//! What blkparse prints of a blktrace: events, which are paired to I/Os.
//!
//! Format: blkparse(1), the default output: `major,minor cpu sequence seconds pid action RWBS sector + sectors [process]`.
//! An I/O is a request as the device got it: from its dispatch (D) to its completion (C), of the process that queued it
//! (Q) where that is known. Of devices without dispatches (md, dm), and by `blkparse-queue` always, it is from Q to C as
//! the program asked for it, before requests were merged. The traps: sectors have 512 B whatever the device; C events have
//! no process, but an error in its place; requests are merged, so that a C answers several Qs; several CPUs' lines are
//! not quite in order; a summary follows. Without C events there are no latencies.
//!
//! Leaves out: requests without sectors but flushes (pass-through), the flush in front of a write (RWBS `FW`) where the
//! kernel did not dispatch it by itself.

use std::collections::{BTreeMap, VecDeque};

use hotband_machine::Op;
use rustc_hash::FxHashSet;

use super::{Format, Parser, need, sectors};
use crate::io::{Io, Out, Wrong};
use crate::numbers::{scaled, whole};
use crate::streams::Parts;

const ACCEPTED: &str = "blkparse: major,minor cpu sequence seconds pid action RWBS [sector + sectors] [process]";

pub(super) const DISPATCH: Format =
    Format { name: "blkparse", accepted: ACCEPTED, make: || Box::<Blkparse>::default() };

pub(super) const QUEUE: Format = Format {
    name: "blkparse-queue",
    accepted: ACCEPTED,
    make: || Box::new(Blkparse { is_queue: true, ..Blkparse::default() }),
};

/// Events that wait for others: more have lost theirs (the tracer drops events when it is late), and memory is bounded.
const MOST_WAITING: usize = 1 << 18;

/// Taken requests that are remembered beside as many as wait: forgetting them one by one would cost more.
const MOST_TAKEN: usize = 4096;

/// Where a request begins: device, operation, first byte; a flush begins nowhere.
type Place = (u32, u8, u64);

/// Requests by where they begin; several may begin at one place.
#[derive(Debug, Default)]
struct Waiting {
    /// The second number of a key is the request's age.
    requests: BTreeMap<(Place, u64), Io>,
    /// Keys by age, and those that were taken since.
    by_age: VecDeque<(Place, u64)>,
    next: u64,
}

impl Waiting {
    fn add(&mut self, place: Place, io: Io) {
        let key = (place, self.next);
        self.next += 1;
        self.requests.insert(key, io);
        self.by_age.push_back(key);
        if self.by_age.len() > 2 * self.requests.len() + MOST_TAKEN {
            let requests = &self.requests;
            self.by_age.retain(|key| requests.contains_key(key));
        }
    }

    /// The oldest, once there are too many.
    fn overdue(&mut self) -> Option<Io> {
        if self.requests.len() <= MOST_WAITING { None } else { self.oldest() }
    }

    fn oldest(&mut self) -> Option<Io> {
        let requests = &mut self.requests;
        std::iter::from_fn(|| self.by_age.pop_front()).find_map(|key| requests.remove(&key))
    }

    /// The oldest that begins within so many bytes from `place` on.
    fn take(&mut self, place: Place, len: u64) -> Option<Io> {
        let (device, op, begin) = place;
        let last = (device, op, begin.saturating_add(len.max(1) - 1));
        let key = *self.requests.range((place, 0)..=(last, u64::MAX)).next()?.0;
        self.requests.remove(&key)
    }
}

#[derive(Default)]
struct Blkparse {
    is_queue: bool,
    /// The summary has begun.
    is_over: bool,
    began: bool,
    queued: Waiting,
    dispatched: Waiting,
    /// Devices that dispatch.
    dispatchers: FxHashSet<u32>,
    /// Answers to what was asked for before the trace began, or lost.
    unasked: u64,
}

/// What a line says.
struct Event<'a> {
    device: &'a [u8],
    /// Major and minor.
    number: u32,
    time: u64,
    action: &'a [u8],
    op: Op,
    fua: bool,
    offset: u64,
    len: u64,
    /// In brackets at the end: the process, or the error of an answer.
    tail: &'a [u8],
}

impl Parser for Blkparse {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Result<(), Wrong> {
        let event = match event_of(line) {
            Ok(event) => event,
            Err(wrong) => {
                let is_summary = line.starts_with(b"CPU") || line.starts_with(b"Total") || line.starts_with(b"Input");
                self.is_over |= self.began && is_summary;
                return if self.is_over { Ok(()) } else { Err(wrong) };
            }
        };
        self.began = true;
        let Some(event) = event else { return Ok(()) };
        if event.len == 0 && event.op != Op::Flush && event.action != b"C" {
            return Err(Wrong::new(line, "a request of no sectors"));
        }
        match event.action {
            b"Q" => self.queue(&event, out),
            b"D" => self.dispatch(&event, out),
            b"C" => {
                self.complete(&event, out);
                Ok(())
            }
            b"R" => {
                let place = place_of(&event, event.number);
                if let Some(io) = self.dispatched.take(place, 1) {
                    self.queued.add(place, io);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn finish(&mut self, out: &mut Out) {
        while let Some(io) = self.dispatched.oldest() {
            out.ios.push(io);
        }
        while let Some(io) = self.queued.oldest() {
            self.unanswered(io, out);
        }
        if self.unasked > 0 {
            let note = format!("{} completions of the trace belong to no request in it", self.unasked);
            out.note(&note);
        }
    }
}

impl Blkparse {
    fn queue(&mut self, event: &Event, out: &mut Out) -> Result<(), Wrong> {
        let io = io_of(event, out);
        check(&io)?;
        self.queued.add(place_of(event, event.number), io);
        if let Some(io) = self.queued.overdue() {
            self.unanswered(io, out);
        }
        Ok(())
    }

    fn dispatch(&mut self, event: &Event, out: &mut Out) -> Result<(), Wrong> {
        let device = event.number;
        self.dispatchers.insert(device);
        if self.is_queue {
            return Ok(());
        }
        let mut io = io_of(event, out);
        check(&io)?;
        let place = place_of(event, device);
        // Who queued it is who asked; what dispatches may be a thread of the kernel.
        if let Some(queued) = self.queued.take(place, event.len) {
            io.stream = queued.stream;
            // Others are merged into it, unless the first is all of it.
            while queued.len < event.len && self.queued.take(place, event.len).is_some() {}
        }
        self.dispatched.add(place, io);
        if let Some(io) = self.dispatched.overdue() {
            out.ios.push(io);
        }
        Ok(())
    }

    fn complete(&mut self, event: &Event, out: &mut Out) {
        let device = event.number;
        let place = place_of(event, device);
        let failed = whole(event.tail) != Some(0);
        let answered = |io: Io| Io { latency: Some(event.time.saturating_sub(io.issue)), failed, ..io };
        if let Some(io) = self.dispatched.take(place, 1) {
            out.ios.push(answered(io));
            return;
        }
        let mut asked = 0;
        while let Some(io) = self.queued.take(place, event.len) {
            out.ios.push(answered(io));
            asked += 1;
            if event.op == Op::Flush {
                break;
            }
        }
        self.unasked += u64::from(asked == 0);
    }

    /// A request that was queued, of which nothing more is known: one that a device has dispatched within another is no
    /// I/O of its own.
    fn unanswered(&self, io: Io, out: &mut Out) {
        let names = &out.streams.names()[io.stream as usize];
        let device = names.device.clone();
        let device = device_number(device.as_bytes()).unwrap_or_default();
        if self.is_queue || !self.dispatchers.contains(&device) {
            out.ios.push(io);
        }
    }
}

/// An I/O must end where bytes can be counted.
fn check(io: &Io) -> Result<(), Wrong> {
    let fits = io.offset.checked_add(io.len).is_some_and(|end| end <= crate::io::LAST_BYTE);
    if fits {
        Ok(())
    } else {
        Err(Wrong::new(format!("{} B at {}", io.len, io.offset).as_bytes(), "an address beyond 2^63 B"))
    }
}

fn io_of(event: &Event, out: &mut Out) -> Io {
    let stream = out.streams.of(Parts { host: b"", device: event.device, process: event.tail });
    let Event { op, fua, time, offset, len, .. } = *event;
    Io { fua, ..out.plain(op, time, offset, len, stream) }
}

/// Major and minor in one number: 12 and 20 bits, as Linux has them.
fn device_number(device: &[u8]) -> Option<u32> {
    let comma = memchr::memchr(b',', device)?;
    let (major, minor) = (whole(&device[..comma])?, whole(&device[comma + 1..])?);
    (major < 1 << 12 && minor < 1 << 20).then_some((major << 20 | minor) as u32)
}

fn place_of(event: &Event, device: u32) -> Place {
    let op = match event.op {
        Op::Read => 0,
        Op::Write => 1,
        Op::Flush => 2,
        Op::Trim => 3,
    };
    (device, op, if event.op == Op::Flush { 0 } else { event.offset })
}

/// What a line says; none of one that says nothing of an I/O (a message, a plug, a merge).
fn event_of(line: &[u8]) -> Result<Option<Event<'_>>, Wrong> {
    let wrong = |found: &str| Wrong::new(line, found);
    let mut rest = line;
    let mut next = || {
        let begin = rest.iter().position(|byte| *byte != b' ')?;
        let end = memchr::memchr(b' ', &rest[begin..]).map_or(rest.len(), |length| begin + length);
        let field = &rest[begin..end];
        rest = &rest[end..];
        Some(field)
    };
    let mut head = [&b""[..]; 6];
    for field in &mut head {
        *field = next().ok_or_else(|| wrong("a line that ends early"))?;
    }
    let [device, cpu, sequence, time, pid, action] = head;
    let number = device_number(device).filter(|_| [cpu, sequence, pid].iter().all(|field| whole(field).is_some()));
    let number = number.ok_or_else(|| wrong("a line of something else"))?;
    let time = need(scaled(time, 9).filter(|_| time.contains(&b'.')), time, "no time in seconds")?;
    if !action.iter().all(u8::is_ascii_alphabetic) {
        return Err(Wrong::new(action, "no action"));
    }
    if !matches!(action, b"Q" | b"D" | b"C" | b"R") {
        return Ok(None);
    }
    let rwbs = next().ok_or_else(|| wrong("a line that ends early"))?;
    let (begin, end) = (memchr::memchr(b'[', rest), memchr::memrchr(b']', rest));
    let (Some(begin), Some(end)) = (begin, end.filter(|end| begin.is_some_and(|begin| begin < *end))) else {
        return Err(wrong("a line that ends early"));
    };
    let (middle, tail) = (&rest[..begin], &rest[begin + 1..end]);
    let (fields, count) = crate::numbers::blanks::<3>(middle);
    let (offset, len) = match (count, fields) {
        (0, _) => (0, 0),
        (1, [sector, ..]) => (sectors(sector, "no sector")?, 0),
        (3, [sector, b"+", size]) => (sectors(sector, "no sector")?, sectors(size, "no number of sectors")?),
        _ => return Err(wrong("neither sector + sectors nor nothing")),
    };
    let Some((op, fua)) = op_of(rwbs, len) else { return Ok(None) };
    Ok(Some(Event { device, number, time, action, op, fua, offset, len, tail }))
}

/// The operation of RWBS, and whether it forces unit access: `F` in front of it is a flush before, behind it FUA
/// (blk_fill_rwbs of the kernel's blktrace.c). None of what is no I/O on blocks.
fn op_of(rwbs: &[u8], len: u64) -> Option<(Op, bool)> {
    let preflush = rwbs.first() == Some(&b'F');
    let rest = if preflush { &rwbs[1..] } else { rwbs };
    let fua = rest.get(1..).is_some_and(|flags| flags.contains(&b'F'));
    match rest.first() {
        Some(b'D') => Some((Op::Trim, false)),
        Some(b'W') if len == 0 && preflush => Some((Op::Flush, false)),
        Some(b'W') => Some((Op::Write, fua)),
        Some(b'R') => Some((Op::Read, fua)),
        _ if preflush => Some((Op::Flush, false)),
        _ => None,
    }
}
