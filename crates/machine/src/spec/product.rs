//! A product of the catalog: values with unit, source and confidence, some of them ranges.

use toml::{Table, Value};

use crate::spec::error::SpecError;
use crate::spec::reader::{Section, parse_toml};

/// One value of a product, as the catalog states it.
#[derive(Clone, Debug, PartialEq)]
pub struct Assumption {
    /// Name of the value.
    pub key: String,
    /// The value that the model uses.
    pub value: String,
    /// Its stated range, if any.
    pub range: Option<(String, String)>,
    /// Where it is from.
    pub source: String,
    /// "high", "medium" or "low".
    pub confidence: String,
    /// Whether it is an estimate of ours.
    pub estimate: bool,
    /// A remark.
    pub note: String,
}

/// A drive or an OSD of the catalog, read and checked for form; the mechanism checks the values.
#[derive(Clone, Debug, PartialEq)]
pub struct Product {
    /// Name in the catalog.
    pub name: String,
    /// The file, for errors.
    pub file: String,
    /// Mechanism.
    pub kind: String,
    /// Full name.
    pub title: String,
    /// Manufacturer's model number.
    pub model: String,
    /// Every value, in the order of the file.
    pub assumptions: Vec<Assumption>,
    /// Values the model uses, by name.
    values: Table,
}

const CONFIDENCES: [(&str, ()); 5] = [("high", ()), ("medium", ()), ("low-medium", ()), ("low", ()), ("stated", ())];

impl Product {
    /// Reads a catalog file.
    ///
    /// # Errors
    /// The first mistake: a value without source, a range without middle, an unknown confidence.
    pub fn read(name: &str, file: &str, text: &str) -> Result<Self, SpecError> {
        let table = parse_toml(file, text)?;
        let top = Section::new(file, "", &table);
        let need = |key: &'static str| -> Result<String, SpecError> {
            top.text(key)?.map(str::to_owned).ok_or_else(|| top.error(key, "", "missing: expected a text"))
        };
        let (kind, title, model) = (need("kind")?, need("title")?, need("model")?);
        let (mut values, mut assumptions) = (Table::new(), Vec::new());
        for (key, section) in top.sections("values")? {
            let (value, assumption) = read_value(&key, &section)?;
            section.finish()?;
            values.insert(key, value);
            assumptions.push(assumption);
        }
        for (key, section) in top.sections("reference")? {
            let (_, assumption) = read_value(&key, &section)?;
            section.finish()?;
            assumptions.push(Assumption { key: format!("reference.{key}"), ..assumption });
        }
        top.finish()?;
        Ok(Self { name: name.to_owned(), file: file.to_owned(), kind, title, model, assumptions, values })
    }

    /// Whether the product has a value of this name.
    pub fn has(&self, key: &str) -> bool {
        self.values.contains_key(key)
    }

    /// Names of its values, in the order of the file.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }

    /// A mistake in a value that came from `set` is reported there, not in the catalog.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn blame<T>(read: Result<T, SpecError>, set: &Table, set_file: &str, set_key: &str) -> Result<T, SpecError> {
        read.map_err(|error| {
            let key = error.key.trim_start_matches("values.").to_owned();
            if set.contains_key(&key) {
                let key = format!("{set_key}.{key}").trim_start_matches('.').to_owned();
                SpecError { file: set_file.to_owned(), key, ..error }
            } else {
                error
            }
        })
    }

    /// The values with those of `set` in their place.
    ///
    /// # Errors
    /// A key that the product does not have, named in `set_file` at `set_key`.
    pub fn with(&self, set: &Table, set_file: &str, set_key: &str) -> Result<Table, SpecError> {
        let mut values = self.values.clone();
        let known: Vec<&str> = self.values.keys().map(String::as_str).collect();
        for (key, value) in set {
            if !values.contains_key(key) {
                return Err(SpecError::unknown(set_file, set_key, key, &known));
            }
            values.insert(key.clone(), value.clone());
        }
        Ok(values)
    }
}

fn read_value(key: &str, section: &Section) -> Result<(Value, Assumption), SpecError> {
    let (value, range) = (section.value("value").cloned(), section.value("range").cloned());
    let source = section.text("source")?.filter(|source| !source.trim().is_empty());
    let source = source.ok_or_else(|| section.error("source", "", "missing: every value names where it is from"))?;
    section.choice("confidence", &CONFIDENCES)?.ok_or_else(|| section.error("confidence", "", "missing"))?;
    let estimate = section.flag("estimate")?.unwrap_or(false);
    let ends = match &range {
        None => None,
        Some(range) => Some(range_ends(section, range)?),
    };
    if estimate && ends.is_none() {
        return Err(section.error("range", "", "missing: an estimate has a range"));
    }
    let value = match (value, &ends) {
        (Some(value), _) => value,
        (None, Some((low, high))) => middle(low, high).ok_or_else(|| {
            section.error("range", format!("{low} .. {high}"), "expected two values in the same unit")
        })?,
        (None, None) => return Err(section.error("value", "", "missing: expected a value or a range")),
    };
    let assumption = Assumption {
        key: key.to_owned(),
        value: shown(&value),
        range: ends.map(|(low, high)| (shown(&low), shown(&high))),
        source: source.to_owned(),
        confidence: section.text("confidence")?.unwrap_or_default().to_owned(),
        estimate,
        note: section.text("note")?.unwrap_or_default().to_owned(),
    };
    Ok((value, assumption))
}

fn range_ends(section: &Section, range: &Value) -> Result<(Value, Value), SpecError> {
    match range.as_array().map(Vec::as_slice) {
        Some([low, high]) => Ok((low.clone(), high.clone())),
        _ => Err(section.error("range", range.to_string(), "expected two values, such as [\"8.5 ms\", \"9.5 ms\"]")),
    }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The middle of two values in the same unit.
fn middle(low: &Value, high: &Value) -> Option<Value> {
    if let (Some(low), Some(high)) = (low.as_integer(), high.as_integer()) {
        return Some(Value::from(i64::midpoint(low, high)));
    }
    let split = |value: &'_ Value| {
        let text = value.as_str()?;
        let unit = text.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        Some((text[..unit].parse::<f64>().ok()?, text[unit..].trim().to_owned()))
    };
    let ((low, unit), (high, other)) = (split(low)?, split(high)?);
    (unit == other).then(|| Value::from(format!("{} {unit}", f64::midpoint(low, high))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "kind = \"disk\"\ntitle = \"t\"\nmodel = \"m\"\n";

    fn read(values: &str) -> Result<Product, SpecError> {
        Product::read("p", "p.toml", &format!("{HEAD}{values}"))
    }

    #[test]
    fn a_range_stands_for_its_middle() {
        let text = "[values.seek]\nrange = [\"8.5 ms\", \"9.5 ms\"]\nsource = \"s\"\nconfidence = \"low\"\n";
        assert_eq!(read(text).unwrap().assumptions[0].value, "9 ms");
    }

    #[test]
    fn a_value_without_source_is_refused() {
        let error = read("[values.seek]\nvalue = \"8.5 ms\"\nconfidence = \"low\"\n").unwrap_err();
        assert_eq!(error.key, "values.seek.source");
    }

    #[test]
    fn an_estimate_without_range_is_refused() {
        let text = "[values.a]\nvalue = 1\nsource = \"s\"\nconfidence = \"low\"\nestimate = true\n";
        assert_eq!(read(text).unwrap_err().key, "values.a.range");
    }

    #[test]
    fn a_set_key_that_is_no_value_is_refused_with_the_nearest() {
        let product = read("[values.wce]\nvalue = \"off\"\nsource = \"s\"\nconfidence = \"high\"\n").unwrap();
        let set: Table = "wec = \"off\"".parse().unwrap();
        let error = product.with(&set, "machine.toml", "drives.d.set").unwrap_err();
        assert!(error.to_string().contains("did you mean \"wce\""), "{error}");
    }
}
