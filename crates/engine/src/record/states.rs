//! The state of the drives of a run: how their caches are set, and what they held when it began.

use hotband_workloads::Workload;
use serde::Serialize;

use crate::build::caches::{ControllerSetting, DriveCaches, DriveSetting, MachineCaches};
use crate::probes::Findings;

/// States of all drives and controllers.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct DriveStates {
    #[serde(skip)]
    stays_new: bool,
    drives: Vec<DriveState>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    controllers: Vec<ControllerSetting>,
}

/// Drives that are identical.
#[derive(Clone, Debug, Serialize)]
struct DriveState {
    drives: Vec<String>,
    product: String,
    #[serde(flatten)]
    caches: DriveCaches,
    /// Contents of a solid-state drive when time began: "new", "preconditioned", "trimmed", "filled" in another way, or
    /// "as left" by the previous run, if nothing was written before this one; none of a disk.
    holds: Option<&'static str>,
}

impl DriveStates {
    /// Return the states of a run of `workload`.
    pub fn new(caches: &MachineCaches, workload: &Workload, follows: bool) -> Self {
        let holds = match () {
            () if follows && (caches.stays_new || !is_written_over(workload)) => "as left",
            () if caches.stays_new => "new",
            () => holds(workload),
        };
        let mut drives: Vec<DriveState> = Vec::new();
        for DriveSetting { name, product, kind, caches } in &caches.drives {
            let alike = drives.iter_mut().find(|have| have.product == *product && have.caches == *caches);
            match alike {
                Some(alike) => alike.drives.push(name.clone()),
                None => drives.push(DriveState {
                    drives: vec![name.clone()],
                    product: product.clone(),
                    caches: caches.clone(),
                    holds: (*kind == "ssd").then_some(holds),
                }),
            }
        }
        Self { stays_new: caches.stays_new && !follows, drives, controllers: caches.controllers.clone() }
    }

    /// Findings with it; as they are where the machine is not known.
    pub fn add_to(self, findings: Findings) -> Findings {
        if self.drives.is_empty() {
            return findings;
        }
        let is_flash = self.drives.iter().any(|drives| drives.holds.is_some());
        let note =
            "pools and RAID-Z cannot be preconditioned without simulated time: their solid-state drives start new";
        findings.with_notes((self.stays_new && is_flash).then(|| note.to_owned())).with("drive_state", self)
    }
}

/// Whether a workload has the drives preconditioned before it, whatever they hold.
fn is_written_over(workload: &Workload) -> bool {
    workload.precondition.as_ref().is_some_and(|precondition| precondition.writes() || precondition.trim)
}

/// Return the contents of drives that wear before the first timed phase.
fn holds(workload: &Workload) -> &'static str {
    match &workload.precondition {
        _ if !workload.is_preconditioned() => "new",
        Some(spec) if spec.trim => "trimmed",
        Some(spec) if spec.sequential >= 1.0 && spec.random + spec.workload >= 1.0 => "preconditioned",
        _ => "filled",
    }
}
