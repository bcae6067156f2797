//! Repair after failures: the number of spares and the rate at which they are filled, and the drives that events name.

use hotband_machine::{EventSpec, Machine, MachineSpec, RepairSpec, SpecError};
use hotband_units::{Rate, Span, UnitError};

use crate::events::Asked;

/// Failures and repair of a request, as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepairRequest {
    /// Drives that fail: DRIVE@TIME each.
    pub fail: Vec<String>,
    /// Number of spare drives.
    pub spares: u32,
    /// Most that a rebuild writes in a second.
    pub rebuild_rate: Option<String>,
    /// Time between a failure and the start of its rebuild.
    pub rebuild_after: Option<String>,
}

/// Lowest rate of a rebuild, in bytes a second: slower than this a large drive takes longer than an `Instant` can say.
const LEAST_RATE: u64 = 1000;

/// Most spares of a machine.
const MOST_SPARES: u32 = 64;

impl RepairRequest {
    /// Return whether no drive is to fail.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Only failures in a run that follows another: a machine's parts are set in its first run.
    ///
    /// # Errors
    /// Spares, or how they are used.
    pub(crate) fn check_follower(&self) -> Result<(), SpecError> {
        let spares = (self.spares > 0).then(|| self.spares.to_string());
        let actions = [
            ("repair.spares", spares),
            ("repair.rebuild_rate", self.rebuild_rate.clone()),
            ("repair.rebuild_after", self.rebuild_after.clone()),
        ];
        match actions.into_iter().find_map(|(option, value)| Some((option, value?))) {
            None => Ok(()),
            Some((option, value)) => {
                Err(SpecError::new(option, "", value, "applies only to the first run of a sequence"))
            }
        }
    }

    /// Drive that spares equal (the first of the machine's own that fails), and their number.
    ///
    /// # Errors
    /// Spares or a rate without a failure, more spares than anyone has, an unknown drive.
    pub(crate) fn spares(&self, spec: &MachineSpec, requested: &Asked) -> Result<Option<(usize, u32)>, SpecError> {
        let alone = |option: &str, value: String| {
            Err(SpecError::new(
                option,
                "",
                value,
                "is for drives that fail: name one with its time, such as d3@\"60 s\"",
            ))
        };
        match (&self.rebuild_rate, &self.rebuild_after) {
            _ if requested.failures().next().is_some() => {}
            (Some(rate), _) => return alone("repair.rebuild_rate", rate.clone()),
            (_, Some(after)) => return alone("repair.rebuild_after", after.clone()),
            _ if self.spares > 0 => return alone("repair.spares", self.spares.to_string()),
            _ => {}
        }
        if self.spares > MOST_SPARES {
            let accepted = format!("expected at most {MOST_SPARES} spares");
            return Err(SpecError::new("repair.spares", "", self.spares.to_string(), accepted));
        }
        let drives = spec.drives.len();
        let spares: Vec<String> = (1..=self.spares).map(|number| format!("spare{number}")).collect();
        let names = spec.drives.iter().map(|drive| drive.name.as_str()).chain(spares.iter().map(String::as_str));
        let names: Vec<&str> = names.collect();
        let Some(one) = requested.failures().next() else { return Ok(None) };
        let mut first: Option<(Span, usize)> = None;
        for failure in requested.failures() {
            let failing = (failure.at, drive_of(failure, &names)?);
            if failing.1 < drives && first.is_none_or(|first| failing < first) {
                first = Some(failing);
            }
        }
        let Some((_, like)) = first else {
            let accepted = "a spare takes the place of a failed drive: expected one of the machine to fail too";
            return Err(one.error(accepted));
        };
        Ok(Some((like, self.spares)))
    }

    /// Effects of failures of drives of `machine`; nothing if none is to fail.
    ///
    /// # Errors
    /// The first mistake.
    pub(crate) fn plan(
        &self,
        machine: &Machine,
        requested: &Asked,
        seed: u64,
    ) -> Result<Option<RepairSpec>, SpecError> {
        if requested.failures().next().is_none() {
            return Ok(None);
        }
        let drives = machine.drives().names().len() as u32;
        Ok(Some(RepairSpec {
            spares: (drives - self.spares..drives).collect(),
            rate_limit: self.rate_limit()?,
            spare_after: self.spare_after()?,
            seed,
        }))
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

/// Index of the drive that an event names: by its name, or as "drive3" by its place from 0, as in d3.
pub(crate) fn drive_of(event: &EventSpec, names: &[&str]) -> Result<usize, SpecError> {
    let name = event.part.as_deref().unwrap_or_default();
    let by_place = || name.strip_prefix("drive")?.parse().ok().filter(|index: &usize| *index < names.len());
    let position = names.iter().position(|have| *have == name).or_else(by_place);
    position.ok_or_else(|| {
        const SHOWN: usize = 12;
        let known: Vec<&str> = names.iter().copied().take(SHOWN).collect();
        let SpecError { accepted, .. } = SpecError::unknown("", "drive", name, &known);
        event.error(accepted)
    })
}
