//! A wire or controller shared by drives: bandwidth, a cost per command, a number of lanes.
//!
//! Leaves out: frames, arbitration fairness and full duplex. A transfer takes one lane from its start to its
//! end, first come first served; with several lanes the one free soonest is taken.

use hotband_units::{Instant, Rate, Span};

/// A link as a spec asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkSpec {
    /// Name in the spec.
    pub name: String,
    /// Transfers that can be under way at once.
    pub lanes: usize,
    /// Bandwidth of one lane.
    pub rate: Rate,
    /// Time a command occupies its lane beside its data.
    pub per_command: Span,
    /// Indices of the drives behind it.
    pub carries: Vec<usize>,
}

/// A link in a running machine.
#[derive(Clone, Debug)]
pub struct Link {
    /// Name in the spec.
    pub name: String,
    rate: Rate,
    per_command: Span,
    free_at: Vec<Instant>,
    /// Time lanes were occupied, summed over lanes.
    pub busy: Span,
    /// Bytes carried.
    pub bytes: u64,
}

impl Link {
    /// An idle link.
    pub fn new(spec: &LinkSpec) -> Self {
        let free_at = vec![Instant::ZERO; spec.lanes.max(1)];
        Self {
            name: spec.name.clone(),
            rate: spec.rate,
            per_command: spec.per_command,
            free_at,
            busy: Span::ZERO,
            bytes: 0,
        }
    }

    /// Takes the lane free soonest for `bytes` from `now`; returns when the transfer ends.
    pub fn transfer(&mut self, now: Instant, bytes: u64) -> Instant {
        let lane = self.free_at.iter_mut().min().expect("a link has at least one lane");
        let occupied = self.per_command + self.rate.time_for(bytes);
        *lane = now.max(*lane) + occupied;
        self.busy += occupied;
        self.bytes += bytes;
        *lane
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(lanes: usize) -> Link {
        let rate = Rate(1_000_000_000);
        Link::new(&LinkSpec { name: "sas".into(), lanes, rate, per_command: Span(100), carries: vec![] })
    }

    #[test]
    fn one_lane_serves_one_after_the_other() {
        let mut bus = link(1);
        assert_eq!(bus.transfer(Instant(0), 4096), Instant(4196));
        assert_eq!(bus.transfer(Instant(0), 4096), Instant(8392));
        assert_eq!(bus.transfer(Instant(10_000), 4096), Instant(14_196));
    }

    #[test]
    fn two_lanes_serve_two_at_once() {
        let mut bus = link(2);
        assert_eq!(bus.transfer(Instant(0), 4096), Instant(4196));
        assert_eq!(bus.transfer(Instant(0), 4096), Instant(4196));
        assert_eq!(bus.transfer(Instant(0), 4096), Instant(8392));
    }
}
