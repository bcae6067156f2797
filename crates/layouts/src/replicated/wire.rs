//! Network cards and the processor of the client: what serves one message after the other.

use hotband_machine::Random;
use hotband_units::{Instant, Rate, Span};

use super::spec::NetworkSpec;

/// Headers of a message of the cluster protocol [our estimate: 200 to 500 bytes].
pub(super) const MESSAGE: u64 = 300;

/// One direction of a network card.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nic {
    rate: Rate,
    free: Instant,
    pub bytes: u64,
    pub busy: Span,
}

impl Nic {
    pub fn new(network: NetworkSpec) -> Self {
        Self { rate: network.rate, free: Instant::ZERO, bytes: 0, busy: Span::ZERO }
    }

    /// Sends `bytes` and a header from `now`; returns when the last of them has left.
    pub fn send(&mut self, now: Instant, bytes: u64) -> Instant {
        let took = self.rate.time_for(bytes + MESSAGE);
        self.free = now.max(self.free) + took;
        self.bytes += bytes + MESSAGE;
        self.busy += took;
        self.free
    }
}

/// Processor times: a fixed part and one that varies.
#[derive(Clone, Debug)]
pub(super) struct Cpu {
    random: Random,
    spread: f64,
    /// Speed of the cores, as a share of the one that times are stated for.
    speed: f64,
}

impl Cpu {
    pub fn new(random: Random, spread: f64, speed: f64) -> Self {
        Self { random, spread, speed }
    }

    /// Time on this core of work that takes this long on the reference core, without variation.
    pub fn of(&self, time: Span) -> Span {
        Span((time.0 as f64 / self.speed).round() as u64)
    }

    /// A draw for what takes `mean`.
    pub fn draw(&mut self, mean: Span) -> Span {
        let varied = 1.0 - self.spread + self.spread * self.random.exponential();
        Span((mean.0 as f64 / self.speed * varied).round() as u64)
    }
}
