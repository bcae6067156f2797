//! The binary traces of libCacheSim: records of one length, little-endian.
//!
//! Format: libCacheSim's `vscsi.h` and `oracleGeneralBin.h`. `vscsi` is of VMware's virtual disks, in two versions:
//! SCSI operation, number of the block of 512 B, bytes, time of issue in us; the second has the response time in us,
//! too. `oracle-general` is of caches: time in s, number of the object, bytes, and which request is the next for it. An
//! object has no address and no direction: it is a read at its number times 4 KiB. Leaves out: `nSG`, the
//! handle, and the next request.

use hotband_machine::Op;

use super::{Format, NO_OP, Parser};
use crate::io::{Io, Out, Wrong};

pub(super) const VSCSI1: Format = Format {
    name: "vscsi1",
    accepted: "libCacheSim's vscsi, version 1: records of 32 bytes",
    make: || Box::new(Vscsi { is_second: false }),
};

pub(super) const VSCSI2: Format = Format {
    name: "vscsi2",
    accepted: "libCacheSim's vscsi, version 2: records of 40 bytes",
    make: || Box::new(Vscsi { is_second: true }),
};

pub(super) const ORACLE: Format = Format {
    name: "oracle-general",
    accepted: "libCacheSim's oracleGeneral: records of 24 bytes",
    make: || Box::<Oracle>::default(),
};

/// ns of a tick of vscsi.
const TICK: u64 = 1000;
const SECTOR: u64 = 512;
/// Bytes between objects of a cache: most are smaller, and blocks of traces of disks have this length.
const OBJECT: u64 = 4096;
/// Number of object addresses: object numbers may be 64-bit hashes.
const OBJECTS: u64 = 1 << 50;
/// Largest object that is looked for: libCacheSim's sizes have 32 bits, and those of caches are below this.
const LARGEST: u32 = 1 << 30;
const NOTE: &str = "cache objects have no address and no direction: each is read at its number x 4 KiB";

/// Eight bytes of a record, or fewer.
fn number(record: &[u8], at: usize, bytes: usize) -> u64 {
    let mut whole = [0; 8];
    whole[..bytes].copy_from_slice(&record[at..at + bytes]);
    u64::from_le_bytes(whole)
}

struct Vscsi {
    is_second: bool,
}

impl Parser for Vscsi {
    fn record(&self) -> Option<usize> {
        Some(if self.is_second { 40 } else { 32 })
    }

    fn line(&mut self, record: &[u8], out: &mut Out) -> Result<(), Wrong> {
        let (command, version) = if self.is_second { (0, 2) } else { (12, 14) };
        let length = if self.is_second { 8 } else { 4 };
        let found = number(record, version + 1, 1);
        if found != 1 + u64::from(self.is_second) {
            return Err(Wrong::new(found.to_string().as_bytes(), "another version"));
        }
        // READ and WRITE of 6, 10, 12 and 16 bytes, SYNCHRONIZE CACHE, UNMAP and WRITE SAME (SBC-4).
        let op = match number(record, command, 2) {
            0x08 | 0x28 | 0xa8 | 0x88 => Op::Read,
            0x0a | 0x2a | 0xaa | 0x8a => Op::Write,
            0x35 | 0x91 => Op::Flush,
            0x42 | 0x41 | 0x93 => Op::Trim,
            other => return Err(Wrong::new(format!("{other:#x}").as_bytes(), NO_OP)),
        };
        let (block, time) = (number(record, 16, 8), number(record, 24, 8));
        let far = || Wrong::new(block.to_string().as_bytes(), "an address or a time beyond 2^63");
        let offset = block.checked_mul(SECTOR).ok_or_else(far)?;
        let issue = time.checked_mul(TICK).ok_or_else(far)?;
        let latency = self.is_second.then(|| number(record, 32, 8).saturating_mul(TICK));
        let stream = out.device(b"");
        let io = out.plain(op, issue, offset, number(record, length, 4), stream);
        out.io(Io { latency, ..io })
    }
}

#[derive(Default)]
struct Oracle {
    last: u64,
}

impl Parser for Oracle {
    fn record(&self) -> Option<usize> {
        Some(24)
    }

    fn line(&mut self, record: &[u8], out: &mut Out) -> Result<(), Wrong> {
        let (time, object) = (number(record, 0, 4), number(record, 4, 8));
        let (size, next) = (number(record, 12, 4), number(record, 16, 8) as i64);
        if time < self.last {
            return Err(Wrong::new(time.to_string().as_bytes(), "a time before that of the line above"));
        }
        // The last request for an object has -1, or the largest number.
        let is_next = next == -1 || next == i64::MAX || next >= out.row as i64;
        if size == 0 || size > u64::from(LARGEST) || !is_next {
            return Err(Wrong::new(size.to_string().as_bytes(), "not a cache object"));
        }
        self.last = time;
        out.note(NOTE);
        let stream = out.device(b"");
        let io = out.plain(Op::Read, time * 1_000_000_000, object % OBJECTS * OBJECT, size, stream);
        out.io(io)
    }
}
