//! Phases as the steps of an evaluation: which are measured, and how many threads each has.

use hotband_machine::SpecError;
use hotband_units::Span;

use crate::load::Load;
use crate::most::MOST_OUTSTANDING;
use crate::phase::Phase;
use crate::spec::{StreamSpec, Workload};
use crate::until::Until;

impl Workload {
    /// Checks that the measured phases follow one another and that threads are ones `[load]` can have.
    pub(crate) fn check_phases(&self) -> Result<(), SpecError> {
        let error = |key: &str, value: &str, accepted: String| Err(SpecError::new(&self.file, key, value, accepted));
        let Some(first) = self.phases.iter().position(|phase| phase.measure) else {
            let accepted = "expected exactly one phase with measure = true, or several that follow one another";
            return error("phases", "0", accepted.to_owned());
        };
        let mut over = false;
        for (index, phase) in self.phases.iter().enumerate().skip(first) {
            if phase.measure && over {
                let accepted = "measured phases follow one another directly: one before it is not measured".to_owned();
                return error(&format!("phases[{index}].measure"), "true", accepted);
            }
            over |= !phase.measure;
            if phase.measure && self.phases[first..index].iter().any(|other| other.measure && other.name == phase.name)
            {
                let accepted = "two measured phases have this name".to_owned();
                return error(&format!("phases[{index}].name"), &phase.name, accepted);
            }
        }
        if let (Some(index), None) = (self.phases.iter().position(Phase::counts_operations), &self.app) {
            return error(&format!("phases[{index}].operations"), "", "the workload has no [app]".to_owned());
        }
        for (index, phase) in self.phases.iter().enumerate() {
            let Some(threads) = phase.threads else { continue };
            let (key, value) = (format!("phases[{index}].threads"), threads.to_string());
            let Some(Load::Closed { depth, .. }) = self.load else {
                let accepted = "the workload has no closed loop in [load] whose threads a phase could change";
                return error(&key, &value, accepted.to_owned());
            };
            if u64::from(threads) * u64::from(depth) > u64::from(MOST_OUTSTANDING) {
                let accepted = format!("threads x depth ({depth} in [load]) may be at most {MOST_OUTSTANDING}");
                return error(&key, &value, accepted);
            }
        }
        Ok(())
    }

    /// Checks that each stream with a load runs in some phase, or writes during preconditioning.
    pub(crate) fn check_streams_run(&self) -> Result<(), SpecError> {
        let is_preconditioned = self.precondition.as_ref().is_some_and(|spec| spec.workload > 0.0);
        let runs = |stream: &StreamSpec| {
            self.phases.iter().any(|phase| phase.runs(&stream.name)) || is_preconditioned && stream.read_pct < 100.0
        };
        let idle =
            self.streams.iter().enumerate().find(|(index, stream)| self.users(*index).is_none() && !runs(stream));
        let Some((_, stream)) = idle else { return Ok(()) };
        let is_all = |phase: &Phase| phase.streams.as_ref().is_some_and(Vec::is_empty);
        if self.phases.iter().all(is_all) {
            return Ok(());
        }
        let accepted = "runs in no phase: each phase names other streams";
        Err(SpecError::new(&self.file, &format!("{}.name", stream.key), &stream.name, accepted))
    }

    /// Checks that no load issues further I/Os in phases that run until nothing is outstanding.
    pub(crate) fn check_drained(&self) -> Result<(), SpecError> {
        for (index, phase) in self.phases.iter().enumerate().filter(|(_, phase)| phase.until.contains(&Until::Drained))
        {
            let goes_on = match () {
                () if self.app.is_some() => "an [app]",
                () if self.has_load(phase) => "a load: use streams = []",
                () if self.has_repeating_script(phase) => "a script that repeats: use scripts = []",
                () => continue,
            };
            let accepted = format!("never happens: the phase has {goes_on}");
            return Err(SpecError::new(&self.file, &format!("phases[{index}].until"), "drained", accepted));
        }
        Ok(())
    }

    /// Checks that phases that are drained have only streams, which can stop asking.
    pub(crate) fn check_drains(&self) -> Result<(), SpecError> {
        for (index, phase) in self.phases.iter().enumerate().filter(|(_, phase)| phase.drain) {
            let goes_on = match () {
                () if self.app.is_some() => "an [app] continues",
                () if !self.traces.is_empty() => "a trace continues",
                () if self.has_repeating_script(phase) => "a script that repeats ends its run first",
                () => continue,
            };
            let accepted = format!("{goes_on}: leave it out, the next phase begins at once");
            return Err(SpecError::new(&self.file, &format!("phases[{index}].drain"), "true", accepted));
        }
        Ok(())
    }

    /// Whether a stream of the phase has a load of its own that issues I/Os; clients leave when they want.
    fn has_load(&self, phase: &Phase) -> bool {
        self.streams.iter().enumerate().any(|(index, stream)| {
            let is_asked = stream.load.as_ref().is_none_or(Load::has_pattern);
            is_asked && self.users(index).is_none() && phase.runs(&stream.name)
        })
    }

    fn has_repeating_script(&self, phase: &Phase) -> bool {
        let runs = |index| phase.scripts.run.as_ref().is_none_or(|run| run.contains(&index));
        self.scripts.iter().enumerate().any(|(index, script)| script.repeat && runs(index))
    }

    /// Time of all measured phases that are measured in time.
    pub(crate) fn measured_time(&self) -> Span {
        let times = self.measured().map(|phase| phase.longest().unwrap_or_default().0);
        Span(times.fold(0, u64::saturating_add))
    }

    /// `--duration` would contradict measured phases that end by themselves.
    pub(crate) fn check_set_duration(&self, duration: Span) -> Result<(), SpecError> {
        let is_steady = |phase: &Phase| phase.measure && phase.steady().is_some();
        match self.phases.iter().find(|phase| is_steady(phase)) {
            None => Ok(()),
            Some(phase) => {
                let accepted =
                    format!("phase \"{}\" ends when it is steady: change its round in the workload", phase.name);
                Err(SpecError::new("duration", "", duration.to_string(), accepted))
            }
        }
    }

    /// `--set threads` and `--set qd` would contradict phases that say how many threads they have.
    pub(crate) fn check_set_load(&self, key: &str, value: &str) -> Result<(), SpecError> {
        let with_threads = self.phases.iter().position(|phase| phase.threads.is_some());
        match with_threads {
            Some(index) if matches!(key, "threads" | "qd") => {
                let name = &self.phases[index].name;
                let accepted = format!("conflicts with phases[{index}].threads of phase \"{name}\": change it there");
                Err(SpecError::new("set", key, value, accepted))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn measured(&self) -> impl Iterator<Item = &Phase> {
        self.phases.iter().filter(|phase| phase.measure)
    }

    /// Threads of the closed loop in `[load]` during `phase`, if there is one.
    pub fn threads_in(&self, phase: &Phase) -> Option<u32> {
        match &self.load {
            Some(Load::Closed { threads, .. }) => Some(phase.threads.unwrap_or(*threads)),
            _ => None,
        }
    }

    /// `[load]` with the most threads that any phase gives it.
    pub fn largest_load(&self) -> Option<Load> {
        let most = self.phases.iter().filter_map(|phase| self.threads_in(phase)).max();
        self.load.clone().map(|load| with_threads(load, most))
    }

    /// Whether the measured phases differ in threads.
    pub(crate) fn threads_change(&self) -> bool {
        let mut threads = self.measured().map(|phase| self.threads_in(phase));
        let first = threads.next();
        threads.any(|other| Some(other) != first)
    }

    /// `[load]` as it is in the first measured phase.
    pub(crate) fn measured_load(&self) -> Option<Load> {
        let threads = self.measured().next().and_then(|phase| self.threads_in(phase));
        self.load.clone().map(|load| with_threads(load, threads))
    }
}

fn with_threads(load: Load, threads: Option<u32>) -> Load {
    match (load, threads) {
        (Load::Closed { depth, think, .. }, Some(threads)) => Load::Closed { threads, depth, think },
        (load, _) => load,
    }
}
