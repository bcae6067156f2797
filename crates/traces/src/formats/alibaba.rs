//! Alibaba's block traces of 2020.
//!
//! Format: README of github.com/alibaba/block-traces: `device_id,opcode,offset,length,timestamp`; bytes, and microseconds
//! since 1970. All disks are in one file: `device` takes one of them.

use hotband_machine::Op;

use super::{Format, NO_OP, Parser, count, is_header, need};
use crate::io::{Out, Wrong};
use crate::numbers::{commas, whole};

pub(super) const FORMAT: Format =
    Format { name: "alibaba", accepted: "Alibaba: device,R|W,offset,bytes,microseconds", make: || Box::new(Alibaba) };

const HEADER: &str = "device_id,opcode,offset,length,timestamp";
/// ns of a microsecond.
const MICROSECOND: u64 = 1000;

struct Alibaba;

impl Parser for Alibaba {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Result<(), Wrong> {
        if out.row == 1 && is_header(line, HEADER) {
            return Ok(());
        }
        let ([device, op, offset, size, time], fields) = commas(line);
        count(line, fields, fields == 5)?;
        need(whole(device), device, "no device number")?;
        let op = match op {
            b"R" => Op::Read,
            b"W" => Op::Write,
            _ => return Err(Wrong::new(op, NO_OP)),
        };
        let (offset, len) = (need(whole(offset), offset, "no offset")?, need(whole(size), size, "no length")?);
        let issue = whole(time).and_then(|time| time.checked_mul(MICROSECOND));
        let issue = need(issue, time, "no time in microseconds")?;
        let stream = out.device(device);
        let io = out.plain(op, issue, offset, len, stream);
        out.io(io)
    }
}
