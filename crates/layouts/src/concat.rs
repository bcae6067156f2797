//! One member, or several one after the other.

use hotband_machine::{Extent, Layout, Leg, MemberState, Members, Placed, Plan};
use hotband_units::Bytes;

/// Members end to end.
#[derive(Debug)]
pub struct Concat {
    kind: &'static str,
    /// End of each member in the address space.
    ends: Vec<u64>,
}

impl Concat {
    /// Members of these sizes.
    pub fn new(kind: &'static str, sizes: &[u64]) -> Self {
        let ends = sizes.iter().scan(0, |end, size| {
            *end += size;
            Some(*end)
        });
        Self { kind, ends: ends.collect() }
    }
}

impl Layout for Concat {
    fn kind(&self) -> &'static str {
        self.kind
    }

    fn capacity(&self) -> Bytes {
        Bytes(self.ends.last().copied().unwrap_or(0))
    }

    fn plan(&self, extent: Extent, members: Members, _: u64, plan: &mut Plan) {
        let end = extent.offset + u64::from(extent.len);
        let mut at = extent.offset;
        while at < end {
            let member = self.ends.partition_point(|member_end| *member_end <= at);
            let begin = if member == 0 { 0 } else { self.ends[member - 1] };
            let stop = end.min(self.ends[member]);
            let len = (stop - at) as u32;
            plan.push(Leg { phase: 0, member: member as u16, op: extent.op, offset: at - begin, len });
            at = stop;
        }
        plan.check(members);
    }

    fn place(&self, extent: Extent, out: &mut Vec<Placed>) {
        let (from, to) = (extent.offset, extent.offset + u64::from(extent.len));
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        for (member, (begin, end)) in begins.zip(&self.ends).enumerate() {
            let (first, stop) = (from.max(begin), to.min(*end));
            if first < stop {
                let (offset, len) = (first - begin, (stop - first) as u32);
                out.push(Placed { host_offset: first, member: member as u16, offset, len, copy: 0 });
            }
        }
    }

    fn lost(&self, members: &[MemberState]) -> u64 {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        let sizes = begins.zip(&self.ends).map(|(begin, end)| end - begin);
        sizes.zip(members).filter(|(size, member)| !member.holds(*size)).map(|(size, _)| size).sum()
    }
}
