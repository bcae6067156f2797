//! Reading a TOML table with errors that name file, key, value and what is accepted.

use std::cell::RefCell;
use std::ops::RangeInclusive;
use std::str::FromStr;

use hotband_units::{Ratio, UnitError};
use toml::{Table, Value};

use crate::spec::error::SpecError;

/// A table of a spec file. Every key must be read: [`Section::finish`] refuses the others.
pub struct Section<'a> {
    file: &'a str,
    path: String,
    table: &'a Table,
    asked: RefCell<Vec<&'static str>>,
}

/// Parses a whole TOML file, its syntax errors as one line with the line number.
///
/// # Errors
/// A [`SpecError`] for text that is not TOML.
pub fn parse_toml(file: &str, text: &str) -> Result<Table, SpecError> {
    text.parse::<Table>().map_err(|error| {
        let line = error.span().map_or(1, |span| text[..span.start.min(text.len())].lines().count().max(1));
        let message = error.message().replace('\n', " ");
        SpecError::new(file, &format!("line {line}"), "", format!("not valid TOML: {message}"))
    })
}

/// Whether a plain number, given for a percentage, could be a share: 0.7 for 70 %.
pub fn is_share_or_percent(number: f64) -> bool {
    number > 0.0 && number < 1.0
}

/// Correction that the author of such a number has to make.
pub fn share_or_percent(number: f64) -> String {
    // A billionth is as close as anybody writes a share; the rest is binary.
    let percent = (number * 100.0 * 1e9).round() / 1e9;
    format!("{number} % or {percent} %? A number between 0 and 1 needs its unit, as \"{number} %\"")
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Table(_) => "a table".into(),
        Value::Array(_) => "an array".into(),
        other => other.to_string(),
    }
}

impl<'a> Section<'a> {
    /// Return a reader of the top of a file, or of the table at `path`.
    pub fn new(file: &'a str, path: &str, table: &'a Table) -> Self {
        Self { file, path: path.to_owned(), table, asked: RefCell::default() }
    }

    /// The file this section is in.
    pub fn file(&self) -> &'a str {
        self.file
    }

    /// The dotted key of `key` in this section.
    pub fn key(&self, key: &str) -> String {
        match (self.path.is_empty(), key.is_empty()) {
            (true, _) => key.to_owned(),
            (_, true) => self.path.clone(),
            _ => format!("{}.{key}", self.path),
        }
    }

    /// An error at `key` here.
    pub fn error(&self, key: &str, value: impl Into<String>, accepted: impl Into<String>) -> SpecError {
        SpecError::new(self.file, &self.key(key), value, accepted)
    }

    /// The raw value of `key`, which is marked as used.
    pub fn value(&self, key: &'static str) -> Option<&'a Value> {
        self.asked.borrow_mut().push(key);
        self.table.get(key)
    }

    /// An error at `key` that shows the value found there.
    fn wrong(&self, key: &str, value: &Value, accepted: &str) -> SpecError {
        self.error(key, shown(value), format!("expected {accepted}"))
    }

    /// A quantity with its unit, in text.
    ///
    /// # Errors
    /// Not a text, or not that quantity.
    pub fn quantity<T: FromStr<Err = UnitError>>(&self, key: &'static str) -> Result<Option<T>, SpecError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let parsed = text.parse::<T>().map_err(|error| self.wrong(key, value, error.accepted))?;
        match value {
            Value::String(_) => Ok(Some(parsed)),
            other => Err(self.wrong(key, other, "a quantity in quotes")),
        }
    }

    /// A quantity that must be there.
    ///
    /// # Errors
    /// Missing, or wrong.
    pub fn required<T: FromStr<Err = UnitError>>(&self, key: &'static str, what: &str) -> Result<T, SpecError> {
        self.quantity(key)?.ok_or_else(|| self.error(key, "", format!("missing: expected {what}")))
    }

    /// A plain count within `range`.
    ///
    /// # Errors
    /// Not a whole number within the range.
    pub fn count(&self, key: &'static str, range: RangeInclusive<u64>) -> Result<Option<u64>, SpecError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let count = value.as_integer().and_then(|n| u64::try_from(n).ok()).filter(|n| range.contains(n));
        let accepted = || format!("a whole number from {} to {}", range.start(), range.end());
        count.map(Some).ok_or_else(|| self.wrong(key, value, &accepted()))
    }

    /// A plain number within `range` (for numbers without unit, such as a Zipf exponent or a percentage key).
    ///
    /// # Errors
    /// Not a number within the range.
    pub fn number(&self, key: &'static str, range: RangeInclusive<f64>) -> Result<Option<f64>, SpecError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let number = value.as_float().or_else(|| value.as_integer().map(|n| n as f64));
        let accepted = || format!("a number from {} to {}", range.start(), range.end());
        number.filter(|n| range.contains(n)).map(Some).ok_or_else(|| self.wrong(key, value, &accepted()))
    }

    /// A percentage: a plain number from 0 to 100, or a text with its unit. A plain number between 0 and 1 could be
    /// meant as a share.
    ///
    /// # Errors
    /// Not a percentage, or one that could be a share.
    pub fn percent(&self, key: &'static str) -> Result<Option<f64>, SpecError> {
        if let Some(Value::String(_)) = self.table.get(key) {
            return Ok(self.quantity::<Ratio>(key)?.map(|share| share.0 * 100.0));
        }
        let percent = self.number(key, 0.0..=100.0)?;
        match percent.filter(|percent| is_share_or_percent(*percent)) {
            None => Ok(percent),
            Some(unclear) => Err(self.error(key, unclear.to_string(), share_or_percent(unclear))),
        }
    }

    /// A text.
    ///
    /// # Errors
    /// Not a text.
    pub fn text(&self, key: &'static str) -> Result<Option<&'a str>, SpecError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        value.as_str().map(Some).ok_or_else(|| self.wrong(key, value, "a text in quotes"))
    }

    /// True or false.
    ///
    /// # Errors
    /// Neither.
    pub fn flag(&self, key: &'static str) -> Result<Option<bool>, SpecError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        value.as_bool().map(Some).ok_or_else(|| self.wrong(key, value, "true or false"))
    }

    /// "on" or "off".
    ///
    /// # Errors
    /// Neither.
    pub fn switch(&self, key: &'static str) -> Result<Option<bool>, SpecError> {
        self.choice(key, &[("off", false), ("on", true)])
    }

    /// One of several names.
    ///
    /// # Errors
    /// Another name, with the nearest match.
    pub fn choice<T: Copy>(&self, key: &'static str, names: &[(&str, T)]) -> Result<Option<T>, SpecError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let known: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
        let unknown = |value: &str| SpecError::unknown(self.file, &self.key(key), value, &known);
        let text = value.as_str().ok_or_else(|| unknown(&shown(value)))?;
        let choice = names.iter().find(|(name, _)| *name == text);
        choice.map(|(_, value)| Some(*value)).ok_or_else(|| unknown(text))
    }

    /// A table inside this one.
    ///
    /// # Errors
    /// Not a table.
    pub fn section(&self, key: &'static str) -> Result<Option<Section<'a>>, SpecError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let table = value.as_table().ok_or_else(|| self.wrong(key, value, "a table"))?;
        Ok(Some(Section::new(self.file, &self.key(key), table)))
    }

    /// Every table under `key`, by name, in the order of the file.
    ///
    /// # Errors
    /// Something that is not a table.
    pub fn sections(&self, key: &'static str) -> Result<Vec<(String, Section<'a>)>, SpecError> {
        let Some(value) = self.value(key) else { return Ok(Vec::new()) };
        let tables = value.as_table().ok_or_else(|| self.wrong(key, value, "a table of tables"))?;
        let named = tables.iter().map(|(name, value)| {
            let path = self.key(&format!("{key}.{name}"));
            let table =
                value.as_table().ok_or_else(|| SpecError::new(self.file, &path, shown(value), "expected a table"))?;
            Ok((name.clone(), Section::new(self.file, &path, table)))
        });
        named.collect()
    }

    /// Every table of the array under `key` (`[[streams]]`).
    ///
    /// # Errors
    /// Not an array of tables.
    pub fn list(&self, key: &'static str) -> Result<Vec<Section<'a>>, SpecError> {
        let Some(value) = self.value(key) else { return Ok(Vec::new()) };
        let array = value.as_array().ok_or_else(|| self.wrong(key, value, "an array of tables"))?;
        let tables = array.iter().enumerate().map(|(index, value)| {
            let path = self.key(&format!("{key}[{index}]"));
            let table =
                value.as_table().ok_or_else(|| SpecError::new(self.file, &path, shown(value), "expected a table"))?;
            Ok(Section::new(self.file, &path, table))
        });
        tables.collect()
    }

    /// The keys of this table, in the order of the file.
    pub fn keys(&self) -> impl Iterator<Item = &'a str> {
        self.table.keys().map(String::as_str)
    }

    /// The table itself.
    pub fn table(&self) -> &'a Table {
        self.table
    }

    /// Refuses every key that was not asked for.
    ///
    /// # Errors
    /// The first such key, with the nearest known one.
    pub fn finish(self) -> Result<(), SpecError> {
        let read = self.asked.borrow();
        match self.table.keys().find(|key| !read.contains(&key.as_str())) {
            None => Ok(()),
            Some(unknown) => {
                let mut known: Vec<&str> = read.clone();
                known.sort_unstable();
                known.dedup();
                let hint = crate::spec::error::hint(unknown, &known);
                let accepted = format!("unknown key; {hint}expected {}", known.join(", "));
                Err(self.error(unknown, "", accepted))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Table {
        text.parse().expect("tests read TOML")
    }

    #[test]
    fn a_percentage_is_a_plain_number_or_has_its_unit_and_is_no_share() {
        let percent = |value: &str| {
            let table = table(&format!("reads = {value}"));
            Section::new("w.toml", "load", &table).percent("reads").map_err(|error| error.accepted)
        };
        for (value, found) in [("70", 70.0), ("0", 0.0), ("1", 1.0), ("100", 100.0), ("\"0.7 %\"", 0.7), ("2.5", 2.5)] {
            let read = percent(value).unwrap().unwrap();
            assert!((read - found).abs() < 1e-12, "{value}: {read}");
        }
        for value in ["-1", "100.5", "true", "\"70\"", "\"101 %\""] {
            assert!(percent(value).is_err(), "{value}");
        }
        let accepted = "0.07 % or 7 %? A number between 0 and 1 needs its unit, as \"0.07 %\"";
        assert_eq!(percent("0.07"), Err(accepted.to_owned()));
        let empty = Table::new();
        assert_eq!(Section::new("w.toml", "", &empty).percent("reads"), Ok(None));
    }

    #[test]
    fn counts_and_numbers_are_within_their_range_ends_included() {
        let table = table("a = 1\nb = 9\nc = 10\nd = 2.5\ne = -1");
        let section = Section::new("w.toml", "", &table);
        let counts = ["a", "b", "c", "d", "e"].map(|key| section.count(key, 1..=9).ok().flatten());
        assert_eq!(counts, [Some(1), Some(9), None, None, None]);
        let numbers = ["a", "b", "c", "d", "e"].map(|key| section.number(key, 1.0..=9.0).ok().flatten());
        assert_eq!(numbers, [Some(1.0), Some(9.0), None, Some(2.5), None]);
        assert_eq!((section.count("f", 1..=9), section.number("f", 1.0..=9.0)), (Ok(None), Ok(None)));
    }

    #[test]
    fn an_error_names_file_and_dotted_key() {
        let table = Table::new();
        let keys = |path: &str| ["", "size"].map(|key| Section::new("m.toml", path, &table).key(key));
        assert_eq!(
            (keys(""), keys("layouts.l")),
            (["", "size"].map(String::from), ["layouts.l", "layouts.l.size"].map(String::from))
        );
        let section = Section::new("m.toml", "layouts.l", &table);
        let error = section.error("size", "4", "a size");
        assert_eq!(
            (section.file(), &*error.file, &*error.key, &*error.value),
            ("m.toml", "m.toml", "layouts.l.size", "4")
        );
    }
}
