//! Sections of a record: each probe and each source leaves its own, under a key of its own.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;

/// Section of a record: any type that JSON can represent.
pub trait Section: Any + Debug + Send + Sync {
    /// Return indented JSON.
    fn json(&self) -> String;
}

impl<T: Serialize + Any + Debug + Send + Sync> Section for T {
    fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a section holds nothing that JSON cannot")
    }
}

/// Sections by key, in the order in which they were left.
#[derive(Clone, Debug, Default)]
pub struct Sections(Vec<(&'static str, Arc<dyn Section>)>);

impl Sections {
    /// Adds a section; a key is used once.
    pub fn add(&mut self, key: &'static str, section: impl Section) {
        debug_assert!(self.0.iter().all(|(have, _)| *have != key), "two sections \"{key}\"");
        self.0.push((key, Arc::new(section)));
    }

    /// Adds all of `other`.
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// The section of this type, if there is one.
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.iter().find_map(|(_, section)| (&**section as &dyn Any).downcast_ref())
    }

    /// Writes them as members of an object that is `depth` levels deep.
    fn members<S: Serializer>(&self, depth: usize, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        // No line break is in a text of JSON but those between its members.
        let line = format!("\n{}", "  ".repeat(depth));
        for (key, section) in &self.0 {
            let text = section.json().replace('\n', &line);
            map.serialize_entry(key, &RawValue::from_string(text).expect("it was just written as JSON"))?;
        }
        map.end()
    }
}

/// Serializes the sections as members of the record (`serialize_with`).
pub fn of_record<S: Serializer>(sections: &Sections, serializer: S) -> Result<S::Ok, S::Error> {
    sections.members(1, serializer)
}

/// Serializes the sections as members of an element of a list of the record (`serialize_with`).
pub fn of_list<S: Serializer>(sections: &Sections, serializer: S) -> Result<S::Ok, S::Error> {
    sections.members(3, serializer)
}
