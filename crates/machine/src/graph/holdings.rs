//! Reports and counters of the parts of a machine, and their contents after untimed writes.

use crate::drive::{PartReport, UntimedWrite};
use crate::graph::view::{Drives, Layouts, RepairView};
use crate::graph::{Machine, Role, Volume};
use crate::io::Op;
use crate::plan::{Extent, Plan};
use crate::spec::NodeRef;

impl Machine {
    /// Return the volumes.
    pub fn volumes(&self) -> &[Volume] {
        &self.volumes
    }

    /// Its drives, spares among them.
    pub fn drives(&self) -> Drives<'_> {
        Drives(&self.drives)
    }

    /// Its layouts.
    pub fn layouts(&self) -> Layouts<'_> {
        Layouts { all: &self.layouts, volumes: &self.volumes }
    }

    /// What failures and repair have done; none where no failure is to come.
    pub fn repair(&self) -> Option<RepairView<'_>> {
        self.repair.is_some().then_some(RepairView(self))
    }

    /// Changes what the drives hold as these writes to `volume` would, in no time.
    ///
    /// # Panics
    /// If a range ends beyond the volume: callers check ranges when a workload is bound to a machine.
    pub fn write_untimed(&mut self, volume: u16, writes: &[UntimedWrite]) {
        let &Volume { node, from, size, .. } = &self.volumes[usize::from(volume)];
        let inside = |write: &UntimedWrite| write.offset + u64::from(write.len) <= size;
        assert!(writes.iter().all(inside), "a range is checked when a workload is bound");
        self.write_node(node, from, writes);
    }

    fn write_node(&mut self, node: NodeRef, from: u64, writes: &[UntimedWrite]) {
        let layout = match node {
            NodeRef::Drive(drive) if from == 0 => return self.drives[drive as usize].drive.write_untimed(writes),
            NodeRef::Drive(drive) => {
                let moved: Vec<_> =
                    writes.iter().map(|write| UntimedWrite { offset: from + write.offset, ..*write }).collect();
                return self.drives[drive as usize].drive.write_untimed(&moved);
            }
            NodeRef::Layout(layout) => layout as usize,
        };
        if let Role::Service(service) = &self.layouts[layout].role {
            if service.keeps_addresses() {
                let range = self.layouts[layout].members[0];
                let moved: Vec<_> =
                    writes.iter().map(|write| UntimedWrite { offset: from + write.offset, ..*write }).collect();
                self.write_node(range.node, range.from, &moved);
            }
            return; // What lies where in a pool does not depend on when it was written.
        }
        for write in writes {
            let op = if write.trim { Op::Trim } else { Op::Write };
            let extent = Extent { op, offset: from + write.offset, len: write.len };
            let slot = &mut self.layouts[layout];
            let mut plan = Plan::default();
            slot.planner().plan(extent, slot.members(), slot.turn, &mut plan);
            slot.turn += 1;
            for leg in plan.legs.iter().filter(|leg| leg.op == op) {
                let range = self.layouts[layout].members[usize::from(leg.member)];
                let part = UntimedWrite { offset: leg.offset, len: leg.len, ..*write };
                self.write_node(range.node, range.from, &[part]);
            }
        }
    }

    /// Counters of every drive and link, of the services, and of the host's cores.
    pub fn report(&self) -> Vec<PartReport> {
        let drives = self.drives.iter().map(|slot| PartReport {
            id: slot.name.clone(),
            kind: slot.drive.kind(),
            counters: slot.drive.counters(),
            at_end: slot.drive.levels(),
        });
        let links = self.links.iter().map(|link| PartReport {
            id: link.name.clone(),
            kind: "link",
            counters: vec![("busy_ns", link.busy.0), ("bytes", link.bytes)],
            at_end: Vec::new(),
        });
        let services = self.layouts.iter().filter_map(|slot| match &slot.role {
            Role::Planner(_) => None,
            Role::Service(service) => Some((&slot.name, service.report())),
        });
        let services = services.flat_map(|(name, parts)| {
            parts.into_iter().map(move |part| PartReport { id: format!("{name}.{}", part.id), ..part })
        });
        let cores = self.host.iter().flat_map(|host| host.report());
        drives.chain(links).chain(services).chain(cores).collect()
    }
}
