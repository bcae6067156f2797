//! RAID 1 and RAID 10: chunks in turn over groups of members that hold the same data.
//!
//! Members of a group are neighbours: RAID 10 of four is (0, 1) and (2, 3), Linux md's "near" layout.

use hotband_machine::{Extent, Layout, Leg, MemberState, Members, Op, Placed, Plan, Redundancy};
use hotband_units::Bytes;

use crate::chunks;
use crate::policy::ReadPolicy;

/// Mirrors, striped if there is more than one group.
#[derive(Debug)]
pub struct Mirror {
    kind: &'static str,
    pub(crate) groups: u64,
    pub(crate) copies: u64,
    pub(crate) size: u64,
    pub(crate) chunk: u64,
    pub(crate) policy: ReadPolicy,
}

impl Mirror {
    /// `members` in groups of `copies`, each of `size` bytes. One group needs no chunk: give `u64::MAX`.
    pub fn new(kind: &'static str, members: u64, copies: u64, size: u64, chunk: u64, policy: ReadPolicy) -> Self {
        let size = if chunk == u64::MAX { size } else { size / chunk * chunk };
        Self { kind, groups: members / copies, copies, size, chunk, policy }
    }
}

impl Layout for Mirror {
    fn kind(&self) -> &'static str {
        self.kind
    }

    fn capacity(&self) -> Bytes {
        Bytes(self.groups * self.size)
    }

    fn plan(&self, extent: Extent, members: Members, turn: u64, plan: &mut Plan) {
        if members.degraded {
            return self.plan_without(extent, members.states, turn, plan);
        }
        for (number, within, len) in chunks(self.chunk, extent.offset, extent.len) {
            let group = number % self.groups;
            let row = number / self.groups;
            let offset = if row == 0 { within } else { row * self.chunk + within };
            let first = (group * self.copies) as usize;
            let copies = first..first + self.copies as usize;
            let leg = |member: usize| Leg { phase: 0, member: member as u16, op: extent.op, offset, len };
            if extent.op == Op::Read {
                // Rows of one I/O that follow each other in a group stay on the member of the first.
                let goes_on = plan.legs.iter().find(|have| {
                    copies.contains(&usize::from(have.member)) && have.offset + u64::from(have.len) == offset
                });
                let chosen = match goes_on {
                    Some(have) => usize::from(have.member),
                    None => first + self.policy.choose(&members.states[copies], self.size, offset, turn),
                };
                plan.push(leg(chosen));
            } else {
                copies.for_each(|member| plan.push(leg(member)));
            }
        }
    }

    fn place(&self, extent: Extent, out: &mut Vec<Placed>) {
        let mut host_offset = extent.offset;
        for (number, within, len) in chunks(self.chunk, extent.offset, extent.len) {
            let (group, row) = (number % self.groups, number / self.groups);
            // One group has one chunk, which is larger than any offset: nothing may be multiplied by it.
            let offset = if row == 0 { within } else { row * self.chunk + within };
            let places = (0..self.copies).map(|copy| {
                let member = (group * self.copies + copy) as u16;
                Placed { host_offset, member, offset, len, copy: copy as u16 }
            });
            out.extend(places);
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
