//! Requests of layouts whose drives may fail: waiting, planning again, and failure.
//!
//! Rules, in the order in which they are needed:
//! 1. A write to a layout with redundancy holds the columns that it changes, alone, from before it is planned until it
//!    is completed. A step of a rebuild does the same, until everything before it is rebuilt. A read that is computed
//!    from several members shares its columns with other such reads.
//! 2. A phase whose legs met a failed member is planned again, from the beginning, with the members that are left; so
//!    is a plan of several phases whose members changed between two of them. Writing the same data twice does no harm.
//! 3. A write whose last phase met a failed member is done, as long as what it wrote can still be read.
//! 4. Unreadable data ends with a fault, after [`GONE_AFTER`].

use std::ops::Range;

use hotband_units::Instant;

use crate::graph::Machine;
use crate::graph::origin::Origin;
use crate::graph::queue::Class;
use crate::io::Op;
use crate::plan::{Leg, Plan};
use crate::repair::agenda::Due;
use crate::repair::{Attempt, GONE_AFTER, PhaseEnd, Repair};

/// Next step of a request whose phase is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The next phase, or its end.
    GoesOn,
    /// The request was planned again.
    Again,
    /// The request ends with an error, because its data is lost.
    Ends,
}

impl Machine {
    pub(crate) fn repair_mut(&mut self) -> &mut Repair {
        self.repair.as_mut().expect("asked only where a failure is to come")
    }

    pub(crate) fn repair_ref(&self) -> &Repair {
        self.repair.as_ref().expect("asked only where a failure is to come")
    }

    /// Request `id` has come to a layout whose drives may fail; returns whether it may be planned now.
    pub(crate) fn guard(&mut self, now: Instant, id: u32) -> bool {
        *self.repair_mut().attempt(id) = Attempt::default();
        let request = self.requests.get(id);
        request.guarded = true;
        let extent = request.access.extent();
        let redundancy = self.layouts[request.layout() as usize].planner().redundancy();
        let (Some(redundancy), Op::Write | Op::Trim) = (redundancy, extent.op) else { return true };
        let mut columns = Vec::new();
        redundancy.columns(extent, &mut columns);
        self.lock(now, id, columns, true)
    }

    /// Requests columns; returns whether `id` has them now.
    pub(crate) fn lock(&mut self, now: Instant, id: u32, columns: Vec<Range<u64>>, alone: bool) -> bool {
        let layout = self.requests.get(id).layout() as usize;
        let repair = self.repair_mut();
        let lock = repair.new_lock();
        let attempt = repair.attempt(id);
        (attempt.lock, attempt.waits) = (lock, now);
        repair.locks[layout].acquire(lock, id, columns, alone)
    }

    /// Gives columns back and lets the requests that waited for them continue.
    pub(crate) fn unlock(&mut self, now: Instant, layout: u32, lock: u64) {
        let mut granted = Vec::new();
        self.repair_mut().locks[layout as usize].release(lock, &mut granted);
        for id in granted {
            let waited = now.since(self.repair_mut().attempt(id).waits);
            self.requests.get(id).past.queue += waited;
            self.plan(now, id);
        }
    }

    /// Guarded request `id` has been planned; returns whether it may start now. If not it waits, or is given up.
    pub(crate) fn try_again(&mut self, now: Instant, id: u32, plan: &Plan) -> bool {
        let request = self.requests.get(id);
        let (layout, extent) = (request.layout() as usize, request.access.extent());
        let epoch = self.repair_ref().epochs[layout];
        let attempt = self.repair_mut().attempt(id);
        attempt.plans += 1;
        attempt.failed.clear();
        attempt.epoch = epoch;
        let has_lock = attempt.lock != 0;
        if plan.lost {
            self.post(Class::Last, now + GONE_AFTER, Due::Lost(id));
            return false;
        }
        if !plan.decodes || has_lock {
            return true;
        }
        let mut columns = Vec::new();
        let redundancy = self.layouts[layout].planner().redundancy();
        redundancy.expect("only redundancy can be computed from").columns(extent, &mut columns);
        self.lock(now, id, columns, false)
    }

    /// A leg of guarded request `id` came to nothing.
    pub(crate) fn leg_failed(&mut self, id: u32, member: u16) {
        self.repair_mut().attempt(id).failed.push(member);
    }

    /// A phase of guarded request `id` is over.
    pub(crate) fn phase_over(&mut self, now: Instant, id: u32) -> Next {
        self.tell_watch(id);
        let request = self.requests.get(id);
        let (layout, origin) = (request.layout() as usize, request.origin);
        let attempt = self.repair_mut().attempt(id);
        let (plans, epoch) = (attempt.plans, attempt.epoch);
        let failed = std::mem::take(&mut attempt.failed);
        if let Origin::Rebuild { job, .. } = origin {
            if !self.repair_ref().jobs[job as usize].is_running() {
                return Next::Ends;
            }
            if failed.is_empty() {
                self.read_errors(id, job);
            }
        }
        let is_stale = self.repair_ref().epochs[layout] != epoch;
        let request = self.requests.get(id);
        let has_more = (request.next_leg as usize) < request.legs.len();
        if failed.is_empty() && !(has_more && is_stale) {
            return Next::GoesOn;
        }
        let phase = request.legs[request.next_leg as usize - 1].phase;
        let is_read_lost = |leg: &Leg| leg.phase == phase && leg.op == Op::Read && failed.contains(&leg.member);
        if has_more || request.legs.iter().any(is_read_lost) {
            // More plans than members can fail: a member answers that it has lost what it says that it holds.
            if plans as usize > self.layouts[layout].members.len() + 2 + 2 * epoch as usize {
                return Next::Ends;
            }
            self.plan(now, id);
            return Next::Again;
        }
        let mut plan = std::mem::take(&mut self.plan);
        plan.clear();
        self.plan_into(id, &mut plan);
        let is_lost = plan.lost;
        self.plan = plan;
        if is_lost { Next::Ends } else { Next::GoesOn }
    }

    fn tell_watch(&mut self, id: u32) {
        let Some(mut watch) = self.repair_mut().watch.take() else { return };
        let failed = self.repair_mut().attempt(id).failed.clone();
        let request = self.requests.get(id);
        watch.phase_over(&PhaseEnd {
            request: id,
            tag: match request.origin {
                Origin::Host { tag, .. } => Some(tag),
                Origin::Core { work } => self.host.as_mut().map(|host| host.tag(work)),
                _ => None,
            },
            layout: request.layout(),
            extent: request.access.extent(),
            rebuilds: if let Origin::Rebuild { member, .. } = request.origin { Some(member) } else { None },
            legs: &request.legs,
            phase: request.legs[request.next_leg as usize - 1].phase,
            failed: &failed,
        });
        self.repair_mut().watch = Some(watch);
    }

    /// Guarded request `id` has ended: its columns are free for others. A step of a rebuild keeps them for a while.
    pub(crate) fn let_go(&mut self, now: Instant, id: u32) {
        let attempt = std::mem::take(self.repair_mut().attempt(id));
        let request = self.requests.get(id);
        if !matches!(request.origin, Origin::Rebuild { .. }) && attempt.lock != 0 {
            let layout = request.layout();
            self.unlock(now, layout, attempt.lock);
        }
    }
}
