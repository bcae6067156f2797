//! A workload as its text states it, checked but not yet bound to a machine.

use hotband_machine::EventSpec;
use hotband_units::{Bytes, Ratio, Span};
use toml::Table;

use crate::app_spec::AppSpec;
use crate::data::DataSpec;
use crate::files::FilesSpec;
use crate::limits::LimitSpec;
use crate::load::Load;
use crate::offsets::OffsetSpec;
use crate::phase::Phase;
use crate::precondition::Precondition;
use crate::script::{NetworkSpec, ScriptSpec};
use crate::sizes::Sizes;
use crate::sources::trace::TraceSpec;
use crate::stream::RandomMode;
use crate::until::Until;

/// A start or end of a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RangeSpec {
    /// A share of the target.
    Share(Ratio),
    /// An absolute address.
    At(Bytes),
    /// A share of the target and a number of bytes together, at most the target's end.
    Sum(Ratio, Bytes),
}

/// Owner of the position from which a sequential I/O continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cursor {
    /// All threads share one.
    Shared,
    /// Every thread has its own; they start evenly spaced over the range.
    PerThread,
}

/// A kind of I/O.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamSpec {
    /// Name in records.
    pub name: String,
    /// Volume it addresses; the only one by default.
    pub volume: Option<String>,
    /// Share of all I/Os, where the load is common to all streams.
    pub share_pct: f64,
    /// Separate load of the stream.
    pub load: Option<Load>,
    /// Reads, in percent.
    pub read_pct: f64,
    /// Sizes and their weights.
    pub sizes: Sizes,
    /// Random I/Os (or runs), in percent.
    pub random_pct: f64,
    /// Meaning of the random share.
    pub random_mode: RandomMode,
    /// Distribution of random offsets.
    pub offsets: OffsetSpec,
    /// First byte.
    pub from: RangeSpec,
    /// First byte beyond.
    pub to: RangeSpec,
    /// Offsets are multiples of this; of the size of the I/O by default.
    pub align: Option<Bytes>,
    /// Sequential position.
    pub cursor: Cursor,
    /// Start of a sequential stream within its range, as a share of it.
    pub start: f64,
    /// Writes force unit access.
    pub fua: bool,
    /// A flush after this many writes; 0 for never.
    pub flush_every: u64,
    /// Size of the region that every client of a script has for itself.
    pub per_client: Option<Bytes>,
    /// Files that lie on the target.
    pub files: Option<FilesSpec>,
    /// Trims among the I/Os that are no reads, in percent.
    pub trim_pct: f64,
    /// Each write follows a trim of the same block.
    pub trim_first: bool,
    /// Compressibility of the data of its writes. Default: that of the workload.
    pub data: Option<DataSpec>,
    /// Key in the file, for errors.
    pub key: String,
}

impl StreamSpec {
    /// Whether some of its I/Os are writes.
    pub fn writes(&self) -> bool {
        self.read_pct < 100.0 && self.trim_pct < 100.0
    }

    /// A key that applies only to writes, if it has one.
    pub(crate) fn write_key(&self) -> Option<&'static str> {
        let keys = [("flush_every", self.flush_every > 0), ("fua", self.fua)];
        keys.into_iter().find_map(|(key, is_set)| is_set.then_some(key))
    }

    /// The key that makes it trim, and its value; none if it does not trim.
    pub fn trims(&self) -> Option<(String, String)> {
        let by_share = (self.trim_pct > 0.0).then(|| ("trim_pct", self.trim_pct.to_string()));
        let (key, value) = by_share.or_else(|| self.trim_first.then(|| ("trim_first", true.to_string())))?;
        Some((format!("{}.{key}", self.key), value))
    }
}

/// Workload of a target.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// The file, for errors.
    pub file: String,
    /// Title.
    pub title: String,
    /// Source of the definition.
    pub source: String,
    /// Load of all streams without a separate one.
    pub load: Option<Load>,
    /// Runs of a stream in a row, on average, before another is drawn; each I/O draws by default.
    pub in_a_row: Option<f64>,
    /// Its streams.
    pub streams: Vec<StreamSpec>,
    /// The engine above the volumes.
    pub app: Option<AppSpec>,
    /// Traces that are replayed, at the same time.
    pub traces: Vec<TraceSpec>,
    /// Its scripts.
    pub scripts: Vec<ScriptSpec>,
    /// Network between the server and its users.
    pub network: Option<NetworkSpec>,
    /// Its phases; those that are measured follow one another.
    pub phases: Vec<Phase>,
    /// Interval of the series.
    pub interval: Span,
    /// Events of the machine's parts, since the measured time began.
    pub events: Vec<EventSpec>,
    /// Limits that a run must keep to pass.
    pub limits: Vec<LimitSpec>,
    /// Default compressibility of the data of all writes.
    pub data: Option<DataSpec>,
    /// Contents of the drives before the first phase. Default: nothing.
    pub precondition: Option<Precondition>,
    /// Interval at which SMART attributes are read.
    pub smart_interval: Span,
    /// Names of probes that a run has only if they are requested.
    pub probes: Vec<String>,
    /// Its text, parsed.
    pub(crate) table: Table,
}

impl Workload {
    /// Phases that are not measured and end after a time.
    pub(crate) fn warm_ups(&mut self) -> impl Iterator<Item = &mut Phase> {
        let is_meant = |phase: &&mut Phase| !phase.measure && matches!(phase.until[..], [Until::Time(_)]);
        self.phases.iter_mut().filter(is_meant)
    }

    /// Time that its warm-ups take, each; none if it has none, or of several lengths.
    pub fn warm_up(&mut self) -> Option<Span> {
        let mut times = self.warm_ups().map(|phase| phase.longest());
        let first = times.next()??;
        times.all(|time| time == Some(first)).then_some(first)
    }

    /// I/Os outstanding, where every load is a closed loop without pauses, no measured phase changes its threads, and
    /// all phases with I/Os have the same number.
    pub fn concurrency(&self) -> Option<u64> {
        if self.threads_change() || !self.scripts.is_empty() || self.app.is_some() || !self.traces.is_empty() {
            return None;
        }
        // Where nobody asks nothing is outstanding.
        let loads = self.measured().map(|phase| self.loads_in(phase)).filter(|loads| !loads.is_empty());
        let mut each = loads.map(|loads| loads.iter().map(Load::outstanding).sum::<Option<u64>>());
        let first = each.next()??;
        each.all(|other| other == Some(first)).then_some(first)
    }

    /// The script whose runs a rate counts: the only one, if it repeats.
    pub fn repeating_script(&self) -> Option<&ScriptSpec> {
        let [script] = &self.scripts[..] else { return None };
        script.repeat.then_some(script)
    }

    /// Return the loads of a phase.
    fn loads_in(&self, phase: &Phase) -> Vec<Load> {
        let shared = self.measured_load().filter(|_| self.shared_streams().any(|(_, stream)| phase.runs(&stream.name)));
        let steady =
            self.streams.iter().filter(|stream| phase.runs(&stream.name)).filter_map(|stream| stream.load.clone());
        shared.into_iter().chain(steady).collect()
    }
}
