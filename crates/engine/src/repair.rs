//! Failures that a run asks for: which drives, when, how many spares; checked against the machine and the workload.

use hotband_machine::{Machine, MachineSpec, RepairSpec, SpecError};
use hotband_units::{Rate, Span, UnitError};
use hotband_workloads::{Phase, Workload};

use crate::request::Request;

/// What the command line says of failures, as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepairRequest {
    /// `--fail`: DRIVE@TIME each.
    pub fail: Vec<String>,
    /// `--spare`.
    pub spares: u32,
    /// `--rebuild-rate`.
    pub rebuild_rate: Option<String>,
    /// `--rebuild-after`.
    pub rebuild_after: Option<String>,
}

/// Lowest rate of a rebuild, in bytes a second: slower than this a large drive takes longer than an `Instant` can say.
const LEAST_RATE: u64 = 1000;

/// Most spares of a machine.
const MOST_SPARES: u32 = 64;

/// A failure as it was asked for: what `--fail` said, the drive, the time.
type Failure<'a> = (&'a str, &'a str, Span);

/// What is to happen to a machine.
#[derive(Clone, Debug)]
pub(crate) struct Failures {
    /// Drives that fail, by index, and when, since the measured time began.
    pub failures: Vec<(u32, Span)>,
    /// What follows from it.
    pub repair: RepairSpec,
}

impl RepairRequest {
    /// Nothing is to fail.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Which drive spares are like (the first of the machine's own that fails), and how many there are.
    ///
    /// # Errors
    /// Spares or a rate without a failure, more spares than anyone has, an unknown drive.
    pub(crate) fn spares(&self, spec: &MachineSpec) -> Result<Option<(usize, u32)>, SpecError> {
        let alone = |option: &str, value: String| {
            Err(SpecError::new(
                option,
                "",
                value,
                "is for drives that fail: name one with its time, such as d3@\"60 s\"",
            ))
        };
        match (&self.rebuild_rate, &self.rebuild_after) {
            _ if !self.fail.is_empty() => {}
            (Some(rate), _) => return alone("repair.rebuild_rate", rate.clone()),
            (_, Some(after)) => return alone("repair.rebuild_after", after.clone()),
            _ if self.spares > 0 => return alone("repair.spares", self.spares.to_string()),
            _ => {}
        }
        if self.spares > MOST_SPARES {
            let accepted = format!("expected at most {MOST_SPARES} spares");
            return Err(SpecError::new("repair.spares", "", self.spares.to_string(), accepted));
        }
        let own = spec.drives.len();
        let names = spec.drives.iter().map(|drive| drive.name.clone());
        let names: Vec<String> = names.chain((1..=self.spares).map(|number| format!("spare{number}"))).collect();
        let failures = self.failures()?;
        let Some((text, _, _)) = failures.first().copied() else { return Ok(None) };
        let mut first: Option<(Span, usize)> = None;
        for failure in failures {
            let failing = (failure.2, drive_of(failure, &names)?);
            if failing.1 < own && first.is_none_or(|first| failing < first) {
                first = Some(failing);
            }
        }
        let Some((_, like)) = first else {
            let accepted = "a spare takes the place of a failed drive: expected one of the machine to fail too";
            return Err(SpecError::new("repair.fail", "", text, accepted));
        };
        Ok(Some((like, self.spares)))
    }

    fn failures(&self) -> Result<Vec<Failure<'_>>, SpecError> {
        let parts = self.fail.iter().map(|text| {
            let wrong = |accepted: String| SpecError::new("repair.fail", "", text, accepted);
            let (drive, at) =
                text.rsplit_once('@').ok_or_else(|| wrong("expected DRIVE@TIME, such as d3@\"60 s\"".to_owned()))?;
            let at = at.trim().parse().map_err(|error: UnitError| wrong(format!("expected {}", error.accepted)))?;
            Ok((text.as_str(), drive.trim(), at))
        });
        parts.collect()
    }

    /// What is to happen to `machine`; nothing where nothing was asked for.
    ///
    /// # Errors
    /// The first mistake.
    pub(crate) fn plan(
        &self,
        machine: &Machine,
        workload: &Workload,
        request: &Request,
    ) -> Result<Option<Failures>, SpecError> {
        let failures = self.failures()?;
        let Some((text, _, _)) = failures.first() else { return Ok(None) };
        let refused = |accepted: &str| Err(SpecError::new("repair.fail", "", *text, accepted));
        if machine.layouts().iter().any(|layout| layout.is_service) {
            return refused("a replicated pool loses a daemon by its option out = { osd, at }");
        }
        if request.power_loss.is_some() || workload.power_loss.is_some() {
            return refused("a loss of power and a failure are of different runs: leave one out");
        }
        let names: Vec<String> = machine.drives().names().map(str::to_owned).collect();
        let mut planned: Vec<(u32, Span)> = Vec::new();
        let measured = measured_time(workload);
        for failure in failures {
            let (text, name, at) = failure;
            let drive = drive_of(failure, &names)? as u32;
            if planned.iter().any(|(have, _)| *have == drive) {
                return Err(SpecError::new(
                    "repair.fail",
                    "",
                    text,
                    format!("{name} fails twice: expected each drive once"),
                ));
            }
            if let Some(measured) = measured.filter(|measured| at > *measured) {
                let accepted = format!("expected a time of at most the measured {measured}");
                return Err(SpecError::new("repair.fail", "", text, accepted));
            }
            planned.push((drive, at));
        }
        let first_spare = names.len() as u32 - self.spares;
        let repair = RepairSpec {
            spares: (first_spare..names.len() as u32).collect(),
            rate_limit: self.rate_limit()?,
            spare_after: self.spare_after()?,
            seed: request.seed,
        };
        Ok(Some(Failures { failures: planned, repair }))
    }

    fn rate_limit(&self) -> Result<Option<Rate>, SpecError> {
        let Some(text) = &self.rebuild_rate else { return Ok(None) };
        let wrong = |accepted: String| SpecError::new("repair.rebuild_rate", "", text, accepted);
        let rate: Rate = text.parse().map_err(|error: UnitError| wrong(format!("expected {}", error.accepted)))?;
        if rate.0 < LEAST_RATE {
            return Err(wrong("expected at least 1 kB/s".to_owned()));
        }
        Ok(Some(rate))
    }

    fn spare_after(&self) -> Result<Span, SpecError> {
        let Some(text) = &self.rebuild_after else { return Ok(Span::ZERO) };
        let wrong =
            |error: UnitError| SpecError::new("repair.rebuild_after", "", text, format!("expected {}", error.accepted));
        text.parse().map_err(wrong)
    }
}

/// The measured time, where it is known before the run.
fn measured_time(workload: &Workload) -> Option<Span> {
    workload.phases.iter().filter(|phase| phase.measure).map(Phase::longest).sum()
}

/// Index of the drive that a failure names: by its name, or as "drive3" by its place from 0, as d3 has it.
fn drive_of((text, name, _): Failure, names: &[String]) -> Result<usize, SpecError> {
    let by_place = || name.strip_prefix("drive")?.parse().ok().filter(|place: &usize| *place < names.len());
    let found = names.iter().position(|have| have == name).or_else(by_place);
    found.ok_or_else(|| {
        const SHOWN: usize = 12;
        let known: Vec<&str> = names.iter().map(String::as_str).take(SHOWN).collect();
        let SpecError { accepted, .. } = SpecError::unknown("repair.fail", "drive", name, &known);
        SpecError::new("repair.fail", "", text, accepted)
    })
}
