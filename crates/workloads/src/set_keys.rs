//! The keys that [`Workload::set`] takes, in one table: for the error that lists them, for the shell, for
//! `hotband keys`.

use hotband_machine::SpecError;
use hotband_units::Bytes;
use toml::{Table, Value};

use crate::app_keys::{AppKey, BTREE, FILESYSTEM};
use crate::{AppSpec, Issue, Load, RangeSpec, StreamSpec, TraceSpec, Workload};

/// A key that can be set, as in a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settable {
    /// The key.
    pub key: String,
    /// Its value as `set` would take it; none if it has none, or several in different places.
    pub value: Option<String>,
    /// Accepted values.
    pub accepted: String,
    /// Meaning.
    pub meaning: &'static str,
}

/// Current value of a key of a workload.
enum Today {
    /// The workload lacks the part: the key cannot be set.
    Absent,
    /// The key exists without a single value: it has its default, or differs by stream.
    Open,
    /// This.
    Is(String),
}

struct SetKey {
    name: &'static str,
    meaning: &'static str,
    today: fn(&Workload) -> Today,
}

const KEYS: [SetKey; 17] = [
    SetKey { name: "qd", meaning: "total outstanding I/Os", today: qd },
    SetKey { name: "depth", meaning: "outstanding I/Os of a thread, or of a trace", today: depth },
    SetKey { name: "threads", meaning: "threads of the closed loop", today: |w| w.of_loop(|t, _| t.to_string()) },
    SetKey { name: "think", meaning: "pause of a thread after each completed I/O", today: think },
    SetKey { name: "issue", meaning: "when the I/Os of the trace are issued", today: issue },
    SetKey { name: "beyond", meaning: "how to treat addresses of the trace beyond their volume", today: beyond },
    SetKey { name: "volume", meaning: "the volume of all I/Os of the trace", today: trace_volume },
    SetKey { name: "speed", meaning: "factor by which recorded times of the trace are divided", today: speed },
    SetKey {
        name: "rate_iops",
        meaning: "arrivals of the open loop, or of runs of the script, per second",
        today: rate,
    },
    SetKey { name: "bs", meaning: "size of every I/O", today: size },
    SetKey { name: "read_pct", meaning: "reads, in percent", today: |w| w.of_streams(|s| percent(s.read_pct)) },
    SetKey {
        name: "random_pct",
        meaning: "random I/Os, in percent",
        today: |w| w.of_streams(|s| percent(s.random_pct)),
    },
    SetKey { name: "span", meaning: "range from the beginning of the volume", today: |w| w.of_streams(span) },
    SetKey { name: "clients", meaning: "clients of the script", today: clients },
    SetKey { name: "data", meaning: "entropy of all writes: how well they compress", today: |_| Today::Open },
    SetKey { name: "state", meaning: "contents of the drives before the first phase", today: |_| Today::Open },
    SetKey { name: "warm_up", meaning: "time of each phase before the measured time", today: warm_up },
];

impl Workload {
    /// Names of the keys that [`Workload::set`] accepts.
    pub const SET_KEYS: [&str; KEYS.len()] = SETTABLE;
}

/// Names of the keys, for the error that lists them.
pub(crate) const SETTABLE: [&str; KEYS.len()] = {
    let mut names = [""; KEYS.len()];
    let mut index = 0;
    while index < KEYS.len() {
        names[index] = KEYS[index].name;
        index += 1;
    }
    names
};

impl Workload {
    /// The keys that `set` takes in this workload, with their values today: its own, and `app.KEY`
    /// of its app.
    pub fn settable(&self) -> Vec<Settable> {
        let mut keys = Vec::new();
        for SetKey { name, meaning, today } in KEYS {
            let value = match today(self) {
                Today::Absent => continue,
                Today::Open => None,
                Today::Is(value) => Some(value),
            };
            let takes = value.as_ref().is_none_or(|value| self.clone().set(name, value).is_ok());
            if let (true, Err(refused)) = (takes, self.clone().set(name, NO_VALUE)) {
                keys.push(Settable { key: name.to_owned(), value, accepted: accepted(&refused), meaning });
            }
        }
        keys.extend(self.settable_of_app());
        keys
    }

    fn settable_of_app(&self) -> Vec<Settable> {
        let keys: &[AppKey] = match self.app {
            None => return Vec::new(),
            Some(AppSpec::BTree(_)) => BTREE,
            Some(AppSpec::FileSystem(_)) => FILESYSTEM,
        };
        let table = self.table.get("app").and_then(Value::as_table).cloned().unwrap_or_default();
        let settable = |&(key, usual, meaning): &AppKey| {
            let refused = self.clone().set_app(&[(key.to_owned(), NO_VALUE.to_owned())]);
            let accepted = refused.map_or_else(|refused| accepted(&refused), |()| "a name".to_owned());
            let value = table.get(key).map(shown).or_else(|| (!usual.is_empty()).then(|| usual.to_owned()));
            Settable { key: format!("app.{key}"), value, accepted, meaning }
        };
        keys.iter().map(settable).collect()
    }

    fn of_loop(&self, value: impl Fn(u64, u64) -> String) -> Today {
        self.only_load(|load| {
            let Load::Closed { threads, depth, .. } = load else { return None };
            Some(value(u64::from(*threads), u64::from(*depth)))
        })
    }

    /// Value of the single load in `value`.
    fn only_load(&self, value: impl Fn(&Load) -> Option<String>) -> Today {
        let mut values = self.loads().filter_map(value);
        match (values.next(), values.next()) {
            (Some(only), None) => Today::Is(only),
            _ => Today::Absent,
        }
    }

    /// Return the value that all streams share.
    fn of_streams(&self, value: impl Fn(&StreamSpec) -> Option<String>) -> Today {
        let Some(first) = self.streams.first() else { return Today::Absent };
        match value(first) {
            Some(first) if self.streams.iter().all(|stream| value(stream).as_ref() == Some(&first)) => Today::Is(first),
            _ => Today::Open,
        }
    }
}

/// A text that no key accepts: its error lists the accepted values.
const NO_VALUE: &str = "?";

/// Accepted form in an error, without its first word.
fn accepted(error: &SpecError) -> String {
    error.accepted.trim_start_matches("expected ").to_owned()
}

/// A value of a file in the form that `set` accepts: without quotes.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Table(table) => inline(table),
        other => other.to_string(),
    }
}

fn inline(table: &Table) -> String {
    let key = |name: &str| {
        if name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_') {
            name.to_owned()
        } else {
            format!("\"{name}\"")
        }
    };
    let pairs: Vec<String> = table.iter().map(|(name, value)| format!("{} = {value}", key(name))).collect();
    format!("{{ {} }}", pairs.join(", "))
}

#[expect(clippy::unnecessary_wraps, reason = "one of several that may have no value")]
fn percent(percent: f64) -> Option<String> {
    // A bare number below one is refused as ambiguous.
    Some(if percent > 0.0 && percent < 1.0 { format!("{percent} %") } else { percent.to_string() })
}

fn think(workload: &Workload) -> Today {
    workload.only_load(|load| {
        let Load::Closed { think, .. } = load else { return None };
        Some(think.to_string())
    })
}

fn qd(workload: &Workload) -> Today {
    let bound = |load: &Load| match load {
        Load::Open { outstanding, .. } => outstanding.map(|most| most.to_string()),
        Load::Closed { .. } | Load::Other(_) => None,
    };
    match workload.of_loop(|threads, depth| (threads * depth).to_string()) {
        Today::Absent => workload.only_load(bound),
        today => today,
    }
}

fn depth(workload: &Workload) -> Today {
    match workload.traces.first() {
        None => workload.of_loop(|_, depth| depth.to_string()),
        Some(TraceSpec { issue: Issue::AsFastAsPossible { depth }, .. }) => Today::Is(depth.to_string()),
        Some(_) => Today::Absent,
    }
}

fn issue(workload: &Workload) -> Today {
    workload.traces.first().map_or(Today::Absent, |trace| Today::Is(trace.issue.name().to_owned()))
}

fn beyond(workload: &Workload) -> Today {
    workload.traces.first().map_or(Today::Absent, |trace| Today::Is(trace.beyond.name().to_owned()))
}

fn trace_volume(workload: &Workload) -> Today {
    workload.traces.first().map_or(Today::Absent, |trace| trace.volume.clone().map_or(Today::Open, Today::Is))
}

fn speed(workload: &Workload) -> Today {
    workload.traces.first().map_or(Today::Absent, |trace| Today::Is(trace.speed.to_string()))
}

fn rate(workload: &Workload) -> Today {
    if let Some(script) = workload.repeating_script() {
        return script.arrivals.map_or(Today::Open, |(rate, _)| Today::Is(rate.to_string()));
    }
    workload.only_load(|load| {
        let Load::Open { rate, .. } = load else { return None };
        Some(rate.to_string())
    })
}

fn warm_up(workload: &Workload) -> Today {
    let mut workload = workload.clone();
    let mut times = workload.warm_ups().filter_map(|phase| phase.longest());
    match (times.next(), times.next()) {
        (None, _) => Today::Absent,
        (Some(only), None) => Today::Is(only.to_string()),
        _ => Today::Open,
    }
}

fn size(workload: &Workload) -> Today {
    workload.of_streams(|stream| {
        let mut sizes = stream.sizes.all();
        let (first, more) = (sizes.next(), sizes.next());
        first.filter(|_| more.is_none()).map(|only| Bytes(u64::from(only)).to_string())
    })
}

fn span(stream: &StreamSpec) -> Option<String> {
    let begins = match stream.from {
        RangeSpec::Share(share) => share.0 == 0.0,
        RangeSpec::At(at) => at.0 == 0,
        RangeSpec::Sum(share, at) => share.0 == 0.0 && at.0 == 0,
    };
    begins.then(|| match stream.to {
        RangeSpec::Share(share) => share.to_string(),
        RangeSpec::At(at) => format!("{} B", at.0),
        RangeSpec::Sum(share, at) => format!("{share} + {} B", at.0),
    })
}

fn clients(workload: &Workload) -> Today {
    match &workload.scripts[..] {
        [script] => Today::Is(script.clients.to_string()),
        _ => Today::Absent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAW: &str = "[[phases]]\nduration = \"1 s\"\nmeasure = true\n";
    const DATABASE: &str = "[app]\nkind = \"btree\"\nrecords = 1000\ncache = \"1 GB\"\noperations = { read = 1 }\n";
    const FILES: &str = "[app]\nkind = \"filesystem\"\nmetrics = 1\nops_per_metric = 10\nfile_size = \"1 MiB\"\n\
                         cache_per_metric = \"1 MiB\"\nmix = { stat = 1 }\n";

    fn app(text: &str) -> Workload {
        Workload::read("w.toml", &format!("{text}\n{LAW}")).unwrap()
    }

    /// Every key that the app reads, which is what its error for another key lists.
    fn known(workload: &Workload) -> Vec<String> {
        let refused = workload.clone().set_app(&[("nonsense".to_owned(), "1".to_owned())]).unwrap_err();
        let (_, list) = refused.accepted.split_once("expected ").unwrap();
        let mut known: Vec<String> =
            list.split(", ").filter(|key| *key != "kind").map(|key| format!("app.{key}")).collect();
        known.sort();
        known
    }

    #[test]
    fn every_key_of_an_app_is_in_the_table_and_no_other() {
        for text in [DATABASE, FILES] {
            let workload = app(text);
            let settable = workload.settable();
            let mut keys: Vec<String> =
                settable.into_iter().map(|set_key| set_key.key).filter(|key| key.starts_with("app.")).collect();
            keys.sort();
            assert_eq!(keys, known(&workload));
        }
    }

    #[test]
    fn what_the_table_says_an_app_has_is_what_it_has() {
        for text in [DATABASE, FILES] {
            let workload = app(text);
            for Settable { key, value, .. } in workload.settable() {
                let (Some(value), Some(own)) = (value, key.strip_prefix("app.")) else { continue };
                let mut set = workload.clone();
                set.set_app(&[(own.to_owned(), value.clone())]).unwrap_or_else(|e| panic!("{key}={value}: {e}"));
                let texts = [format!("{:?}", workload.app), format!("{:?}", set.app)];
                assert_eq!(texts[0], texts[1].replace("file: \"set\"", "file: \"w.toml\""), "{key}={value}");
            }
        }
    }

    #[test]
    fn a_value_that_differs_by_stream_is_listed_without_one() {
        let stream = |pct: u32| {
            format!("[[streams]]\nname = \"s{pct}\"\nread_pct = {pct}\nrandom_pct = 100\nsize = \"4 KiB\"\n")
        };
        let text = format!("[load]\nclosed = {{ threads = 2, depth = 3 }}\n{}{}{LAW}", stream(10), stream(90));
        let keys = Workload::read("w.toml", &text).unwrap().settable();
        let value = |key: &str| keys.iter().find(|set_key| set_key.key == key).map(|set_key| set_key.value.as_deref());
        assert_eq!(value("read_pct"), Some(None));
        assert_eq!((value("bs"), value("qd"), value("depth")), (Some(Some("4 KiB")), Some(Some("6")), Some(Some("3"))));
        assert_eq!((value("rate_iops"), value("clients")), (None, None));
    }
}
