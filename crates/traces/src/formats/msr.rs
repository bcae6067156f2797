//! Block traces of Microsoft Research Cambridge (SNIA IOTTA 388).
//!
//! Format: their README: `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`. Times are Windows FILETIME, 100 ns
//! since 1601; responses are in the same unit. Offsets and sizes are bytes. Lines are roughly, not strictly, in order of
//! time: they are sorted. A device is HOST_DISK, as the files are called.

use hotband_machine::Op;

use super::{Format, NO_OP, Parser, count, is_header, need};
use crate::io::{Io, Out, Wrong};
use crate::numbers::{commas, whole};
use crate::streams::Parts;

pub(super) const FORMAT: Format = Format {
    name: "msr",
    accepted: "MSR Cambridge: filetime,host,disk,Read|Write,offset,bytes,response in 100 ns",
    make: || Box::<Msr>::default(),
};

const HEADER: &str = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime";
/// ns of a tick.
const TICK: u64 = 100;

#[derive(Default)]
struct Msr {
    device: Vec<u8>,
}

impl Parser for Msr {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Result<(), Wrong> {
        if out.row == 1 && is_header(line, HEADER) {
            return Ok(());
        }
        let ([time, host, disk, op, offset, size, response], fields) = commas(line);
        count(line, fields, fields == 7)?;
        let ticks = |field| whole(field).and_then(|ticks| ticks.checked_mul(TICK));
        let issue = need(ticks(time), time, "no FILETIME")?;
        need(whole(disk), disk, "no disk number")?;
        let op = if op.eq_ignore_ascii_case(b"Read") {
            Op::Read
        } else if op.eq_ignore_ascii_case(b"Write") {
            Op::Write
        } else {
            return Err(Wrong::new(op, NO_OP));
        };
        let (offset, len) = (need(whole(offset), offset, "no offset")?, need(whole(size), size, "no size")?);
        let latency = need(ticks(response), response, "no response time")?;
        self.device.clear();
        self.device.extend_from_slice(host);
        self.device.push(b'_');
        self.device.extend_from_slice(disk);
        let stream = out.streams.of(Parts { host, device: &self.device, process: b"" });
        let io = out.plain(op, issue, offset, len, stream);
        out.io(Io { latency: Some(latency), ..io })
    }
}
