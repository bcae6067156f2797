//! A product of the catalog: values with unit, source and confidence, some of them ranges.

use toml::{Table, Value};

use crate::spec::error::SpecError;
use crate::spec::reader::{Section, parse_toml};

/// A value of a product, as the catalog states it.
#[derive(Clone, Debug, PartialEq)]
pub struct Assumption {
    /// Name of the value.
    pub key: String,
    /// The value that the model uses.
    pub value: String,
    /// Its stated range, or none.
    pub range: Option<(String, String)>,
    /// Source; empty if a user's file has none.
    pub source: String,
    /// "high", "medium" or "low"; empty if a user's file does not state it.
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
    /// Values that a user's file leaves open but the catalog requires, one line each.
    pub warnings: Vec<String>,
    /// Values the model uses, by name.
    values: Table,
    /// The text of its own file, without its base, for the lines of mistakes.
    own_text: String,
}

/// Requirements for a file beyond its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rigour {
    /// Every value has a source and a confidence, every estimate a range: the catalog.
    Sources,
    /// A value may stand alone (`rpm = "7200 rpm"`); what is missing is a warning: a user's file.
    Values,
}

const CONFIDENCES: [(&str, ()); 5] = [("high", ()), ("medium", ()), ("low-medium", ()), ("low", ()), ("stated", ())];

impl Product {
    /// Reads a file of the catalog.
    ///
    /// # Errors
    /// The first mistake, with its line: a value without source, a range without middle, an unknown confidence.
    pub fn read(name: &str, file: &str, text: &str) -> Result<Self, SpecError> {
        Self::read_with(name, file, (text, text), Rigour::Sources)
    }

    /// Reads a file and requires as much as `rigour` demands; for a variant, `text` also has the values of its origin,
    /// and `own_text` is the text of the file itself.
    ///
    /// # Errors
    /// As `read`.
    pub fn read_with(
        name: &str,
        file: &str,
        (text, own_text): (&str, &str),
        rigour: Rigour,
    ) -> Result<Self, SpecError> {
        let mut table = parse_toml(file, text)?;
        if rigour == Rigour::Values {
            stand_alone(&mut table);
        }
        let read = || {
            let top = Section::new(file, "", &table);
            let need = |key: &'static str| -> Result<String, SpecError> {
                top.text(key)?.map(str::to_owned).ok_or_else(|| top.error(key, "", "missing: expected a text"))
            };
            let (kind, title) = (need("kind")?, need("title")?);
            let model = match rigour {
                Rigour::Sources => need("model")?,
                Rigour::Values => top.text("model")?.unwrap_or_default().to_owned(),
            };
            let mut product = Self {
                name: name.to_owned(),
                file: file.to_owned(),
                kind,
                title,
                model,
                assumptions: Vec::new(),
                warnings: Vec::new(),
                values: Table::new(),
                own_text: own_text.to_owned(),
            };
            for (key, section) in top.sections("values")? {
                let value = product.take(key.clone(), section, rigour)?;
                product.values.insert(key, value);
            }
            for (key, section) in top.sections("reference")? {
                product.take(format!("reference.{key}"), section, rigour)?;
            }
            top.finish()?;
            Ok(product)
        };
        read().map_err(|error: SpecError| error.at_line_of(own_text))
    }

    /// Reads a value and records its source and confidence.
    fn take(&mut self, key: String, section: Section, rigour: Rigour) -> Result<Value, SpecError> {
        let (value, assumption, unsaid) = read_value(key, &section, rigour)?;
        section.finish()?;
        self.warnings.extend(unsaid.map(|unsaid| format!("{}: {unsaid}", assumption.key)));
        self.assumptions.push(assumption);
        Ok(value)
    }

    /// Return the values that its file leaves open, in one line; none if complete.
    pub fn remark(&self) -> Option<String> {
        const NAMED: usize = 4;
        let mut keys: Vec<&str> = self.warnings.iter().filter_map(|line| line.split(':').next()).collect();
        let (count, more) = (keys.len(), keys.len().saturating_sub(NAMED));
        keys.truncate(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let values = if count == 1 { "value" } else { "values" };
        (count > 0)
            .then(|| format!("{}: {count} {values} without source or range: {}{more}", self.file, keys.join(", ")))
    }

    /// Whether the product has a value of this name.
    pub fn has(&self, key: &str) -> bool {
        self.values.contains_key(key)
    }

    /// Names of its values, in the order of the file.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }

    /// A mistake in a value that came from `set` is reported there, another one at its line of the product's file.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn blame<T>(
        &self,
        read: Result<T, SpecError>,
        set: &Table,
        set_file: &str,
        set_key: &str,
    ) -> Result<T, SpecError> {
        read.map_err(|error| {
            let key = error.key.trim_start_matches("values.").to_owned();
            if set.contains_key(&key) {
                let key = format!("{set_key}.{key}").trim_start_matches('.').to_owned();
                SpecError { file: set_file.to_owned(), key, ..error }
            } else if error.file == self.file {
                error.at_line_of(&self.own_text)
            } else {
                // Whoever was asked first has found the line.
                error
            }
        })
    }

    /// The values, replaced by those of `set`, which also adds values that the product need not state (`optional`).
    ///
    /// # Errors
    /// A key that the product neither has nor need state, named in `set_file` at `set_key`.
    pub fn with(&self, set: &Table, (set_file, set_key): (&str, &str), optional: &[&str]) -> Result<Table, SpecError> {
        let mut values = self.values.clone();
        for (key, value) in set {
            if !values.contains_key(key) && !optional.contains(&key.as_str()) {
                let keys = self.keys().chain(optional.iter().copied().filter(|key| !self.has(key)));
                let known: Vec<&str> = keys.collect();
                return Err(SpecError::unknown(set_file, set_key, key, &known));
            }
            values.insert(key.clone(), value.clone());
        }
        Ok(values)
    }
}

/// Values that stand alone become tables with that value.
fn stand_alone(table: &mut Table) {
    for part in ["values", "reference"] {
        let Some(values) = table.get_mut(part).and_then(Value::as_table_mut) else { continue };
        for (_, value) in values.iter_mut().filter(|(_, value)| !value.is_table()) {
            let alone = std::mem::replace(value, Value::Boolean(false));
            let key = if alone.is_array() { "range" } else { "value" };
            *value = Value::Table([(key.to_owned(), alone)].into_iter().collect());
        }
    }
}

/// Read a value, its source and confidence, and the missing statements.
fn read_value(
    key: String,
    section: &Section,
    rigour: Rigour,
) -> Result<(Value, Assumption, Option<&'static str>), SpecError> {
    let (value, range) = (section.value("value").cloned(), section.value("range").cloned());
    let source = section.text("source")?.map(str::trim).unwrap_or_default();
    let confidence = section.choice("confidence", &CONFIDENCES)?;
    let estimate = section.flag("estimate")?.unwrap_or(false);
    let ends = match &range {
        None => None,
        Some(range) => Some(range_ends(section, range)?),
    };
    let unsaid = [
        ("source", source.is_empty(), "missing: every value names where it is from"),
        ("confidence", confidence.is_none(), "missing"),
        ("range", estimate && ends.is_none(), "missing: an estimate has a range"),
    ];
    let unsaid = unsaid.into_iter().find(|(_, missing, _)| *missing);
    if let (Rigour::Sources, Some((what, _, accepted))) = (rigour, unsaid) {
        return Err(section.error(what, "", accepted));
    }
    let unsaid = unsaid.filter(|(what, ..)| *what != "confidence").map(|(what, ..)| match what {
        "range" => "an estimate without range",
        _ => "a value without source",
    });
    let value = match (value, &ends) {
        (Some(value), _) => value,
        (None, Some((low, high))) => middle(low, high).ok_or_else(|| {
            section.error("range", format!("{low} .. {high}"), "expected two values in the same unit")
        })?,
        (None, None) => return Err(section.error("value", "", "missing: expected a value or a range")),
    };
    let assumption = Assumption {
        key,
        value: shown(&value),
        range: ends.map(|(low, high)| (shown(&low), shown(&high))),
        source: source.to_owned(),
        confidence: section.text("confidence")?.unwrap_or_default().to_owned(),
        estimate,
        note: section.text("note")?.unwrap_or_default().to_owned(),
    };
    Ok((value, assumption, unsaid))
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
        let error = product.with(&set, ("machine.toml", "drives.d.set"), &[]).unwrap_err();
        assert!(error.to_string().contains("did you mean \"wce\""), "{error}");
    }

    #[test]
    fn a_users_value_may_stand_alone_and_is_warned_of() {
        let text = format!("{HEAD}[values]\nrpm = \"7200 rpm\"\nseek = [\"8 ms\", \"9 ms\"]\n");
        let product = Product::read_with("p", "p.toml", (&text, &text), Rigour::Values).unwrap();
        assert_eq!(product.values["seek"].as_str(), Some("8.5 ms"));
        assert_eq!(product.warnings, ["rpm: a value without source", "seek: a value without source"]);
        let refused = Product::read("p", "p.toml", &text).unwrap_err();
        assert_eq!((refused.file.as_str(), refused.key.as_str()), ("p.toml:5", "values.rpm"));
    }

    #[test]
    fn what_is_left_unsaid_is_remarked_with_four_names_and_how_many_more() {
        let remark = |count: usize| {
            let values: Vec<String> = (0..count).map(|number| format!("v{number} = {number}")).collect();
            let text = format!("{HEAD}[values]\n{}", values.join("\n"));
            Product::read_with("p", "p.toml", (&text, &text), Rigour::Values).unwrap().remark()
        };
        assert_eq!(remark(0), None);
        assert_eq!(remark(1).as_deref(), Some("p.toml: 1 value without source or range: v0"));
        assert_eq!(remark(4).as_deref(), Some("p.toml: 4 values without source or range: v0, v1, v2, v3"));
        assert_eq!(remark(6).as_deref(), Some("p.toml: 6 values without source or range: v0, v1, v2, v3 and 2 more"));
    }

    #[test]
    fn a_set_value_takes_the_place_of_the_products_or_stands_beside_them() {
        let product = read("[values.wce]\nvalue = \"off\"\nsource = \"s\"\nconfidence = \"high\"\n").unwrap();
        assert!(product.has("wce") && !product.has("rcd") && product.keys().eq(["wce"]));
        let set: Table = "wce = \"on\"\nrcd = \"off\"".parse().unwrap();
        assert_eq!(product.with(&set, ("m.toml", "set"), &["rcd", "wce"]), Ok(set.clone()));
        let wrong: Table = "rcx = \"off\"".parse().unwrap();
        let error = product.with(&wrong, ("m.toml", "set"), &["rcd", "wce"]).unwrap_err();
        assert!(error.to_string().contains("did you mean \"rcd\""), "{error}");
    }
}
