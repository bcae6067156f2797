//! Preconditioned drives that are too large to write: they receive the enlarged contents of a model.

use hotband_workloads::Workload;

use crate::control::{Control, RunError};
use crate::drive::Driver;
use crate::drive::contents_cache::ContentsCache;
use crate::in_use::HELD;
use crate::probes::Probes;
use crate::sources::agenda::{Above, Sources};

impl Driver<'_> {
    /// Like `precondition` for the drives of a new machine on which nothing but fills writes. Drives that hold more
    /// than is written in seconds get the enlarged contents of models of theirs.
    pub fn precondition_enlarged(
        &mut self,
        workload: &Workload,
        seed: u64,
        cache: Option<&ContentsCache>,
        control: &Control,
    ) -> Result<(), RunError> {
        let has_model = workload.precondition.as_ref().is_some_and(|spec| spec.random > 0.0 && spec.workload == 0.0);
        let Some(mut model) = has_model.then(|| self.machine.model(HELD)).flatten() else {
            return self.precondition(workload, (seed, true), cache, control);
        };
        let (targets, sources) = (self.targets.clone(), Sources::new(workload, Above::default(), seed));
        let mut writer = Driver::new(&mut model, Vec::new(), targets, sources, Probes::new(&[], workload, None));
        writer.precondition(workload, (seed, true), cache, control)?;
        self.machine.enlarge_contents(&mut model);
        self.probes.untimed(self.now, self.machine);
        Ok(())
    }
}
