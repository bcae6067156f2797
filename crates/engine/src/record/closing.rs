//! What the record of a run says beside what was watched: what was asked for, and what is known of the machine.

use std::collections::BTreeMap;

use hotband_units::Span;
use hotband_workloads::{Stream, Workload};

use crate::build::caches::MachineCaches;
use crate::control::RunError;
use crate::probes::table::Tables;
use crate::probes::{Findings, Watched};
use crate::record::fits::{Reach, fits_notes, reaches};
use crate::record::states::DriveStates;
use crate::record::{Head, Record, Texts};
use crate::request::Request;

/// Kept from the beginning of a run to its end.
pub(crate) struct Closing {
    pub request: Request,
    /// Of the machine, and of the workload.
    pub texts: (String, String),
    pub workload: Workload,
    products: BTreeMap<String, String>,
    caches: MachineCaches,
    remarks: Vec<String>,
    reaches: Vec<Reach>,
    /// What answered: "model" in virtual time, "emulated" on the clock of the wall.
    pub target: &'static str,
}

impl Closing {
    /// Of a run of `workload`; `products`, `caches` and `remarks` are those of its machine.
    pub fn new(
        request: Request,
        texts: (String, String),
        workload: Workload,
        streams: &[(Stream, u16)],
        (products, caches, remarks): (BTreeMap<String, String>, MachineCaches, Vec<String>),
    ) -> Self {
        let reaches = reaches(&workload, streams);
        Self { request, texts, workload, products, caches, remarks, reaches, target: "model" }
    }

    /// The record and its tables, of what sources left and probes have seen in a measured time of `duration`.
    ///
    /// # Errors
    /// Those of `look`: nobody waits for it any more, and many streams take their time.
    pub fn record(
        mut self,
        duration: Span,
        sources: Findings,
        watched: Watched,
        look: &dyn Fn() -> Result<(), RunError>,
    ) -> Result<(Record, Tables), RunError> {
        let sources = sources.with_notes(std::mem::take(&mut self.remarks));
        let sources = sources.with_notes(fits_notes(&self.reaches, &self.caches, &watched.parts));
        let sources = DriveStates::new(&self.caches, &self.workload, self.request.follows).add_to(sources);
        let (machine, workload) = (&self.texts.0, &self.texts.1);
        let texts = Texts { machine, workload, products: &self.products, target: self.target };
        Record::new(Head::new(&self.request, &texts), &self.workload, duration, sources, watched, look)
    }
}
