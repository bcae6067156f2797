//! SPC traces, as in the UMass repository (Financial, WebSearch).
//!
//! Format: SPC Trace File Format Specification, revision 1.0.1: `ASU,LBA,size,opcode,timestamp[,more]`. The trap: the
//! LBA counts blocks of 512 B, the size is bytes. Times are seconds since the beginning, in order. A device is an ASU
//! (application storage unit). Leaves out: the optional fields.

use hotband_machine::Op;

use super::{Format, NO_OP, Parser, count, need, sectors};
use crate::io::{Out, Wrong};
use crate::numbers::{commas, scaled, whole};

pub(super) const FORMAT: Format = Format {
    name: "spc",
    accepted: "SPC: ASU,LBA in blocks of 512 B,size in bytes,R|W,seconds[,more], times in order",
    make: || Box::<Spc>::default(),
};

#[derive(Default)]
struct Spc {
    last: u64,
}

impl Parser for Spc {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Result<(), Wrong> {
        let ([asu, lba, size, op, time], fields) = commas(line);
        count(line, fields, fields >= 5)?;
        need(whole(asu), asu, "no ASU number")?;
        let (offset, len) = (sectors(lba, "no LBA")?, need(whole(size), size, "no size")?);
        let op = match op {
            b"R" | b"r" => Op::Read,
            b"W" | b"w" => Op::Write,
            _ => return Err(Wrong::new(op, NO_OP)),
        };
        let issue = need(scaled(time, 9), time, "no time in seconds")?;
        if issue < self.last {
            return Err(Wrong::new(time, "a time before that of the previous line"));
        }
        let stream = out.device(asu);
        let io = out.plain(op, issue, offset, len, stream);
        out.io(io)?;
        self.last = issue;
        Ok(())
    }
}
