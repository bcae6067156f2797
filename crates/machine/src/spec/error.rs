//! The user's mistake, typed: file, key, value and what is accepted.

use thiserror::Error;
use toml::de::DeTable;

/// A mistake in a spec. Its text is one line.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{}", one_line(&format!("{file}: {}{}{accepted}", place(.key), found(.value))))]
pub struct SpecError {
    /// The file (or argument) that holds the mistake.
    pub file: String,
    /// The key in that file, dotted; empty where the whole file is meant.
    pub key: String,
    /// What was found; empty where nothing was.
    pub value: String,
    /// What would have been right.
    pub accepted: String,
}

/// Names and keys in quotes may hold line ends.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn place(key: &str) -> String {
    if key.is_empty() { String::new() } else { format!("{key}: ") }
}

fn found(value: &str) -> String {
    const LONGEST: usize = 80;
    if value.is_empty() {
        return String::new();
    }
    let shown: String = value.chars().take(LONGEST).collect();
    let more = if value.chars().count() > LONGEST { "…" } else { "" };
    format!("found \"{shown}{more}\", ")
}

impl SpecError {
    /// An error at `key` of `file`.
    pub fn new(file: &str, key: &str, value: impl Into<String>, accepted: impl Into<String>) -> Self {
        Self { file: file.to_owned(), key: key.to_owned(), value: value.into(), accepted: accepted.into() }
    }

    /// The same with the line of its key in `text`, where the key stands there: "x16.toml:31".
    #[must_use]
    pub fn at_line_of(mut self, text: &str) -> Self {
        if let Some(line) = line_of(text, &self.key) {
            self.file = format!("{}:{line}", self.file);
        }
        self
    }

    /// An unknown name: the nearest known one, then all.
    pub fn unknown(file: &str, key: &str, value: &str, known: &[&str]) -> Self {
        Self::new(file, key, value, format!("{}expected one of {}", hint(value, known), known.join(", ")))
    }
}

/// The line (from 1) on which a dotted key stands in TOML text, or the table of the value that it would belong to.
fn line_of(text: &str, key: &str) -> Option<usize> {
    /// Parts of the key of a value, as `values.rpm`: what is nearer to the top says nothing of where it is from.
    const OF_VALUE: usize = 2;
    let whole = DeTable::parse(text).ok()?;
    let (mut table, mut found) = (whole.get_ref(), Vec::new());
    for part in key.split('.') {
        let Some((name, value)) = table.iter().find(|(name, _)| name.get_ref().as_ref() == part) else { break };
        found.push(name.span().start);
        let Some(inner) = value.get_ref().as_table() else { break };
        table = inner;
    }
    let stands = found.len() >= key.split('.').count().min(OF_VALUE);
    let start = found.pop().filter(|_| stands)?;
    Some(text[..start].matches('\n').count() + 1)
}

/// "did you mean" with the nearest known name, where there is one: it stands before the list, which may be long.
pub(crate) fn hint(name: &str, known: &[&str]) -> String {
    nearest(name, known).map(|name| format!("did you mean \"{name}\"? ")).unwrap_or_default()
}

/// The known name nearest to `name` by edit distance, if any is near enough to be a slip of the pen.
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    /// Similarity (0 to 1) below which a hint would puzzle more than help.
    const NEAR_ENOUGH: f64 = 0.5;
    let score = |candidate: &str| strsim::normalized_damerau_levenshtein(name, candidate);
    let best = known.iter().copied().max_by(|a, b| score(a).total_cmp(&score(b)))?;
    (score(best) >= NEAR_ENOUGH).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_names_the_line_of_its_key() {
        let text = "kind = \"disk\"\n[values]\nrpm = \"7200 rpm\"\n\n[values.seek]\nvalue = \"8 ms\"\n";
        let at = |key| SpecError::new("x.toml", key, "", "").at_line_of(text).file;
        assert_eq!([at("values.rpm"), at("values.seek.value"), at("kind")], ["x.toml:3", "x.toml:6", "x.toml:1"]);
        // What is missing in a table is missing there; what is nowhere has no line.
        assert_eq!([at("values.seek.source"), at("model"), at("values.heads")], ["x.toml:5", "x.toml", "x.toml"]);
    }
}
