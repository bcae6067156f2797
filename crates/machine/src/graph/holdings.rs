//! Reports and counters of the parts of a machine, and their contents after untimed writes.

use hotband_units::Bytes;

use crate::contents::Carrier;
use crate::drive::{PartReport, UntimedWrite};
use crate::graph::view::{Drives, Layouts, RepairView};
use crate::graph::{LayoutSlot, Machine, MachineParts, Role, Volume};
use crate::io::Op;
use crate::plan::{Extent, Plan};
use crate::spec::{MemberRange, NodeRef};

/// Writes handed to the members of a layout together, at most: a drive overlaps the memory accesses that they need.
const COLLECTED: usize = 4096;

/// Returns whether a drive, by its index, gets these writes.
pub type Takes<'a> = &'a mut dyn FnMut(usize, &[UntimedWrite]) -> bool;

/// Writes collected for the members of a layout, by member.
struct MemberWrites {
    writes: Vec<Vec<UntimedWrite>>,
    collected: usize,
    most: usize,
}

impl MemberWrites {
    /// Collects nothing if members share a drive, which gets its writes in the order in which the layout makes them.
    fn of(members: usize, shares_drives: bool) -> Self {
        Self { writes: vec![Vec::new(); members], collected: 0, most: if shares_drives { 1 } else { COLLECTED } }
    }

    fn push(&mut self, member: u16, write: UntimedWrite) {
        self.writes[usize::from(member)].push(write);
        self.collected += 1;
    }

    fn is_full(&self) -> bool {
        self.collected == self.most
    }
}

impl Machine {
    /// Return the volumes.
    pub fn volumes(&self) -> &[Volume] {
        &self.volumes
    }

    /// Its drives, spares among them.
    pub fn drives(&self) -> Drives<'_> {
        Drives(&self.drives)
    }

    /// Whether trims of `volume` reach a drive that takes them. As in Linux (`blk_stack_limits`) it is enough if some
    /// do: md passes by the others.
    pub fn takes_trims(&self, volume: u16) -> bool {
        let layouts = self.layouts();
        let mut drives = (0_u32..).zip(self.drives().iter());
        layouts.passes_trim(volume)
            && drives.any(|(index, drive)| drive.drive.takes_trims() && layouts.has_drive(volume, index))
    }

    /// Its layouts.
    pub fn layouts(&self) -> Layouts<'_> {
        Layouts { all: &self.layouts, volumes: &self.volumes }
    }

    /// Effects of failures and repair; none if no failure is to come.
    pub fn repair(&self) -> Option<RepairView<'_>> {
        self.repair.is_some().then_some(RepairView(self))
    }

    /// Changes what the drives hold as these writes to `volume` would, in no time.
    ///
    /// # Panics
    /// If a range ends beyond the volume: callers check ranges when a workload is bound to a machine.
    pub fn write_untimed(&mut self, volume: u16, writes: &[UntimedWrite]) {
        self.write_untimed_where(volume, writes, &mut |_, _| true);
    }

    /// Like `write_untimed`, but a drive gets the writes that reach it only if `takes` returns true
    /// for its index and them.
    ///
    /// # Panics
    /// As [`Machine::write_untimed`].
    pub fn write_untimed_where(&mut self, volume: u16, writes: &[UntimedWrite], takes: Takes) {
        let &Volume { node, from, size, .. } = &self.volumes[usize::from(volume)];
        let inside = |write: &UntimedWrite| write.offset + u64::from(write.len) <= size;
        assert!(writes.iter().all(inside), "a range is checked when a workload is bound");
        self.write_node(node, from, writes, takes);
    }

    /// Reports, by index, the writes that would reach each drive; nothing changes.
    ///
    /// # Panics
    /// As [`Machine::write_untimed`].
    pub fn plan_untimed(
        &mut self,
        volume: u16,
        writes: &[UntimedWrite],
        reached: &mut dyn FnMut(usize, &[UntimedWrite]),
    ) {
        let turns: Vec<u64> = self.layouts.iter().map(|slot| slot.turn).collect();
        self.write_untimed_where(volume, writes, &mut |drive, writes| {
            reached(drive, writes);
            false
        });
        self.layouts.iter_mut().zip(turns).for_each(|(slot, turn)| slot.turn = turn);
    }

    /// Groups of drives that differ only in their place in a layout: members of equal size and equal input of untimed
    /// writes, which are whole drives that nothing else uses.
    pub fn like_members(&self) -> Vec<Vec<u32>> {
        let mut uses = vec![0; self.drives.len()];
        let on_volumes = self.volumes.iter().map(|volume| volume.node);
        let on_layouts = self.layouts.iter().flat_map(|slot| &slot.members).map(|member| member.node);
        for node in on_volumes.chain(on_layouts) {
            if let NodeRef::Drive(drive) = node {
                uses[drive as usize] += 1;
            }
        }
        let like = |slot: &LayoutSlot| {
            let key = |member: &MemberRange| match member.node {
                NodeRef::Drive(drive) if member.from == 0 && uses[drive as usize] == 1 => {
                    let drive = &self.drives[drive as usize].drive;
                    Some((member.size, drive.capacity(), drive.contents_key()?))
                }
                _ => None,
            };
            let first = key(slot.members.first()?)?;
            let are_like =
                slot.members.len() > 1 && slot.members.iter().all(|member| key(member).as_ref() == Some(&first));
            are_like.then(|| self.drives_below(&slot.members))
        };
        self.layouts.iter().filter_map(like).collect()
    }

    /// Copies the contents of a drive after untimed writes to others; all of them had the same contents before.
    pub fn copy_contents(&mut self, from: u32, to: &[u32]) {
        let mut contents = Vec::new();
        self.drives[from as usize].drive.carry_contents(&mut Carrier::Out(&mut contents));
        for drive in to {
            self.drives[*drive as usize].drive.carry_contents(&mut Carrier::In(&contents));
        }
    }

    fn write_node(&mut self, node: NodeRef, from: u64, writes: &[UntimedWrite], takes: Takes) {
        let moved = |from: u64| -> Vec<UntimedWrite> {
            writes.iter().map(|write| UntimedWrite { offset: from + write.offset, ..*write }).collect()
        };
        let layout = match node {
            NodeRef::Drive(drive) => {
                let drive = drive as usize;
                let moved = if from == 0 { Vec::new() } else { moved(from) };
                let writes = if from == 0 { writes } else { &moved };
                if takes(drive, writes) {
                    self.drives[drive].drive.write_untimed(writes);
                }
                return;
            }
            NodeRef::Layout(layout) => layout as usize,
        };
        if let Role::Service(service) = &self.layouts[layout].role {
            if service.keeps_addresses() {
                let range = self.layouts[layout].members[0];
                self.write_node(range.node, range.from, &moved(from), takes);
            }
            return; // What lies where in a pool does not depend on when it was written.
        }
        let mut parts = MemberWrites::of(self.layouts[layout].members.len(), self.shares_drives(layout));
        let mut plan = Plan::default();
        for write in writes {
            let op = if write.trim { Op::Trim } else { Op::Write };
            let extent = Extent { op, offset: from + write.offset, len: write.len };
            let slot = &mut self.layouts[layout];
            plan.clear();
            slot.planner().plan(extent, slot.members(), slot.turn, &mut plan);
            slot.turn += 1;
            for leg in plan.legs.iter().filter(|leg| leg.op == op) {
                parts.push(leg.member, UntimedWrite { offset: leg.offset, len: leg.len, ..*write });
                if parts.is_full() {
                    self.write_members(layout, &mut parts, takes);
                }
            }
        }
        self.write_members(layout, &mut parts, takes);
    }

    /// Whether two members of a layout lie on one drive.
    fn shares_drives(&self, layout: usize) -> bool {
        let mut below = self.drives_below(&self.layouts[layout].members);
        let count = below.len();
        below.sort_unstable();
        below.dedup();
        below.len() < count
    }

    /// Hands the members of a layout the writes that were collected for them.
    fn write_members(&mut self, layout: usize, parts: &mut MemberWrites, takes: Takes) {
        for (member, writes) in parts.writes.iter_mut().enumerate().filter(|(_, writes)| !writes.is_empty()) {
            let range = self.layouts[layout].members[member];
            self.write_node(range.node, range.from, writes, takes);
            writes.clear();
        }
        parts.collected = 0;
    }

    /// All that untimed writes read of a machine that has served nothing, as text; none if a drive's
    /// contents cannot be carried.
    pub fn contents_key(&self) -> Option<String> {
        let drives = self.drives.iter().map(|slot| Some((slot.drive.capacity(), slot.drive.contents_key()?)));
        let drives: Vec<(Bytes, String)> = drives.collect::<Option<_>>()?;
        let layouts = self.layouts.iter().map(|slot| {
            let planner = match &slot.role {
                Role::Planner(planner) => Some(planner),
                Role::Service(_) => None,
            };
            (planner, slot.keeps_addresses(), &slot.members, &slot.states, slot.turn)
        });
        Some(format!("{drives:?}\n{:?}\n{:?}\n", layouts.collect::<Vec<_>>(), self.volumes))
    }

    /// Carries all that untimed writes change out of the machine, or into one with the same key.
    pub fn carry_contents(&mut self, carrier: &mut Carrier) {
        self.drives.iter_mut().for_each(|slot| slot.drive.carry_contents(carrier));
        self.layouts.iter_mut().for_each(|slot| carrier.number(&mut slot.turn));
    }

    /// Loads contents of a machine with the same key and returns whether they are valid, since their file may have
    /// changed. Invalid contents leave this machine new.
    pub fn take_contents(&mut self, contents: &[u8]) -> bool {
        let mut new = Vec::new();
        self.carry_contents(&mut Carrier::Out(&mut new));
        let mut carrier = Carrier::In(contents);
        self.carry_contents(&mut carrier);
        let is_taken = carrier.is_taken() && self.drives.iter().all(|slot| slot.drive.has_valid_contents());
        if !is_taken {
            self.carry_contents(&mut Carrier::In(&new));
        }
        is_taken
    }

    /// A machine of models of its drives, of at most about `most` bytes together; none if its volumes are not whole
    /// drives, or a drive has no model.
    pub fn model(&self, most: u64) -> Option<Self> {
        let count = self.drives.len() as u64;
        let has_all = self.volumes.len() == self.drives.len();
        let of_volume = |volume: &Volume| {
            let NodeRef::Drive(drive) = volume.node else { return None };
            let slot = &self.drives[drive as usize];
            let is_whole = volume.from == 0 && volume.size == slot.drive.capacity().0;
            let model = slot.drive.model(most / count).filter(|_| is_whole && has_all)?;
            let size = model.capacity().0;
            Some(((slot.name.clone(), model), (volume.name.clone(), size)))
        };
        let (drives, volumes): (Vec<_>, Vec<_>) =
            self.volumes.iter().map(of_volume).collect::<Option<Vec<_>>>()?.into_iter().unzip();
        let volume = |(drive, (name, size))| Volume { name, node: NodeRef::Drive(drive), from: 0, size, queue: None };
        Some(Self::new(MachineParts {
            link_of: vec![None; drives.len()],
            drives,
            links: Vec::new(),
            layouts: Vec::new(),
            forces: Vec::new(),
            volumes: (0..).zip(volumes).map(volume).collect(),
            host: None,
        }))
    }

    /// Takes over, new, the contents of its model after untimed writes.
    pub fn enlarge_contents(&mut self, model: &mut Self) {
        for (number, volume) in self.volumes.iter().enumerate() {
            if let NodeRef::Drive(drive) = volume.node {
                self.drives[drive as usize].drive.enlarge_contents(&mut *model.drives[number].drive);
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
