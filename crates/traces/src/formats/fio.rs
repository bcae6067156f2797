//! fio's iologs, versions 2 and 3.
//!
//! Format: fio's HOWTO, "Trace file format", and iolog.c. Version 2: `file add|open|close`,
//! `file ACTION offset length`, and `file wait MICROSECONDS`, its only statement of time. Version 3 begins each line
//! with the time, in microseconds (the HOWTO says ms, iolog.c counts with utime_since_now). No version states when an
//! I/O was completed. Leaves out: sync_file_range's range, which is a flush here.

use hotband_machine::Op;

use super::{Format, NO_OP, Parser, count, need};
use crate::io::{Io, Out, Wrong};
use crate::numbers::{blanks, whole};
use crate::streams::Parts;

pub(super) const V2: Format = Format {
    name: "fio-v2",
    accepted: "fio iolog 2 (\"fio version 2 iolog\"): file add|open|close|read|write|sync|datasync|trim|wait [offset bytes]",
    make: || Box::new(Fio { header: b"fio version 2 iolog", has_times: false, began: false, now: 0 }),
};

pub(super) const V3: Format = Format {
    name: "fio-v3",
    accepted: "fio iolog 3 (\"fio version 3 iolog\"): microseconds file add|open|close|read|write|sync|datasync|trim [offset \
               bytes], times in order",
    make: || Box::new(Fio { header: b"fio version 3 iolog", has_times: true, began: false, now: 0 }),
};

/// ns of a microsecond.
const MICROSECOND: u64 = 1000;
const BACK: &str = "a time before that of the previous line";

struct Fio {
    header: &'static [u8],
    has_times: bool,
    began: bool,
    now: u64,
}

impl Parser for Fio {
    fn line(&mut self, line: &[u8], out: &mut Out) -> Result<(), Wrong> {
        if !self.began {
            if line != self.header {
                return Err(Wrong::new(line, "another first line"));
            }
            self.began = true;
            return Ok(());
        }
        let (mut all, mut fields) = blanks::<6>(line);
        let mut now = self.now;
        if self.has_times {
            let time = whole(all[0]).and_then(|time| time.checked_mul(MICROSECOND));
            let time = need(time, all[0], "no time in microseconds")?;
            if time < self.now {
                return Err(Wrong::new(all[0], BACK));
            }
            now = time;
            all.rotate_left(1);
            fields -= 1;
        }
        let [file, action, first, second, ..] = all;
        let op = match action {
            b"add" | b"open" | b"close" => return count(line, fields, fields == 2),
            b"wait" if !self.has_times => return self.wait(line, first, fields),
            b"read" => Op::Read,
            b"write" => Op::Write,
            b"trim" => Op::Trim,
            b"sync" | b"datasync" | b"sync_file_range" => Op::Flush,
            _ => return Err(Wrong::new(action, NO_OP)),
        };
        count(line, fields, fields == 4 || (op == Op::Flush && fields == 2))?;
        let stream = out.streams.of(Parts { host: b"", device: file, process: b"" });
        let io = out.plain(op, now, 0, 0, stream);
        let (mut offset, mut len) = (0, 0);
        if op != Op::Flush {
            (offset, len) = (need(whole(first), first, "no offset")?, need(whole(second), second, "no length")?);
        }
        out.io(Io { offset, len, ..io })?;
        self.now = now;
        Ok(())
    }
}

impl Fio {
    fn wait(&mut self, line: &[u8], time: &[u8], fields: usize) -> Result<(), Wrong> {
        count(line, fields, fields == 3 || fields == 4)?;
        let later = whole(time).and_then(|time| time.checked_mul(MICROSECOND)?.checked_add(self.now));
        self.now = need(later, time, "no time in microseconds")?;
        Ok(())
    }
}
