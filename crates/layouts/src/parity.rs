//! RAID 5 and RAID 6: chunks in turn, with one or two parity chunks a stripe that move from stripe to stripe
//! (left-symmetric, the default of Linux md).
//!
//! A write picks the cheapest way for each stripe it touches: a full stripe is written without reading; otherwise
//! whichever reads less: read-modify-write (the old data and the old parity) or reconstruct-write (the rest of the
//! stripe).
//!
//! Leaves out: a stripe cache and write hole protection; two writes to one stripe are not put in order.

use std::ops::Range;

use hotband_machine::{Extent, Layout, Leg, MemberState, Op, Placed, Plan};
use hotband_units::Bytes;

/// Distributed parity.
pub struct Parity {
    kind: &'static str,
    members: u64,
    parities: u64,
    rows: u64,
    chunk: u64,
}

/// What one stripe of a write touches: for each data chunk in `first..`, a range within the chunk.
struct Touched {
    row: u64,
    /// Data chunk index and the range written in it.
    pieces: Vec<(u64, Range<u64>)>,
}

impl Parity {
    /// `members` of `size` bytes each, `parities` (1 or 2) of them parity in every stripe.
    pub fn new(kind: &'static str, members: u64, parities: u64, size: u64, chunk: u64) -> Self {
        Self { kind, members, parities, rows: size / chunk, chunk }
    }

    fn data_chunks(&self) -> u64 {
        self.members - self.parities
    }

    /// Member that holds data chunk `index` of stripe `row`.
    fn data_member(&self, row: u64, index: u64) -> u16 {
        ((self.parity_member(row, 0) + self.parities + index) % self.members) as u16
    }

    /// Member that holds parity `which` of stripe `row`.
    fn parity_member(&self, row: u64, which: u64) -> u64 {
        (self.members - 1 - row % self.members + which) % self.members
    }

    /// The stripes of an extent, in order.
    fn stripes(&self, extent: Extent) -> Vec<Touched> {
        let mut stripes: Vec<Touched> = Vec::new();
        for (number, within, len) in crate::chunks(self.chunk, extent.offset, extent.len) {
            let (row, index) = (number / self.data_chunks(), number % self.data_chunks());
            let piece = (index, within..within + u64::from(len));
            match stripes.last_mut() {
                Some(last) if last.row == row => last.pieces.push(piece),
                _ => stripes.push(Touched { row, pieces: vec![piece] }),
            }
        }
        stripes
    }

    fn leg(&self, phase: u8, member: u64, op: Op, row: u64, range: &Range<u64>) -> Leg {
        let len = (range.end - range.start) as u32;
        Leg { phase, member: member as u16, op, offset: row * self.chunk + range.start, len }
    }

    fn plan_write(&self, stripe: &Touched, plan: &mut Plan) {
        // Parity changes from the first byte that any chunk changes to the last.
        let from = stripe.pieces.iter().map(|(_, range)| range.start).min().unwrap_or(0);
        let parity = from..stripe.pieces.iter().map(|(_, range)| range.end).max().unwrap_or(0);
        let row = stripe.row;
        let missing = self.missing(stripe, &parity);
        let reads_old = stripe.pieces.len() as u64 + self.parities;
        let write_phase = u8::from(!missing.is_empty());
        if missing.len() as u64 >= reads_old {
            for (index, range) in &stripe.pieces {
                plan.push(self.leg(0, u64::from(self.data_member(row, *index)), Op::Read, row, range));
            }
            for which in 0..self.parities {
                plan.push(self.leg(0, self.parity_member(row, which), Op::Read, row, &parity));
            }
        } else {
            for (index, range) in &missing {
                plan.push(self.leg(0, u64::from(self.data_member(row, *index)), Op::Read, row, range));
            }
        }
        for (index, range) in &stripe.pieces {
            plan.push(self.leg(write_phase, u64::from(self.data_member(row, *index)), Op::Write, row, range));
        }
        for which in 0..self.parities {
            plan.push(self.leg(write_phase, self.parity_member(row, which), Op::Write, row, &parity));
        }
    }

    /// What a reconstruct-write has to read: of every data chunk, the parts of `parity` that are not written.
    fn missing(&self, stripe: &Touched, parity: &Range<u64>) -> Vec<(u64, Range<u64>)> {
        let mut missing = Vec::new();
        for index in 0..self.data_chunks() {
            let written = stripe.pieces.iter().find(|(have, _)| *have == index).map(|(_, range)| range.clone());
            let written = written.unwrap_or(parity.start..parity.start);
            for part in [parity.start..written.start, written.end..parity.end] {
                if part.start < part.end {
                    missing.push((index, part));
                }
            }
        }
        missing
    }
}

impl Layout for Parity {
    fn kind(&self) -> &'static str {
        self.kind
    }

    fn capacity(&self) -> Bytes {
        Bytes(self.rows * self.data_chunks() * self.chunk)
    }

    fn plan(&self, extent: Extent, _: &[MemberState], _: u64, plan: &mut Plan) {
        if extent.op == Op::Read {
            for (number, within, len) in crate::chunks(self.chunk, extent.offset, extent.len) {
                let (row, index) = (number / self.data_chunks(), number % self.data_chunks());
                let offset = row * self.chunk + within;
                plan.push(Leg { phase: 0, member: self.data_member(row, index), op: Op::Read, offset, len });
            }
            return;
        }
        for stripe in self.stripes(extent) {
            self.plan_write(&stripe, plan);
        }
        plan.sort_phases();
    }
    fn place(&self, extent: Extent, out: &mut Vec<Placed>) {
        let mut host_offset = extent.offset;
        for (number, within, len) in crate::chunks(self.chunk, extent.offset, extent.len) {
            let (row, index) = (number / self.data_chunks(), number % self.data_chunks());
            let (member, offset) = (self.data_member(row, index), row * self.chunk + within);
            out.push(Placed { host_offset, member, offset, len, copy: 0 });
            host_offset += u64::from(len);
        }
    }
}
