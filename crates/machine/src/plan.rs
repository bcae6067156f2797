//! A layout is a planner: it maps one I/O to legs on its members, in one or more phases.

use hotband_units::Bytes;

use crate::io::Op;

/// A range of bytes to read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Read or write (flushes go to every member and are never planned).
    pub op: Op,
    /// First byte.
    pub offset: u64,
    /// Length in bytes.
    pub len: u32,
}

/// One command to one member, in one phase of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leg {
    /// Which phase: phase n+1 starts when every leg of phase n is done.
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
}

impl Plan {
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

    /// Sorts the legs by phase, keeping their order within a phase.
    pub fn sort_phases(&mut self) {
        self.legs.sort_by_key(|leg| leg.phase);
    }
}

/// Where a piece of a layout's address space lies on one of its members.
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
    /// Which copy of the data this is, from 0.
    pub copy: u16,
}

/// What the host knows of a member without asking the drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemberState {
    /// Commands sent and not yet answered.
    pub pending: u32,
    /// Where the last read sent to the member ends: a read that starts there is sequential.
    pub read_end: u64,
    /// Where the last command sent to the member ends, as a guess of where the head is.
    pub last_end: u64,
}

/// A way for drives to form one address space.
///
/// Planning is pure: the same extent, states and turn always give the same plan.
pub trait Layout: Send {
    /// Name of the layout ("raid5").
    fn kind(&self) -> &'static str;
    /// Addressable bytes.
    fn capacity(&self) -> Bytes;
    /// Maps `extent` to legs. `turn` counts the I/Os planned before, for policies that take turns.
    /// `plan` is empty on entry.
    fn plan(&self, extent: Extent, members: &[MemberState], turn: u64, plan: &mut Plan);
    /// Whether a trim of an extent may be handed on to the members: not where parity would become wrong.
    fn passes_trim(&self) -> bool {
        true
    }
    /// Appends every place where the data of `extent` lies: all copies, no parity. Its operation does not matter.
    fn place(&self, extent: Extent, out: &mut Vec<Placed>);
}
