//! Mirrors without one of their members: the others read, and a new one is copied from them.

use std::ops::Range;

use hotband_machine::{Extent, Leg, MemberState, Op, Plan, Redundancy};

use crate::chunks;
use crate::mirror::Mirror;

impl Mirror {
    /// Group and offset on its members of every chunk of an extent, and how much of it.
    fn pieces(&self, extent: Extent) -> impl Iterator<Item = (u64, u64, u32)> {
        chunks(self.chunk, extent.offset, extent.len).map(|(number, within, len)| {
            let (group, row) = (number % self.groups, number / self.groups);
            // One group has one chunk, which is larger than any offset: nothing may be multiplied by it.
            (group, if row == 0 { within } else { row * self.chunk + within }, len)
        })
    }

    fn copies_of(&self, group: u64) -> Range<usize> {
        let first = (group * self.copies) as usize;
        first..first + self.copies as usize
    }

    /// Members of `group` that hold everything up to `end`.
    fn holders(&self, group: u64, end: u64, members: &[MemberState]) -> Vec<usize> {
        self.copies_of(group).filter(|member| members[*member].holds(end)).collect()
    }

    pub(crate) fn plan_without(&self, extent: Extent, members: &[MemberState], turn: u64, plan: &mut Plan) {
        for (group, from, len) in self.pieces(extent) {
            let to = from + u64::from(len);
            // Where a copy is rebuilt up to, it ends being one.
            let ends = self.copies_of(group).map(|member| members[member].present_to);
            let mut cuts: Vec<u64> = ends.filter(|end| (from + 1..to).contains(end)).chain([to]).collect();
            cuts.sort_unstable();
            let mut at = from;
            for cut in cuts.into_iter().filter(|cut| *cut > from) {
                if cut > at {
                    self.plan_piece(extent.op, group, at..cut, (members, turn), plan);
                }
                at = cut;
            }
        }
    }

    fn plan_piece(&self, op: Op, group: u64, range: Range<u64>, states: (&[MemberState], u64), plan: &mut Plan) {
        let (members, turn) = states;
        let holders = self.holders(group, range.end, members);
        let (offset, len) = (range.start, (range.end - range.start) as u32);
        let leg = |member: usize| Leg { phase: 0, member: member as u16, op, offset, len };
        if holders.is_empty() {
            plan.lost = true;
        } else if op == Op::Read {
            let goes_on = plan.legs.iter().map(|have| (usize::from(have.member), have.offset + u64::from(have.len)));
            let goes_on = goes_on.rev().find(|(member, end)| *end == offset && holders.contains(member));
            let choose = || {
                let held: Vec<MemberState> = holders.iter().map(|member| members[*member]).collect();
                holders[self.policy.choose(&held, self.size, offset, turn)]
            };
            plan.push(leg(goes_on.map_or_else(choose, |(member, _)| member)));
        } else {
            for member in holders {
                plan.push(leg(member));
            }
        }
    }

    pub(crate) fn lost_without(&self, members: &[MemberState]) -> u64 {
        let held = |group| self.copies_of(group).map(|member| members[member].present_to.min(self.size)).max();
        (0..self.groups).map(|group| self.size - held(group).unwrap_or(0)).sum()
    }
}

impl Redundancy for Mirror {
    fn member_bytes(&self) -> u64 {
        self.size
    }

    fn unit(&self) -> u64 {
        if self.chunk == u64::MAX { 4096 } else { self.chunk }
    }

    fn columns(&self, extent: Extent, out: &mut Vec<Range<u64>>) {
        for (group, offset, len) in self.pieces(extent) {
            let from = group * self.size + offset;
            out.push(from..from + u64::from(len));
        }
    }

    fn group_of(&self, member: u16) -> Range<u16> {
        let copies = self.copies_of(u64::from(member) / self.copies);
        copies.start as u16..copies.end as u16
    }

    fn columns_of(&self, member: u16, range: &Range<u64>) -> Range<u64> {
        let before = u64::from(member) / self.copies * self.size;
        before + range.start..before + range.end
    }

    fn plan_rebuild(&self, member: u16, range: &Range<u64>, members: &[MemberState], plan: &mut Plan) {
        let holders = self.holders(u64::from(member) / self.copies, range.end, members);
        let Some(source) = holders.into_iter().find(|source| *source != usize::from(member)) else {
            plan.lost = true;
            return;
        };
        let (offset, len) = (range.start, (range.end - range.start) as u32);
        plan.push(Leg { phase: 0, member: source as u16, op: Op::Read, offset, len });
        plan.push(Leg { phase: 1, member, op: Op::Write, offset, len });
    }

    fn lost_in(&self, member: u16, range: &Range<u64>, members: &[MemberState]) -> u64 {
        let holders = self.holders(u64::from(member) / self.copies, range.end, members);
        if holders.is_empty() { range.end - range.start } else { 0 }
    }
}
