//! The machine: parts in one arena, one event queue, one executor for every plan.

pub(crate) mod executor;
mod forced;
mod holdings;
pub(crate) mod host;
mod host_path;
mod host_queue;
pub(crate) mod link;
pub(crate) mod origin;
pub(crate) mod queue;
pub(crate) mod schedule;
mod services;
pub(crate) mod slab;
mod transfer;
pub(crate) mod view;

use hotband_units::{Bytes, Instant};

use crate::drive::{Done, Drive, ENDS_FORCED_WRITE, FLUSH_FOLLOWS};
use crate::graph::forced::ForcedWrite;
use crate::graph::host::Host;
use crate::graph::host_queue::HostQueue;
use crate::graph::link::{Link, Transfer};
use crate::graph::origin::{Access, Origin, Requests};
use crate::graph::queue::{Class, EventQueue};
use crate::graph::slab::Slab;
use crate::io::{Completion, Io};
use crate::plan::{Layout, MemberState, Members, Plan};
use crate::repair::Repair;
use crate::repair::agenda::Due;
use crate::service::{Service, ServiceOut};
use crate::spec::host::HostSpec;
use crate::spec::{MemberRange, NodeRef};
use crate::versions::Versions;

/// A range of a node that a workload addresses by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    /// Name ("db1"; the layout's or drive's own name where no volume was defined).
    pub name: String,
    /// Node below.
    pub node: NodeRef,
    /// First byte on the node.
    pub from: u64,
    /// Length in bytes.
    pub size: u64,
    /// I/Os that the host keeps outstanding at it, where it limits them: the others wait in the host.
    pub queue: Option<u32>,
}

/// Parts of which a machine is built.
pub struct MachineParts {
    /// Names and drives.
    pub drives: Vec<(String, Box<dyn Drive>)>,
    /// Shared links.
    pub links: Vec<Link>,
    /// For each drive the link it is behind.
    pub link_of: Vec<Option<usize>>,
    /// Names, layouts and their members.
    pub layouts: Vec<(String, Role, Vec<MemberRange>)>,
    /// For each layout whether its controller sends writes with force unit access.
    pub forces: Vec<bool>,
    /// Volumes that workloads may address.
    pub volumes: Vec<Volume>,
    /// Cores of the host, if they are modelled.
    pub host: Option<HostSpec>,
}

/// Implementation of a layout: a planner, or a service with its own state.
pub enum Role {
    /// Maps each I/O to legs.
    Planner(Box<dyn Layout>),
    /// Decides for itself what to ask of its members, and when.
    Service(Box<dyn Service>),
}

impl Role {
    /// Addressable bytes.
    pub fn capacity(&self) -> Bytes {
        match self {
            Self::Planner(layout) => layout.capacity(),
            Self::Service(service) => service.capacity(),
        }
    }
}

pub(crate) struct DriveSlot {
    pub(crate) name: String,
    pub(crate) drive: Box<dyn Drive>,
    pub(crate) link: Option<usize>,
    /// The wake-up that is in the event queue; `NEVER` if none is.
    pub(crate) armed: Instant,
    /// Time when it failed.
    pub(crate) failed_at: Option<Instant>,
    /// Its contents when power went off.
    pub(crate) left: Option<Versions>,
}

pub(crate) struct LayoutSlot {
    pub(crate) name: String,
    pub(crate) role: Role,
    pub(crate) members: Vec<MemberRange>,
    pub(crate) states: Vec<MemberState>,
    /// Some member does not hold all of its data.
    pub(crate) degraded: bool,
    pub(crate) turn: u64,
    /// Every write is sent with force unit access.
    pub(crate) forces: bool,
    /// Wake-up of a service in the event queue; `NEVER` if there is none.
    pub(crate) armed: Instant,
}

impl LayoutSlot {
    /// Its members as a planner sees them.
    pub(crate) fn members(&self) -> Members<'_> {
        Members { states: &self.states, degraded: self.degraded }
    }

    /// Whether it has the addresses of its first member, which alone holds its data, as caches do.
    pub(crate) fn keeps_addresses(&self) -> bool {
        matches!(&self.role, Role::Service(service) if service.keeps_addresses())
    }

    /// The planner of a layout that is not a service.
    pub(crate) fn planner(&self) -> &dyn Layout {
        match &self.role {
            Role::Planner(layout) => layout.as_ref(),
            Role::Service(_) => unreachable!("the places and plans of a service are asked for nowhere"),
        }
    }

    /// Tells a service which of its members hosts flush.
    fn note_volatile(&mut self, drives: &[DriveSlot]) {
        let volatile = |member: &MemberRange| match member.node {
            NodeRef::Drive(drive) => drives[drive as usize].drive.volatile(),
            NodeRef::Layout(_) => true,
        };
        let members: Vec<bool> = self.members.iter().map(volatile).collect();
        if let Some(service) = self.service() {
            service.note_volatile(&members);
        }
    }

    pub(crate) fn service(&mut self) -> Option<&mut Box<dyn Service>> {
        match &mut self.role {
            Role::Planner(_) => None,
            Role::Service(service) => Some(service),
        }
    }
}

/// Part that an event of the queue wakes: the kind in the top bits of its payload, the number of the part below.
const KIND_SHIFT: u32 = 22;
const DRIVE: u32 = 0;
const TRANSFER: u32 = 1;
const SERVICE: u32 = 2;
const AGENDA: u32 = 3;

/// A runnable whole: `submit` an I/O, ask when to `wake` it, `advance` it to that time.
pub struct Machine {
    pub(crate) drives: Vec<DriveSlot>,
    pub(crate) links: Vec<Link>,
    pub(crate) layouts: Vec<LayoutSlot>,
    pub(crate) volumes: Vec<Volume>,
    /// Host state of each volume, if the host limits outstanding I/Os or has cores.
    pub(crate) host_queues: Vec<Option<HostQueue>>,
    pub(crate) host: Option<Box<Host>>,
    pub(crate) requests: Requests,
    pub(crate) events: EventQueue,
    pub(crate) transfers: Slab<Transfer>,
    pub(crate) agenda: Slab<Due>,
    done: Vec<Done>,
    /// Forced writes under way to drives that get no FUA.
    pub(crate) forced: Vec<ForcedWrite>,
    pub(crate) plan: Plan,
    pub(crate) out: ServiceOut,
    /// Services with a completion from a member, to be advanced at once.
    pub(crate) answered: Vec<u32>,
    /// State for failures, if there may be any.
    pub(crate) repair: Option<Box<Repair>>,
    /// Whether power may go off.
    pub(crate) keeps_account: bool,
    /// Values of drives that change: drive, key, value.
    pub(crate) settings: Vec<(u32, String, String)>,
}

impl Machine {
    /// Puts parts together. The spec was checked before, so ranges lie inside their nodes.
    pub fn new(parts: MachineParts) -> Self {
        let armed = Instant::NEVER;
        let drives = parts.drives.into_iter().zip(parts.link_of);
        let drives = drives.map(|((name, drive), link)| {
            let (failed_at, left) = (None, None);
            DriveSlot { name, drive, link, armed, failed_at, left }
        });
        let layouts = parts.layouts.into_iter().zip(parts.forces).map(|((name, role, members), forces)| {
            let states = vec![MemberState::default(); members.len()];
            LayoutSlot { name, role, members, states, degraded: false, turn: 0, forces, armed }
        });
        // One look at a volume's queue tells whether an I/O is the drives' at once.
        let unlimited = parts.host.map(|_| u32::MAX);
        let mut machine = Self {
            drives: drives.collect(),
            links: parts.links,
            layouts: layouts.collect(),
            host_queues: parts.volumes.iter().map(|volume| volume.queue.or(unlimited).map(HostQueue::new)).collect(),
            host: parts.host.map(|spec| Box::new(Host::new(spec))),
            volumes: parts.volumes,
            requests: Requests::default(),
            events: EventQueue::default(),
            transfers: Slab::default(),
            agenda: Slab::default(),
            done: Vec::new(),
            forced: Vec::new(),
            plan: Plan::default(),
            out: ServiceOut::default(),
            answered: Vec::new(),
            repair: None,
            keeps_account: false,
            settings: Vec::new(),
        };
        for layout in 0..machine.layouts.len() {
            machine.layouts[layout].note_volatile(&machine.drives);
            machine.arm_service(layout as u32);
        }
        machine
    }

    /// Takes an I/O at `now`, which never goes backwards.
    ///
    /// # Panics
    /// If the range ends beyond the volume: callers check ranges when a workload is bound to a machine.
    #[inline]
    pub fn submit(&mut self, now: Instant, io: Io) {
        let volume = &self.volumes[usize::from(io.volume)];
        assert!(io.offset + u64::from(io.len) <= volume.size, "a range is checked when a workload is bound");
        if self.host_queues[usize::from(io.volume)].is_some() {
            return self.submit_by_host(now, io);
        }
        self.leave_host(now, io, now);
    }

    /// Starts an I/O of the host, which has waited there since `since`.
    #[inline]
    pub(crate) fn leave_host(&mut self, now: Instant, io: Io, since: Instant) {
        let Io { tag, op, volume, offset, len, fua, version, entropy } = io;
        let on = &self.volumes[usize::from(volume)];
        let (node, offset) = (on.node, on.from + offset);
        let id = self.requests.take(Origin::Host { tag, volume, waited: now.since(since) });
        self.route(now, id, node, Access { op, offset, len, fua, version, entropy });
    }

    /// Time when something is next due.
    #[inline]
    pub fn wake(&self) -> Option<Instant> {
        self.events.peek().map(|(at, _)| at)
    }

    /// Does everything due up to and at `now`; appends finished I/Os.
    pub fn advance(&mut self, now: Instant, completions: &mut Vec<Completion>) {
        while let Some((at, payload)) = self.events.peek() {
            if payload >> KIND_SHIFT != DRIVE {
                if !self.advance_other(now, (at, payload), completions) {
                    break;
                }
                continue;
            }
            // A wake-up that its part has since moved is dropped, so that `wake` names only real ones.
            if self.drives[payload as usize].armed != at {
                self.events.pop();
                continue;
            }
            if at > now {
                break;
            }
            self.events.pop();
            self.wake_drive(at, payload, completions);
            if !self.answered.is_empty() {
                self.run_answered(at, completions);
            }
        }
    }

    /// Does the next event if it is not a drive's; returns whether one was due. Out of line, like everything that one
    /// plain disk does not need.
    #[inline(never)]
    fn advance_other(
        &mut self,
        now: Instant,
        (at, payload): (Instant, u32),
        completions: &mut Vec<Completion>,
    ) -> bool {
        let (kind, number) = (payload >> KIND_SHIFT, payload & ((1 << KIND_SHIFT) - 1));
        let is_stale = kind == SERVICE && self.layouts[number as usize].armed != at;
        if at > now && !is_stale {
            return false;
        }
        self.events.pop();
        match kind {
            _ if is_stale => {}
            TRANSFER => self.end_transfer(at, number, completions),
            SERVICE => {
                // What is asked of it while it runs may be due at once, too.
                self.layouts[number as usize].armed = Instant::NEVER;
                self.run_service(at, number, completions);
            }
            _ => self.run_agenda(at, number, completions),
        }
        self.run_answered(at, completions);
        true
    }

    /// Advances the services that received completions.
    #[inline(never)]
    fn run_answered(&mut self, at: Instant, completions: &mut Vec<Completion>) {
        while let Some(layout) = self.answered.pop() {
            self.run_service(at, layout, completions);
        }
    }

    #[inline]
    pub(crate) fn wake_drive(&mut self, at: Instant, drive: u32, completions: &mut Vec<Completion>) {
        let slot = &mut self.drives[drive as usize];
        slot.armed = Instant::NEVER;
        slot.drive.advance(at, &mut self.done);
        let link = slot.link;
        // By index: nothing is added meanwhile, and taking the vector out and back costs more than a copy of each.
        for index in 0..self.done.len() {
            let finished = self.done[index];
            match link {
                Some(link) if finished.bytes_back > 0 => self.send_back(at, link, finished),
                _ if finished.token & (FLUSH_FOLLOWS | ENDS_FORCED_WRITE) != 0 => {
                    self.forced_done(at, drive, finished, completions);
                }
                _ => self.leg_done(&finished, completions),
            }
        }
        self.done.clear();
        self.arm(drive);
    }

    /// Puts the drive's next wake-up into the queue, if it is not there already.
    #[inline]
    pub(crate) fn arm(&mut self, drive: u32) {
        let slot = &mut self.drives[drive as usize];
        if let Some(at) = slot.drive.wake()
            && at != slot.armed
        {
            slot.armed = at;
            self.events.push(at, drive);
        }
    }

    /// Like the above, for a service; of several that are due at once, the first one in the spec goes first.
    pub(crate) fn arm_service(&mut self, layout: u32) {
        let slot = &mut self.layouts[layout as usize];
        let Role::Service(service) = &slot.role else { return };
        let at = service.wake().unwrap_or(Instant::NEVER);
        if at != std::mem::replace(&mut slot.armed, at) && at != Instant::NEVER {
            self.events.push_in_order(Class::Late, at, u64::from(layout), SERVICE << KIND_SHIFT | layout);
        }
    }

    /// Puts something of the agenda into the queue.
    pub(crate) fn post(&mut self, class: Class, at: Instant, due: Due) {
        let payload = AGENDA << KIND_SHIFT | self.agenda.add(due);
        self.events.push_as(class, at, payload);
    }

    /// Puts the end of a transfer into the queue.
    pub(crate) fn push_transfer(&mut self, at: Instant, transfer: Transfer) {
        let number = self.transfers.add(transfer);
        self.events.push(at, TRANSFER << KIND_SHIFT | number);
    }
}
