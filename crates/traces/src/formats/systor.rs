//! VDI traces of Systor '17 (SNIA IOTTA 4964).
//!
//! Format: their README: `Timestamp,Response,IOType,LUN,Offset,Size` under a header; seconds since 1970 and of the
//! response, R or W, bytes. The traps: a response may be missing, and also a type ("?" in the README): the operation is
//! then unknown, and the line is left out, with a note in the record. Lines are roughly in order of
//! time: they are sorted.

use hotband_machine::Op;

use super::{Format, NO_OP, Parser, count, is_header, need};
use crate::io::{Io, Out, Wrong};
use crate::numbers::{commas, scaled, whole};

pub(super) const FORMAT: Format = Format {
    name: "systor",
    accepted: "Systor VDI: seconds,response in seconds,R|W,LUN,offset,bytes",
    make: || Box::new(Systor),
};

const HEADER: &str = "Timestamp,Response,IOType,LUN,Offset,Size";
const NOTE: &str = "lines of the trace without R or W were left out";

struct Systor;

impl Parser for Systor {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Result<(), Wrong> {
        // Files that were put together have it again.
        if is_header(line, HEADER) {
            return Ok(());
        }
        let ([time, response, op, lun, offset, size], fields) = commas(line);
        count(line, fields, fields == 6)?;
        let issue = need(scaled(time, 9), time, "no time in seconds")?;
        let latency = match response {
            b"" => None,
            _ => Some(need(scaled(response, 9), response, "no response time in seconds")?),
        };
        let op = match op {
            b"R" => Op::Read,
            b"W" => Op::Write,
            b"" | b"?" => {
                out.note(NOTE);
                return Ok(());
            }
            _ => return Err(Wrong::new(op, NO_OP)),
        };
        need(whole(lun), lun, "no LUN")?;
        let (offset, len) = (need(whole(offset), offset, "no offset")?, need(whole(size), size, "no size")?);
        let stream = out.device(lun);
        let io = out.plain(op, issue, offset, len, stream);
        out.io(Io { latency, ..io })
    }
}
