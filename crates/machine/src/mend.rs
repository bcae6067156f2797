//! The executor of plans where drives may fail: what is planned again, what waits, what is given up.
//!
//! Rules, in the order in which they are needed:
//! 1. A write to a layout with redundancy holds the columns that it changes, alone, from before it is planned until it is
//!    answered. So does a step of a rebuild, until all before it is rebuilt. A read that is computed from several members
//!    shares its columns with other such reads.
//! 2. A phase whose legs met a failed member is planned again, from the beginning, with the members that are left; so is a
//!    plan of several phases whose members changed between two of them. Writing the same data twice does no harm.
//! 3. A write whose last phase met a failed member is done, as long as what it wrote can still be read.
//! 4. What cannot be read any more ends with a fault, after [`GONE_AFTER`].

use hotband_units::Instant;

use crate::graph::{Machine, Role};
use crate::io::{Completion, Fault, Op, Times};
use crate::plan::{Extent, Leg, MemberState};
use crate::repair::{Due, GONE_AFTER, Held, PhaseEnd, Repair};
use crate::requests::NONE;

/// What becomes of a request whose phase is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The next phase, or its end.
    GoesOn,
    /// It was planned again.
    Again,
    /// It ends, and what it asked for is gone.
    Ends,
}

impl Machine {
    pub(crate) fn mending(&mut self) -> &mut Repair {
        self.repair.as_mut().expect("asked only where a failure is to come")
    }

    /// Takes request `id`, which asks a layout for `extent`.
    pub(crate) fn admit(&mut self, now: Instant, id: u32, layout: u32, extent: Extent) {
        *self.mending().held(id) = Held { layout, extent: Some(extent), ..Held::default() };
        let redundancy = self.layouts[layout as usize].planner().redundancy();
        if let (Some(redundancy), Op::Write | Op::Trim) = (redundancy, extent.op) {
            let mut columns = Vec::new();
            redundancy.columns(extent, &mut columns);
            if !self.lock(now, id, columns, true) {
                return;
            }
        }
        self.plan_again(now, id);
    }

    /// Asks for columns; tells whether `id` has them now.
    pub(crate) fn lock(&mut self, now: Instant, id: u32, columns: Vec<std::ops::Range<u64>>, alone: bool) -> bool {
        let repair = self.mending();
        let lock = repair.new_lock();
        let held = repair.held(id);
        (held.lock, held.waits) = (lock, now);
        let layout = held.layout as usize;
        repair.locks[layout].acquire(lock, id, columns, alone)
    }

    /// Gives columns back and lets those go on who waited for them.
    pub(crate) fn unlock(&mut self, now: Instant, layout: u32, lock: u64) {
        let mut granted = Vec::new();
        self.mending().locks[layout as usize].release(lock, &mut granted);
        for id in granted {
            let waited = now.since(self.mending().held(id).waits);
            self.requests.get(id).past.queue += waited;
            self.plan_again(now, id);
        }
    }

    /// Plans request `id` with the members as they are and starts it, or lets it wait, or gives it up.
    pub(crate) fn plan_again(&mut self, now: Instant, id: u32) {
        let held = self.mending().held(id);
        held.plans += 1;
        held.failed.clear();
        let (layout, extent, has_lock) = (held.layout, held.extent, held.lock != 0);
        let extent = extent.expect("noted when it was admitted");
        let epoch = self.mending().epochs[layout as usize];
        self.mending().held(id).epoch = epoch;
        let mut plan = std::mem::take(&mut self.plan);
        self.plan_now(id, &mut plan);
        if plan.lost {
            self.mending().schedule(now + GONE_AFTER, Due::Lost(id));
        } else if plan.decodes && !has_lock {
            let mut columns = Vec::new();
            let redundancy = self.layouts[layout as usize].planner().redundancy();
            redundancy.expect("only redundancy can be computed from").columns(extent, &mut columns);
            if self.lock(now, id, columns, false) {
                self.start_again(now, id, &plan.legs);
            }
        } else {
            self.start_again(now, id, &plan.legs);
        }
        self.plan = plan;
    }

    fn start_again(&mut self, now: Instant, id: u32, legs: &[Leg]) {
        let request = self.requests.get(id);
        request.legs.clear();
        request.next_leg = 0;
        self.start(now, id, legs);
    }

    /// The plan of request `id` with the members as they are.
    fn plan_now(&mut self, id: u32, plan: &mut crate::plan::Plan) {
        plan.clear();
        let held = self.mending().held(id);
        let (layout, job) = (held.layout as usize, held.job);
        let extent = held.extent.expect("noted when it was admitted");
        let is_degraded = self.mending().degraded[layout];
        let slot = &mut self.layouts[layout];
        if let Some((_, member)) = job {
            let range = extent.offset..extent.offset + u64::from(extent.len);
            let redundancy = slot.planner().redundancy().expect("only redundancy is rebuilt");
            return redundancy.plan_rebuild(member, &range, &slot.states, plan);
        }
        if extent.op == Op::Flush {
            let there = |member: &u16| slot.states[usize::from(*member)].present_to > 0;
            let members = (0..slot.members.len() as u16).filter(there);
            plan.legs.extend(members.map(|member| Leg { phase: 0, member, op: Op::Flush, offset: 0, len: 0 }));
            plan.lost = plan.legs.is_empty();
            return;
        }
        if is_degraded {
            slot.planner().plan_degraded(extent, &slot.states, slot.turn, plan);
        } else {
            slot.planner().plan(extent, &slot.states, slot.turn, plan);
        }
        slot.turn += 1;
    }

    /// A phase of request `id` is over.
    pub(crate) fn phase_over(&mut self, now: Instant, id: u32) -> Next {
        self.tell_watch(id);
        let held = self.mending().held(id);
        let (layout, job, epoch) = (held.layout as usize, held.job, held.epoch);
        let (plans, has_failed) = (held.plans, !held.failed.is_empty());
        if let Some((job, _)) = job {
            if !self.mending().jobs[job as usize].is_running() {
                return Next::Ends;
            }
            if !has_failed {
                self.read_errors(id, job);
            }
        }
        let repair = self.mending();
        let is_stale = repair.epochs[layout] != epoch;
        let failed = std::mem::take(&mut repair.held(id).failed);
        let request = self.requests.get(id);
        let has_more = (request.next_leg as usize) < request.legs.len();
        if !(has_failed || has_more && is_stale) {
            return Next::GoesOn;
        }
        let phase = request.legs[request.next_leg as usize - 1].phase;
        let is_read_lost = |leg: &Leg| leg.phase == phase && leg.op == Op::Read && failed.contains(&leg.member);
        if has_more || request.legs.iter().any(is_read_lost) {
            // More plans than members can fail: a member answers that it has lost what it says that it holds.
            if plans as usize > self.layouts[layout].members.len() + 2 + 2 * epoch as usize {
                return Next::Ends;
            }
            self.plan_again(now, id);
            return Next::Again;
        }
        let mut plan = std::mem::take(&mut self.plan);
        self.plan_now(id, &mut plan);
        let is_lost = plan.lost;
        self.plan = plan;
        if is_lost { Next::Ends } else { Next::GoesOn }
    }

    fn tell_watch(&mut self, id: u32) {
        let Some(mut watch) = self.mending().watch.take() else { return };
        let held = self.mending().held(id).clone();
        let request = self.requests.get(id);
        watch.phase_over(&PhaseEnd {
            request: id,
            tag: (request.parent == NONE).then_some(request.tag),
            layout: held.layout,
            extent: held.extent.expect("noted when it was admitted"),
            rebuilds: held.job.map(|(_, member)| member),
            legs: &request.legs,
            phase: request.legs[request.next_leg as usize - 1].phase,
            failed: &held.failed,
        });
        self.mending().watch = Some(watch);
    }

    /// Request `id` has ended: its columns are free for others. A step of a rebuild keeps them for a while.
    pub(crate) fn let_go(&mut self, now: Instant, id: u32) {
        let held = std::mem::take(self.mending().held(id));
        if held.job.is_none() && held.lock != 0 {
            self.unlock(now, held.layout, held.lock);
        }
    }

    /// Does the next thing on the agenda.
    pub(crate) fn run_repair(&mut self, completions: &mut Vec<Completion>) {
        let Some((at, due)) = self.mending().next() else { return };
        match due {
            Due::Failure(drive) => self.fail_drive(at, drive, completions),
            Due::Spare(drive) => self.take_spare(at, drive),
            Due::Pace(job) => {
                self.mending().jobs[job as usize].paused = false;
                self.go_on(at, job);
            }
            Due::Refused(token) => self.refuse(at, token, completions),
            Due::Lost(id) => {
                let request = self.requests.get(id);
                request.fault = Some(Fault::Gone);
                let waited = at.since(request.submitted) - request.past.total();
                request.past.queue += waited;
                self.climb(at, id, completions);
            }
        }
    }

    /// The command `token` ends without an answer of its drive.
    pub(crate) fn refuse(&mut self, at: Instant, token: u64, completions: &mut Vec<Completion>) {
        let times = Times::default();
        self.leg_done(crate::drive::Done { token, at, times, bytes_back: 0, fault: Some(Fault::Gone) }, completions);
    }

    /// The states of a layout whose members have lost data of their own, told to the layouts above.
    pub(crate) fn layout_states(&self, layout: u32) -> (&dyn crate::plan::Layout, &[MemberState]) {
        let slot = &self.layouts[layout as usize];
        (slot.planner(), &slot.states)
    }

    /// Whether any layout is a service.
    pub fn has_service(&self) -> bool {
        self.layouts.iter().any(|slot| matches!(slot.role, Role::Service(_)))
    }
}
