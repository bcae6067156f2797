//! The machine: parts in one arena, one event queue, one executor for every plan.

use hotband_units::{Bytes, Instant};

use crate::drive::{Command, Counter, Done, Drive};
use crate::events::EventQueue;
use crate::host_queue::HostQueue;
use crate::io::{Completion, Io, Op, Times};
use crate::link::Link;
use crate::plan::{Extent, Layout, Leg, MemberState, Plan};
use crate::repair::Repair;
use crate::requests::{NONE, Requests};
use crate::service::{Asked, Service, ServiceOut};
use crate::spec::{MemberRange, NodeRef};

/// A range of a node that a workload addresses by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Name ("db1"; the layout's or drive's own name where no volume was defined).
    pub name: String,
    /// What it lies on.
    pub node: NodeRef,
    /// First byte on the node.
    pub from: u64,
    /// Length in bytes.
    pub size: u64,
    /// I/Os that the host keeps outstanding at it, where it limits them: the others wait in the host.
    pub queue: Option<u32>,
}

/// What a machine is built from.
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
    /// What workloads may address.
    pub targets: Vec<Target>,
}

/// What answers for a layout: a planner, or a service with a state of its own.
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

/// Counters of one part at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartReport {
    /// Name in the spec.
    pub id: String,
    /// Kind of part ("disk", "link").
    pub kind: &'static str,
    /// Its counters since the beginning.
    pub counters: Vec<Counter>,
    /// What it holds at this moment.
    pub at_end: Vec<Counter>,
}

pub(crate) struct DriveSlot {
    pub(crate) name: String,
    pub(crate) drive: Box<dyn Drive>,
    link: Option<usize>,
    /// The wake-up that is in the event queue; `NEVER` if none is.
    armed: Instant,
}

pub(crate) struct LayoutSlot {
    pub(crate) name: String,
    pub(crate) role: Role,
    pub(crate) members: Vec<MemberRange>,
    pub(crate) states: Vec<MemberState>,
    pub(crate) turn: u64,
    /// Every write is sent with force unit access.
    forces: bool,
}

impl LayoutSlot {
    /// Whether it only plans.
    pub(crate) fn is_planner(&self) -> bool {
        matches!(self.role, Role::Planner(_))
    }

    /// The planner of a layout that is no service.
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

/// A transfer on a shared link: towards the drive, or back from it.
#[derive(Clone, Copy)]
enum Transfer {
    Inbound { drive: u32, command: Command },
    Outbound { done: Done, ready: Instant },
}

/// Event payloads: the kind in the top bit, the drive or transfer slot below it.
const TRANSFER: u32 = 1 << 23;

/// Member index in the upper half of a drive token, request id in the lower.
pub(crate) const MEMBER_SHIFT: u32 = 32;

/// A runnable whole, with four calls: `capacity`, `submit`, `wake`, `advance`.
pub struct Machine {
    pub(crate) drives: Vec<DriveSlot>,
    pub(crate) links: Vec<Link>,
    pub(crate) layouts: Vec<LayoutSlot>,
    pub(crate) targets: Vec<Target>,
    /// For each target, where the host limits what is outstanding.
    pub(crate) host_queues: Vec<Option<HostQueue>>,
    pub(crate) requests: Requests,
    pub(crate) events: EventQueue,
    transfers: Vec<Option<Transfer>>,
    free_transfers: Vec<u32>,
    done: Vec<Done>,
    pub(crate) plan: Plan,
    pub(crate) out: ServiceOut,
    /// Failures to come, where there are any.
    pub(crate) repair: Option<Box<Repair>>,
    /// The layouts that are services: they keep their own events, and are asked for the next one.
    pub(crate) services: Vec<u32>,
    /// The one of them that is due next, and when.
    pub(crate) next_served: Option<(Instant, u32)>,
    /// Services that a member has answered.
    pub(crate) stirred: Vec<u32>,
}

impl Machine {
    /// Puts parts together. The spec was checked before, so ranges lie inside their nodes.
    pub fn new(parts: MachineParts) -> Self {
        let drives = parts.drives.into_iter().zip(parts.link_of).map(|((name, drive), link)| DriveSlot {
            name,
            drive,
            link,
            armed: Instant::NEVER,
        });
        let layouts = parts.layouts.into_iter().zip(parts.forces).map(|((name, role, members), forces)| {
            let states = vec![MemberState::default(); members.len()];
            LayoutSlot { name, role, members, states, turn: 0, forces }
        });
        let drives: Vec<DriveSlot> = drives.collect();
        let mut layouts: Vec<LayoutSlot> = layouts.collect();
        for slot in &mut layouts {
            slot.note_volatile(&drives);
        }
        let is_service = |index: &u32| matches!(layouts[*index as usize].role, Role::Service(_));
        let services = (0..layouts.len() as u32).filter(is_service).collect();
        let host_queues = parts.targets.iter().map(|target| target.queue.map(HostQueue::new)).collect();
        let mut machine = Self {
            drives,
            links: parts.links,
            layouts,
            targets: parts.targets,
            host_queues,
            requests: Requests::default(),
            events: EventQueue::default(),
            transfers: Vec::new(),
            free_transfers: Vec::new(),
            done: Vec::new(),
            plan: Plan::default(),
            out: ServiceOut::default(),
            repair: None,
            services,
            next_served: None,
            stirred: Vec::new(),
        };
        machine.ask_services();
        machine
    }

    /// Takes an I/O at `now`, which never goes backwards.
    ///
    /// # Panics
    /// If the range ends beyond the target: callers check ranges when a workload is bound to a machine.
    #[inline]
    pub fn submit(&mut self, now: Instant, io: Io) {
        let target = &self.targets[usize::from(io.target)];
        assert!(io.offset + u64::from(io.len) <= target.size, "a range is checked when a workload is bound");
        if let Some(queue) = &mut self.host_queues[usize::from(io.target)]
            && !queue.admits(now, io)
        {
            return;
        }
        self.leave_host(now, io, now);
    }

    /// Starts an I/O of the host, which has waited there since `since`.
    #[inline]
    pub(crate) fn leave_host(&mut self, now: Instant, io: Io, since: Instant) {
        let target = &self.targets[usize::from(io.target)];
        let (node, offset) = (target.node, target.from + io.offset);
        let id = self.requests.take();
        let request = self.requests.get(id);
        request.tag = io.tag;
        request.parent = NONE;
        (request.target, request.held) = (io.target, now.since(since));
        request.op = io.op;
        request.fua = io.fua;
        request.version = io.version;
        request.entropy = io.entropy;
        self.route(now, id, node, offset, io.len);
    }

    /// When something is next due.
    #[inline]
    pub fn wake(&self) -> Option<Instant> {
        let event = self.events.peek().map(|(at, _)| at);
        if self.is_plain() {
            return event;
        }
        let repair = self.repair.as_ref().and_then(|repair| repair.wake());
        event.into_iter().chain(self.next_served.map(|(at, _)| at)).chain(repair).min()
    }

    /// Whether all events are in the queue: no services, and nothing fails. Most machines are so, and pay for neither.
    #[inline]
    fn is_plain(&self) -> bool {
        self.services.is_empty() && self.repair.is_none()
    }

    /// Whether a failure or what follows from it is next: what is due elsewhere at the same time goes first.
    #[inline]
    fn is_repair_due(&self, now: Instant) -> bool {
        let next = self.repair.as_ref().and_then(|repair| repair.wake()).filter(|at| *at <= now);
        next.is_some_and(|at| self.events.peek().is_none_or(|(event, _)| at < event))
    }

    /// Does everything due up to and at `now`; appends finished I/Os.
    pub fn advance(&mut self, now: Instant, completions: &mut Vec<Completion>) {
        loop {
            if !self.is_plain() && self.did_others(now, completions) {
                continue;
            }
            let Some((at, payload)) = self.events.peek().filter(|(at, _)| *at <= now) else { break };
            self.events.pop();
            if payload & TRANSFER == 0 {
                self.wake_drive(at, payload, completions);
            } else {
                self.end_transfer(at, payload & !TRANSFER, completions);
            }
            while let Some(layout) = self.stirred.pop() {
                self.run_service(at, layout, completions);
            }
        }
        self.drop_stale();
    }

    /// Does one thing of a service or of a repair, if it is next; tells whether it was.
    fn did_others(&mut self, now: Instant, completions: &mut Vec<Completion>) -> bool {
        if let Some((at, layout)) = self.due_service(now) {
            self.run_service(at, layout, completions);
            return true;
        }
        let is_due = self.is_repair_due(now);
        if is_due {
            self.run_repair(completions);
            self.drop_stale();
        }
        is_due
    }

    /// A wake-up that the drive has since moved is dropped, so that `wake` names only real ones.
    fn drop_stale(&mut self) {
        while let Some((at, payload)) = self.events.peek() {
            if payload & TRANSFER != 0 || self.drives[payload as usize].armed == at {
                break;
            }
            self.events.pop();
        }
    }

    fn wake_drive(&mut self, at: Instant, drive: u32, completions: &mut Vec<Completion>) {
        let slot = &mut self.drives[drive as usize];
        if slot.armed != at {
            return;
        }
        slot.armed = Instant::NEVER;
        let mut done = std::mem::take(&mut self.done);
        slot.drive.advance(at, &mut done);
        let link = slot.link;
        for finished in done.drain(..) {
            if let Some(repair) = &mut self.repair {
                repair.answered(drive, finished.token);
            }
            match link {
                Some(link) if finished.bytes_back > 0 => self.send_back(at, link, finished),
                _ => self.leg_done(finished, completions),
            }
        }
        self.done = done;
        self.arm(drive);
    }

    /// Forgets the drive's next wake-up.
    pub(crate) fn disarm(&mut self, drive: u32) {
        self.drives[drive as usize].armed = Instant::NEVER;
    }

    /// Puts the drive's next wake-up into the queue, if it is not there already.
    #[inline]
    fn arm(&mut self, drive: u32) {
        let slot = &mut self.drives[drive as usize];
        if let Some(at) = slot.drive.wake()
            && at != slot.armed
        {
            slot.armed = at;
            self.events.push(at, drive);
        }
    }

    /// Starts request `id` at `node`: one leg on a drive, or a plan of a layout.
    pub(crate) fn route(&mut self, now: Instant, id: u32, node: NodeRef, offset: u64, len: u32) {
        let request = self.requests.get(id);
        request.submitted = now;
        request.past = Times::default();
        request.fault = None;
        request.next_leg = 0;
        match node {
            NodeRef::Drive(drive) => {
                request.layout = NONE;
                request.pending = 1;
                let (op, fua, version, entropy) = (request.op, request.fua, request.version, request.entropy);
                let command = Command { token: u64::from(id), op, offset, len, fua, version, entropy };
                self.send(now, drive, command);
            }
            NodeRef::Layout(layout) => {
                request.layout = layout;
                request.pending = 1;
                let (op, entropy) = (request.op, request.entropy);
                if let Some(service) = self.layouts[layout as usize].service() {
                    service.submit(now, Asked { token: id, op, offset, len, entropy });
                    return self.ask_services();
                }
                if self.repair.is_some() {
                    return self.admit(now, id, layout, Extent { op, offset, len });
                }
                let mut plan = std::mem::take(&mut self.plan);
                plan.clear();
                let slot = &mut self.layouts[layout as usize];
                if op == Op::Flush {
                    let members = 0..slot.members.len() as u16;
                    plan.legs.extend(members.map(|member| Leg { phase: 0, member, op, offset: 0, len: 0 }));
                } else {
                    slot.planner().plan(Extent { op, offset, len }, &slot.states, slot.turn, &mut plan);
                    slot.turn += 1;
                }
                self.start(now, id, &plan.legs);
                self.plan = plan;
            }
        }
    }

    /// Keeps a plan of several phases with its request and issues the first phase.
    pub(crate) fn start(&mut self, now: Instant, id: u32, legs: &[Leg]) {
        debug_assert!(!legs.is_empty(), "a layout plans at least one leg");
        let first = legs.iter().take_while(|leg| leg.phase == legs[0].phase).count();
        if first < legs.len() || self.repair.is_some() {
            let request = self.requests.get(id);
            request.legs.extend_from_slice(legs);
        }
        self.issue(now, id, &legs[..first]);
    }

    pub(crate) fn issue(&mut self, now: Instant, id: u32, legs: &[Leg]) {
        let request = self.requests.get(id);
        request.pending = legs.len() as u32;
        request.next_leg += legs.len() as u32;
        let (layout, version, entropy) = (request.layout as usize, request.version, request.entropy);
        let fua = request.fua || self.layouts[layout].forces;
        for leg in legs {
            let member = usize::from(leg.member);
            let slot = &mut self.layouts[layout];
            let range = slot.members[member];
            note_sent(&mut slot.states[member], leg);
            let offset = range.from + leg.offset;
            match range.node {
                NodeRef::Drive(drive) => {
                    let token = (u64::from(leg.member) << MEMBER_SHIFT) | u64::from(id);
                    self.send(now, drive, Command { token, op: leg.op, offset, len: leg.len, fua, version, entropy });
                }
                NodeRef::Layout(_) => {
                    let child = self.requests.take();
                    let request = self.requests.get(child);
                    request.parent = id;
                    request.parent_member = leg.member;
                    request.op = leg.op;
                    request.fua = fua;
                    request.version = version;
                    request.entropy = entropy;
                    self.route(now, child, range.node, offset, leg.len);
                }
            }
        }
    }

    /// Hands a command to a drive; the data of a write first crosses the shared link, where there is one.
    #[inline]
    fn send(&mut self, now: Instant, drive: u32, command: Command) {
        if let Some(repair) = &mut self.repair
            && !repair.sent(now, drive, command.token)
        {
            return;
        }
        match self.drives[drive as usize].link {
            Some(link) if command.op == Op::Write => {
                let at = self.links[link].transfer(now, u64::from(command.len));
                self.push_transfer(at, Transfer::Inbound { drive, command });
            }
            _ => {
                self.drives[drive as usize].drive.submit(now, command);
                self.arm(drive);
            }
        }
    }

    fn send_back(&mut self, now: Instant, link: usize, done: Done) {
        let at = self.links[link].transfer(now, u64::from(done.bytes_back));
        self.push_transfer(at, Transfer::Outbound { done, ready: now });
    }

    fn push_transfer(&mut self, at: Instant, transfer: Transfer) {
        let slot = self.free_transfers.pop().unwrap_or_else(|| {
            self.transfers.push(None);
            self.transfers.len() as u32 - 1
        });
        self.transfers[slot as usize] = Some(transfer);
        self.events.push(at, TRANSFER | slot);
    }

    fn end_transfer(&mut self, at: Instant, slot: u32, completions: &mut Vec<Completion>) {
        let transfer = self.transfers[slot as usize].take().expect("a transfer ends once");
        self.free_transfers.push(slot);
        match transfer {
            // Its command was answered for when the drive failed.
            Transfer::Inbound { drive, .. } if self.repair.as_ref().is_some_and(|r| r.dead[drive as usize]) => {}
            Transfer::Inbound { drive, command } => {
                self.drives[drive as usize].drive.submit(at, command);
                self.arm(drive);
            }
            Transfer::Outbound { mut done, ready } => {
                done.times.link += at.since(ready);
                done.at = at;
                self.leg_done(done, completions);
            }
        }
    }
}

#[inline]
fn note_sent(state: &mut MemberState, leg: &Leg) {
    state.pending += 1;
    state.last_end = leg.offset + u64::from(leg.len);
    if leg.op == Op::Read {
        state.read_end = state.last_end;
    }
}
