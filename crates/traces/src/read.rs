//! A trace as text, read into rows.

use std::error::Error;
use std::io::Read;
use std::path::Path;

use hotband_workloads::Selection;

use crate::detect::{LINES, looked, parser_of};
use crate::error::TraceFileError;
use crate::formats::Parser;
use crate::input;
use crate::io::{Io, Out, Wrong};
use crate::lines::for_each_part;
use crate::making::Making;
use crate::properties::{Asked, Late, Properties};

/// Reads the trace at `path` and writes its rows to `out`; the record and errors call it `name`. `watched` may stop the
/// reading.
///
/// # Errors
/// No format, the first line that is wrong beyond those that may be left out, no I/O that is taken; what cannot be read
/// or written.
pub fn make_rows(
    path: &Path,
    name: &str,
    selection: &Selection,
    out: &Path,
    watched: impl FnOnce(Box<dyn Read>) -> Box<dyn Read>,
) -> Result<(), TraceFileError> {
    let making = Making::new(selection, out.parent().unwrap_or(Path::new(".")));
    let (making, read) = told(path, name, selection, making, watched)?;
    making.finish(name, &read.streams, out)
}

/// Reads the trace at `path` once and returns its properties. None if that takes rows: I/Os are too far out of order,
/// or times are requested.
///
/// # Errors
/// As of [`make_rows`].
pub fn properties_at(
    path: &Path,
    name: &str,
    selection: &Selection,
    options: Asked,
    watched: impl FnOnce(Box<dyn Read>) -> Box<dyn Read>,
) -> Result<Option<Properties>, TraceFileError> {
    let Some(making) = Making::straight(selection, options) else { return Ok(None) };
    let properties = told(path, name, selection, making, watched);
    match properties.and_then(|(making, read)| making.finish_straight(&read.streams)) {
        Err(TraceFileError::Io(error)) if error.get_ref().is_some_and(<dyn Error + Send + Sync>::is::<Late>) => {
            Ok(None)
        }
        properties => properties.map(Some),
    }
}

/// Lines that may come before a heading: detection needs more than half of its lines to be of the format.
const PREAMBLE: u64 = LINES as u64 / 2;

/// Tells `making` all of a trace.
fn told(
    path: &Path,
    name: &str,
    selection: &Selection,
    mut making: Making,
    watched: impl FnOnce(Box<dyn Read>) -> Box<dyn Read>,
) -> Result<(Making, Out), TraceFileError> {
    let (parser, accepted) = parser_of(path, selection)?;
    let mut read = Out::default();
    let mut order = 0;
    let each = |io: &Io, read: &Out| {
        order += 1;
        making.push(io, order, &read.streams)
    };
    let (parser, skipped) = for_each_io(
        watched(input::open(path, selection.unpack)?),
        (parser, accepted),
        selection.skip_bad,
        &mut read,
        each,
    )?;
    if parser.counts_from_zero() {
        making.count_from_zero();
    }
    parser.measured_from().into_iter().for_each(|row| making.measured_from(row));
    let lost = read.lost.take().map(lost_note);
    lost.into_iter().chain(read.notes.drain(..)).chain(skipped.note(name)).for_each(|note| making.note(note));
    Ok((making, read))
}

/// Note of a trace whose tracer lost events.
fn lost_note((first, count): (String, u64)) -> String {
    let more = if count > 1 { format!(" (and {} more such lines)", count - 1) } else { String::new() };
    format!("the tracer lost events, so I/Os are missing: {first}{more}")
}

/// Lines that were left out.
#[derive(Debug, Default)]
pub(crate) struct Skipped {
    count: u64,
    first: Option<TraceFileError>,
}

impl Skipped {
    fn note(&self, name: &str) -> Option<String> {
        let first = self.first.as_ref()?;
        Some(format!("{} wrong lines of {name} were skipped, the first: {first}", self.count))
    }
}

/// Gives every I/O of `source` to `each`.
pub(crate) fn for_each_io(
    source: impl Read,
    (mut parser, accepted): (Box<dyn Parser>, &'static str),
    most_skipped: u64,
    read: &mut Out,
    mut each: impl FnMut(&Io, &Out) -> std::io::Result<()>,
) -> Result<(Box<dyn Parser>, Skipped), TraceFileError> {
    let mut skipped = Skipped::default();
    let mut skip = |error: TraceFileError| {
        skipped.count += 1;
        if skipped.count > most_skipped {
            return Err(error);
        }
        skipped.first.get_or_insert(error);
        Ok(())
    };
    let mut take = |read: &mut Out| -> Result<(), TraceFileError> {
        for index in 0..read.ios.len() {
            each(&read.ios[index], read)?;
        }
        read.ios.clear();
        Ok(())
    };
    let record = parser.record();
    let ended = for_each_part(source, record, |line, row, is_whole| {
        if record.is_none() && line.trim_ascii().is_empty() {
            return Ok(());
        }
        read.row = row;
        if let Err(wrong) = parser.line(line, read)
            && !(parser.is_before_heading() && row <= PREAMBLE)
        {
            let mut problem = wrong.found;
            if !is_whole {
                problem += ", and the last line is incomplete";
            } else if most_skipped == 0
                && record.is_none()
                && let Some(other) = looked(line).filter(|other| other.accepted != accepted)
            {
                problem = format!("{problem}; the line looks like {}", other.name);
            }
            skip(TraceFileError::line(row, Wrong { found: problem, ..wrong }, accepted))?;
        }
        take(read)
    });
    match ended {
        // The end of a file that was cut off is a line that may be left out.
        Err(error @ TraceFileError::Line { .. }) if most_skipped > 0 && skipped.count <= most_skipped => {
            let is_cut = matches!(&error, TraceFileError::Line { value, .. } if value.is_empty());
            skipped.count += 1;
            if !is_cut || skipped.count > most_skipped {
                return Err(error);
            }
            skipped.first.get_or_insert(error);
        }
        other => other?,
    }
    parser.finish(read);
    take(read)?;
    Ok((parser, skipped))
}
