//! Loss of power: where the data of a range lies, and what the drives still hold.

use hotband_units::Instant;

use crate::graph::Machine;
use crate::io::Op;
use crate::plan::{Extent, Placed};
use crate::spec::NodeRef;
use crate::versions::Versions;

/// Where a piece of a node's address space lies on a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnDrive {
    /// First byte in the address space of the node.
    pub host_offset: u64,
    /// Index of the drive.
    pub drive: u32,
    /// First byte on the drive.
    pub offset: u64,
    /// Length in bytes.
    pub len: u32,
}

impl Machine {
    /// From now on every drive remembers which version of every byte is where.
    pub fn keep_account(&mut self) {
        self.drives.iter_mut().for_each(|slot| slot.drive.keep_account());
    }

    /// Power is lost at `now`, after everything due before was done: what each drive holds. Ends the machine.
    pub fn cut_power(&mut self, now: Instant) -> Vec<Versions> {
        self.drives.iter_mut().map(|slot| slot.drive.cut_power(now)).collect()
    }

    /// Appends every place on drives where the data of a range of `node` lies: all copies, no parity.
    pub fn place(&self, node: NodeRef, offset: u64, len: u32, out: &mut Vec<OnDrive>) {
        let layout = match node {
            NodeRef::Drive(drive) => return out.push(OnDrive { host_offset: offset, drive, offset, len }),
            NodeRef::Layout(layout) => &self.layouts[layout as usize],
        };
        let mut placed: Vec<Placed> = Vec::new();
        layout.planner().place(Extent { op: Op::Read, offset, len }, &mut placed);
        for piece in placed {
            let range = layout.members[usize::from(piece.member)];
            let (known, begin) = (out.len(), range.from + piece.offset);
            self.place(range.node, begin, piece.len, out);
            for below in &mut out[known..] {
                below.host_offset = piece.host_offset + (below.host_offset - begin);
            }
        }
    }
}
