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
    /// Value found; empty if missing.
    pub value: String,
    /// Accepted values.
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

    /// Like the above, with the line of its key in `text`, if the key is there: "x16.toml:31".
    #[must_use]
    pub fn at_line_of(mut self, text: &str) -> Self {
        if let Some(line) = line_of(text, &self.key) {
            self.file = format!("{}:{line}", self.file);
        }
        self
    }

    /// An unknown name: the nearest known ones, and all of them if they are few.
    pub fn unknown(file: &str, key: &str, value: &str, known: &[&str]) -> Self {
        /// Names that are all shown: of more, those that are near help.
        const FEW: usize = 12;
        let accepted = if known.len() <= FEW {
            format!("{}expected one of {}", hint(value, known), known.join(", "))
        } else {
            match near(value, known)[..] {
                [] => format!("expected one of {} names, such as {}", known.len(), known[..3].join(", ")),
                [only] => format!("did you mean \"{only}\"? expected one of {} names", known.len()),
                [ref others @ .., last] => {
                    format!("did you mean {} or {last}? expected one of {} names", others.join(", "), known.len())
                }
            }
        };
        Self::new(file, key, value, accepted)
    }
}

/// The line (from 1) on which a dotted key is in TOML text, or the table of the value that it would belong to.
fn line_of(text: &str, key: &str) -> Option<usize> {
    /// Parts of the key of a value, as `values.rpm`: parts nearer to the top do not show its origin.
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

/// "did you mean" with the nearest known name, if there is one: it comes before the list, which may be long.
pub(crate) fn hint(name: &str, known: &[&str]) -> String {
    nearest(name, known).map(|name| format!("did you mean \"{name}\"? ")).unwrap_or_default()
}

/// Up to three known names that are near enough to be meant: those that begin with `name` or hold it,
/// then by edit distance.
fn near<'a>(name: &str, known: &[&'a str]) -> Vec<&'a str> {
    const MOST: usize = 3;
    let lower = name.to_lowercase();
    let begins = known.iter().filter(|other| !lower.is_empty() && other.to_lowercase().starts_with(&lower));
    let holds = known.iter().filter(|other| lower.len() > 1 && other.to_lowercase().contains(&lower));
    let mut chosen: Vec<&str> = Vec::new();
    let best = nearest(name, known).map_or(f64::INFINITY, |nearest| alike(name, nearest));
    let slips = known.iter().filter(|other| alike(name, other) >= best);
    for candidate in begins.chain(holds).chain(slips).copied() {
        if chosen.len() < MOST && !chosen.contains(&candidate) {
            chosen.push(candidate);
        }
    }
    chosen
}

/// The known name nearest to `name` by edit distance, if any is near enough to be a slip of the pen.
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    /// Similarity (0 to 1) below which a hint would puzzle more than help.
    const NEAR_ENOUGH: f64 = 0.5;
    let best = known.iter().copied().max_by(|a, b| alike(name, a).total_cmp(&alike(name, b)))?;
    (alike(name, best) >= NEAR_ENOUGH).then_some(best)
}

/// Return the similarity of two names, from 0 to 1.
fn alike(name: &str, candidate: &str) -> f64 {
    strsim::normalized_damerau_levenshtein(name, candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_names_those_that_are_near_are_shown() {
        let known: Vec<String> = (0..40).map(|n| format!("drive-{n}")).chain(["ent-10k".to_owned()]).collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let accepted = |name| SpecError::unknown("", "", name, &known).accepted;
        assert_eq!(accepted("ent-1ok"), "did you mean \"ent-10k\"? expected one of 41 names");
        assert_eq!(accepted("drive-3"), "did you mean drive-3, drive-30 or drive-31? expected one of 41 names");
        assert_eq!(accepted("zz"), "expected one of 41 names, such as drive-0, drive-1, drive-2");
        assert_eq!(SpecError::unknown("", "", "x", &known[..3]).accepted, "expected one of drive-0, drive-1, drive-2");
    }

    #[test]
    fn a_mistake_names_the_line_of_its_key() {
        let text = "kind = \"disk\"\n[values]\nrpm = \"7200 rpm\"\n\n[values.seek]\nvalue = \"8 ms\"\n";
        let at = |key| SpecError::new("x.toml", key, "", "").at_line_of(text).file;
        assert_eq!([at("values.rpm"), at("values.seek.value"), at("kind")], ["x.toml:3", "x.toml:6", "x.toml:1"]);
        // What is missing in a table is missing there; what is nowhere has no line.
        assert_eq!([at("values.seek.source"), at("model"), at("values.heads")], ["x.toml:5", "x.toml", "x.toml"]);
    }
}
