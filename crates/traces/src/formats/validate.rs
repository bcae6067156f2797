//! DiskSim's validation traces (`validate`): a closed loop with one I/O outstanding, response times
//! and think times in us.
//!
//! Format: iotrace_validate_get_ioreq_event of DiskSim 4.0's disksim_iotrace.c: `R|W cache block blocks response
//! think`. An I/O is requested when the one before it was completed and *its* think time has passed. Leaves out: what
//! the drive's cache did, which is a guess of DiskSim's authors.

use hotband_machine::Op;

use super::{Format, NO_OP, Parser, count, need, sectors};
use crate::io::{Io, Out, Wrong};
use crate::numbers::{blanks, scaled};

pub(super) const FORMAT: Format = Format {
    name: "disksim-validate",
    accepted: "DiskSim validate: R|W cache block blocks response_us think_us",
    make: || Box::<Validate>::default(),
};

const NO_TIME: &str = "no time in us";

#[derive(Default)]
struct Validate {
    next: u64,
}

impl Parser for Validate {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Result<(), Wrong> {
        let ([op, cache, block, blocks, response, think], fields) = blanks(line);
        count(line, fields, fields == 6)?;
        let op = match op {
            b"R" => Op::Read,
            b"W" => Op::Write,
            _ => return Err(Wrong::new(op, NO_OP)),
        };
        if !cache.iter().all(u8::is_ascii_alphabetic) {
            return Err(Wrong::new(cache, "no word for the result of the cache"));
        }
        let (offset, len) = (sectors(block, "no block")?, sectors(blocks, "no number of blocks")?);
        let latency = need(scaled(response, 3), response, NO_TIME)?;
        let think = need(scaled(think, 3), think, NO_TIME)?;
        let next = self.next.checked_add(latency).and_then(|done| done.checked_add(think));
        let next = need(next, line, "a time beyond the clock")?;
        let stream = out.device(b"");
        let io = out.plain(op, self.next, offset, len, stream);
        out.io(Io { latency: Some(latency), ..io })?;
        self.next = next;
        Ok(())
    }
}
