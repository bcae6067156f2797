//! Selection of the I/Os of a trace to replay, and the way to read its file: keys of `[trace]` for whoever makes rows
//! of it.

use std::ops::Range;

use hotband_machine::{Op, Section, SpecError};
use hotband_units::{Bytes, Span};
use toml::Value;

/// Names of operations in `direction`.
const DIRECTIONS: [(&str, Op); 4] =
    [("read", Op::Read), ("write", Op::Write), ("flush", Op::Flush), ("trim", Op::Trim)];
/// Lines that may be left out: more is another file.
const MOST_SKIPPED: u64 = 1_000_000_000;
/// Largest factor that may be accepted; zstd packs zeros to a thirty-thousandth.
const MOST_UNPACKED: u64 = 1_000_000;

/// Reading of a trace, and the part that is used. By default everything is used.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// Its format; default: detected from its first lines.
    pub format: Option<String>,
    /// Meaning of CSV columns, such as ("time", "3 us"), in the order of the text.
    pub columns: Vec<(String, String)>,
    /// Time since the first I/O at which the part begins.
    pub from: Span,
    /// Length of the part.
    pub length: Option<Span>,
    /// Devices whose I/Os are replayed; all if empty.
    pub devices: Vec<String>,
    /// Hosts whose I/Os are replayed; all if empty.
    pub hosts: Vec<String>,
    /// Processes whose I/Os are replayed; all if empty.
    pub processes: Vec<String>,
    /// Only these operations.
    pub directions: Vec<Op>,
    /// That lie within these bytes of their device.
    pub range: Option<Range<u64>>,
    /// Lines that may be wrong, and are left out.
    pub skip_bad: u64,
    /// Limit of the unpacked size of a compressed file, as a multiple of its size; default: that of the reader.
    pub unpack: Option<u64>,
}

impl Selection {
    /// Reads its keys of `[trace]`.
    pub(crate) fn read(section: &Section) -> Result<Self, SpecError> {
        let length = section.quantity::<Span>("for")?;
        if length == Some(Span::ZERO) {
            return Err(section.error("for", "0", "expected a time above zero"));
        }
        Ok(Self {
            format: section.text("format")?.map(str::to_owned),
            columns: columns(section)?,
            from: section.quantity::<Span>("from")?.unwrap_or(Span::ZERO),
            length,
            devices: names(section, "device")?,
            hosts: names(section, "host")?,
            processes: names(section, "process")?,
            directions: directions(section)?,
            range: range(section)?,
            skip_bad: section.count("skip_bad", 0..=MOST_SKIPPED)?.unwrap_or(0),
            unpack: section.count("unpack", 2..=MOST_UNPACKED)?,
        })
    }

    /// Whether some I/Os may be left out.
    pub fn leaves_out(&self) -> bool {
        let Self { from, length, devices, hosts, processes, directions, range, .. } = self;
        let names = [devices, hosts, processes];
        *from > Span::ZERO
            || length.is_some()
            || names.iter().any(|names| !names.is_empty())
            || !directions.is_empty()
            || range.is_some()
    }
}

/// A text or a number, as text: devices are often numbers.
fn text_of(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned).or_else(|| value.as_integer().map(|number| number.to_string()))
}

/// Read a name or a list of names.
fn names(section: &Section, key: &'static str) -> Result<Vec<String>, SpecError> {
    let Some(value) = section.value(key) else { return Ok(Vec::new()) };
    let text = text_of(value).map(|text| vec![text]);
    let several = || value.as_array()?.iter().map(text_of).collect::<Option<Vec<_>>>();
    let names = text.or_else(several).filter(|names| !names.is_empty());
    names.ok_or_else(|| section.error(key, value.to_string(), "expected a name, or a list of names"))
}

fn directions(section: &Section) -> Result<Vec<Op>, SpecError> {
    let known = DIRECTIONS.map(|(name, _)| name);
    let op = |name: &String| {
        let direction = DIRECTIONS.iter().find(|(known, _)| known == name);
        direction
            .map(|(_, op)| *op)
            .ok_or_else(|| SpecError::unknown(section.file(), &section.key("direction"), name, &known))
    };
    names(section, "direction")?.iter().map(op).collect()
}

fn range(section: &Section) -> Result<Option<Range<u64>>, SpecError> {
    let Some(value) = section.value("range") else { return Ok(None) };
    let size = |value: &Value| Some(value.as_str()?.parse::<Bytes>().ok()?.0);
    let ends = value.as_array().and_then(|ends| match &ends[..] {
        [from, to] => Some(size(from)?..size(to)?),
        _ => None,
    });
    let ends = ends.filter(|ends| ends.start < ends.end);
    let accepted = "expected both ends of the addresses, such as [\"0 GB\", \"300 GB\"]";
    ends.map(Some).ok_or_else(|| section.error("range", value.to_string(), accepted))
}

/// A table, or one text as `--columns` of the command line.
fn columns(section: &Section) -> Result<Vec<(String, String)>, SpecError> {
    if let Some(text) = section.value("columns").and_then(Value::as_str) {
        let accepted = "expected columns such as \"time=1:us,offset=2:sectors,size=3,op=4\", or a table of them";
        let pair = |part: &str| {
            let (name, column) = part.split_once('=').filter(|(_, column)| !column.trim().is_empty())?;
            Some((name.trim().to_owned(), column.trim().to_owned()))
        };
        return text
            .split(',')
            .map(pair)
            .collect::<Option<_>>()
            .ok_or_else(|| section.error("columns", text, accepted));
    }
    let Some(columns) = section.section("columns")? else { return Ok(Vec::new()) };
    let column = |(name, value): (&String, &Value)| {
        let accepted = "expected the number of a column, or its name, and a unit, such as \"3 us\"";
        let text = text_of(value).ok_or_else(|| columns.error(name, value.to_string(), accepted))?;
        Ok((name.clone(), text))
    };
    columns.table().iter().map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(columns: &str) -> Result<Vec<(String, String)>, String> {
        let table = format!("columns = {columns}").parse().unwrap();
        super::columns(&Section::new("test.toml", "trace", &table)).map_err(|error| error.to_string())
    }

    #[test]
    fn columns_are_a_table_or_the_text_of_the_command_line() {
        let pairs = [("time", "1:us"), ("offset", "3:sectors"), ("size", "4")];
        let expected: Vec<_> = pairs.map(|(name, column)| (name.to_owned(), column.to_owned())).into();
        assert_eq!(read("\"time=1:us, offset=3:sectors,size=4\""), Ok(expected.clone()));
        assert_eq!(read("{ time = \"1:us\", offset = \"3:sectors\", size = 4 }"), Ok(expected));
    }

    #[test]
    fn columns_without_a_place_are_refused() {
        for columns in ["\"\"", "\"time\"", "\"time=,offset=2\""] {
            let error = read(columns).expect_err("it names no place");
            assert!(error.contains("trace.columns"), "{error}");
        }
    }
}
