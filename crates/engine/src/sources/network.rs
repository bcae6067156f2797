//! The link between the server and its users, in a running workload.

use hotband_machine::{Link, LinkSpec, PartReport};
use hotband_units::{Instant, Rate, Span};
use hotband_workloads::NetworkSpec;

/// A wire that data crosses in the order in which it was read.
pub struct Network(Link);

impl Network {
    pub fn new(spec: &NetworkSpec) -> Self {
        let rate = Rate((spec.rate.0 as f64 * spec.efficiency.0).round() as u64);
        let carries = Vec::new();
        Self(Link::new(&LinkSpec {
            name: "network".into(),
            lanes: 1,
            rate,
            per_command: Span::ZERO,
            carries,
            is_bus: false,
        }))
    }

    /// Sends `bytes` at `now`; returns when the last of them is across.
    #[inline]
    pub fn send(&mut self, now: Instant, bytes: u32) -> Instant {
        self.0.transfer(now, u64::from(bytes))
    }

    /// Its counters since the beginning.
    pub fn report(&self) -> PartReport {
        let counters = vec![("busy_ns", self.0.busy.0), ("bytes", self.0.bytes)];
        PartReport { id: self.0.name.clone(), kind: "network", counters, at_end: Vec::new() }
    }
}
