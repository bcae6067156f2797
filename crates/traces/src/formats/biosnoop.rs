//! Output of biosnoop of bcc and libbpf-tools, as printed.
//!
//! Format: its heading, `TIME(s) COMM PID DISK T SECTOR BYTES [QUE(ms)] LAT(ms)`. A time is that of the completion, and
//! counts from the first line. A command may have blanks: fields are counted from both ends. `T` is R or W, or RWBS.
//! Leaves out: the time in the queue (`QUE(ms)`), which the latency does not have.

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

/// Fields that are read, by their headings.
const HEADINGS: [&str; 8] = ["TIME(s)", "COMM", "PID", "DISK", "T", "SECTOR", "BYTES", "LAT(ms)"];
const COMMAND: usize = 1;
/// Most fields of a line: a command has 15 characters.
const MOST: usize = 24;

#[derive(Default)]
struct Biosnoop {
    /// Index of each heading, and their number.
    places: Option<([usize; 8], usize)>,
}

impl Parser for Biosnoop {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Result<(), Wrong> {
        let fields: Vec<&[u8]> =
            line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).take(MOST).collect();
        let place = |heading: &str| fields.iter().position(|field| *field == heading.as_bytes());
        if let [Some(a), Some(b), Some(c), Some(d), Some(e), Some(f), Some(g), Some(h)] = HEADINGS.map(place) {
            self.places = Some(([a, b, c, d, e, f, g, h], fields.len()));
            return Ok(());
        }
        let Some((places, count)) = self.places else { return Err(Wrong::new(line, "a line before the heading")) };
        if fields.len() < count {
            return Err(Wrong::new(line, "an incomplete line"));
        }
        let more = fields.len() - count;
        let [time, _, pid, disk, op, sector, bytes, latency] =
            places.map(|place| fields[if place > places[COMMAND] { place + more } else { place }]);
        let command = fields[places[COMMAND]..=places[COMMAND] + more].join(&b' ');
        need(whole(pid), pid, "no process")?;
        let op = match op.first() {
            Some(b'R') => Op::Read,
            Some(b'W') => Op::Write,
            Some(b'D') => Op::Trim,
            Some(b'F') => Op::Flush,
            _ => return Err(Wrong::new(op, NO_OP)),
        };
        let end = need(scaled(time, 9), time, "no time in seconds")?;
        let took = need(scaled(latency, 6), latency, "no latency in ms")?;
        let (offset, len) = (sectors(sector, "no sector")?, need(whole(bytes), bytes, "no number of bytes")?);
        // What is sent to the device without a block (a flush of RWBS `FF`) has no bytes.
        let op = if len == 0 { Op::Flush } else { op };
        let stream = out.streams.of(Parts { host: b"", device: disk, process: &command });
        out.note(ENDED);
        let io = out.plain(op, started(end, took)?, offset, len, stream);
        out.io(Io { latency: Some(took), ..io })
    }
}
