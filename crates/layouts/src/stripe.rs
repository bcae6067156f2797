//! RAID 0: chunks in turn over all members.

use hotband_machine::{Extent, Layout, Leg, MemberState, Members, Placed, Plan};
use hotband_units::Bytes;

use crate::chunks;

/// A stripe without redundancy.
#[derive(Debug)]
pub struct Stripe {
    members: u64,
    rows: u64,
    chunk: u64,
}

impl Stripe {
    /// `members` of `size` bytes each.
    pub fn new(members: u64, size: u64, chunk: u64) -> Self {
        Self { members, rows: size / chunk, chunk }
    }
}

impl Layout for Stripe {
    fn kind(&self) -> &'static str {
        "raid0"
    }

    fn capacity(&self) -> Bytes {
        Bytes(self.members * self.rows * self.chunk)
    }

    fn plan(&self, extent: Extent, members: Members, _: u64, plan: &mut Plan) {
        for (number, within, len) in chunks(self.chunk, extent.offset, extent.len) {
            let member = (number % self.members) as u16;
            let offset = number / self.members * self.chunk + within;
            plan.push(Leg { phase: 0, member, op: extent.op, offset, len });
        }
        plan.check(members);
    }

    fn place(&self, extent: Extent, out: &mut Vec<Placed>) {
        let mut host_offset = extent.offset;
        for (number, within, len) in chunks(self.chunk, extent.offset, extent.len) {
            let member = (number % self.members) as u16;
            let offset = number / self.members * self.chunk + within;
            out.push(Placed { host_offset, member, offset, len, copy: 0 });
            host_offset += u64::from(len);
        }
    }

    fn lost(&self, members: &[MemberState]) -> u64 {
        let gone = members.iter().filter(|member| !member.holds(self.rows * self.chunk)).count();
        gone as u64 * self.rows * self.chunk
    }
}
