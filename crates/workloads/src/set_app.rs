//! What `--set` changes in the app of a workload.

use hotband_machine::{Section, SpecError, parse_toml};
use toml::{Table, Value};

use crate::app_spec::AppSpec;
use crate::data::DataSpec;
use crate::spec::Workload;

impl Workload {
    /// How well what the app writes compresses: as it says, or else as the workload does.
    pub fn data_of_app(&self) -> Option<&DataSpec> {
        self.app.as_ref().and_then(|app| app.data().or(self.data.as_ref()))
    }

    /// `--set app.KEY=VALUE`: reads `[app]` of `text`, the text of this workload, once more with these values. Keys of
    /// tables inside it are written with a dot.
    ///
    /// # Errors
    /// A workload without `[app]`; a mistake in a value, named at `--set`.
    pub fn set_app(&mut self, text: &str, pairs: &[(String, String)]) -> Result<(), SpecError> {
        let Some((first, value)) = pairs.first() else { return Ok(()) };
        let mut top = parse_toml(&self.file, text)?;
        let Some(app) = top.get_mut("app").and_then(Value::as_table_mut) else {
            return Err(SpecError::new("set", &format!("app.{first}"), value, "this workload has no [app]"));
        };
        for (key, value) in pairs {
            let wrong = || SpecError::new("set", &format!("app.{key}"), value, "names a key inside a value");
            insert(app, key, as_value(value)).ok_or_else(wrong)?;
        }
        self.app = Some(AppSpec::read(Section::new("set", "app", app))?);
        self.check_names()
    }
}

/// Puts `value` at a dotted key; none where a part of the key is a value already.
fn insert(table: &mut Table, key: &str, value: Value) -> Option<()> {
    let Some((outer, inner)) = key.split_once('.') else {
        table.insert(key.to_owned(), value);
        return Some(());
    };
    let found = table.entry(outer).or_insert_with(|| Value::Table(Table::new()));
    insert(found.as_table_mut()?, inner, value)
}

/// Numbers, true, false and tables as in TOML, anything else is text: quotes are for the shell already.
fn as_value(text: &str) -> Value {
    let parsed = format!("value = {text}").parse::<Table>().ok();
    parsed.and_then(|mut table| table.remove("value")).unwrap_or_else(|| Value::from(text))
}
