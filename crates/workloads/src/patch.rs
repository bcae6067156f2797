//! `--set` and `--duration` as changes of the text of a workload, which the reader then reads again.

use hotband_machine::{SpecError, is_share_or_percent, share_or_percent};
use hotband_units::{Bytes, Ratio, Span};
use toml::{Table, Value};

use crate::data::DataSpec;
use crate::load::{Load, RATES};
use crate::most::{MOST_INTERVALS, MOST_OUTSTANDING, MOST_SIZE};
use crate::phase::Phase;
use crate::set_keys::SETTABLE;
use crate::spec::Workload;
use crate::until::Until;
use crate::until::precise::Precision;

/// Keys of a phase that say when it ends.
const ENDS: [&str; 7] = ["until", "duration", "ios", "operations", "until_precise", "until_warm", "until_done"];

impl Workload {
    /// Changes one thing, in every stream if it belongs to streams: the keys of [`Workload::SET_KEYS`].
    ///
    /// # Errors
    /// A value that the key does not take, named at `--set`; an unknown key.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), SpecError> {
        let mut table = self.table.clone();
        match key {
            "read_pct" | "random_pct" | "bs" | "span" => self.patch_streams(&mut table, key, value)?,
            "issue" | "speed" | "beyond" | "volume" => self.patch_trace(&mut table, key, value)?,
            "depth" if !self.traces.is_empty() => self.patch_trace(&mut table, key, value)?,
            "qd" | "depth" | "threads" | "think" => self.patch_loop(&mut table, key, value)?,
            "rate_iops" => self.patch_open(&mut table, key, value)?,
            "clients" => self.patch_clients(&mut table, value)?,
            "data" => patch_data(&mut table, &DataSpec::of_text(value)?),
            "state" => patch_state(&mut table, value),
            "warm_up" => self.patch_warm_up(&mut table, value)?,
            other => return Err(SpecError::unknown("set", "", other, &SETTABLE)),
        }
        self.read_again(table, key, value)
    }

    /// Replaces the entropy of all writes by `data`.
    ///
    /// # Errors
    /// None that reading the text did not have.
    pub fn set_data(&mut self, data: &DataSpec) -> Result<(), SpecError> {
        let mut table = self.table.clone();
        patch_data(&mut table, data);
        self.read_again(table, "data", "")
    }

    /// `--set app.KEY=VALUE`, several at once. Keys of tables inside `[app]` are written with a dot.
    ///
    /// # Errors
    /// A workload without `[app]`; a mistake in a value, named at `--set`.
    pub fn set_app(&mut self, pairs: &[(String, String)]) -> Result<(), SpecError> {
        let Some((first, value)) = pairs.first() else { return Ok(()) };
        let mut table = self.table.clone();
        let Some(app) = table.get_mut("app").and_then(Value::as_table_mut) else {
            return Err(SpecError::new("set", &format!("app.{first}"), value, "this workload has no [app]"));
        };
        for (key, value) in pairs {
            let wrong = || SpecError::new("set", &format!("app.{key}"), value, "names a key inside a value");
            insert(app, key, as_value(value)).ok_or_else(wrong)?;
        }
        let named_at_set = |error: SpecError| {
            let file = if error.key.starts_with("app") { "set".to_owned() } else { error.file };
            SpecError { file, ..error }
        };
        *self = Self::of_table(&self.file, table).map_err(named_at_set)?;
        Ok(())
    }

    /// Removes the preconditioning: the machine keeps the state of the previous run.
    ///
    /// # Errors
    /// None that reading the text did not have.
    pub fn forget_precondition(&mut self) -> Result<(), SpecError> {
        let mut table = self.table.clone();
        table.remove("precondition");
        self.read_again(table, "state", "")
    }

    /// Sets the length of every measured phase.
    ///
    /// # Errors
    /// Nothing, more intervals than a series holds, or a phase that ends by itself, named at `--duration`.
    pub fn set_duration(&mut self, duration: Span) -> Result<(), SpecError> {
        self.check_set_duration(duration)?;
        let interval = self.interval.min(self.smart_interval);
        let most = Span(interval.0.saturating_mul(MOST_INTERVALS));
        let measured = self.phases.iter().filter(|phase| phase.measure).count() as u64;
        if duration == Span::ZERO || duration.0.saturating_mul(measured) > most.0 {
            let accepted =
                format!("expected a time above zero and of at most {MOST_INTERVALS} intervals of {interval}");
            return Err(SpecError::new("duration", "", duration.to_string(), accepted));
        }
        if self.traces.iter().any(|trace| trace.is_whole) {
            // The text of a trace that is replayed whole has no phases.
            let whole = self.phases.iter_mut().filter(|phase| phase.measure);
            whole.for_each(|phase| phase.until = vec![Until::Drained, Until::Time(duration)]);
            return Ok(());
        }
        let mut table = self.table.clone();
        for (phase, text) in self.phases.iter().zip(tables_mut(&mut table, "phases")).filter(|(phase, _)| phase.measure)
        {
            end_at(text, duration, &self.kept_ends(phase));
        }
        let error = |error: SpecError| SpecError::new("duration", "", duration.to_string(), error.accepted);
        self.read_table_again(table).map_err(error)
    }

    /// Ends measured phases that have a time or a number of I/Os when their figures reach `precision`; none
    /// runs them for their full time, whatever the text states.
    ///
    /// # Errors
    /// There is no such phase.
    pub fn set_precision(&mut self, precision: Option<Precision>) -> Result<(), &'static str> {
        let is_of_amount = |phase: &Phase| {
            let is_amount = |until: &Until| matches!(until, Until::Time(_) | Until::Ios(_) | Until::Precise(_));
            phase.measure && phase.until.iter().all(is_amount)
        };
        if precision.is_some() && !self.phases.iter().any(is_of_amount) {
            return Err("expected a workload with a measured phase that has a duration, or a number of I/Os");
        }
        for phase in self.phases.iter_mut().filter(|phase| is_of_amount(phase)) {
            phase.until.retain(|until| until.precise().is_none());
            phase.until.extend(precision.map(Until::Precise));
        }
        Ok(())
    }

    /// Returns the text of the workload with all changes.
    pub fn text(&self) -> String {
        self.table.to_string()
    }

    fn read_again(&mut self, table: Table, key: &str, value: &str) -> Result<(), SpecError> {
        let is_of_set = |workload: &Self| workload.precondition.as_ref().is_some_and(|have| have.asked_at.0 == "set");
        let at_set = key == "state" || is_of_set(self);
        self.read_table_again(table).map_err(|error| SpecError::new("set", key, value, error.accepted))?;
        if let (Some(precondition), true) = (&mut self.precondition, at_set) {
            precondition.asked_at = ("set".to_owned(), "state".to_owned());
        }
        Ok(())
    }

    fn read_table_again(&mut self, table: Table) -> Result<(), SpecError> {
        *self = Self::of_table(&self.file, table)?;
        Ok(())
    }

    fn patch_streams(&self, table: &mut Table, key: &str, value: &str) -> Result<(), SpecError> {
        if self.streams.is_empty() {
            let accepted = match self.traces.first() {
                Some(_) => "this workload replays a trace, which sets it for each I/O",
                None => "this workload has no [[streams]]; its keys are those of its app, app.KEY",
            };
            return Err(SpecError::new("set", key, value, accepted));
        }
        let change: Box<dyn Fn(&mut Table)> = match key {
            "read_pct" => {
                let percent = percent(key, value)?;
                Box::new(move |stream| read_percent(stream, percent))
            }
            "random_pct" => {
                let percent = percent(key, value)?;
                Box::new(move |stream| random_percent(stream, percent))
            }
            "bs" => {
                let size = value.parse::<Bytes>().map_err(|error| wrong(key, value, error.accepted))?;
                let fits = |size: &u32| (512..=MOST_SIZE).contains(size) && size.is_multiple_of(512);
                let size = u32::try_from(size.0).ok().filter(fits);
                let size = size.ok_or_else(|| wrong(key, value, "a multiple of 512 B up to 64 MiB"))?;
                Box::new(move |stream| {
                    stream.remove("sizes");
                    stream.insert("size".to_owned(), Value::from(Bytes(u64::from(size)).to_string()));
                })
            }
            _ => {
                let is_share = value.parse::<Ratio>().is_ok_and(|share| share.0 > 0.0);
                let is_size = value.parse::<Ratio>().is_err() && value.parse::<Bytes>().is_ok_and(|size| size.0 > 0);
                if !is_share && !is_size {
                    return Err(wrong(key, value, "a share such as \"10 %\" or a size such as \"100 GB\""));
                }
                let to = Value::from(value.trim());
                Box::new(move |stream| {
                    stream.insert("range".to_owned(), Value::Array(vec![Value::from("0 B"), to.clone()]));
                })
            }
        };
        let streams = self.streams.iter().zip(tables_mut(table, "streams"));
        // Client loads define their own pattern: their streams have none.
        let own_pattern = streams.filter(|(stream, _)| stream.load.as_ref().is_none_or(Load::has_pattern));
        own_pattern.for_each(|(_, stream)| change(stream));
        Ok(())
    }

    /// Loads of the workload: `[load]`, then those of the streams.
    pub(crate) fn loads(&self) -> impl Iterator<Item = &Load> {
        self.load.iter().chain(self.streams.iter().filter_map(|stream| stream.load.as_ref()))
    }

    /// Returns threads and depth of the only closed loop, and its table in the text.
    fn closed<'t>(&self, table: &'t mut Table, key: &str, value: &str) -> Result<(u32, u32, &'t mut Table), SpecError> {
        let mut closed = self.loads().filter_map(|load| match load {
            Load::Closed { threads, depth, .. } => Some((*threads, *depth)),
            Load::Open { .. } | Load::Other(_) => None,
        });
        let none = || SpecError::new("set", key, value, self.why_no_loop());
        let (Some((threads, depth)), None) = (closed.next(), closed.next()) else { return Err(none()) };
        Ok((threads, depth, load_of(table, "closed").ok_or_else(none)?))
    }

    /// Returns the table of the only loop in the text, if that is an open one with a bound.
    fn bounded<'t>(&self, table: &'t mut Table) -> Option<&'t mut Table> {
        let mut loads = self.loads();
        let (Some(Load::Open { outstanding: Some(_), .. }), None) = (loads.next(), loads.next()) else { return None };
        load_of(table, "open")
    }

    fn patch_loop(&self, table: &mut Table, key: &str, value: &str) -> Result<(), SpecError> {
        self.check_set_load(key, value)?;
        if key == "think" {
            value.parse::<Span>().map_err(|error| wrong(key, value, error.accepted))?;
            let (_, _, closed) = self.closed(table, key, value)?;
            closed.insert(key.to_owned(), Value::from(value.trim()));
            return Ok(());
        }
        let number = count(key, value)?;
        if key == "qd"
            && let Some(open) = self.bounded(table)
        {
            open.insert("outstanding".to_owned(), Value::from(number));
            return Ok(());
        }
        let (threads, depth, closed) = self.closed(table, key, value)?;
        let (threads, depth) = match key {
            "qd" if number.is_multiple_of(threads) => (threads, number / threads),
            "qd" => (1, number),
            "threads" => (number, depth),
            _ => (threads, number),
        };
        if u64::from(threads) * u64::from(depth) > u64::from(MOST_OUTSTANDING) {
            return Err(wrong(key, value, &format!("threads x depth of at most {MOST_OUTSTANDING}")));
        }
        closed.insert("threads".to_owned(), Value::from(threads));
        closed.insert("depth".to_owned(), Value::from(depth));
        Ok(())
    }

    fn patch_open(&self, table: &mut Table, key: &str, value: &str) -> Result<(), SpecError> {
        self.check_set_load(key, value)?;
        let script = self.repeating_script();
        let counted = if script.is_some() { "transactions" } else { "I/Os" };
        let rate = value.trim().parse::<f64>().ok().filter(|rate| RATES.contains(rate));
        let rate = rate.ok_or_else(|| wrong(key, value, &format!("{counted} a second, from 0.001 to 1e9")))?;
        if let Some(script) = script {
            let arrival = script.arrivals.is_none().then(|| ("arrival".to_owned(), Value::from("poisson")));
            tables_mut(table, "scripts").for_each(|script| {
                // Runs begin as they arrive.
                for key in ["think", "start_every"] {
                    script.remove(key);
                }
                script.insert("rate".to_owned(), Value::from(rate));
                script.extend(arrival.clone());
            });
            return Ok(());
        }
        let open = self.loads().filter(|load| matches!(load, Load::Open { .. })).count();
        if open == 1 {
            let open = load_of(table, "open").ok_or_else(|| wrong(key, value, "an open loop in the text"))?;
            open.insert(key.to_owned(), Value::from(rate));
            return Ok(());
        }
        let weights = self.weights().ok_or_else(|| SpecError::new("set", key, value, self.why_no_rate()))?;
        let all: f64 = weights.iter().sum();
        for (load, weight) in load_tables(table).zip(weights) {
            set_rate(load, rate * (weight / all));
        }
        Ok(())
    }

    /// Share of a rate for each loop: all of it `[load]`, else in proportion to its I/Os outstanding, or to its rate
    /// if all loops are open. None if the workload has no loops, or loops of several kinds.
    fn weights(&self) -> Option<Vec<f64>> {
        let of_streams = || self.streams.iter().filter_map(|stream| stream.load.as_ref());
        let loads = || self.load.iter().chain(of_streams().filter(|_| self.load.is_none()));
        let closed = |load: &Load| match load {
            Load::Closed { threads, depth, .. } => Some(f64::from(*threads) * f64::from(*depth)),
            Load::Open { .. } | Load::Other(_) => None,
        };
        let open = |load: &Load| match load {
            Load::Open { rate, .. } => Some(*rate),
            Load::Closed { .. } | Load::Other(_) => None,
        };
        let has_all = |phase: &Phase| phase.threads.is_none() && phase.streams.is_none();
        let is_plain = self.scripts.is_empty() && self.phases.iter().all(has_all);
        let weights: Option<Vec<f64>> = loads().map(closed).collect();
        let weights = weights.or_else(|| loads().map(open).collect());
        weights.filter(|weights| !weights.is_empty() && (weights.len() == 1 || is_plain))
    }

    fn why_no_loop(&self) -> &'static str {
        match self.repeating_script() {
            Some(_) => "its script has clients, one outstanding run each: set clients",
            None => "this workload does not have exactly one closed loop",
        }
    }

    fn why_no_rate(&self) -> &'static str {
        match () {
            () if self.app.is_some() => "this workload has no [[streams]]; its keys are those of its app, app.KEY",
            () if !self.traces.is_empty() => "a trace has its own times: speed divides them",
            () if !self.scripts.is_empty() => "expected a workload with a single script, which repeats",
            () => "expected a workload whose loops are all closed, or all open, in every phase",
        }
    }

    fn patch_trace(&self, table: &mut Table, key: &str, value: &str) -> Result<(), SpecError> {
        if self.traces.is_empty() {
            return Err(SpecError::new("set", key, value, "this workload has no [trace]"));
        }
        let traces: Vec<&mut Table> = match table.get_mut("trace") {
            Some(Value::Array(all)) => all.iter_mut().filter_map(Value::as_table_mut).collect(),
            Some(Value::Table(only)) => vec![only],
            _ => Vec::new(),
        };
        self.traces.iter().zip(traces).try_for_each(|(trace, text)| trace.patch(text, key, value))
    }

    fn patch_clients(&self, table: &mut Table, value: &str) -> Result<(), SpecError> {
        let clients = count("clients", value)?;
        if self.scripts.len() != 1 {
            return Err(SpecError::new("set", "clients", value, "this workload does not have exactly one script"));
        }
        let mut counts: Vec<u32> = self.phases.iter().filter_map(|phase| phase.scripts.clients).collect();
        counts.dedup();
        if counts.len() > 1 {
            return Err(wrong("clients", value, "a workload whose phases have the same number of clients"));
        }
        tables_mut(table, "scripts").for_each(|script| {
            script.insert("clients".to_owned(), Value::from(clients));
        });
        tables_mut(table, "phases").for_each(|phase| {
            phase.remove("clients");
        });
        Ok(())
    }

    /// Sets the length of the warm-ups, or removes them with "0 s".
    fn patch_warm_up(&self, table: &mut Table, value: &str) -> Result<(), SpecError> {
        let time = value.parse::<Span>().map_err(|error| wrong("warm_up", value, error.accepted))?;
        let is_warm_up = |phase: &Phase| !phase.measure && matches!(phase.until[..], [Until::Time(_)]);
        let which: Vec<bool> = self.phases.iter().map(is_warm_up).collect();
        if !which.contains(&true) {
            let accepted = "this workload has no phase that ends after a time and is not measured";
            return Err(SpecError::new("set", "warm_up", value, accepted));
        }
        for (phase, _) in tables_mut(table, "phases").zip(&which).filter(|(_, is_meant)| **is_meant) {
            end_at(phase, time, &[]);
        }
        if let (Some(phases), true) = (table.get_mut("phases").and_then(Value::as_array_mut), time == Span::ZERO) {
            let mut remaining = which.iter().map(|is_meant| !is_meant);
            phases.retain(|_| remaining.next().unwrap_or(true));
        }
        Ok(())
    }

    /// Returns the conditions that still end a measured phase once it has a duration.
    fn kept_ends(&self, phase: &Phase) -> Vec<&'static str> {
        let is_replay = !self.traces.is_empty();
        let remains = |condition: &Until| match condition {
            Until::ScriptsDone => Some("scripts done"),
            Until::Warm => Some("warm"),
            // A trace may end earlier.
            Until::Drained if is_replay => Some("drained"),
            _ => None,
        };
        phase.until.iter().filter_map(remains).collect()
    }
}

/// A mistake in a `--set` argument.
fn wrong(key: &str, value: &str, accepted: &str) -> SpecError {
    SpecError::new("set", key, value, format!("expected {accepted}"))
}

fn percent(key: &str, value: &str) -> Result<f64, SpecError> {
    let number = value.trim().trim_end_matches('%').trim().parse::<f64>();
    let percent = number.ok().filter(|percent| (0.0..=100.0).contains(percent));
    let percent = percent.ok_or_else(|| wrong(key, value, "a percentage from 0 to 100"))?;
    if value.contains('%') || !is_share_or_percent(percent) {
        return Ok(percent);
    }
    Err(SpecError::new("set", key, value, share_or_percent(percent)))
}

fn count(key: &str, value: &str) -> Result<u32, SpecError> {
    let count = value.trim().parse::<u32>().ok().filter(|count| (1..=MOST_OUTSTANDING).contains(count));
    count.ok_or_else(|| wrong(key, value, &format!("a whole number from 1 to {MOST_OUTSTANDING}")))
}

fn read_percent(stream: &mut Table, percent: f64) {
    stream.insert("read_pct".to_owned(), as_percent(percent));
    // Without writes there is nothing that could be a trim, be forced or be flushed.
    if percent >= 100.0 {
        for key in ["trim_pct", "trim_first", "fua", "flush_every"] {
            stream.remove(key);
        }
    }
}

fn random_percent(stream: &mut Table, percent: f64) {
    stream.insert("random_pct".to_owned(), as_percent(percent));
    if percent > 0.0 && percent < 100.0 {
        stream.entry("random_mode").or_insert_with(|| Value::from("coin"));
    }
    // `start` is valid for sequential streams only.
    if percent >= 100.0 {
        stream.remove("start");
    }
}

/// A bare number below one is refused as ambiguous.
fn as_percent(percent: f64) -> Value {
    if percent > 0.0 && percent < 1.0 { Value::from(format!("{percent} %")) } else { Value::from(percent) }
}

fn patch_data(table: &mut Table, data: &DataSpec) {
    table.insert("data".to_owned(), data.to_value());
    tables_mut(table, "streams").for_each(|stream| {
        stream.remove("data");
    });
    for key in ["precondition", "app"] {
        table.get_mut(key).and_then(Value::as_table_mut).and_then(|inner| inner.remove("data"));
    }
}

fn patch_state(table: &mut Table, name: &str) {
    let before = table.remove("precondition");
    let data = before.and_then(|value| value.as_table().and_then(|inner| inner.get("data")).cloned());
    let mut now = Table::new();
    now.insert("state".to_owned(), Value::from(name));
    now.extend(data.map(|data| ("data".to_owned(), data)));
    table.insert("precondition".to_owned(), Value::Table(now));
}

/// Makes a phase end after a time, or earlier with one of `others`.
fn end_at(phase: &mut Table, time: Span, others: &[&str]) {
    for key in ENDS {
        phase.remove(key);
    }
    let shown = time.to_string();
    let is_exact = shown.parse::<Span>().is_ok_and(|read| read == time);
    let time = if is_exact { shown } else { format!("{} ns", time.0) };
    if others.is_empty() {
        phase.insert("duration".to_owned(), Value::from(time));
    } else {
        let all = others.iter().map(|text| Value::from(*text)).chain([Value::from(time)]);
        phase.insert("until".to_owned(), Value::Array(all.collect()));
    }
}

/// Returns the tables of a list.
fn tables_mut<'t>(table: &'t mut Table, key: &str) -> impl Iterator<Item = &'t mut Table> {
    let list = table.get_mut(key).and_then(Value::as_array_mut);
    list.into_iter().flatten().filter_map(Value::as_table_mut)
}

/// Returns the table of a kind of load: of `[load]`, else of the first stream with that kind.
fn load_of<'t>(table: &'t mut Table, kind: &str) -> Option<&'t mut Table> {
    load_tables(table).find_map(|load| load.get_mut(kind)?.as_table_mut())
}

/// The tables of all loops: `[load]`, then those of streams.
fn load_tables(table: &mut Table) -> impl Iterator<Item = &mut Table> {
    let mut of_all = None;
    let mut streams = None;
    for (key, value) in table.iter_mut() {
        match key.as_str() {
            "load" => of_all = value.as_table_mut(),
            "streams" => streams = value.as_array_mut(),
            _ => {}
        }
    }
    let streams = streams.into_iter().flatten().filter_map(Value::as_table_mut);
    of_all.into_iter().chain(streams.filter_map(|stream| stream.get_mut("load")?.as_table_mut()))
}

/// Gives a loop a rate. I/Os of a closed loop no longer wait for the ones before.
fn set_rate(load: &mut Table, rate: f64) {
    if let Some(open) = load.get_mut("open").and_then(Value::as_table_mut) {
        open.insert("rate_iops".to_owned(), Value::from(rate));
        return;
    }
    load.remove("closed");
    let arrivals = [("rate_iops".to_owned(), Value::from(rate)), ("arrival".to_owned(), Value::from("poisson"))];
    load.insert("open".to_owned(), Value::Table(arrivals.into_iter().collect()));
}

/// Inserts `value` at a dotted key; returns none if a part of the key is a value already.
fn insert(table: &mut Table, key: &str, value: Value) -> Option<()> {
    let Some((outer, inner)) = key.split_once('.') else {
        table.insert(key.to_owned(), value);
        return Some(());
    };
    let entry = table.entry(outer).or_insert_with(|| Value::Table(Table::new()));
    insert(entry.as_table_mut()?, inner, value)
}

/// Parses a number, a boolean or a table as TOML; any other text is a string, for the shell has removed its quotes.
fn as_value(text: &str) -> Value {
    let parsed = format!("value = {text}").parse::<Table>().ok();
    parsed.and_then(|mut table| table.remove("value")).unwrap_or_else(|| Value::from(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::arrival::Arrival;

    const PHASES: &str = "[[phases]]\nduration = \"10 s\"\n[[phases]]\nios = 100\nmeasure = true\n";
    const STREAM: &str = "[[streams]]\nread_pct = 70\nrandom_pct = 20\nrandom_mode = \"run\"\nstart = \"50 %\"\n\
                          sizes = { \"4 KiB\" = 1, \"8 KiB\" = 1 }\ntrim_pct = 5\ndata = 0.5\n";

    fn workload(load: &str) -> Workload {
        Workload::read("w.toml", &format!("[load]\n{load}\n{STREAM}{PHASES}")).unwrap()
    }

    #[test]
    fn what_is_set_is_what_its_text_says() {
        let closed = workload("closed = { threads = 2, depth = 3 }");
        let pairs = [
            ("qd", "8"),
            ("qd", "7"),
            ("threads", "5"),
            ("depth", "9"),
            ("think", "3 ms"),
            ("rate_iops", "300"),
            ("read_pct", "100"),
            ("read_pct", "0.3 %"),
            ("random_pct", "100"),
            ("bs", "64 KiB"),
            ("span", "10 %"),
            ("span", "1 GB"),
            ("data", "{ histogram = [1, 2], mean = 0.4 }"),
            ("warm_up", "1.5 s"),
            ("warm_up", "0 s"),
        ];
        for (key, value) in pairs {
            let mut set = closed.clone();
            set.set(key, value).unwrap_or_else(|error| panic!("{key}={value}: {error}"));
            assert_ne!(set, closed, "{key}={value}");
            assert_eq!(Workload::read("w.toml", &set.text()).unwrap(), set, "{key}={value}");
        }
        let mut open = workload("open = { rate_iops = 5, arrival = \"fixed\" }");
        open.set("rate_iops", "0.5").unwrap();
        open.set_duration(Span(1_234_567_891)).unwrap();
        assert_eq!(Workload::read("w.toml", &open.text()).unwrap(), open);
        assert_eq!(open.phases[1].until, [Until::Time(Span(1_234_567_891))]);
    }

    #[test]
    fn the_depth_of_an_open_loop_is_its_bound() {
        let mut open = workload("open = { rate_iops = 5, arrival = \"fixed\", outstanding = 4 }");
        open.set("qd", "9").unwrap();
        open.set("rate_iops", "50").unwrap();
        assert_eq!(
            open.load,
            Some(Load::Open { rate: 50.0, arrival: Arrival::Fixed, outstanding: Some(9), drain: false })
        );
        let qd = open.settable().into_iter().find(|set_key| set_key.key == "qd");
        assert_eq!(qd.and_then(|set_key| set_key.value).as_deref(), Some("9"));
        let mut unbounded = workload("open = { rate_iops = 5, arrival = \"fixed\" }");
        assert!(unbounded.set("qd", "9").is_err());
    }

    #[test]
    fn a_rate_is_shared_by_loops_in_proportion_to_what_they_have_outstanding() {
        let stream = |name: &str, load: &str| {
            format!("[[streams]]\nname = \"{name}\"\nread_pct = 0\nrandom_pct = 100\nsize = \"4 KiB\"\nload = {load}\n")
        };
        let rates = |first: &str, second: &str| {
            let text = format!("{}{}{PHASES}", stream("a", first), stream("b", second));
            let mut workload = Workload::read("w.toml", &text).unwrap();
            workload.set("rate_iops", "800")?;
            let rates = workload.streams.iter().map(|stream| match stream.load {
                Some(Load::Open { rate, .. }) => rate,
                _ => panic!("every stream has a rate"),
            });
            Ok::<_, SpecError>(rates.collect::<Vec<_>>())
        };
        let closed = "{ closed = { threads = 2, depth = 3 } }";
        assert_eq!(rates(closed, "{ closed = { threads = 2 } }").unwrap(), [600.0, 200.0]);
        let open = |rate: u32| format!("{{ open = {{ rate_iops = {rate}, arrival = \"fixed\" }} }}");
        assert_eq!(rates(&open(10), &open(30)).unwrap(), [200.0, 600.0]);
        let refused = rates(closed, "{ bursts = { ios = 4, every = \"1 s\" } }").unwrap_err();
        assert_eq!(refused.accepted, "expected a workload whose loops are all closed, or all open, in every phase");
    }

    #[test]
    fn a_state_that_was_set_is_blamed_at_set_whatever_is_set_after_it() {
        let mut set = workload("closed = { threads = 2, depth = 3 }");
        set.set("state", "trimmed").unwrap();
        set.set("qd", "4").unwrap();
        let asked_at = set.precondition.unwrap().asked_at;
        assert_eq!((asked_at.0.as_str(), asked_at.1.as_str()), ("set", "state"));
    }
}
