//! When power is to be cut, checked against the run.

use hotband_machine::{EventSpec, SpecError};
use hotband_units::Span;
use hotband_workloads::Workload;

use crate::events::{Asked, measured_time};

/// A loss of power to come.
#[derive(Clone, Debug)]
pub struct PowerCut {
    /// Time since the measured time begins.
    pub after: Span,
    /// Event that requests it, for errors.
    event: EventSpec,
}

impl PowerCut {
    /// The loss of power that was requested, if any.
    ///
    /// # Errors
    /// Not a time above zero, or one beyond the measured time where that is known.
    pub(crate) fn of(requested: &Asked, workload: &Workload) -> Result<Option<Self>, SpecError> {
        let Some(event) = requested.power_off() else { return Ok(None) };
        let measured = measured_time(workload);
        if event.at == Span::ZERO || measured.is_some_and(|measured| event.at > measured) {
            let within =
                measured.map(|measured| format!(" and of at most the measured {measured}")).unwrap_or_default();
            return Err(event.error(format!("expected a time above zero{within}")));
        }
        Ok(Some(Self { after: event.at, event: event.clone() }))
    }

    /// The measured time was over after `ran`, before power was cut.
    pub fn too_late(&self, ran: Span) -> SpecError {
        self.event.error(format!("the measured time ended after {ran}, before the power cut"))
    }
}
