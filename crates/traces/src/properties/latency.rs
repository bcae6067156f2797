//! Latencies that were measured when the trace was recorded.

use hotband_workloads::TraceIo;

use super::directions::{DIRECTIONS, number_of};
use super::figures::Latency;
use super::quantiles::Values;

/// Latencies by direction.
#[derive(Debug, Default)]
pub(super) struct Latencies {
    by_direction: [Values; 4],
}

impl Latencies {
    #[inline]
    pub(super) fn io(&mut self, io: &TraceIo) {
        if let Some(latency) = io.latency {
            self.by_direction[number_of(io.op)].add(latency.0, 1);
        }
    }

    pub(super) fn finish(&self) -> Vec<Latency> {
        let known = self.by_direction.iter().zip(DIRECTIONS).filter(|(values, _)| values.count() > 0);
        known.map(|(values, direction)| Latency { direction, ns: values.finish() }).collect()
    }
}
