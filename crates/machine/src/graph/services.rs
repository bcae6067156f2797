//! Services at work in the machine: what they send and answer.

use hotband_units::Instant;

use crate::graph::Machine;
use crate::graph::origin::{Access, Origin};
use crate::io::Completion;
use crate::service::MemberCommand;

impl Machine {
    /// A service does what is due; its commands go out, its answers to whoever asked.
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
        for served in out.served.drain(..) {
            self.answer(now, served.token, (served.times, served.fault), completions);
        }
        self.out = out;
        self.arm_service(layout);
    }
}
