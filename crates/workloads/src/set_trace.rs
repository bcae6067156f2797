//! What `--set` changes in the traces of a workload, all of them.

use hotband_machine::SpecError;

use crate::spec::Workload;

impl Workload {
    /// Keys of `--set` that are those of `[trace]`; `depth` is that of a closed loop, too.
    pub(crate) fn set_trace(&mut self, key: &str, value: &str) -> Result<(), SpecError> {
        if self.traces.is_empty() {
            return Err(SpecError::new("set", key, value, "this workload has no [trace]"));
        }
        self.traces.iter_mut().try_for_each(|trace| trace.set(key, value))
    }
}
