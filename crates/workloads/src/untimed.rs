//! Work on the drives before time begins: preconditioning, and phases without timing.

use hotband_machine::SpecError;

use crate::data::DataSpec;
use crate::phase::Phase;
use crate::precondition::Precondition;
use crate::spec::{StreamSpec, Workload};

impl Workload {
    /// Whether streams alone issue I/Os: no app, script or trace.
    pub fn is_streams(&self) -> bool {
        self.app.is_none() && self.scripts.is_empty() && self.traces.is_empty()
    }

    /// Whether drives are written to before time begins, so that they do not start as they left the factory.
    pub fn is_preconditioned(&self) -> bool {
        let is_untimed = |phase: &Phase| phase.untimed.is_some();
        self.precondition.as_ref().is_some_and(Precondition::writes) || self.phases.iter().any(is_untimed)
    }

    /// Whether preconditioning includes the workload itself, and part of it is an app or scripts, which need time.
    pub fn is_left_out_of_preconditioning(&self) -> bool {
        let is_requested = self.precondition.as_ref().is_some_and(|precondition| precondition.workload > 0.0);
        is_requested && (self.app.is_some() || !self.scripts.is_empty())
    }
}

impl Workload {
    /// Compressibility of the app's writes: its own, or that of the workload.
    pub fn data_of_app(&self) -> Option<&DataSpec> {
        self.app.as_ref().and_then(|app| app.data().or(self.data.as_ref()))
    }

    /// The data of stream `index`.
    pub fn data_of(&self, index: usize) -> Option<&DataSpec> {
        self.streams[index].data.as_ref().or(self.data.as_ref())
    }

    /// Streams that write in a phase without timing: those that have a load of any kind.
    pub fn untimed_streams(&self, phase: Option<&[String]>) -> impl Iterator<Item = (usize, &StreamSpec)> {
        let named = move |name: &String| phase.is_none_or(|streams| streams.contains(name));
        let streams = self.streams.iter().enumerate();
        streams.filter(move |(index, stream)| stream.writes() && self.users(*index).is_none() && named(&stream.name))
    }

    /// Checks phases without timing: they come first, so that no I/O is under way, and have something to write.
    ///
    /// # Errors
    /// A phase without timing after a timed one, or one in which nothing is written.
    pub fn check_untimed(&self) -> Result<(), SpecError> {
        let mut timed: Option<&str> = None;
        for (index, phase) in self.phases.iter().enumerate() {
            if phase.untimed.is_none() {
                timed = timed.or(Some(&phase.name));
                continue;
            }
            let error = |key: &str, accepted: &str| {
                Err(SpecError::new(&self.file, &format!("phases[{index}].{key}"), "", accepted))
            };
            if let Some(first) = timed {
                return error("untimed", &format!("comes before every timed phase: \"{first}\" is one"));
            }
            if self.untimed_streams(phase.streams.as_deref()).next().is_none() {
                return error("streams", "no stream with a load of its own or in [load] writes in this phase");
            }
        }
        Ok(())
    }

    /// Phases that take time, in order.
    pub fn timed_phases(&self) -> impl Iterator<Item = &Phase> {
        self.phases.iter().filter(|phase| phase.untimed.is_none())
    }
}
