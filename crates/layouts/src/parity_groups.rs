//! RAID 50 and RAID 60: whole stripes in turn over groups, each of which is a RAID 5 or RAID 6 of its own.
//!
//! A group lives without one (two) of its members whatever happens in the others, and is rebuilt from its own members.
//! Stripes are dealt out whole, so that a full stripe of one group is written without reading: our choice, for
//! controllers do not publish how theirs go round.
//!
//! Leaves out: what RAID 5 and RAID 6 leave out (`parity.rs`); groups of different sizes.

use std::ops::Range;

use hotband_machine::{Extent, Layout, MemberState, Members, Placed, Plan, Redundancy, StripeShape};
use hotband_units::Bytes;

use crate::chunks;
use crate::parity::Parity;

/// Groups of members that all have the same shape; group g has the members from g x members of a group on.
#[derive(Debug)]
pub struct ParityGroups {
    kind: &'static str,
    group: Parity,
    groups: u64,
    /// Data bytes of a stripe of one group.
    stripe: u64,
}

impl ParityGroups {
    /// Creates `groups` groups, all like `group`.
    pub fn new(kind: &'static str, group: Parity, groups: u64) -> Self {
        let stripe = group.data_chunks() * group.chunk;
        Self { kind, group, groups, stripe }
    }

    /// Bytes of a group that lie before `offset` of the whole.
    fn before(&self, group: u64, offset: u64) -> u64 {
        let turn = self.groups * self.stripe;
        let within = (offset % turn).saturating_sub(group * self.stripe).min(self.stripe);
        offset / turn * self.stripe + within
    }

    /// The extent in each group that it touches: one extent, because a group's stripes are contiguous.
    fn parts(&self, extent: Extent) -> impl Iterator<Item = (u64, Extent)> {
        let end = extent.offset + u64::from(extent.len);
        (0..self.groups).filter_map(move |group| {
            let (from, to) = (self.before(group, extent.offset), self.before(group, end));
            (from < to).then_some((group, Extent { op: extent.op, offset: from, len: (to - from) as u32 }))
        })
    }

    fn group_with(&self, member: u16) -> u64 {
        u64::from(member) / self.group.members
    }

    /// Members of a group, by their index in the whole.
    fn members_of(&self, group: u64) -> Range<usize> {
        let first = (group * self.group.members) as usize;
        first..first + self.group.members as usize
    }

    fn local(&self, member: u16) -> u16 {
        member % self.group.members as u16
    }
}

/// Gives the legs of a group their members in the whole.
fn shift(plan: &mut Plan, first: usize) {
    plan.legs.iter_mut().for_each(|leg| leg.member += first as u16);
}

impl Layout for ParityGroups {
    fn kind(&self) -> &'static str {
        self.kind
    }

    fn capacity(&self) -> Bytes {
        Bytes(self.groups * self.group.capacity().0)
    }

    fn plan(&self, extent: Extent, members: Members, turn: u64, plan: &mut Plan) {
        let mut others = Plan::default();
        for (group, part) in self.parts(extent) {
            let range = self.members_of(group);
            let states = &members.states[range.clone()];
            let here = if members.degraded { Members::of(states) } else { Members::whole(states) };
            if plan.legs.is_empty() {
                // Most I/Os touch one group only.
                self.group.plan(part, here, turn, plan);
                shift(plan, range.start);
                continue;
            }
            others.clear();
            self.group.plan(part, here, turn, &mut others);
            shift(&mut others, range.start);
            plan.legs.append(&mut others.legs);
            (plan.lost, plan.decodes) = (plan.lost || others.lost, plan.decodes || others.decodes);
        }
        plan.sort_phases();
    }

    fn stripe_shape(&self) -> Option<StripeShape> {
        // Whole stripes of the groups follow each other.
        self.group.stripe_shape()
    }

    fn passes_trim(&self) -> bool {
        false
    }

    fn place(&self, extent: Extent, out: &mut Vec<Placed>) {
        let mut host = extent.offset;
        for (number, within, len) in chunks(self.stripe, extent.offset, extent.len) {
            let (group, offset) = (number % self.groups, number / self.groups * self.stripe + within);
            let first = out.len();
            self.group.place(Extent { op: extent.op, offset, len }, out);
            for piece in &mut out[first..] {
                piece.host_offset = host + (piece.host_offset - offset);
                piece.member += self.members_of(group).start as u16;
            }
            host += u64::from(len);
        }
    }

    fn lost(&self, members: &[MemberState]) -> u64 {
        (0..self.groups).map(|group| self.group.lost(&members[self.members_of(group)])).sum()
    }

    fn redundancy(&self) -> Option<&dyn Redundancy> {
        Some(self)
    }
}

impl Redundancy for ParityGroups {
    fn member_bytes(&self) -> u64 {
        self.group.member_bytes()
    }

    fn unit(&self) -> u64 {
        self.group.unit()
    }

    fn columns(&self, extent: Extent, out: &mut Vec<Range<u64>>) {
        for (group, part) in self.parts(extent) {
            let (first, before) = (out.len(), group * self.group.member_bytes());
            self.group.columns(part, out);
            out[first..].iter_mut().for_each(|range| *range = before + range.start..before + range.end);
        }
    }

    fn group_of(&self, member: u16) -> Range<u16> {
        let group_members = self.members_of(self.group_with(member));
        group_members.start as u16..group_members.end as u16
    }

    fn columns_of(&self, member: u16, range: &Range<u64>) -> Range<u64> {
        let before = self.group_with(member) * self.group.member_bytes();
        before + range.start..before + range.end
    }

    fn plan_rebuild(&self, member: u16, range: &Range<u64>, members: &[MemberState], plan: &mut Plan) {
        let group_members = self.members_of(self.group_with(member));
        self.group.plan_rebuild(self.local(member), range, &members[group_members.clone()], plan);
        shift(plan, group_members.start);
    }

    fn lost_in(&self, member: u16, range: &Range<u64>, members: &[MemberState]) -> u64 {
        let group_members = self.members_of(self.group_with(member));
        self.group.lost_in(self.local(member), range, &members[group_members])
    }
}
