//! Services at work in the machine: what they send and answer.

use hotband_units::Instant;

use crate::graph::Machine;
use crate::graph::origin::{Access, Origin};
use crate::io::{Completion, Fault, Times};
use crate::service::MemberCommand;
use crate::spec::NodeRef;

impl Machine {
    /// A service does its due work; its commands go out, its completions to the requesters.
    pub(crate) fn run_service(&mut self, now: Instant, layout: u32, completions: &mut Vec<Completion>) {
        let mut out = std::mem::take(&mut self.out);
        let slot = &mut self.layouts[layout as usize];
        slot.service().expect("only services are woken and answered").advance(now, &mut out);
        for command in out.commands.drain(..) {
            let range = self.layouts[layout as usize].members[usize::from(command.member)];
            let MemberCommand { op, len, fua, version, entropy, .. } = command;
            let offset = range.from + command.offset;
            let id = self.requests.take(Origin::Service { layout, token: command.token });
            self.route(now, id, range.node, Access { op, offset, len, fua, version, entropy });
        }
        for command in out.below.drain(..) {
            self.send_below(now, layout, command);
        }
        for served in out.served.drain(..) {
            self.answer(now, served.token, (served.times, served.fault), completions);
        }
        self.out = out;
        self.arm_service(layout);
    }

    /// A service writes or reads members of the layout that is its first member; if that is degraded, only
    /// its planner knows how.
    fn send_below(&mut self, now: Instant, layout: u32, command: MemberCommand) {
        let MemberCommand { token, member, op, len, fua, version, entropy, .. } = command;
        let NodeRef::Layout(below) = self.layouts[layout as usize].members[0].node else {
            unreachable!("only what stands before a layout has commands to its members")
        };
        let slot = &self.layouts[below as usize];
        if slot.degraded {
            let service = self.layouts[layout as usize].service().expect("only services have commands");
            service.answered(now, token, &Times::default(), Some(Fault::Gone));
            return self.answered.push(layout);
        }
        let (range, fua) = (slot.members[usize::from(member)], fua || slot.forces);
        let id = self.requests.take(Origin::Service { layout, token });
        let offset = range.from + command.offset;
        self.route(now, id, range.node, Access { op, offset, len, fua, version, entropy });
    }
}
