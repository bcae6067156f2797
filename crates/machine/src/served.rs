//! Services at work in the machine: whose turn it is, what they send and answer.

use hotband_units::Instant;

use crate::drive::Done;
use crate::graph::{Machine, Role};
use crate::io::Completion;
use crate::requests::SERVICE;

impl Machine {
    /// Asks the services which of them next has something to do, and when.
    pub(crate) fn ask_services(&mut self) {
        let wake = |layout: &u32| match &self.layouts[*layout as usize].role {
            Role::Service(service) => Some((service.wake()?, *layout)),
            Role::Planner(_) => None,
        };
        self.next_served = self.services.iter().filter_map(wake).min();
    }

    /// The service whose turn it is: what is due elsewhere at the same time goes first.
    #[inline]
    pub(crate) fn due_service(&self, now: Instant) -> Option<(Instant, u32)> {
        let next = self.next_served.filter(|(at, _)| *at <= now)?;
        let event = self.events.peek().map_or(Instant::NEVER, |(at, _)| at);
        (next.0 < event).then_some(next)
    }

    /// A service does what is due; its commands go out, its answers to whoever asked.
    pub(crate) fn run_service(&mut self, now: Instant, layout: u32, completions: &mut Vec<Completion>) {
        let mut out = std::mem::take(&mut self.out);
        let slot = &mut self.layouts[layout as usize];
        slot.service().expect("only services are stirred").advance(now, &mut out);
        for command in out.commands.drain(..) {
            let range = self.layouts[layout as usize].members[usize::from(command.member)];
            let id = self.requests.take();
            let request = self.requests.get(id);
            request.tag = command.token;
            request.parent = SERVICE;
            request.parent_member = layout as u16;
            request.op = command.op;
            request.fua = false;
            request.version = 0;
            request.entropy = command.entropy;
            self.route(now, id, range.node, range.from + command.offset, command.len);
        }
        for served in out.served.drain(..) {
            let (token, at) = (u64::from(served.token), now);
            let done = Done { token, at, times: served.times, bytes_back: 0, fault: served.fault };
            self.leg_done(done, completions);
        }
        self.out = out;
        self.ask_services();
    }
}
