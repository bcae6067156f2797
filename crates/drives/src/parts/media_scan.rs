//! Background media scan: reads of an idle drive (SPC-4, Background Control mode page).
//!
//! After a rest the drive reads through all its sectors in order, in bursts with pauses, from where it was interrupted.
//! The first command that comes in a burst waits until the scan lets go of the arm, and the arm is where the scan has
//! got to. Nothing is simulated while the drive rests: how far the scan came is worked out when a command ends it.
//!
//! Leaves out: errors that the scan finds and their recovery, the power that it draws, and that a drive scans only once
//! in a number of hours: here it scans in every rest.

use hotband_machine::{Section, SpecError};
use hotband_units::Span;

/// Times of a scan, and the delay of a command that interrupts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanParams {
    /// Rest after which it begins.
    pub idle: Span,
    /// Length of a burst.
    pub burst: Span,
    /// Pause from the end of a burst to the next.
    pub pause: Span,
    /// Delay from the arrival of a command until the arm is free.
    pub delay: Span,
}

impl ScanParams {
    /// Scan of a product that states one; none for others.
    ///
    /// # Errors
    /// Where a time is missing, zero or longer than an hour.
    pub fn read(section: &Section) -> Result<Option<Self>, SpecError> {
        let Some(idle) = section.quantity::<Span>("scan_idle")? else { return Ok(None) };
        let time = |key| section.required::<Span>(key, "a time");
        let (burst, pause, delay) = (time("scan_burst")?, time("scan_pause")?, time("scan_delay")?);
        if burst == Span::ZERO {
            return Err(section.error("scan_burst", burst.to_string(), "expected above zero"));
        }
        for (key, span) in [("scan_idle", idle), ("scan_burst", burst), ("scan_pause", pause), ("scan_delay", delay)] {
            if span > Span(3_600_000_000_000) {
                return Err(section.error(key, span.to_string(), "expected at most an hour"));
            }
        }
        Ok(Some(Self { idle, burst, pause, delay }))
    }

    /// Amount scanned in a rest of this length, and whether it continues now; none if it has not begun.
    pub fn scanned(&self, rest: Span) -> Option<(Span, bool)> {
        let since = rest.0.checked_sub(self.idle.0)?;
        let cycle = self.burst.0 + self.pause.0;
        let (whole, within) = (since / cycle, since % cycle);
        Some((Span(whole * self.burst.0 + within.min(self.burst.0)), within < self.burst.0))
    }
}

/// Progress of a scan.
#[derive(Clone, Copy, Debug)]
pub struct Scan {
    /// Time when it scans.
    pub params: ScanParams,
    /// Flow at which it continues.
    pub flow: u64,
    /// Commands that interrupted it.
    pub interrupted: u64,
}

impl Scan {
    /// Return a scan at the first sector.
    pub fn new(params: ScanParams) -> Self {
        Self { params, flow: 0, interrupted: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_and_pauses_take_turns_after_the_rest() {
        let params = ScanParams { idle: Span(10), burst: Span(4), pause: Span(6), delay: Span(1) };
        assert_eq!(params.scanned(Span(9)), None);
        let scanned =
            [10, 13, 14, 19, 20, 23].map(|rest| params.scanned(Span(rest)).map(|(span, goes_on)| (span.0, goes_on)));
        let expected = [(0, true), (3, true), (4, false), (4, false), (4, true), (7, true)];
        assert_eq!(scanned, expected.map(Some));
    }
}
