//! Output of biosnoop of bcc and libbpf-tools, as printed.
//!
//! Format: its heading, `TIME(s) COMM PID DISK T SECTOR BYTES [QUE(ms)] LAT(ms)`. A time is that of the completion, and
//! counts from the first line. A command may have blanks, and a disk may be missing: fields are counted from both ends.
//! `T` is R or W, or RWBS (`FWFS` is a write with a flush before it, `N` none of a block). Leaves out, with their number:
//! I/Os without a disk, which biosnoop did not see begin (`?`, process 0, sector 0) or which are for no block device
//! (`<unknown>`, `Unknown`). Leaves out: the time in the queue (`QUE(ms)`), which the latency does not have.

use hotband_machine::Op;

use super::{ENDED, Format, NO_OP, Parser, need, sectors, started};
use crate::io::{Io, Out, Wrong};
use crate::numbers::{scaled, whole};
use crate::streams::Parts;

pub(super) const FORMAT: Format = Format {
    name: "biosnoop",
    accepted: "biosnoop: TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms), with its heading",
    make: || Box::<Biosnoop>::default(),
};

/// Headings of the fields that are read, in their order.
const HEADINGS: [&str; 8] = ["TIME(s)", "COMM", "PID", "DISK", "T", "SECTOR", "BYTES", "LAT(ms)"];
/// Names of no disk.
const NO_DISK: [&[u8]; 2] = [b"<unknown>", b"Unknown"];
/// Most fields of a line: a command has 15 characters.
const MOST: usize = 24;

#[derive(Default)]
struct Biosnoop {
    /// Places of operation, sector, bytes and latency, counted from the end of a line.
    from_end: Option<[usize; 4]>,
    /// I/Os without a disk, or without an operation on blocks.
    left_out: u64,
}

impl Biosnoop {
    /// Read the heading; false if the line is none.
    fn read_heading(&mut self, fields: &[&[u8]]) -> bool {
        let place = |heading: &str| fields.iter().position(|field| *field == heading.as_bytes());
        let [Some(0), Some(1), Some(2), Some(3), Some(op @ 4), Some(sector), Some(bytes), Some(latency)] =
            HEADINGS.map(place)
        else {
            return false;
        };
        self.from_end = Some([op, sector, bytes, latency].map(|place| fields.len() - place));
        true
    }
}

impl Parser for Biosnoop {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Result<(), Wrong> {
        let fields: Vec<&[u8]> =
            line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).take(MOST).collect();
        if self.read_heading(&fields) {
            return Ok(());
        }
        let Some(from_end) = self.from_end else { return Err(Wrong::new(line, "a line before the heading")) };
        // biosnoop was too slow, or was interrupted.
        if fields[0].eq_ignore_ascii_case(b"lost") || line.starts_with(b"Possibly lost ") {
            out.lost(line);
            return Ok(());
        }
        if line.starts_with(b"^C") {
            return Ok(());
        }
        let at = |back: usize| fields.len().checked_sub(back).filter(|place| *place > 2);
        let [Some(op_at), Some(sector), Some(bytes), Some(latency)] = from_end.map(at) else {
            return Err(Wrong::new(line, "an incomplete line"));
        };
        let (time, op, disk) = (fields[0], fields[op_at], fields[op_at - 1]);
        let end = need(scaled(time, 9), time, "no time in seconds")?;
        let took = need(scaled(fields[latency], 6), fields[latency], "no latency in ms")?;
        let (offset, len) =
            (sectors(fields[sector], "no sector")?, need(whole(fields[bytes]), fields[bytes], "no number of bytes")?);
        let op = operation(op, len)?;
        // No disk has a name of digits: that is the process before it.
        let Some(op) = op.filter(|_| whole(disk).is_none() && !NO_DISK.contains(&disk)) else {
            self.left_out += 1;
            return Ok(());
        };
        let pid = fields[op_at - 2];
        need(whole(pid), pid, "no process")?;
        let command = fields[1..op_at - 2].join(&b' ');
        let stream = out.streams.of(Parts { host: b"", device: disk, process: &command });
        out.note(ENDED);
        let io = out.plain(op, started(end, took)?, offset, len, stream);
        out.io(Io { latency: Some(took), ..io })
    }

    fn is_before_heading(&self) -> bool {
        self.from_end.is_none()
    }

    fn finish(&mut self, out: &mut Out) {
        if self.left_out > 0 {
            let count = self.left_out;
            let why = "biosnoop missed their start, or they are not reads or writes of blocks";
            out.notes.push(format!("lines without a disk or an operation are left out: {count} ({why})"));
        }
    }
}

/// The operation of an I/O of `len` bytes by its R, W, or RWBS; none of a command that is for no block.
fn operation(text: &[u8], len: u64) -> Result<Option<Op>, Wrong> {
    // Commands without a block (a flush of RWBS `FF`) have no bytes.
    let after_flush = text.strip_prefix(b"F").filter(|rest| len > 0 && !rest.is_empty()).unwrap_or(text);
    match after_flush.first() {
        Some(b'R' | b'W' | b'D' | b'F') if len == 0 => Ok(Some(Op::Flush)),
        Some(b'R') => Ok(Some(Op::Read)),
        Some(b'W') => Ok(Some(Op::Write)),
        Some(b'D') => Ok(Some(Op::Trim)),
        Some(b'F') => Ok(Some(Op::Flush)),
        Some(b'N') => Ok(None),
        _ => Err(Wrong::new(text, NO_OP)),
    }
}
