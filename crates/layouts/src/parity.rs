//! RAID 5 and RAID 6: chunks in turn, with one or two parity chunks a stripe that move from stripe to stripe
//! (left-symmetric, the default of Linux md).
//!
//! A write picks the cheapest way for each stripe it touches: a full stripe is written without reading; otherwise
//! whichever reads less: read-modify-write (the old data and the old parity) or reconstruct-write (the rest of the
//! stripe).
//!
//! Leaves out: two writes to one stripe are not put in order. A stripe cache and a journal: `md`.

use std::ops::Range;

use hotband_machine::{Extent, Layout, Leg, MemberState, Members, Op, Placed, Plan, Redundancy, StripeShape};
use hotband_units::Bytes;

/// Distributed parity.
#[derive(Debug)]
pub struct Parity {
    kind: &'static str,
    pub(crate) members: u64,
    pub(crate) parities: u64,
    pub(crate) rows: u64,
    pub(crate) chunk: u64,
}

/// Contiguous chunks that a write touches in one stripe, the first and the last perhaps only in part.
#[derive(Clone, Copy)]
pub(crate) struct Touched {
    pub(crate) row: u64,
    /// First and last data chunk.
    pub(crate) chunks: (u64, u64),
    /// First byte in the first chunk.
    from: u64,
    /// First byte beyond, in the last.
    to: u64,
    chunk: u64,
}

impl Touched {
    /// Data chunks and the range written in each.
    pub(crate) fn pieces(self) -> impl Iterator<Item = (u64, Range<u64>)> {
        (self.chunks.0..=self.chunks.1).map(move |index| (index, self.piece(index)))
    }

    /// Written part of data chunk `index`, which is one of those touched.
    pub(crate) fn piece(self, index: u64) -> Range<u64> {
        let from = if index == self.chunks.0 { self.from } else { 0 };
        from..if index == self.chunks.1 { self.to } else { self.chunk }
    }

    /// Return the number of chunks touched.
    pub(crate) fn count(self) -> u64 {
        self.chunks.1 - self.chunks.0 + 1
    }

    /// Parity changes from the first byte that any chunk changes to the last: where two are touched, the first is
    /// written to its end and the second from its start.
    pub(crate) fn parity(self) -> Range<u64> {
        if self.count() == 1 { self.from..self.to } else { 0..self.chunk }
    }

    /// Data that a reconstruct-write has to read: of every one of `all` data chunks, the parts of the parity's range
    /// that are not written.
    pub(crate) fn missing(self, all: u64) -> impl Iterator<Item = (u64, Range<u64>)> {
        let parity = self.parity();
        let parts = (0..all).flat_map(move |index| {
            let is_written = (self.chunks.0..=self.chunks.1).contains(&index);
            let written = if is_written { self.piece(index) } else { parity.start..parity.start };
            [(index, parity.start..written.start), (index, written.end..parity.end)]
        });
        parts.filter(|(_, part)| part.start < part.end)
    }
}

impl Parity {
    /// `members` of `size` bytes each, `parities` (1 or 2) of them parity in every stripe.
    pub fn new(kind: &'static str, members: u64, parities: u64, size: u64, chunk: u64) -> Self {
        Self { kind, members, parities, rows: size / chunk, chunk }
    }

    pub(crate) fn data_chunks(&self) -> u64 {
        self.members - self.parities
    }

    /// Member that holds data chunk `index` of stripe `row`.
    pub(crate) fn data_member(&self, row: u64, index: u64) -> u16 {
        ((self.parity_member(row, 0) + self.parities + index) % self.members) as u16
    }

    /// Member that holds parity `which` of stripe `row`.
    pub(crate) fn parity_member(&self, row: u64, which: u64) -> u64 {
        (self.members - 1 - row % self.members + which) % self.members
    }

    /// The stripes of an extent, in order.
    pub(crate) fn stripes(&self, extent: Extent) -> impl Iterator<Item = Touched> {
        let (chunk, data_chunks) = (self.chunk, self.data_chunks());
        let (mut at, end) = (extent.offset, extent.offset + u64::from(extent.len));
        std::iter::from_fn(move || {
            if at >= end {
                return None;
            }
            let (number, from) = (at / chunk, at % chunk);
            let (row, first) = (number / data_chunks, number % data_chunks);
            let stop = end.min((row + 1) * data_chunks * chunk);
            let last = (stop - 1) / chunk;
            at = stop;
            let chunks = (first, last - row * data_chunks);
            Some(Touched { row, chunks, from, to: stop - last * chunk, chunk })
        })
    }

    pub(crate) fn leg(&self, phase: u8, member: u64, op: Op, row: u64, range: &Range<u64>) -> Leg {
        let len = (range.end - range.start) as u32;
        Leg { phase, member: member as u16, op, offset: row * self.chunk + range.start, len }
    }

    fn plan_write(&self, stripe: Touched, plan: &mut Plan) {
        let (row, parity) = (stripe.row, stripe.parity());
        let missing = stripe.missing(self.data_chunks());
        let reads_old = stripe.count() + self.parities;
        // Chunks that are not written are missing whole: where they decide, the rest need not be looked at.
        let untouched = self.data_chunks() - stripe.count();
        let count = if untouched >= reads_old { untouched } else { stripe.missing(self.data_chunks()).count() as u64 };
        let write_phase = u8::from(count > 0);
        let data_leg = |phase, op, (index, range): (u64, Range<u64>)| {
            self.leg(phase, u64::from(self.data_member(row, index)), op, row, &range)
        };
        let parity_leg = |phase, op, which| self.leg(phase, self.parity_member(row, which), op, row, &parity);
        if count >= reads_old {
            stripe.pieces().for_each(|piece| plan.push(data_leg(0, Op::Read, piece)));
            (0..self.parities).for_each(|which| plan.push(parity_leg(0, Op::Read, which)));
        } else {
            missing.for_each(|part| plan.push(data_leg(0, Op::Read, part)));
        }
        stripe.pieces().for_each(|piece| plan.push(data_leg(write_phase, Op::Write, piece)));
        (0..self.parities).for_each(|which| plan.push(parity_leg(write_phase, Op::Write, which)));
    }
}

impl Layout for Parity {
    fn kind(&self) -> &'static str {
        self.kind
    }

    fn capacity(&self) -> Bytes {
        Bytes(self.rows * self.data_chunks() * self.chunk)
    }

    fn plan(&self, extent: Extent, members: Members, _: u64, plan: &mut Plan) {
        if members.degraded {
            return self.plan_without(extent, members.states, plan);
        }
        if extent.op == Op::Read {
            for (number, within, len) in crate::chunks(self.chunk, extent.offset, extent.len) {
                let (row, index) = (number / self.data_chunks(), number % self.data_chunks());
                let offset = row * self.chunk + within;
                plan.push(Leg { phase: 0, member: self.data_member(row, index), op: Op::Read, offset, len });
            }
            return;
        }
        for stripe in self.stripes(extent) {
            self.plan_write(stripe, plan);
        }
        plan.sort_phases();
    }

    fn stripe_shape(&self) -> Option<StripeShape> {
        Some(StripeShape { chunk: self.chunk, data: self.data_chunks(), parities: self.parities })
    }

    fn passes_trim(&self) -> bool {
        false
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

    fn lost(&self, members: &[MemberState]) -> u64 {
        self.lost_without(members)
    }

    fn redundancy(&self) -> Option<&dyn Redundancy> {
        Some(self)
    }
}
