//! I/Os in flight, where the trace has latencies.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::figures::Depth as Found;
use super::quantiles::Values;

/// Most I/Os that are followed, 8 MB: more than any host has outstanding.
const MOST: usize = 1 << 20;

/// I/Os that were requested and not completed.
#[derive(Debug, Default)]
pub(super) struct Depth {
    answers: BinaryHeap<Reverse<u64>>,
    at_issue: Values,
    /// Sum of latencies, and the last answer.
    busy: f64,
    end: u64,
}

impl Depth {
    #[inline]
    pub(super) fn io(&mut self, now: u64, latency: Option<u64>) {
        let Some(latency) = latency else { return };
        while self.answers.peek().is_some_and(|Reverse(answer)| *answer <= now) {
            self.answers.pop();
        }
        let answer = now.saturating_add(latency);
        if self.answers.len() < MOST {
            self.answers.push(Reverse(answer));
        }
        self.at_issue.add(self.answers.len() as u64, 1);
        self.busy += latency as f64;
        self.end = self.end.max(answer);
    }

    pub(super) fn finish(self, span: u64) -> Option<Found> {
        let time = self.end.max(span);
        (self.at_issue.count() > 0 && time > 0)
            .then(|| Found { mean: self.busy / time as f64, at_issue: self.at_issue.finish() })
    }
}
