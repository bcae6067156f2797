//! A layout is a planner: it maps one I/O to legs on its members, in one or more phases.

use std::fmt::Debug;
use std::ops::Range;

use hotband_units::Bytes;

use crate::io::Op;

/// A range of bytes to read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Requested operation.
    pub op: Op,
    /// First byte.
    pub offset: u64,
    /// Length in bytes.
    pub len: u32,
}

/// A command to a member, in a phase of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leg {
    /// Phase: phase n+1 starts when every leg of phase n is done.
    pub phase: u8,
    /// Index of the member.
    pub member: u16,
    /// Read or write.
    pub op: Op,
    /// First byte on the member.
    pub offset: u64,
    /// Length in bytes.
    pub len: u32,
}

/// The legs of one I/O, in order of phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The legs; `phase` never decreases along the list.
    pub legs: Vec<Leg>,
    /// Whether a part of the requested data is on no member any more; the legs are then meaningless.
    pub lost: bool,
    /// Whether a part of the data is computed from other members, which must not change meanwhile.
    pub decodes: bool,
}

impl Plan {
    /// Empties it, for the next I/O.
    pub fn clear(&mut self) {
        self.legs.clear();
        (self.lost, self.decodes) = (false, false);
    }

    /// Adds a leg, joining it to an earlier one of the same phase, member and direction that it continues.
    pub fn push(&mut self, leg: Leg) {
        let continued = self.legs.iter_mut().rev().take_while(|have| have.phase == leg.phase).find(|have| {
            have.member == leg.member && have.op == leg.op && have.offset + u64::from(have.len) == leg.offset
        });
        match continued {
            Some(have) => have.len += leg.len,
            None => self.legs.push(leg),
        }
    }

    /// A flush goes to every member that holds anything; it is lost if none does.
    pub fn flush(&mut self, members: Members) {
        let present =
            (0..members.states.len() as u16).filter(|member| members.states[usize::from(*member)].present_to > 0);
        self.legs.extend(present.map(|member| Leg { phase: 0, member, op: Op::Flush, offset: 0, len: 0 }));
        self.lost = self.legs.is_empty();
    }

    /// Marks data of missing members as lost, for layouts without redundancy.
    pub fn check(&mut self, members: Members) {
        let held = |leg: &Leg| members.states[usize::from(leg.member)].holds(leg.offset + u64::from(leg.len));
        self.lost = members.degraded && !self.legs.iter().all(held);
    }

    /// Sorts the legs by phase, keeping their order within a phase.
    pub fn sort_phases(&mut self) {
        self.legs.sort_by_key(|leg| leg.phase);
    }
}

/// A stripe of a layout with parity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StripeShape {
    /// Bytes of a chunk.
    pub chunk: u64,
    /// Chunks of data.
    pub data: u64,
    /// Chunks of parity.
    pub parities: u64,
}

impl StripeShape {
    /// Bytes of data in a stripe.
    pub fn bytes(&self) -> u64 {
        self.data * self.chunk
    }
}

/// Location of a piece of a layout's address space on one of its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// First byte in the address space of the layout.
    pub host_offset: u64,
    /// Index of the member.
    pub member: u16,
    /// First byte on the member.
    pub offset: u64,
    /// Length in bytes.
    pub len: u32,
    /// Number of the copy of the data, from 0.
    pub copy: u16,
}

/// State of a member that the host knows without a command to the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberState {
    /// Commands sent and not yet completed.
    pub pending: u32,
    /// End of the last read sent to the member: a read that starts there is sequential.
    pub read_end: u64,
    /// End of the last command sent to the member, as a guess of the head's position.
    pub last_end: u64,
    /// End of the member's data: all of it, nothing after a failure, the rebuilt part during a rebuild.
    pub present_to: u64,
}

impl Default for MemberState {
    fn default() -> Self {
        Self { pending: 0, read_end: 0, last_end: 0, present_to: u64::MAX }
    }
}

impl MemberState {
    /// Whether the member holds its data of all of a range that ends at `end`.
    pub fn holds(&self, end: u64) -> bool {
        end <= self.present_to
    }
}

/// The members of a layout, when it plans.
#[derive(Clone, Copy, Debug)]
pub struct Members<'a> {
    /// Every one, by its index.
    pub states: &'a [MemberState],
    /// Some member does not hold all of its data. If false, their contents need not be checked.
    pub degraded: bool,
}

impl<'a> Members<'a> {
    /// Members that all hold their data.
    pub fn whole(states: &'a [MemberState]) -> Self {
        Self { states, degraded: false }
    }

    /// Members, degraded if one of them does not hold all of its data.
    pub fn of(states: &'a [MemberState]) -> Self {
        Self { states, degraded: states.iter().any(|state| state.present_to != u64::MAX) }
    }
}

/// A way for drives to form one address space.
///
/// Planning is pure: the same extent, states and turn always give the same plan.
pub trait Layout: Send + Debug {
    /// Name of the layout ("raid5").
    fn kind(&self) -> &'static str;
    /// Addressable bytes.
    fn capacity(&self) -> Bytes;
    /// Maps `extent`, which is not a flush, to legs on the members as they are: if they are degraded, without what they
    /// do not hold. `turn` counts the I/Os planned before, for policies that take turns. `plan` is empty on entry.
    fn plan(&self, extent: Extent, members: Members, turn: u64, plan: &mut Plan);
    /// Its stripes, where one that is written in whole needs no reading.
    fn stripe_shape(&self) -> Option<StripeShape> {
        None
    }
    /// Whether a trim of an extent may be handed on to the members: not where parity would become wrong.
    fn passes_trim(&self) -> bool {
        true
    }
    /// Appends every place where the data of `extent` lies: all copies, no parity. Its operation does not matter.
    fn place(&self, extent: Extent, out: &mut Vec<Placed>);
    /// Bytes of the address space that are on no member any more.
    fn lost(&self, members: &[MemberState]) -> u64;
    /// Return its redundancy; none if it cannot continue without a member.
    fn redundancy(&self) -> Option<&dyn Redundancy> {
        None
    }
}

/// Further functions of a layout with redundancy: which columns must not change at once, and how a member is rebuilt.
///
/// A column is what has to fit together: the copies of a mirror, the data and parity at one offset of a stripe.
/// Columns are numbered along the members (those of several groups one group after the other).
pub trait Redundancy {
    /// Bytes used of every member.
    fn member_bytes(&self) -> u64;
    /// A step of a rebuild is a multiple of this many bytes of the member.
    fn unit(&self) -> u64;
    /// Appends the columns that a write to `extent` changes and a read of it may compute from.
    fn columns(&self, extent: Extent, out: &mut Vec<Range<u64>>);
    /// The members that have columns in common with `member`, itself among them.
    fn group_of(&self, member: u16) -> Range<u16>;
    /// The columns of a range of `member`.
    fn columns_of(&self, member: u16, range: &Range<u64>) -> Range<u64>;
    /// Reads the sources of `range` of `member` in the first phase and writes it in the second; `lost` if too little
    /// is left. The member's own state does not matter.
    fn plan_rebuild(&self, member: u16, range: &Range<u64>, members: &[MemberState], plan: &mut Plan);
    /// Bytes of host data that are on no member any more, of the columns of `range` of `member`, which is no longer
    /// than a unit and lies in one.
    fn lost_in(&self, member: u16, range: &Range<u64>, members: &[MemberState]) -> u64;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leg(phase: u8, member: u16, op: Op, offset: u64, len: u32) -> Leg {
        Leg { phase, member, op, offset, len }
    }

    fn plan(legs: &[Leg]) -> Plan {
        let mut plan = Plan::default();
        for leg in legs {
            plan.push(*leg);
        }
        plan
    }

    #[test]
    fn a_leg_is_joined_to_the_one_that_it_goes_on_from() {
        let first = leg(0, 1, Op::Read, 100, 50);
        let other = leg(0, 2, Op::Read, 150, 50);
        let joined = plan(&[first, other, leg(0, 1, Op::Read, 150, 7)]);
        assert_eq!(joined.legs, [leg(0, 1, Op::Read, 100, 57), other]);
        for apart in
            [leg(1, 1, Op::Read, 150, 7), other, leg(0, 1, Op::Write, 150, 7), leg(0, 1, Op::Read, 151, 7), first]
        {
            assert_eq!(plan(&[first, apart]).legs, [first, apart]);
        }
        // Not past a leg of another phase.
        assert_eq!(plan(&[first, leg(1, 2, Op::Read, 0, 1), leg(0, 1, Op::Read, 150, 7)]).legs.len(), 3);
    }

    #[test]
    fn a_plan_is_used_again_as_if_it_were_new() {
        let mut plan = Plan { lost: true, decodes: true, ..plan(&[leg(0, 1, Op::Read, 0, 1)]) };
        plan.clear();
        assert_eq!(plan, Plan::default());
    }

    #[test]
    fn phases_are_sorted_and_keep_their_order_within() {
        let mut plan = plan(&[leg(1, 5, Op::Write, 0, 1), leg(0, 9, Op::Read, 0, 1), leg(1, 4, Op::Write, 0, 1)]);
        plan.sort_phases();
        assert_eq!(plan.legs.iter().map(|leg| leg.member).collect::<Vec<_>>(), [9, 5, 4]);
    }

    #[test]
    fn what_a_member_does_not_hold_is_lost_and_a_flush_goes_to_those_that_hold_anything() {
        let held_to = |present_to: u64| MemberState { present_to, ..MemberState::default() };
        let states = [held_to(u64::MAX), held_to(150), held_to(0)];
        let lost = |legs: &[Leg]| {
            let mut plan = plan(legs);
            plan.check(Members::of(&states));
            plan.lost
        };
        let read = |member, len| leg(0, member, Op::Read, 100, len);
        assert_eq!([lost(&[read(0, 900), read(1, 50)]), lost(&[read(0, 900), read(1, 51)])], [false, true]);
        assert!(lost(&[read(2, 1)]) && !Members::of(&states[..1]).degraded && !Members::whole(&states).degraded);

        let (mut flush, mut nobody) = (Plan::default(), Plan::default());
        flush.flush(Members::of(&states));
        assert_eq!((flush.lost, flush.legs), (false, [0, 1].map(|member| leg(0, member, Op::Flush, 0, 0)).to_vec()));
        nobody.flush(Members::of(&states[2..]));
        assert_eq!((nobody.lost, nobody.legs.len()), (true, 0));
    }

    #[test]
    fn a_stripe_is_its_chunks_of_data() {
        assert_eq!(StripeShape { chunk: 65_536, data: 5, parities: 2 }.bytes(), 327_680);
    }
}
