//! Tencent's block traces of 2018 (SNIA IOTTA 27917).
//!
//! Format: their README: `Timestamp,Offset,Size,IOType,VolumeID`; offsets and sizes in sectors of 512 B, 0 is a read, 1
//! a write. The trap: times are whole seconds. All I/Os of a second are requested at its beginning,
//! and the record has a note about it.

use hotband_machine::Op;

use super::{Format, NO_OP, Parser, count, is_header, need, sectors};
use crate::io::{Out, Wrong};
use crate::numbers::{commas, whole};

pub(super) const FORMAT: Format = Format {
    name: "tencent",
    accepted: "Tencent: seconds,offset in sectors,sectors,0|1,volume",
    make: || Box::new(Tencent),
};

const HEADER: &str = "Timestamp,Offset,Size,IOType,VolumeID";
/// ns of a second.
const SECOND: u64 = 1_000_000_000;
const NOTE: &str = "times of the trace are whole seconds: all I/Os of a second are issued at its beginning";

struct Tencent;

impl Parser for Tencent {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Result<(), Wrong> {
        if out.row == 1 && is_header(line, HEADER) {
            return Ok(());
        }
        let ([time, offset, size, op, volume], fields) = commas(line);
        count(line, fields, fields == 5)?;
        let issue = whole(time).and_then(|time| time.checked_mul(SECOND));
        let issue = need(issue, time, "no time in seconds")?;
        let (offset, len) = (sectors(offset, "no offset")?, sectors(size, "no size")?);
        let op = match op {
            b"0" => Op::Read,
            b"1" => Op::Write,
            _ => return Err(Wrong::new(op, NO_OP)),
        };
        need(whole(volume), volume, "no volume number")?;
        let stream = out.device(volume);
        if out.notes.is_empty() {
            out.note(NOTE);
        }
        let io = out.plain(op, issue, offset, len, stream);
        out.io(io)
    }
}
