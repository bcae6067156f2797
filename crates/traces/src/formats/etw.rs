//! Disk I/O of Event Tracing for Windows as text: `xperf -a dumper`, and the traces of Microsoft's
//! servers (SNIA IOTTA 158).
//!
//! Format: `BeginHeader`, a line of names for each kind of event, `EndHeader`, then events. Events of disks are
//! DiskRead, DiskWrite and DiskFlush: `TimeStamp` in us is that of the completion, `ElapsedTime` in us the latency,
//! `ByteOffset` and `IOSize` are hexadecimal. Leaves out: all other events; commas in names of processes, which
//! come before those fields.

use hotband_machine::Op;

use super::{ENDED, Format, Parser, need, started};
use crate::io::{Io, Out, Wrong};
use crate::numbers::whole;
use crate::streams::Parts;

pub(super) const FORMAT: Format = Format {
    name: "etw",
    accepted: "ETW as text: BeginHeader, names, EndHeader, then DiskRead, DiskWrite and DiskFlush",
    make: || Box::<Etw>::default(),
};

const KINDS: [(&[u8], Op); 3] = [(b"DiskRead", Op::Read), (b"DiskWrite", Op::Write), (b"DiskFlush", Op::Flush)];
const NAMES: [&str; 6] = ["TimeStamp", "ElapsedTime", "DiskNum", "Process Name ( PID)", "ByteOffset", "IOSize"];
/// Names that every kind has.
const NEEDED: usize = 4;
/// ns of its clock.
const TICK: u64 = 1000;

#[derive(Default)]
enum Part {
    #[default]
    Before,
    Header,
    Events,
}

#[derive(Default)]
struct Etw {
    part: Part,
    /// Places of the names in each kind's lines.
    places: [[Option<usize>; 6]; 3],
}

impl Parser for Etw {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Result<(), Wrong> {
        let text = line.trim_ascii();
        match (&self.part, text) {
            (Part::Before, b"BeginHeader") => self.part = Part::Header,
            (Part::Before, _) => return Err(Wrong::new(line, "a line before BeginHeader")),
            (Part::Header, b"EndHeader") => self.part = Part::Events,
            _ => {}
        }
        let fields: Vec<&[u8]> = text.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).collect();
        let Some(kind) = KINDS.iter().position(|(name, _)| *name == fields[0]) else { return Ok(()) };
        if matches!(self.part, Part::Header) {
            self.places[kind] = NAMES.map(|name| fields.iter().position(|field| *field == name.as_bytes()));
            return Ok(());
        }
        let op = KINDS[kind].1;
        let field = |index: usize| -> Result<&[u8], Wrong> {
            let place = self.places[kind][index];
            if place.is_none() && index >= NEEDED && op == Op::Flush {
                return Ok(b"0");
            }
            let place =
                place.ok_or_else(|| Wrong::new(line, &format!("an event whose heading has no {}", NAMES[index])))?;
            fields.get(place).copied().ok_or_else(|| Wrong::new(line, "an incomplete line"))
        };
        let ticks = |index| number(field(index)?).and_then(|ticks| need(ticks.checked_mul(TICK), line, "no time"));
        let (end, took) = (ticks(0)?, ticks(1)?);
        let stream = out.streams.of(Parts { host: b"", device: field(2)?, process: field(3)? });
        out.note(ENDED);
        let io = out.plain(op, started(end, took)?, number(field(4)?)?, number(field(5)?)?, stream);
        out.io(Io { latency: Some(took), ..io })
    }

    fn is_before_heading(&self) -> bool {
        matches!(self.part, Part::Before)
    }
}

/// A decimal number, or a hexadecimal one behind 0x.
fn number(text: &[u8]) -> Result<u64, Wrong> {
    let hex = text.strip_prefix(b"0x").or_else(|| text.strip_prefix(b"0X"));
    let value = match hex {
        Some(digits) if digits.iter().all(u8::is_ascii_hexdigit) => {
            std::str::from_utf8(digits).ok().and_then(|digits| u64::from_str_radix(digits, 16).ok())
        }
        Some(_) => None,
        None => whole(text),
    };
    need(value, text, "no number")
}
