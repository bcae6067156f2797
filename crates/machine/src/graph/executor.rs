//! The executor: an I/O enters a node, is planned, goes out in legs and phases, and its completion
//! goes to its requester.
//!
//! Where drives may fail, requests of layouts are *guarded*: `attempts` decides which requests wait, are planned
//! again or fail. Nothing else differs: a degraded layout is one whose members say so when it plans.

use hotband_units::{Instant, Span};

use crate::drive::{Command, Done, OF_REBUILD};
use crate::graph::origin::{Access, Origin};
use crate::graph::{Machine, Role};
use crate::io::{Completion, Fault, Op, Times};
use crate::plan::{Leg, MemberState, Plan};
use crate::repair::attempts::Next;
use crate::service::ServiceIo;
use crate::spec::NodeRef;

/// A drive's token: the request in the lower half, the member above it, and whether a rebuild asks in the top bit.
const MEMBER_SHIFT: u32 = 32;

impl Machine {
    /// Starts request `id` at `node`: one command to a drive, or a plan of a layout.
    #[inline]
    pub(crate) fn route(&mut self, now: Instant, id: u32, node: NodeRef, access: Access) {
        let request = self.requests.get(id);
        (request.node, request.submitted) = (node, now);
        match node {
            NodeRef::Drive(drive) => {
                let Access { op, offset, len, fua, version, entropy } = access;
                self.send(now, drive, Command { token: u64::from(id), op, offset, len, fua, version, entropy });
            }
            NodeRef::Layout(layout) => {
                request.enter(access);
                self.enter(now, id, layout);
            }
        }
    }

    /// Request `id` has come to a layout.
    fn enter(&mut self, now: Instant, id: u32, layout: u32) {
        if let Role::Service(service) = &mut self.layouts[layout as usize].role {
            let Access { op, offset, len, fua, version, entropy } = self.requests.get(id).access;
            service.submit(now, ServiceIo { token: id, op, offset, len, fua, version, entropy });
            return self.arm_service(layout);
        }
        if self.repair.is_some() && !self.guard(now, id) {
            return;
        }
        self.plan(now, id);
    }

    /// Plans request `id` with the members as they are, and starts it, lets it wait, or gives it up.
    pub(crate) fn plan(&mut self, now: Instant, id: u32) {
        let mut plan = std::mem::take(&mut self.plan);
        plan.clear();
        self.plan_into(id, &mut plan);
        if !self.requests.get(id).guarded || self.try_again(now, id, &plan) {
            self.start(now, id, &plan.legs);
        }
        self.plan = plan;
    }

    /// Plans request `id` with the current members.
    pub(crate) fn plan_into(&mut self, id: u32, plan: &mut Plan) {
        let request = self.requests.get(id);
        let (extent, origin) = (request.access.extent(), request.origin);
        let slot = &mut self.layouts[request.layout() as usize];
        if let Origin::Rebuild { member, .. } = origin {
            let range = extent.offset..extent.offset + u64::from(extent.len);
            let redundancy = slot.planner().redundancy().expect("only redundancy is rebuilt");
            redundancy.plan_rebuild(member, &range, &slot.states, plan);
        } else if extent.op == Op::Flush {
            plan.flush(slot.members());
        } else {
            slot.planner().plan(extent, slot.members(), slot.turn, plan);
            slot.turn += 1;
        }
    }

    /// Keeps a plan of several phases with its request and issues the first phase.
    fn start(&mut self, now: Instant, id: u32, legs: &[Leg]) {
        debug_assert!(!legs.is_empty(), "a layout plans at least one leg");
        let first = legs.iter().take_while(|leg| leg.phase == legs[0].phase).count();
        let request = self.requests.get(id);
        request.next_leg = 0;
        request.legs.clear();
        if first < legs.len() || request.guarded {
            request.legs.extend_from_slice(legs);
        }
        self.issue(now, id, &legs[..first]);
    }

    /// The phase of a plan that follows the one that ended.
    fn next_phase(&mut self, now: Instant, id: u32) {
        let request = self.requests.get(id);
        let legs = std::mem::take(&mut request.legs);
        let from = request.next_leg as usize;
        let count = legs[from..].iter().take_while(|leg| leg.phase == legs[from].phase).count();
        self.issue(now, id, &legs[from..from + count]);
        self.requests.get(id).legs = legs;
    }

    fn issue(&mut self, now: Instant, id: u32, legs: &[Leg]) {
        let request = self.requests.get(id);
        request.pending = legs.len() as u32;
        request.next_leg += legs.len() as u32;
        let (layout, Access { fua, version, entropy, .. }) = (request.layout() as usize, request.access);
        let mark = if matches!(request.origin, Origin::Rebuild { .. }) { OF_REBUILD } else { 0 };
        let fua = fua || self.layouts[layout].forces;
        for leg in legs {
            let slot = &mut self.layouts[layout];
            let range = slot.members[usize::from(leg.member)];
            note_sent(&mut slot.states[usize::from(leg.member)], leg);
            let (op, offset, len) = (leg.op, range.from + leg.offset, leg.len);
            match range.node {
                NodeRef::Drive(drive) => {
                    let token = mark | u64::from(leg.member) << MEMBER_SHIFT | u64::from(id);
                    self.send(now, drive, Command { token, op, offset, len, fua, version, entropy });
                }
                NodeRef::Layout(_) => {
                    let child = self.requests.take(Origin::Leg { parent: id, member: leg.member });
                    self.route(now, child, range.node, Access { op, offset, len, fua, version, entropy });
                }
            }
        }
    }

    /// A command to a drive is completed.
    #[inline]
    pub(crate) fn leg_done(&mut self, done: &Done, completions: &mut Vec<Completion>) {
        let id = done.token as u32;
        if let NodeRef::Drive(_) = self.requests.get(id).node {
            return self.answer(done.at, id, (done.times, done.fault), completions);
        }
        let member = (done.token >> MEMBER_SHIFT) as u16;
        if let Some(end) = self.leg_ended(done.at, id, member, (done.times, done.fault)) {
            self.climb(done.at, id, end, completions);
        }
    }

    /// Request `id` is completed by a drive or a service. Time missing from them (a transfer on a shared link) is
    /// link time, so that the parts add up to the latency.
    #[inline]
    pub(crate) fn answer(&mut self, at: Instant, id: u32, (mut times, fault): End, completions: &mut Vec<Completion>) {
        times.link += at.since(self.requests.get(id).submitted) - times.total();
        self.climb(at, id, (times, fault), completions);
    }

    /// Request `id` has ended, and with it perhaps those whose leg it is.
    #[inline]
    pub(crate) fn climb(&mut self, at: Instant, mut id: u32, mut end: End, completions: &mut Vec<Completion>) {
        loop {
            let request = self.requests.get(id);
            let (origin, submitted) = (request.origin, request.submitted);
            if std::mem::take(&mut request.guarded) {
                self.let_go(at, id);
            }
            self.requests.give_back(id);
            let (times, fault) = end;
            match origin {
                Origin::Host { tag, volume, waited } => {
                    completions.push(Completion { tag, submitted, at, times, fault });
                    return self.host_answered(at, (volume, waited), completions);
                }
                Origin::Core { work } => return self.answer_core(at, work, end),
                Origin::Leg { parent, member } => match self.leg_ended(at, parent, member, end) {
                    Some(above) => (id, end) = (parent, above),
                    None => return,
                },
                Origin::Service { layout, token } => {
                    let service = self.layouts[layout as usize].service().expect("only services have commands");
                    service.answered(at, token, &times, fault);
                    return self.answered.push(layout);
                }
                Origin::Rebuild { job, step, .. } => return self.step_over(at, (job, step), fault.is_none()),
            }
        }
    }

    /// The last of `completions` is an I/O to `volume` that had waited in the host for `waited`: it did so since it
    /// came, and the next one that waits continues.
    #[inline]
    pub(crate) fn host_answered(&mut self, at: Instant, (volume, waited): (u16, Span), completions: &mut [Completion]) {
        let Some(queue) = &mut self.host_queues[usize::from(volume)] else { return };
        if let Some(done) = completions.last_mut() {
            done.times.queue += waited;
            done.submitted = Instant(done.submitted.0 - waited.0);
        }
        if let Some((since, io)) = queue.answered() {
            self.leave_host(at, io, since);
        }
    }

    /// A leg of request `id` is done; how the request ended, if it has.
    #[inline]
    fn leg_ended(&mut self, at: Instant, id: u32, member: u16, (times, fault): End) -> Option<End> {
        let request = self.requests.get(id);
        let layout = request.layout();
        request.pending -= 1;
        let (pending, guarded) = (request.pending, request.guarded);
        self.layouts[layout as usize].states[usize::from(member)].pending -= 1;
        if guarded && fault == Some(Fault::Gone) {
            self.leg_failed(id, member);
        } else {
            request.fault = request.fault.or(fault);
        }
        if pending > 0 {
            return None;
        }
        // The leg that ends a phase is its critical one: what it did not account for (a transfer to the
        // drive on a shared link) is link time, so that the parts add up to the latency.
        let request = self.requests.get(id);
        request.past = request.past.then(&times);
        let elapsed = at.since(request.submitted);
        request.past.link += elapsed - request.past.total();
        if guarded {
            match self.phase_over(at, id) {
                Next::GoesOn => {}
                Next::Again => return None,
                Next::Ends => return Some((self.requests.get(id).past, Some(Fault::Gone))),
            }
        }
        let request = self.requests.get(id);
        if (request.next_leg as usize) < request.legs.len() {
            self.next_phase(at, id);
            return None;
        }
        Some((request.past, request.fault))
    }
}

/// Where the time of something that has ended went, and what went wrong, if anything.
pub(crate) type End = (Times, Option<Fault>);

#[inline]
fn note_sent(state: &mut MemberState, leg: &Leg) {
    state.pending += 1;
    state.last_end = leg.offset + u64::from(leg.len);
    if leg.op == Op::Read {
        state.read_end = state.last_end;
    }
}
