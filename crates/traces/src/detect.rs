//! Detection of a trace's format by its first lines: the one that reads most of them, and more than half.

use std::io::{self, Read};
use std::path::Path;

use hotband_workloads::Selection;

use crate::error::TraceFileError;
use crate::formats::{CSV, Columns, FORMATS, Format, Parser};
use crate::input;
use crate::io::Out;

/// Bytes that are examined, and lines of them: formats differ in every line.
const SNIFFED: u64 = 64 * 1024;
pub(crate) const LINES: usize = 20;

/// Names that `format` accepts.
pub fn known() -> Vec<&'static str> {
    FORMATS.iter().map(|format| format.name).chain([CSV]).collect()
}

/// The name of the format of a file, if it is one of ours.
///
/// # Errors
/// It cannot be read.
pub fn format_of(path: &Path) -> io::Result<Option<&'static str>> {
    Ok(looked(&beginning(path)?.0).map(|format| format.name))
}

/// Return the parser of a file, by `selection` or else by the first lines, and the accepted form of its lines.
pub(crate) fn parser_of(path: &Path, selection: &Selection) -> Result<(Box<dyn Parser>, &'static str), TraceFileError> {
    let whole = |text: String| Err(TraceFileError::Whole(text));
    let named = selection.format.as_deref();
    if named == Some(CSV) || (named.is_none() && !selection.columns.is_empty()) {
        let accepted = "a table with the given columns";
        return Ok((Box::new(Columns::new(&selection.columns)?), accepted));
    }
    if !selection.columns.is_empty() {
        return whole(format!("columns: are for format = \"{CSV}\""));
    }
    let names = known().join(", ");
    let format = if let Some(name) = named {
        let Some(format) = FORMATS.iter().find(|format| format.name == name) else {
            return whole(format!("unknown format {name:?}; expected one of {names}"));
        };
        *format
    } else {
        let (start, broken) = beginning(path)?;
        match (looked(&start), broken) {
            (Some(format), _) => format,
            (None, Some(error)) if start.is_empty() => return Err(error.into()),
            (None, None) if start.is_empty() => return whole("is empty; expected a trace".to_owned()),
            (None, _) => {
                let text = "is not a trace of a known format (by its first lines); expected an I/O log as Parquet";
                return whole(format!("{text}, or one of {names}; for any other CSV name the columns"));
            }
        }
    };
    Ok(((format.make)(), format.accepted))
}

/// Beginning of a file, and the error if a compressed one breaks off: the data before the break shows its format, and
/// the break is reported when the file is read.
fn beginning(path: &Path) -> io::Result<(Vec<u8>, Option<io::Error>)> {
    let mut start = Vec::new();
    match input::open(path, None)?.take(SNIFFED).read_to_end(&mut start) {
        Err(error) if error.raw_os_error().is_some() => Err(error),
        read => Ok((start, read.err())),
    }
}

/// The format that reads most of the first lines, if it reads more than half of them.
pub(crate) fn looked(start: &[u8]) -> Option<&'static Format> {
    let mut lines: Vec<&[u8]> = start.split(|byte| *byte == b'\n').collect();
    // The last one is cut where the look ended, or where the file was cut.
    if lines.len() > 1 && start.last() != Some(&b'\n') {
        lines.pop();
    }
    let mut lines: Vec<&[u8]> = lines
        .iter()
        .map(|line| line.trim_ascii_end())
        .filter(|line| !line.is_empty() && !line.starts_with(b"#"))
        .collect();
    lines.truncate(LINES);
    let read = |format: &'static Format| {
        let (mut parser, mut out) = ((format.make)(), Out::default());
        if parser.record().is_some() {
            return (0, format);
        }
        let each = |(row, line): (usize, &&[u8])| {
            out.row = row as u64 + 1;
            parser.line(line, &mut out).is_ok()
        };
        let read = lines.iter().enumerate().map(each).filter(|is_read| *is_read).count();
        (read, format)
    };
    // The first of several: they stand in the order of how much their lines say.
    let best = FORMATS.iter().map(|format| read(format)).rev().max_by_key(|(read, _)| *read);
    let text = best.filter(|(read, _)| 2 * read > lines.len()).map(|(_, format)| format);
    text.or_else(|| recorded(start).filter(|_| start.contains(&0)))
}

/// The format that reads all of the first records.
fn recorded(start: &[u8]) -> Option<&'static Format> {
    FORMATS.into_iter().find(|format| {
        let (mut parser, mut out) = ((format.make)(), Out::default());
        let Some(length) = parser.record() else { return false };
        let mut records = start.chunks_exact(length).take(LINES).zip(1..);
        start.len() >= 2 * length
            && records.all(|(record, row)| {
                out.row = row;
                parser.line(record, &mut out).is_ok()
            })
    })
}
