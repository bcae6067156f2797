//! Output of blkparse for a blktrace: events, which are paired to I/Os.
//!
//! Format: blkparse(1), the default output: `major,minor cpu sequence seconds pid action RWBS sector + sectors
//! [process]`. An I/O is a request as the device got it: from its dispatch (D) to its completion (C), of the process
//! that queued it (Q) if that is known. Of devices without dispatches (md, dm), and by `blkparse-queue` always, it
//! is from Q to C as the program asked for it, before requests were merged. The traps: sectors have 512 B whatever the
//! device; C events have no process, but an error in its place; requests are merged, so that a C answers several Qs;
//! several CPUs' lines are not quite in order; a summary follows. Without C events there are no latencies.
//!
//! `perf` has the same events as `perf script` and trace-cmd print them: block_rq_issue is D, block_rq_complete C,
//! block_rq_requeue R, block_bio_queue Q (include/trace/events/block.h of the kernel); other events are skipped.
//!
//! Leaves out: requests without sectors but flushes (pass-through), the flush in front of a write (RWBS `FW`) where the
//! kernel did not dispatch it by itself.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use hotband_machine::Op;
use rustc_hash::FxHashSet;

use super::{Format, Parser, is_about_loss, need, sectors};
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

pub(super) const PERF: Format = Format {
    name: "perf",
    accepted: "perf script of block events: process [cpu] seconds: block:block_rq_issue: major,minor RWBS bytes () sector + sectors",
    make: || Box::new(Blkparse { is_perf: true, ..Blkparse::default() }),
};

/// Events that wait for others: more have lost theirs (the tracer drops events when it is late), and memory is bounded.
const MOST_WAITING: usize = 1 << 18;

const STACKED: &str = "the trace has devices with dispatches (D) and others without: if those without are built on the \
                       others (md, dm), I/Os may count twice unless a device is named";

/// Where a request begins: device, operation, first byte; a flush begins nowhere.
type Place = (u32, u8, u64);

/// A request that waits, when it came among all, and the next that begins where it does.
#[derive(Debug)]
struct Request {
    io: Io,
    age: u64,
    next: u32,
}

/// Requests by where they begin; several may begin at one place.
#[derive(Debug, Default)]
struct Waiting {
    /// The oldest and the youngest at each place, by their number.
    places: BTreeMap<Place, (u32, u32)>,
    requests: Vec<Request>,
    /// Numbers that are free.
    free: Vec<u32>,
    came: u64,
}

impl Waiting {
    fn add(&mut self, key: Place, io: Io) {
        let request = Request { io, age: self.came, next: 0 };
        self.came += 1;
        let number = if let Some(number) = self.free.pop() {
            self.requests[number as usize] = request;
            number
        } else {
            self.requests.push(request);
            self.requests.len() as u32 - 1
        };
        match self.places.entry(key) {
            Entry::Vacant(free) => {
                free.insert((number, number));
            }
            Entry::Occupied(mut there) => {
                let youngest = std::mem::replace(&mut there.get_mut().1, number);
                self.requests[youngest as usize].next = number;
            }
        }
    }

    /// The oldest, once there are too many: many at once, as they have to be looked for.
    fn overdue(&mut self) -> Vec<Io> {
        let waiting = self.requests.len() - self.free.len();
        if waiting <= MOST_WAITING { Vec::new() } else { self.oldest(MOST_WAITING / 8) }
    }

    /// The oldest I/Os in order, at most `most`.
    fn oldest(&mut self, most: usize) -> Vec<Io> {
        let mut by_age = Vec::new();
        for (key, (first, last)) in &self.places {
            let mut number = *first;
            by_age.push((self.requests[number as usize].age, *key));
            while number != *last {
                number = self.requests[number as usize].next;
                by_age.push((self.requests[number as usize].age, *key));
            }
        }
        by_age.sort_unstable_by_key(|(age, _)| *age);
        by_age.truncate(most);
        by_age.into_iter().filter_map(|(_, key)| self.take(key, 1)).collect()
    }

    /// The oldest of the first place within this many bytes from `place` on.
    #[inline]
    fn take(&mut self, key: Place, len: u64) -> Option<Io> {
        let mut entry = match self.places.entry(key) {
            Entry::Occupied(entry) => entry,
            Entry::Vacant(_) if len <= 1 => return None,
            Entry::Vacant(_) => {
                let (device, op, begin) = key;
                let last = (device, op, begin.saturating_add(len - 1));
                let next = *self.places.range(key..=last).next()?.0;
                let Entry::Occupied(entry) = self.places.entry(next) else { return None };
                entry
            }
        };
        let (first, last) = *entry.get();
        let Request { io, next, .. } = self.requests[first as usize];
        if first == last {
            entry.remove();
        } else {
            entry.get_mut().0 = next;
        }
        self.free.push(first);
        Some(io)
    }
}

#[derive(Default)]
struct Blkparse {
    is_queue: bool,
    is_perf: bool,
    /// The summary has begun.
    is_over: bool,
    began: bool,
    queued: Waiting,
    dispatched: Waiting,
    /// Devices that dispatch.
    dispatchers: FxHashSet<u32>,
    /// Devices whose I/Os were completed without a dispatch: md and dm, which are built on others, and devices without
    /// requests (zram, pmem, brd).
    undispatched: FxHashSet<u32>,
    /// Completions of I/Os that were issued before the trace began, or lost.
    unasked: u64,
}

/// Event of a line.
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
        let event = match if self.is_perf { perf_event_of(line, self.began) } else { event_of(line) } {
            Ok(event) => event,
            Err(wrong) => {
                let is_summary = line.starts_with(b"CPU") || line.starts_with(b"Total") || line.starts_with(b"Input");
                self.is_over |= self.began && is_summary;
                let is_loss = self.began && is_about_loss(line);
                if is_loss {
                    out.lost(line);
                }
                return if self.is_over || is_loss { Ok(()) } else { Err(wrong) };
            }
        };
        if event.is_none() && self.is_perf && is_about_loss(line) {
            out.lost(line);
        }
        self.began = true;
        let Some(event) = event else { return Ok(()) };
        if event.len == 0 && event.op != Op::Flush && event.action != b"C" {
            return Err(Wrong::new(line, "a request without sectors"));
        }
        match event.action {
            b"Q" => self.queue(&event, out),
            b"D" => self.dispatch(&event, out),
            b"C" => {
                self.complete(&event, out);
                Ok(())
            }
            b"R" => {
                let key = place_of(&event, event.number);
                if let Some(io) = self.dispatched.take(key, 1) {
                    self.queued.add(key, io);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn is_before_heading(&self) -> bool {
        // trace-cmd begins with the number of CPUs.
        self.is_perf && !self.began
    }

    fn finish(&mut self, out: &mut Out) {
        out.ios.append(&mut self.dispatched.oldest(usize::MAX));
        for io in self.queued.oldest(usize::MAX) {
            self.unanswered(io, out);
        }
        if !self.dispatchers.is_empty() && self.undispatched.difference(&self.dispatchers).next().is_some() {
            out.note(STACKED);
        }
        if self.unasked > 0 {
            let note = format!("{} completions of the trace belong to no request in it", self.unasked);
            out.note(&note);
        }
    }
}

impl Blkparse {
    fn queue(&mut self, event: &Event, out: &mut Out) -> Result<(), Wrong> {
        check(event)?;
        let stream = stream_of(event, out);
        self.queued.add(place_of(event, event.number), io_of(event, stream, out));
        for io in self.queued.overdue() {
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
        check(event)?;
        let key = place_of(event, device);
        // Who queued it is who asked; what dispatches may be a thread of the kernel.
        let stream = match self.queued.take(key, event.len) {
            Some(queued) => {
                // Others are merged into it, unless the first is all of it.
                while queued.len < event.len && self.queued.take(key, event.len).is_some() {}
                queued.stream
            }
            None => stream_of(event, out),
        };
        self.dispatched.add(key, io_of(event, stream, out));
        out.ios.append(&mut self.dispatched.overdue());
        Ok(())
    }

    fn complete(&mut self, event: &Event, out: &mut Out) {
        let device = event.number;
        let key = place_of(event, device);
        let failed = whole(event.tail) != Some(0);
        let answered = |io: Io| Io { latency: Some(event.time.saturating_sub(io.issue)), failed, ..io };
        if let Some(io) = self.dispatched.take(key, 1) {
            out.ios.push(answered(io));
            return;
        }
        let mut issued = 0;
        while let Some(io) = self.queued.take(key, event.len) {
            out.ios.push(answered(io));
            issued += 1;
            if event.op == Op::Flush {
                break;
            }
        }
        self.unasked += u64::from(issued == 0);
        if issued > 0 {
            self.undispatched.insert(device);
        }
    }

    /// A request that was queued, of which nothing more is known: one that a device has dispatched within another is
    /// not an I/O of its own.
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
#[inline]
fn check(event: &Event) -> Result<(), Wrong> {
    let fits = event.offset.checked_add(event.len).is_some_and(|end| end <= crate::io::LAST_BYTE);
    if fits {
        Ok(())
    } else {
        Err(Wrong::new(format!("{} B at {}", event.len, event.offset).as_bytes(), "an address beyond 2^63 B"))
    }
}

#[inline]
fn stream_of(event: &Event, out: &mut Out) -> u32 {
    out.streams.of(Parts { host: b"", device: event.device, process: event.tail })
}

#[inline]
fn io_of(event: &Event, stream: u32, out: &Out) -> Io {
    let Event { op, fua, time, offset, len, .. } = *event;
    Io { fua, ..out.plain(op, time, offset, len, stream) }
}

/// Major and minor in one number: 12 and 20 bits, as in Linux.
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

/// The next field of a line between blanks, and what follows it; empty at the end. Fields are a few bytes long, which
/// is too short for a search by whole registers.
#[inline]
fn field(line: &[u8]) -> (&[u8], &[u8]) {
    let begin = line.iter().position(|byte| *byte != b' ').unwrap_or(line.len());
    let line = &line[begin..];
    line.split_at(line.iter().position(|byte| *byte == b' ').unwrap_or(line.len()))
}

/// Content of a line; none if it is not about an I/O (a message, a plug, a merge).
fn event_of(line: &[u8]) -> Result<Option<Event<'_>>, Wrong> {
    let wrong = |problem: &str| Wrong::new(line, problem);
    let (mut head, mut rest) = ([&b""[..]; 6], line);
    for place in &mut head {
        (*place, rest) = field(rest);
    }
    let [device, cpu, sequence, time, pid, action] = head;
    if action.is_empty() {
        return Err(wrong("an incomplete line"));
    }
    let is_number = |field: &&[u8]| field.len() <= 20 && field.iter().all(u8::is_ascii_digit);
    let number = device_number(device).filter(|_| [cpu, sequence, pid].iter().all(is_number));
    let number = number.ok_or_else(|| wrong("a line of something else"))?;
    let time = need(scaled(time, 9).filter(|_| time.contains(&b'.')), time, "no time in seconds")?;
    if !action.iter().all(u8::is_ascii_alphabetic) {
        return Err(Wrong::new(action, "no action"));
    }
    if !matches!(action, b"Q" | b"D" | b"C" | b"R") {
        return Ok(None);
    }
    let (rwbs, rest) = field(rest);
    let (begin, end) = (memchr::memchr(b'[', rest), memchr::memrchr(b']', rest));
    let (Some(begin), Some(end)) = (begin, end.filter(|end| begin.is_some_and(|begin| begin < *end))) else {
        return Err(wrong("an incomplete line"));
    };
    let (offset, len) =
        extent_of(&rest[..begin]).unwrap_or_else(|| Err(wrong("neither sector + sectors nor nothing")))?;
    let Some((op, fua)) = op_of(rwbs, len) else { return Ok(None) };
    Ok(Some(Event { device, number, time, action, op, fua, offset, len, tail: &rest[begin + 1..end] }))
}

/// Events of the kernel's block layer, and their letters in blkparse.
const EVENTS: [(&[u8], &[u8]); 4] = [
    (b"block_rq_issue: ", b"D"),
    (b"block_rq_complete: ", b"C"),
    (b"block_rq_requeue: ", b"R"),
    (b"block_bio_queue: ", b"Q"),
];

/// Content of a line of perf: `process pid [cpu] seconds: block:EVENT: major,minor RWBS [bytes] [(command)] sector +
/// sectors [priority] [process or error]`. Lines of other events, and those in front (`#`),
/// are skipped once one `began`.
fn perf_event_of(line: &[u8], began: bool) -> Result<Option<Event<'_>>, Wrong> {
    let wrong = |problem: &str| Wrong::new(line, problem);
    let known = EVENTS.iter().find_map(|(name, action)| Some((memchr::memmem::find(line, name)?, name.len(), *action)));
    let Some((at, length, action)) = known else {
        let is_other = began || line.starts_with(b"#") || memchr::memmem::find(line, b" block:block_").is_some();
        return if is_other { Ok(None) } else { Err(wrong("a line of something else")) };
    };
    let front = line[..at].strip_suffix(b"block:").unwrap_or(&line[..at]).trim_ascii_end();
    let time = front.rsplit(|byte| *byte == b' ').next().and_then(|time| time.strip_suffix(b":"));
    let time = time.ok_or_else(|| wrong("no time in front of the event"))?;
    let time = need(scaled(time, 9).filter(|_| time.contains(&b'.')), time, "no time in seconds")?;
    let (device, rest) = field(&line[at + length..]);
    let number = device_number(device).ok_or_else(|| wrong("a line of something else"))?;
    let (rwbs, rest) = field(rest);
    let begin = memchr::memrchr(b'[', rest).ok_or_else(|| wrong("an incomplete line"))?;
    let (text, tail) = (&rest[..begin], rest[begin + 1..].trim_ascii_end());
    let tail = tail.strip_suffix(b"]").ok_or_else(|| wrong("an incomplete line"))?;
    // The command is empty for blocks; behind it, or the bytes, the extent; a priority may follow.
    let text = memchr::memrchr(b')', text).map_or(text, |end| &text[end + 1..]);
    let plus = memchr::memmem::find(text, b" + ").ok_or_else(|| wrong("no sector + sectors"))?;
    let sector = text[..plus].rsplit(|byte| *byte == b' ').next().unwrap_or_default();
    // A flush has no sector: -1.
    let offset = if sector.iter().all(u8::is_ascii_digit) { sectors(sector, "no sector").unwrap_or(0) } else { 0 };
    let len = sectors(field(&text[plus + 3..]).0, "no number of sectors")?;
    let Some((op, fua)) = op_of(rwbs, len) else { return Ok(None) };
    Ok(Some(Event { device, number, time, action, op, fua, offset, len, tail }))
}

/// Where the extent between RWBS and the bracket begins, and its length: `sector + sectors`, `sector`, or nothing. None
/// for anything else.
fn extent_of(text: &[u8]) -> Option<Result<(u64, u64), Wrong>> {
    let (sector, rest) = field(text);
    let (plus, rest) = field(rest);
    let (count, rest) = field(rest);
    if !rest.trim_ascii().is_empty() || !(plus.is_empty() || (plus == b"+" && !count.is_empty())) {
        return None;
    }
    let bytes = |field: &[u8], found| if field.is_empty() { Ok(0) } else { sectors(field, found) };
    Some(bytes(sector, "no sector").and_then(|offset| Ok((offset, bytes(count, "no number of sectors")?))))
}

/// The operation of RWBS, and whether it forces unit access: `F` in front of it is a flush before, behind it FUA
/// (blk_fill_rwbs of the kernel's blktrace.c). None for lines that are not block I/Os.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn io(row: u64) -> Io {
        Out { row, ..Out::default() }.plain(Op::Read, row, 0, 512, 0)
    }

    fn rows(ios: &[Io]) -> Vec<u64> {
        ios.iter().map(|io| io.row).collect()
    }

    #[test]
    fn requests_of_one_place_are_taken_as_they_came_and_merged_ones_by_where_they_begin() {
        let mut waiting = Waiting::default();
        for (row, begin) in [(1, 4096), (2, 0), (3, 0), (4, 512), (5, 0)] {
            waiting.add((8, 0, begin), io(row));
        }
        let mut take = |begin, len| waiting.take((8, 0, begin), len).map(|io| io.row);
        assert_eq!([take(0, 1), take(0, 1), take(0, 1), take(0, 1)], [Some(2), Some(3), Some(5), None]);
        assert_eq!([take(0, 512), take(0, 513), take(0, 4096), take(0, 4097)], [None, Some(4), None, Some(1)]);
        assert_eq!((waiting.places.len(), waiting.free.len()), (0, 5));
    }

    #[test]
    fn of_too_many_requests_the_oldest_are_let_go_in_their_order() {
        let mut waiting = Waiting::default();
        for row in 0..MOST_WAITING as u64 {
            waiting.add((8, 0, row * 7919 % 1000 * 512), io(row));
        }
        assert_eq!(waiting.overdue().len(), 0);
        waiting.add((8, 0, 0), io(MOST_WAITING as u64));
        assert_eq!(rows(&waiting.overdue()), (0..MOST_WAITING as u64 / 8).collect::<Vec<_>>());
        assert_eq!(rows(&waiting.oldest(2)), [MOST_WAITING as u64 / 8, MOST_WAITING as u64 / 8 + 1]);
    }
}
