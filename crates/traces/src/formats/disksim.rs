//! DiskSim's ASCII traces, and MQSim's, which have the same columns with times in ns.
//!
//! Format: the manual of DiskSim 4.0, section 2.3: `arrival_ms device block blocks flags`, arrivals in order; bit 0 of
//! the flags, a hexadecimal number, says read. MQSim (README): arrivals are whole ns, 1 is a read. They are
//! distinguished by the decimal point of the times. Leaves out: all other flags.

use hotband_machine::Op;

use super::{Format, Parser, count, need, sectors};
use crate::io::{Out, Wrong};
use crate::numbers::{blanks, scaled, whole};

pub(super) const ASCII: Format = Format {
    name: "disksim-ascii",
    accepted: "DiskSim ascii: arrival_ms device block blocks flags, arrivals in order and with a decimal point",
    make: || Box::new(Ascii { digits: 6, last: 0 }),
};

pub(super) const MQSIM: Format = Format {
    name: "mqsim",
    accepted: "MQSim: arrival_ns device block blocks 0|1, arrivals in order",
    make: || Box::new(Ascii { digits: 0, last: 0 }),
};

struct Ascii {
    /// Decimal digits between the unit of its times and ns; 0 are whole numbers of ns.
    digits: u32,
    last: u64,
}

impl Parser for Ascii {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Result<(), Wrong> {
        let ([arrival, device, block, blocks, flags], fields) = blanks(line);
        count(line, fields, fields == 5)?;
        let issue = if self.digits == 0 { whole(arrival) } else { scaled(arrival, self.digits) };
        let issue = need(issue.filter(|_| (self.digits > 0) == arrival.contains(&b'.')), arrival, "no arrival")?;
        need(whole(device), device, "no device number")?;
        let (offset, len) = (sectors(block, "no block")?, sectors(blocks, "no number of blocks")?);
        let flags = flags.strip_prefix(b"0x").unwrap_or(flags);
        let bits = std::str::from_utf8(flags).ok().and_then(|flags| u32::from_str_radix(flags, 16).ok());
        let bits = need(bits.map(u64::from).filter(|bits| self.digits > 0 || *bits <= 1), flags, "no flags")?;
        if issue < self.last {
            return Err(Wrong::new(arrival, "a time before that of the previous line"));
        }
        let stream = out.device(device);
        let op = if bits & 1 == 1 { Op::Read } else { Op::Write };
        let io = out.plain(op, issue, offset, len, stream);
        out.io(io)?;
        self.last = issue;
        Ok(())
    }
}
