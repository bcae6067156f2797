//! RAID 5 and RAID 6 without some of their members: what is missing is computed from what is left.
//!
//! Any `data_chunks` of the chunks of a stripe determine the others. A stripe from which more are missing than it has
//! parities keeps what its other members hold, without redundancy: these chunks are read and written as they are.

use std::ops::Range;

use hotband_machine::{Extent, Leg, MemberState, Op, Plan, Redundancy};

use crate::parity::{Parity, Touched};

/// Remaining parts of one stripe.
struct StripeState {
    /// Data chunks whose members do not hold them, by their number in the stripe.
    data_gone: Vec<u64>,
    /// Parities that are there.
    parities: Vec<u64>,
    /// More are missing than there are parities.
    is_beyond: bool,
}

impl Parity {
    fn left(&self, row: u64, members: &[MemberState]) -> StripeState {
        let end = (row + 1) * self.chunk;
        let data_gone = (0..self.data_chunks()).filter(|i| !members[usize::from(self.data_member(row, *i))].holds(end));
        let data_gone: Vec<u64> = data_gone.collect();
        let is_there = |which: &u64| members[self.parity_member(row, *which) as usize].holds(end);
        let parities: Vec<u64> = (0..self.parities).filter(is_there).collect();
        let missing = data_gone.len() as u64 + self.parities - parities.len() as u64;
        StripeState { data_gone, parities, is_beyond: missing > self.parities }
    }

    pub(crate) fn plan_without(&self, extent: Extent, members: &[MemberState], plan: &mut Plan) {
        for stripe in self.stripes(extent) {
            let left = self.left(stripe.row, members);
            let is_gone = |index| left.data_gone.contains(&index);
            if left.is_beyond && stripe.pieces().any(|(index, _)| is_gone(index)) {
                plan.lost = true;
                return;
            }
            if extent.op == Op::Read {
                self.read_without(stripe, &left, plan);
            } else {
                self.write_without(stripe, &left, plan);
            }
        }
        plan.sort_phases();
    }

    fn data_leg(&self, phase: u8, op: Op, row: u64, (index, range): (u64, Range<u64>)) -> Leg {
        self.leg(phase, u64::from(self.data_member(row, index)), op, row, &range)
    }

    fn read_without(&self, stripe: Touched, left: &StripeState, plan: &mut Plan) {
        let gone = stripe.pieces().filter(|(index, _)| left.data_gone.contains(index)).map(|(_, range)| range);
        let computed = gone.reduce(|first, second| first.start.min(second.start)..first.end.max(second.end));
        let Some(computed) = computed else {
            return stripe.pieces().for_each(|piece| plan.push(self.data_leg(0, Op::Read, stripe.row, piece)));
        };
        plan.decodes = true;
        for index in (0..self.data_chunks()).filter(|index| !left.data_gone.contains(index)) {
            // One read for what is computed from the chunk and for what is asked for of it.
            let wanted = if (stripe.chunks.0..=stripe.chunks.1).contains(&index) {
                stripe.piece(index)
            } else {
                computed.clone()
            };
            let range = computed.start.min(wanted.start)..computed.end.max(wanted.end);
            plan.push(self.data_leg(0, Op::Read, stripe.row, (index, range)));
        }
        for which in left.parities.iter().take(left.data_gone.len()) {
            plan.push(self.leg(0, self.parity_member(stripe.row, *which), Op::Read, stripe.row, &computed));
        }
    }

    fn write_without(&self, stripe: Touched, left: &StripeState, plan: &mut Plan) {
        let (row, parity) = (stripe.row, stripe.parity());
        let is_gone = |index: u64| left.data_gone.contains(&index);
        let parity_leg = |phase, op, which| self.leg(phase, self.parity_member(row, which), op, row, &parity);
        let parities = if left.is_beyond { &[] } else { left.parities.as_slice() };
        let mut write_phase = 0;
        if !parities.is_empty() {
            let before = plan.legs.len();
            self.read_before(stripe, left, plan);
            write_phase = u8::from(plan.legs.len() > before);
        }
        let written = stripe.pieces().filter(|(index, _)| !is_gone(*index));
        written.for_each(|piece| plan.push(self.data_leg(write_phase, Op::Write, row, piece)));
        for which in parities {
            plan.push(parity_leg(write_phase, Op::Write, *which));
        }
    }

    /// Reads what the new parity is computed from, whichever way is possible and reads less: the old data and parity,
    /// the rest of the stripe, or so much of it that its missing chunks can be computed.
    fn read_before(&self, stripe: Touched, left: &StripeState, plan: &mut Plan) {
        let (row, parity) = (stripe.row, stripe.parity());
        let is_gone = |index: u64| left.data_gone.contains(&index);
        let rest: Vec<_> = stripe.missing(self.data_chunks()).collect();
        let knows_rest = !rest.iter().any(|(index, _)| is_gone(*index));
        let knows_old = !stripe.pieces().any(|(index, _)| is_gone(index));
        let old = stripe.count() as usize + left.parities.len();
        let parity_leg = |which: u64| self.leg(0, self.parity_member(row, which), Op::Read, row, &parity);
        if knows_rest && (!knows_old || rest.len() < old) {
            for part in rest {
                plan.push(self.data_leg(0, Op::Read, row, part));
            }
        } else if knows_old {
            stripe.pieces().for_each(|piece| plan.push(self.data_leg(0, Op::Read, row, piece)));
            left.parities.iter().for_each(|which| plan.push(parity_leg(*which)));
        } else {
            let present = (0..self.data_chunks()).filter(|index| !is_gone(*index));
            present.for_each(|index| plan.push(self.data_leg(0, Op::Read, row, (index, parity.clone()))));
            left.parities.iter().take(left.data_gone.len()).for_each(|which| plan.push(parity_leg(*which)));
        }
    }

    /// Whether a member holds data of a stripe, and not parity.
    fn is_data(&self, row: u64, member: u64) -> bool {
        (member + self.members - self.parity_member(row, 0)) % self.members >= self.parities
    }

    pub(crate) fn lost_without(&self, members: &[MemberState]) -> u64 {
        let rows_of = |member: &MemberState| (member.present_to / self.chunk).min(self.rows);
        let mut cuts: Vec<u64> = members.iter().map(rows_of).chain([0, self.rows]).collect();
        cuts.sort_unstable();
        let mut chunks = 0;
        for (from, to) in cuts.iter().zip(&cuts[1..]).filter(|(from, to)| from < to) {
            let gone = (0..self.members).filter(|member| rows_of(&members[*member as usize]) <= *from);
            let gone: Vec<u64> = gone.collect();
            if gone.len() as u64 <= self.parities {
                continue;
            }
            // Which chunk is parity repeats after as many stripes as there are members.
            for row in *from..(from + self.members).min(*to) {
                let data = gone.iter().filter(|member| self.is_data(row, **member)).count() as u64;
                chunks += data * (to - row).div_ceil(self.members);
            }
        }
        chunks * self.chunk
    }
}

impl Redundancy for Parity {
    fn member_bytes(&self) -> u64 {
        self.rows * self.chunk
    }

    fn unit(&self) -> u64 {
        self.chunk
    }

    fn columns(&self, extent: Extent, out: &mut Vec<Range<u64>>) {
        out.extend(self.stripes(extent).map(|stripe| {
            let (row, range) = (stripe.row * self.chunk, stripe.parity());
            row + range.start..row + range.end
        }));
    }

    fn group_of(&self, _: u16) -> Range<u16> {
        0..self.members as u16
    }

    fn columns_of(&self, _: u16, range: &Range<u64>) -> Range<u64> {
        range.clone()
    }

    fn plan_rebuild(&self, member: u16, range: &Range<u64>, members: &[MemberState], plan: &mut Plan) {
        for row in range.start / self.chunk..range.end / self.chunk {
            let end = (row + 1) * self.chunk;
            let data = (0..self.data_chunks()).map(|index| u64::from(self.data_member(row, index)));
            let chunks = data.chain((0..self.parities).map(|which| self.parity_member(row, which)));
            let present = chunks.filter(|m| *m != u64::from(member) && members[*m as usize].holds(end));
            // All of them, as md does: an arm that skips every so many chunks does not stream.
            let sources: Vec<u64> = present.collect();
            plan.lost |= (sources.len() as u64) < self.data_chunks();
            for source in sources {
                plan.push(self.leg(0, source, Op::Read, row, &(0..self.chunk)));
            }
        }
        let (offset, len) = (range.start, (range.end - range.start) as u32);
        plan.push(Leg { phase: 1, member, op: Op::Write, offset, len });
    }

    fn lost_in(&self, member: u16, range: &Range<u64>, members: &[MemberState]) -> u64 {
        let (row, end) = (range.start / self.chunk, (range.start / self.chunk + 1) * self.chunk);
        let is_gone = |m: &u64| *m == u64::from(member) || !members[*m as usize].holds(end);
        let gone: Vec<u64> = (0..self.members).filter(is_gone).collect();
        if gone.len() as u64 <= self.parities {
            return 0;
        }
        gone.iter().filter(|member| self.is_data(row, **member)).count() as u64 * (range.end - range.start)
    }
}
