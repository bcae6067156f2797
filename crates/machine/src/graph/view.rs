//! Read-only view of a machine: its drives, its layouts, and what repair has done.

use hotband_units::{Bytes, Instant};

use crate::drive::{CacheState, Draw, Drive, Smart, Warmth};
use crate::graph::{DriveSlot, LayoutSlot, Machine, Role, Volume};
use crate::io::Op;
use crate::plan::{Extent, Placed};
use crate::repair::rebuild::{Job, JobReport};
use crate::repair::{RepairReport, ServiceLevel};
use crate::service::{MemberRebuild, Service};
use crate::spec::NodeRef;
use crate::versions::Versions;

/// The drives of a machine, in their order.
#[derive(Clone, Copy)]
pub struct Drives<'a>(pub(crate) &'a [DriveSlot]);

/// A drive of a machine.
#[derive(Clone, Copy)]
pub struct DriveView<'a> {
    /// Name in the machine ("d0").
    pub name: &'a str,
    /// The drive.
    pub drive: &'a dyn Drive,
    /// Time when it failed; none if it did not.
    pub failed_at: Option<Instant>,
    /// Its contents when power went off; none while power is on.
    pub left: Option<&'a Versions>,
}

impl<'a> From<&'a DriveSlot> for DriveView<'a> {
    fn from(slot: &'a DriveSlot) -> Self {
        Self { name: &slot.name, drive: slot.drive.as_ref(), failed_at: slot.failed_at, left: slot.left.as_ref() }
    }
}

impl<'a> Drives<'a> {
    /// Iterates over the drives.
    pub fn iter(self) -> impl ExactSizeIterator<Item = DriveView<'a>> {
        self.0.iter().map(DriveView::from)
    }

    /// Return a drive by its index.
    pub fn get(self, index: u32) -> DriveView<'a> {
        (&self.0[index as usize]).into()
    }

    /// Their names.
    pub fn names(self) -> impl ExactSizeIterator<Item = &'a str> {
        self.0.iter().map(|slot| slot.name.as_str())
    }

    /// Largest logical block: I/Os aligned to it are accepted everywhere.
    pub fn block(self) -> Bytes {
        self.0.iter().map(|slot| slot.drive.block()).max().unwrap_or(Bytes(512))
    }

    /// Largest physical block.
    pub fn physical_block(self) -> Bytes {
        self.0.iter().map(|slot| slot.drive.physical_block()).max().unwrap_or(Bytes(512))
    }

    /// Whether any of them says that acknowledged writes may be lost with power, so that hosts flush it.
    pub fn are_volatile(self) -> bool {
        self.0.iter().any(|slot| slot.drive.volatile())
    }

    /// SMART attributes of every drive that has them, by name.
    pub fn smart(self) -> Vec<(&'a str, Smart)> {
        self.0.iter().filter_map(|slot| Some((slot.name.as_str(), slot.drive.smart()?))).collect()
    }

    /// Power of every drive, if it is known, by name.
    pub fn draws(self) -> Vec<(&'a str, Option<Draw>)> {
        self.0.iter().map(|slot| (slot.name.as_str(), slot.drive.draw())).collect()
    }

    /// Commands that every drive has taken and not completed, where it counts them, by name.
    pub fn waiting(self) -> impl Iterator<Item = (&'a str, Option<u64>)> {
        self.0.iter().map(|slot| (slot.name.as_str(), slot.drive.waiting()))
    }

    /// Their caches together; none if no drive has one.
    pub fn caches(self, now: Instant) -> Option<CacheState> {
        self.0.iter().filter_map(|slot| slot.drive.caches(now)).reduce(|first, second| first.and(&second))
    }

    /// Whether every cache that learns has learnt.
    pub fn is_warm(self, now: Instant) -> bool {
        self.caches(now).and_then(|caches| caches.warmth).is_none_or(|warmth| warmth == Warmth::Warm)
    }
}

/// The layouts of a machine, in their order.
#[derive(Clone, Copy)]
pub struct Layouts<'a> {
    pub(crate) all: &'a [LayoutSlot],
    pub(crate) volumes: &'a [Volume],
}

/// A layout of a machine.
#[derive(Clone, Copy, Debug)]
pub struct LayoutView<'a> {
    /// Name in the machine.
    pub name: &'a str,
    /// Name of the layout ("raid5", "replicated").
    pub kind: &'static str,
    /// Whether it has a state and a time of its own: its data has no fixed place on its members.
    pub is_service: bool,
    /// Whether it continues without a member.
    pub has_redundancy: bool,
    /// Number of its members; for a pool, of its daemons.
    pub members: usize,
}

impl<'a> From<&'a LayoutSlot> for LayoutView<'a> {
    fn from(slot: &'a LayoutSlot) -> Self {
        let (kind, is_service, has_redundancy) = match &slot.role {
            Role::Planner(planner) => (planner.kind(), false, planner.redundancy().is_some()),
            Role::Service(service) => (service.kind(), !service.keeps_addresses(), !service.keeps_addresses()),
        };
        Self { name: &slot.name, kind, is_service, has_redundancy, members: slot.members.len() }
    }
}

/// Place where a piece of a node's address space lies on a drive.
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

impl<'a> Layouts<'a> {
    /// Iterates over the layouts.
    pub fn iter(self) -> impl ExactSizeIterator<Item = LayoutView<'a>> {
        self.all.iter().map(LayoutView::from)
    }

    /// Return a layout by its index.
    pub fn get(self, index: u32) -> LayoutView<'a> {
        (&self.all[index as usize]).into()
    }

    /// Whether trims of `volume` reach drives: every layout on the way passes them on.
    pub fn passes_trim(self, volume: u16) -> bool {
        self.all_below(self.volumes[usize::from(volume)].node, &|slot| match &slot.role {
            Role::Planner(planner) => planner.passes_trim(),
            Role::Service(_) => false,
        })
    }

    /// Whether a drive holds data of `volume`.
    pub fn has_drive(self, volume: u16, drive: u32) -> bool {
        self.has_below(self.volumes[usize::from(volume)].node, drive)
    }

    /// Daemons that lie on a drive: of each pool that has any, by index, which.
    pub fn daemons_on(self, drive: u32) -> Vec<(u32, Vec<u32>)> {
        let mut parts = Vec::new();
        for (layout, slot) in self.all.iter().enumerate() {
            let lies = |daemon: &u32| self.has_below(slot.members[*daemon as usize].node, drive);
            let daemons: Vec<u32> = (0..slot.members.len() as u32).filter(lies).collect();
            let is_pool = matches!(&slot.role, Role::Service(service) if !service.keeps_addresses());
            if is_pool && !daemons.is_empty() {
                parts.push((layout as u32, daemons));
            }
        }
        parts
    }

    /// Whether a drive is a node or lies below it.
    fn has_below(self, node: NodeRef, drive: u32) -> bool {
        match node {
            NodeRef::Drive(one) => one == drive,
            NodeRef::Layout(layout) => {
                self.all[layout as usize].members.iter().any(|member| self.has_below(member.node, drive))
            }
        }
    }

    /// Whether `volume` lies on a service.
    pub fn is_served(self, volume: u16) -> bool {
        !self.all_below(self.volumes[usize::from(volume)].node, &|slot| match &slot.role {
            Role::Planner(_) => true,
            Role::Service(service) => service.keeps_addresses(),
        })
    }

    /// Whether `is_so` of every layout from `node` down to the drives.
    fn all_below(self, node: NodeRef, is_so: &dyn Fn(&LayoutSlot) -> bool) -> bool {
        let NodeRef::Layout(layout) = node else { return true };
        let slot = &self.all[layout as usize];
        is_so(slot) && slot.members.iter().all(|member| self.all_below(member.node, is_so))
    }

    /// Appends every place on drives where the data of a range of `node` lies: all copies, no parity.
    pub fn place(self, node: NodeRef, offset: u64, len: u32, out: &mut Vec<OnDrive>) {
        let layout = match node {
            NodeRef::Drive(drive) => return out.push(OnDrive { host_offset: offset, drive, offset, len }),
            NodeRef::Layout(layout) => &self.all[layout as usize],
        };
        let mut placed: Vec<Placed> = Vec::new();
        match &layout.role {
            Role::Service(service) if service.keeps_addresses() => {
                placed.push(Placed { host_offset: offset, member: 0, offset, len, copy: 0 });
            }
            _ => layout.planner().place(Extent { op: Op::Read, offset, len }, &mut placed),
        }
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

/// Effects of failures and repair on a machine.
#[derive(Clone, Copy)]
pub struct RepairView<'a>(pub(crate) &'a Machine);

impl RepairView<'_> {
    /// Current service for hosts.
    pub fn level(self) -> ServiceLevel {
        let repair = self.0.repair_ref();
        if repair.report.failures.is_empty() {
            ServiceLevel::Before
        } else if repair.jobs.iter().any(Job::is_running) || self.any_service(|service| service.is_recovering()) {
            ServiceLevel::Rebuilding
        } else if repair.bare_loss
            || self.0.layouts.iter().any(|slot| slot.degraded)
            || self.any_service(|service| !service.is_whole())
        {
            ServiceLevel::Degraded
        } else {
            ServiceLevel::After
        }
    }

    fn any_service(self, is_so: fn(&dyn Service) -> bool) -> bool {
        self.0.layouts.iter().any(|slot| matches!(&slot.role, Role::Service(service) if is_so(service.as_ref())))
    }

    /// Return the events so far.
    pub fn report(self) -> RepairReport {
        let repair = self.0.repair_ref();
        let rebuilds = repair.jobs.iter().map(|job| job.report.clone()).chain(self.by_services()).collect();
        let bytes_lost = self.bytes_gone() + self.dropped() + repair.sector_bytes_lost;
        RepairReport { rebuilds, bytes_lost, ..repair.report.clone() }
    }

    /// Spares that services write by themselves, with the replaced drive and the progress.
    fn by_services(self) -> impl Iterator<Item = JobReport> {
        let of_layouts = self.0.layouts.iter().map(|slot| match &slot.role {
            Role::Planner(_) => Vec::new(),
            Role::Service(service) => service.rebuilds(),
        });
        let mut reports: Vec<_> = of_layouts.map(Vec::into_iter).collect();
        self.0.repair_ref().given.iter().filter_map(move |given| {
            let MemberRebuild { state, began, ended, bytes, of_bytes } = reports[given.layout as usize].next()?;
            Some(JobReport { state, began, ended, bytes, of_bytes, ..given.clone() })
        })
    }

    /// Bytes that services had acknowledged and could not write to members which have lost nothing themselves.
    fn dropped(self) -> u64 {
        let dropped = |(layout, slot): (usize, &LayoutSlot)| match &slot.role {
            Role::Service(service) if self.0.lost_of(layout as u32) == 0 => service.dropped(),
            _ => 0,
        };
        self.0.layouts.iter().enumerate().map(dropped).sum()
    }

    /// Bytes that hosts can address and no drive has: of the layouts that no other lies on, and of volumes on drives.
    fn bytes_gone(self) -> u64 {
        let machine = self.0;
        let is_member = |layout: usize| {
            machine.layouts.iter().any(|slot| slot.members.iter().any(|m| m.node == NodeRef::Layout(layout as u32)))
        };
        let roots = (0..machine.layouts.len()).filter(|layout| !is_member(*layout));
        let of_layouts: u64 = roots.map(|layout| machine.lost_of(layout as u32)).sum();
        // Volumes of one drive may overlap: what both have is lost once.
        let mut gone: Vec<(u32, u64, u64)> = Vec::new();
        for volume in &machine.volumes {
            match volume.node {
                NodeRef::Drive(drive) if machine.is_dead(drive) => {
                    gone.push((drive, volume.from, volume.from + volume.size));
                }
                _ => {}
            }
        }
        gone.sort_unstable();
        let mut counted_to = (0, 0);
        let mut bytes = of_layouts;
        for (drive, from, to) in gone {
            let from = if counted_to.0 == drive { from.max(counted_to.1) } else { from };
            bytes += to.saturating_sub(from);
            counted_to = (drive, to.max(from));
        }
        bytes
    }
}
