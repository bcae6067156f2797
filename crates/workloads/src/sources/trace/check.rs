//! Whether a machine can be asked for an I/O of a trace: before the run, and with the row of the user's file.

use hotband_machine::{Op, SpecError};
use hotband_units::Span;

use super::beyond::Placement;
use super::file::{TraceError, TraceFile, TraceIo};
use super::spec::{Beyond, Issue, TraceSpec};
use crate::most::MOST_INTERVALS;

/// Longest I/O of a machine: lengths are numbers of 32 bits. Programs clear and trim more at once
/// than a workload may write.
const LONGEST: u64 = u32::MAX as u64;

/// Target of the I/Os of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceTarget {
    /// Name of the volume.
    pub name: String,
    /// Its bytes.
    pub size: u64,
    /// The logical block of its drives.
    pub block: u64,
    /// Reason why the target refuses trims, if it does.
    pub stops_trims: Option<String>,
}

/// Placement of the I/Os of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Placements by stream.
    pub of_stream: Vec<Placement>,
    /// I/Os that are not at their recorded place.
    pub moved: u64,
}

impl TraceSpec {
    /// Reads all of `trace`: checks that every I/O can be issued as stated here, to the target of its stream, within as
    /// many intervals as a series holds; returns the places on the targets and goes back to the first I/O.
    ///
    /// # Errors
    /// The first I/O that cannot, with its row; a trace that cannot be read.
    pub fn check(&self, trace: &mut TraceFile, targets: &[TraceTarget], interval: Span) -> Result<Placed, SpecError> {
        let file = trace.head().file.clone();
        let unreadable = |error| SpecError::new(&file, "", "", format!("{error}"));
        let mut placed = self.placed(trace, targets).map_err(unreadable)?;
        let longest = interval.0.saturating_mul(MOST_INTERVALS) as f64;
        while let Some(io) = trace.next_io().map_err(unreadable)? {
            let wrong = |value: String, accepted: String| {
                Err(SpecError::new(&file, &format!("row {}", io.row), value, accepted))
            };
            let offset = placed.of_stream[usize::from(io.stream)].offset(&io);
            placed.moved += u64::from(offset != io.offset);
            if let Err((value, accepted)) = (TraceIo { offset, ..io }).fits(&targets[usize::from(io.stream)]) {
                return wrong(value, accepted);
            }
            if io.latency.is_none() && self.issue == Issue::AfterCompletion {
                let accepted = "the trace has no latency here: issue = \"after-completion\" needs them all";
                return wrong(String::new(), accepted.to_owned());
            }
            if !matches!(self.issue, Issue::AsFastAsPossible { .. }) && io.issue.0 as f64 / self.speed > longest {
                let accepted = format!("is after over 10 million intervals of {interval}: set a longer interval");
                return wrong(Span(io.issue.0).to_string(), accepted);
            }
        }
        trace.rewind().map_err(unreadable)?;
        Ok(placed)
    }

    /// Mapping of addresses to those of the targets: to scale them, the last of each has to be known.
    fn placed(&self, trace: &mut TraceFile, targets: &[TraceTarget]) -> Result<Placed, TraceError> {
        let mut ends = vec![u64::MAX; targets.len()];
        if self.beyond == Beyond::Scale {
            ends.fill(0);
            while let Some(io) = trace.next_io()? {
                // Streams of one volume are scaled alike: their I/Os keep their places beside each other.
                let name = &targets[usize::from(io.stream)].name;
                for (end, _) in ends.iter_mut().zip(targets).filter(|(_, target)| target.name == *name) {
                    *end = (*end).max(io.offset.saturating_add(io.len));
                }
            }
            trace.rewind()?;
        }
        let placement =
            |(target, end): (&TraceTarget, u64)| Placement::new(self.beyond, target.size, target.block, end);
        Ok(Placed { of_stream: targets.iter().zip(ends).map(placement).collect(), moved: 0 })
    }
}

impl TraceIo {
    /// Check that an I/O fits `target`; else return its description and the reason.
    fn fits(&self, target: &TraceTarget) -> Result<(), (String, String)> {
        let TraceTarget { name, size, block, stops_trims } = target;
        if self.op == Op::Flush {
            return Ok(());
        }
        if let (Op::Trim, Some(why)) = (self.op, stops_trims) {
            let accepted = format!("{why}; direction = [\"read\", \"write\", \"flush\"] leaves them out");
            return Err(("trim".to_owned(), accepted));
        }
        let (offset, len) = (self.offset, self.len);
        if len == 0 || len > LONGEST {
            return Err((format!("{len} B"), format!("expected a length from 1 to {LONGEST} B")));
        }
        if !offset.is_multiple_of(*block) || !len.is_multiple_of(*block) {
            let accepted = format!("expected multiples of the {block} B blocks of \"{name}\"");
            return Err((format!("{len} B at {offset}"), accepted));
        }
        if offset.checked_add(len).is_none_or(|end| end > *size) {
            let accepted =
                format!("ends beyond volume \"{name}\", which has {size} B; beyond = \"wrap\" or \"scale\" moves it");
            return Err((format!("{len} B at {offset}"), accepted));
        }
        Ok(())
    }
}
