//! When power is to be cut: asked for by a workload file or on the command line, checked against the run.

use hotband_machine::SpecError;
use hotband_units::{Span, UnitError};
use hotband_workloads::{Phase, Workload};

use crate::request::Request;

/// A loss of power to come.
#[derive(Clone, Debug)]
pub struct PowerCut {
    /// Time since the measured time begins.
    pub after: Span,
    /// File and key that ask for it, for errors.
    asked_at: (String, &'static str),
}

impl PowerCut {
    /// The loss of power that `request` asks for, or else its workload, if any.
    ///
    /// # Errors
    /// Not a time above zero, or one beyond the measured time where that is known.
    pub fn of(request: &Request, workload: &Workload) -> Result<Option<Self>, SpecError> {
        let cut = match (&request.power_loss, workload.power_loss) {
            (Some(text), _) => {
                let wrong =
                    |error: UnitError| SpecError::new("power_loss", "", text, format!("expected {}", error.accepted));
                Self { after: text.parse().map_err(wrong)?, asked_at: ("power_loss".to_owned(), "") }
            }
            (None, Some(after)) => Self { after, asked_at: (workload.file.clone(), "power_loss.at") },
            (None, None) => return Ok(None),
        };
        let measured: Option<Span> = workload.phases.iter().filter(|phase| phase.measure).map(Phase::longest).sum();
        if cut.after == Span::ZERO || measured.is_some_and(|measured| cut.after > measured) {
            let within =
                measured.map(|measured| format!(" and of at most the measured {measured}")).unwrap_or_default();
            return Err(cut.error(&format!("expected a time above zero{within}")));
        }
        Ok(Some(cut))
    }

    fn error(&self, accepted: &str) -> SpecError {
        SpecError::new(&self.asked_at.0, self.asked_at.1, self.after.to_string(), accepted)
    }

    /// The measured time was over after `ran`, before power was cut.
    pub fn too_late(&self, ran: Span) -> SpecError {
        self.error(&format!("the measured time was over after {ran}, before power was cut"))
    }
}
