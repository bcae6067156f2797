//! Sections of the record that no probe leaves: the request, and what is known of the machine.

use std::collections::BTreeMap;

use hotband_units::Span;
use hotband_workloads::{Stream, Workload};

use crate::build::caches::MachineCaches;
use crate::build::outline::LayoutOutline;
use crate::control::RunError;
use crate::probes::table::Tables;
use crate::probes::{Findings, Watched};
use crate::record::fits::{Reach, fits_notes, reaches};
use crate::record::states::DriveStates;
use crate::record::unmodelled::MadeOf;
use crate::record::{Head, Record, Texts};
use crate::request::Request;

/// Descriptions of a machine.
pub(crate) struct About {
    pub products: BTreeMap<String, String>,
    pub layouts: Vec<LayoutOutline>,
    pub caches: MachineCaches,
    pub remarks: Vec<String>,
}

/// State that lasts from the beginning of a run to its end.
pub(crate) struct Closing {
    pub request: Request,
    /// Texts of the machine and of the workload.
    pub texts: (String, String),
    pub workload: Workload,
    products: BTreeMap<String, String>,
    layouts: Vec<LayoutOutline>,
    caches: MachineCaches,
    remarks: Vec<String>,
    reaches: Vec<Reach>,
    /// Kind of the target: "model" in virtual time, "emulated" on the wall clock.
    pub target: &'static str,
}

impl Closing {
    /// Record of a run of `workload`; `about` describes its machine.
    pub fn new(
        request: Request,
        texts: (String, String),
        workload: Workload,
        streams: &[(Stream, u16)],
        about: About,
    ) -> Self {
        let reaches = reaches(&workload, streams);
        let About { products, layouts, caches, remarks } = about;
        Self { request, texts, workload, products, layouts, caches, remarks, reaches, target: "model" }
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
        let made_of = MadeOf { layouts: &self.layouts, caches: &self.caches };
        let unmodelled = made_of.unmodelled(&self.reaches, &watched, duration);
        let sources = if unmodelled.is_empty() { sources } else { sources.with("unmodelled", unmodelled) };
        let sources = DriveStates::new(&self.caches, &self.workload, self.request.follows).add_to(sources);
        let (machine, workload) = (&self.texts.0, &self.texts.1);
        let texts = Texts { machine, workload, products: &self.products, target: self.target };
        Record::new(Head::new(&self.request, &texts), &self.workload, duration, sources, watched, look)
    }
}
