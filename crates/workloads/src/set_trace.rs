//! What `--set` changes in the trace of a workload.

use hotband_machine::SpecError;

use crate::spec::Workload;

impl Workload {
    /// Keys of `--set` that are those of `[trace]`; `depth` is that of a closed loop, too.
    pub(crate) fn set_trace(&mut self, key: &str, value: &str) -> Result<(), SpecError> {
        let accepted = "this workload has no [trace]";
        let absent = || SpecError::new("set", key, value, accepted);
        self.trace.as_mut().ok_or_else(absent)?.set(key, value)
    }
}
