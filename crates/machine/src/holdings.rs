//! What the parts of a machine hold and count, and what they hold after writes that take no time.

use hotband_units::{Bytes, Instant, Span};

use crate::drive::{CacheState, Draw, Smart, UntimedWrite, Warmth};
use crate::graph::{Machine, PartReport, Role, Target};
use crate::io::Op;
use crate::plan::{Extent, Plan};
use crate::spec::NodeRef;

impl Machine {
    /// Size of a target in bytes.
    pub fn capacity(&self, target: u16) -> Bytes {
        Bytes(self.targets[usize::from(target)].size)
    }

    /// What can be addressed.
    pub fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// Largest logical block of the drives: I/Os aligned to it are accepted everywhere.
    pub fn block(&self) -> Bytes {
        self.drives.iter().map(|slot| slot.drive.block()).max().unwrap_or(Bytes(512))
    }

    /// SMART attributes of every drive that has them, by name.
    pub fn smart(&self) -> Vec<(&str, Smart)> {
        self.drives.iter().filter_map(|slot| Some((slot.name.as_str(), slot.drive.smart()?))).collect()
    }

    /// What every drive draws, where that is known, by name.
    pub fn draws(&self) -> Vec<(&str, Option<Draw>)> {
        self.drives.iter().map(|slot| (slot.name.as_str(), slot.drive.draw())).collect()
    }

    /// How long a drive was busy in each state of its draw.
    pub fn activity(&self, drive: usize) -> [Span; 3] {
        self.drives[drive].drive.activity()
    }

    /// Commands that every drive has taken and not answered, where it counts them, by name.
    pub fn waiting(&self) -> impl Iterator<Item = (&str, Option<u64>)> {
        self.drives.iter().map(|slot| (slot.name.as_str(), slot.drive.waiting()))
    }

    /// Whether trims of `target` reach drives: every layout on the way passes them on.
    pub fn passes_trim(&self, target: u16) -> bool {
        self.node_passes_trim(self.targets[usize::from(target)].node)
    }

    fn node_passes_trim(&self, node: NodeRef) -> bool {
        let NodeRef::Layout(layout) = node else { return true };
        let slot = &self.layouts[layout as usize];
        matches!(slot.role, Role::Planner(_))
            && slot.planner().passes_trim()
            && slot.members.iter().all(|member| self.node_passes_trim(member.node))
    }

    /// Changes what the drives hold as these writes to `target` would, in no time.
    ///
    /// # Panics
    /// If a range ends beyond the target: callers check ranges when a workload is bound to a machine.
    pub fn write_untimed(&mut self, target: u16, writes: &[UntimedWrite]) {
        let &Target { node, from, size, .. } = &self.targets[usize::from(target)];
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
        if matches!(self.layouts[layout].role, Role::Service(_)) {
            return; // What lies where in a pool does not depend on when it was written.
        }
        for write in writes {
            let op = if write.trim { Op::Trim } else { Op::Write };
            let extent = Extent { op, offset: from + write.offset, len: write.len };
            let slot = &mut self.layouts[layout];
            let mut plan = Plan::default();
            slot.planner().plan(extent, &slot.states, slot.turn, &mut plan);
            slot.turn += 1;
            for leg in plan.legs.iter().filter(|leg| leg.op == op) {
                let range = self.layouts[layout].members[usize::from(leg.member)];
                let part = UntimedWrite { offset: leg.offset, len: leg.len, ..*write };
                self.write_node(range.node, range.from, &[part]);
            }
        }
    }

    /// The caches of all drives together; none where no drive has one.
    pub fn caches(&self, now: Instant) -> Option<CacheState> {
        let each = self.drives.iter().filter_map(|slot| slot.drive.caches(now));
        each.reduce(|one, two| one.and(&two))
    }

    /// Whether every cache that learns has learnt.
    pub fn is_warm(&self, now: Instant) -> bool {
        self.caches(now).and_then(|caches| caches.warmth).is_none_or(|warmth| warmth == Warmth::Warm)
    }

    /// Counters of every drive and link.
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
        drives.chain(links).chain(services).collect()
    }

    /// Whether a target lies on a service, whose data has no fixed place on its members.
    pub fn is_served(&self, target: u16) -> bool {
        self.node_is_served(self.targets[usize::from(target)].node)
    }

    fn node_is_served(&self, node: NodeRef) -> bool {
        let NodeRef::Layout(layout) = node else { return false };
        let slot = &self.layouts[layout as usize];
        matches!(slot.role, Role::Service(_)) || slot.members.iter().any(|member| self.node_is_served(member.node))
    }
}
