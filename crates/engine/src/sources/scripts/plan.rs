//! Steps of a script, by number.

use hotband_units::Span;
use hotband_workloads::{Cpu, Random, ScriptSpec, Work, Workload};

/// A step of a script, ready to be run.
pub struct Plan {
    pub script: u32,
    /// Streams and their cumulative shares.
    pub streams: Vec<(u32, f64)>,
    pub work: Work,
    pub depth: u32,
    pub cpu: Cpu,
    pub before: Span,
    pub detached: bool,
    /// Whether its reads cross the network.
    pub carried: bool,
    /// Steps that wait for this one, and how many this one waits for.
    pub dependents: Vec<u32>,
    pub waits_for: u32,
}

impl Plan {
    /// Step number `index` of `spec`, which is script number `script` of the workload.
    pub fn of_step(workload: &Workload, (script, spec): (u32, &ScriptSpec), index: usize, carried: bool) -> Self {
        let step = &spec.steps[index];
        let mut upto = 0.0;
        let streams = step.streams.iter().map(|&stream| {
            upto += workload.streams[stream].share_pct;
            (stream as u32, upto)
        });
        let dependents = (0..spec.steps.len()).filter(|&other| spec.steps[other].after.contains(&index));
        Self {
            script,
            streams: streams.collect(),
            work: step.work,
            depth: step.depth,
            cpu: step.cpu,
            before: step.before,
            detached: step.detached,
            carried,
            dependents: dependents.map(|step| step as u32).collect(),
            waits_for: step.after.len() as u32,
        }
    }

    /// Choose one of the streams by their shares.
    #[inline]
    pub fn choose(&self, random: &mut Random) -> usize {
        if let [(only, _)] = self.streams[..] {
            return only as usize;
        }
        let total = self.streams.last().map_or(0.0, |(_, upto)| *upto);
        let at = random.unit() * total;
        let chosen = self.streams.iter().find(|(_, upto)| at < *upto).or(self.streams.last());
        chosen.map_or(0, |(stream, _)| *stream as usize)
    }
}
