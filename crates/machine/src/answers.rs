//! The way back: a leg is done, perhaps with it a phase, an I/O, and the I/O above.

use hotband_units::Instant;

use crate::drive::Done;
use crate::graph::{MEMBER_SHIFT, Machine};
use crate::io::{Completion, Fault, Times};
use crate::mend::Next;
use crate::requests::{NONE, REBUILD, SERVICE};

impl Machine {
    /// A command to a drive is answered.
    #[inline]
    pub(crate) fn leg_done(&mut self, done: Done, completions: &mut Vec<Completion>) {
        let id = (done.token & u64::from(u32::MAX)) as u32;
        let member = (done.token >> MEMBER_SHIFT) as usize;
        if self.leg_ended(done.at, id, member, &done.times, done.fault) {
            self.climb(done.at, id, completions);
        }
    }

    /// Request `id` has ended, and with it perhaps those whose leg it is.
    #[inline]
    pub(crate) fn climb(&mut self, at: Instant, mut id: u32, completions: &mut Vec<Completion>) {
        loop {
            if self.repair.is_some() {
                self.let_go(at, id);
            }
            let request = self.requests.get(id);
            let (times, fault, member) = (request.past, request.fault, usize::from(request.parent_member));
            let (tag, submitted, parent) = (request.tag, request.submitted, request.parent);
            let waited = (request.target, request.held);
            self.requests.give_back(id);
            match parent {
                NONE => {
                    completions.push(Completion { tag, submitted, at, times, fault });
                    return self.host_answered(at, waited, completions);
                }
                SERVICE => {
                    let service = self.layouts[member].service().expect("only services have commands of their own");
                    service.answered(at, tag, &times, fault);
                    return self.stirred.push(member as u32);
                }
                REBUILD => return self.step_over(at, tag, fault.is_none()),
                _ => {}
            }
            if !self.leg_ended(at, parent, member, &times, fault) {
                return;
            }
            id = parent;
        }
    }

    /// A leg of request `id` is done; tells whether the request is.
    #[inline]
    fn leg_ended(&mut self, at: Instant, id: u32, member: usize, times: &Times, fault: Option<Fault>) -> bool {
        let request = self.requests.get(id);
        let layout = request.layout;
        let is_planned = layout != NONE && self.layouts[layout as usize].is_planner();
        request.pending -= 1;
        let pending = request.pending;
        if is_planned {
            self.layouts[layout as usize].states[member].pending -= 1;
        }
        match (&mut self.repair, fault) {
            (Some(repair), Some(Fault::Gone)) if is_planned => repair.held(id).failed.push(member as u16),
            _ => request.fault = request.fault.or(fault),
        }
        if pending > 0 {
            return false;
        }
        // The leg that ends a phase is its critical one: what it did not account for (a transfer to the
        // drive on a shared link) is link time, so that the parts add up to the latency.
        request.past = request.past.then(times);
        let elapsed = at.since(request.submitted);
        request.past.link += elapsed - request.past.total();
        if is_planned && self.repair.is_some() {
            match self.phase_over(at, id) {
                Next::GoesOn => {}
                Next::Again => return false,
                Next::Ends => {
                    self.requests.get(id).fault = Some(Fault::Gone);
                    return true;
                }
            }
        }
        let request = self.requests.get(id);
        if (request.next_leg as usize) < request.legs.len() {
            self.next_phase(at, id);
            return false;
        }
        true
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
}
