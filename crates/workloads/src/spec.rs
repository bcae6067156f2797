//! A workload as its text asks for it, checked but not yet bound to a machine.

use hotband_machine::{EventSpec, SpecError, is_share_or_percent, share_or_percent};
use hotband_units::{Bytes, Ratio, Span};

use crate::app_spec::AppSpec;
use crate::data::DataSpec;
use crate::files::FilesSpec;
use crate::limits::LimitSpec;
use crate::load::Load;
use crate::most::{MOST_INTERVALS, MOST_OUTSTANDING, MOST_SIZE};
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
}

/// Whose position a sequential I/O goes on from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cursor {
    /// All threads share one.
    Shared,
    /// Every thread has its own; they start evenly spaced over the range.
    PerThread,
}

/// One kind of I/O.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamSpec {
    /// Name in records.
    pub name: String,
    /// Volume it addresses; the only one where not said.
    pub volume: Option<String>,
    /// Share of all I/Os, where the load is common to all streams.
    pub share_pct: f64,
    /// Load of its own.
    pub load: Option<Load>,
    /// Reads, in percent.
    pub read_pct: f64,
    /// Sizes and their weights.
    pub sizes: Sizes,
    /// Random I/Os (or runs), in percent.
    pub random_pct: f64,
    /// What random share means.
    pub random_mode: RandomMode,
    /// How random offsets are distributed.
    pub offsets: OffsetSpec,
    /// First byte.
    pub from: RangeSpec,
    /// First byte beyond.
    pub to: RangeSpec,
    /// Offsets are multiples of this; of the size of the I/O where not said.
    pub align: Option<Bytes>,
    /// Sequential position.
    pub cursor: Cursor,
    /// Where in its range a sequential stream begins, as a share of it.
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
    /// How well the data of its writes compresses; as the workload says where not said.
    pub data: Option<DataSpec>,
    /// Key in the file, for errors.
    pub key: String,
}

/// What is asked of a target.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// The file, for errors.
    pub file: String,
    /// What it is.
    pub title: String,
    /// Where the definition is from.
    pub source: String,
    /// Load common to all streams without one of their own.
    pub load: Option<Load>,
    /// Runs of a stream in a row, on average, before another is drawn; each I/O draws where not said.
    pub in_a_row: Option<f64>,
    /// Its streams.
    pub streams: Vec<StreamSpec>,
    /// The engine above the volumes.
    pub app: Option<AppSpec>,
    /// Traces that are replayed, at the same time.
    pub traces: Vec<TraceSpec>,
    /// Its scripts.
    pub scripts: Vec<ScriptSpec>,
    /// What lies between the server and its users.
    pub network: Option<NetworkSpec>,
    /// Its phases; those that are measured follow one another.
    pub phases: Vec<Phase>,
    /// Interval of the series.
    pub interval: Span,
    /// What happens to parts of the machine, since the measured time began.
    pub events: Vec<EventSpec>,
    /// What a run must keep to pass.
    pub limits: Vec<LimitSpec>,
    /// How well the data of all writes compresses, where a stream does not say so itself.
    pub data: Option<DataSpec>,
    /// What the drives hold before the first phase; nothing where not said.
    pub precondition: Option<Precondition>,
    /// Interval at which SMART attributes are read.
    pub smart_interval: Span,
    /// Names of probes that a run has only where they are asked for.
    pub probes: Vec<String>,
}

impl Workload {
    /// Changes one thing, in every stream where it is one of streams: the keys of [`Workload::SET_KEYS`].
    ///
    /// # Errors
    /// A value that the key does not take, named at `--set`; an unknown key.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), SpecError> {
        match key {
            "read_pct" | "random_pct" | "bs" | "span" => self.set_streams(key, value),
            "issue" | "speed" | "beyond" | "volume" => self.set_trace(key, value),
            "depth" if !self.traces.is_empty() => self.set_trace(key, value),
            "qd" | "depth" | "threads" | "think" | "rate_iops" => self.set_load(key, value),
            "clients" => self.set_clients(value),
            "data" => {
                self.set_data(&DataSpec::of_text(value)?);
                Ok(())
            }
            "state" => self.set_state(value),
            "warm_up" => self.set_warm_up(value),
            other => Err(SpecError::unknown("set", "", other, &Self::SET_KEYS)),
        }
    }

    fn set_streams(&mut self, key: &str, value: &str) -> Result<(), SpecError> {
        if self.streams.is_empty() {
            let accepted = match self.traces.first() {
                Some(_) => "this workload replays a trace, which says it of each I/O",
                None => "this workload has no [[streams]]; its keys are those of its app, app.KEY",
            };
            return Err(SpecError::new("set", key, value, accepted));
        }
        match key {
            "read_pct" => self.set_each(&percent(key, value)?, |stream, percent| stream.read_pct = percent),
            "random_pct" => self.set_each(&percent(key, value)?, |stream, percent| stream.random_pct = percent),
            "bs" => {
                let size = value.parse::<Bytes>().map_err(|error| wrong(key, value, error.accepted))?;
                let fits = |size: &u32| (512..=MOST_SIZE).contains(size) && size.is_multiple_of(512);
                let size = u32::try_from(size.0).ok().filter(fits);
                let size = size.ok_or_else(|| wrong(key, value, "a multiple of 512 B up to 64 MiB"))?;
                self.set_each(&size, |stream, size| stream.sizes = Sizes::new(&[(size, 1.0)]));
            }
            _ => {
                let to = match value.parse::<Ratio>() {
                    Ok(share) => Some(RangeSpec::Share(share)).filter(|_| share.0 > 0.0),
                    Err(_) => value.parse::<Bytes>().ok().filter(|size| size.0 > 0).map(RangeSpec::At),
                };
                let accepted = "a share such as \"10 %\" or a size such as \"100 GB\"";
                let to = to.ok_or_else(|| wrong(key, value, accepted))?;
                self.set_each(&to, |stream, to| (stream.from, stream.to) = (RangeSpec::At(Bytes(0)), to));
            }
        }
        Ok(())
    }

    fn set_load(&mut self, key: &str, value: &str) -> Result<(), SpecError> {
        self.check_set_load(key, value)?;
        match key {
            "qd" => {
                let qd = count(key, value)?;
                self.set_closed(key, value, |threads, depth, _| {
                    (*threads, *depth) = if qd.is_multiple_of(*threads) { (*threads, qd / *threads) } else { (1, qd) };
                })
            }
            "threads" => {
                let count = count(key, value)?;
                self.set_closed(key, value, |threads, _, _| *threads = count)
            }
            "depth" => {
                let count = count(key, value)?;
                self.set_closed(key, value, |_, depth, _| *depth = count)
            }
            "think" => {
                let pause = value.parse::<Span>().map_err(|error| wrong(key, value, error.accepted))?;
                self.set_closed(key, value, |_, _, think| *think = pause)
            }
            _ => {
                let rate = value.trim().parse::<f64>().ok().filter(|rate| (0.001..=1e9).contains(rate));
                let rate = rate.ok_or_else(|| wrong(key, value, "I/Os a second, from 0.001 to 1e9"))?;
                let mut open = self.loads().filter_map(|load| match load {
                    Load::Open { rate, .. } => Some(rate),
                    Load::Closed { .. } | Load::Other(_) => None,
                });
                match (open.next(), open.next()) {
                    (Some(only), None) => *only = rate,
                    _ => return Err(wrong(key, value, "a workload with exactly one open loop")),
                }
                Ok(())
            }
        }
    }

    fn set_each<T: Clone>(&mut self, value: &T, change: impl Fn(&mut StreamSpec, T)) {
        self.streams.iter_mut().for_each(|stream| change(stream, value.clone()));
    }

    fn loads(&mut self) -> impl Iterator<Item = &mut Load> {
        self.load.iter_mut().chain(self.streams.iter_mut().filter_map(|stream| stream.load.as_mut()))
    }

    fn set_closed(
        &mut self,
        key: &str,
        value: &str,
        change: impl FnOnce(&mut u32, &mut u32, &mut Span),
    ) -> Result<(), SpecError> {
        let mut closed = self.loads().filter_map(|load| match load {
            Load::Closed { threads, depth, think } => Some((threads, depth, think)),
            Load::Open { .. } | Load::Other(_) => None,
        });
        match (closed.next(), closed.next()) {
            (Some((threads, depth, think)), None) => {
                change(threads, depth, think);
                if u64::from(*threads) * u64::from(*depth) > u64::from(MOST_OUTSTANDING) {
                    return Err(wrong(key, value, &format!("threads x depth of at most {MOST_OUTSTANDING}")));
                }
            }
            _ => return Err(SpecError::new("set", key, value, "this workload has not exactly one closed loop")),
        }
        Ok(())
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
        let is_replay = !self.traces.is_empty();
        for phase in self.phases.iter_mut().filter(|phase| phase.measure) {
            let is_kept = |condition: &Until| match condition {
                Until::ScriptsDone | Until::Warm => true,
                // A trace may be over before.
                Until::Drained => is_replay,
                _ => false,
            };
            phase.until.retain(is_kept);
            phase.until.push(Until::Time(duration));
        }
        Ok(())
    }

    /// Phases that are not measured and end after a time.
    pub(crate) fn warm_ups(&mut self) -> impl Iterator<Item = &mut Phase> {
        let is_meant = |phase: &&mut Phase| !phase.measure && matches!(phase.until[..], [Until::Time(_)]);
        self.phases.iter_mut().filter(is_meant)
    }

    /// How long its warm-ups take, each; none where it has none, or of several lengths.
    pub fn warm_up(&mut self) -> Option<Span> {
        let mut times = self.warm_ups().map(|phase| phase.longest());
        let first = times.next()??;
        times.all(|time| time == Some(first)).then_some(first)
    }

    /// `--set warm_up`: how long these are; none at all with "0 s".
    fn set_warm_up(&mut self, value: &str) -> Result<(), SpecError> {
        let time = value.parse::<Span>().map_err(|error| wrong("warm_up", value, error.accepted))?;
        if self.warm_ups().count() == 0 {
            let accepted = "this workload has no phase that ends after a time and is not measured";
            return Err(SpecError::new("set", "warm_up", value, accepted));
        }
        self.warm_ups().for_each(|phase| phase.until = vec![Until::Time(time)]);
        self.phases.retain(|phase| phase.measure || phase.until != [Until::Time(Span::ZERO)]);
        Ok(())
    }

    /// I/Os outstanding, where every load is a closed loop without pauses, no measured phase changes its threads, and all
    /// in which somebody asks have as many.
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

    /// What asks in a phase.
    fn loads_in(&self, phase: &Phase) -> Vec<Load> {
        let shared = self.measured_load().filter(|_| self.shared_streams().any(|(_, stream)| phase.runs(&stream.name)));
        let own =
            self.streams.iter().filter(|stream| phase.runs(&stream.name)).filter_map(|stream| stream.load.clone());
        shared.into_iter().chain(own).collect()
    }
}

/// A mistake in a `--set` argument.
pub(crate) fn wrong(key: &str, value: &str, accepted: &str) -> SpecError {
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

pub(crate) fn count(key: &str, value: &str) -> Result<u32, SpecError> {
    let count = value.trim().parse::<u32>().ok().filter(|count| (1..=MOST_OUTSTANDING).contains(count));
    count.ok_or_else(|| wrong(key, value, &format!("a whole number from 1 to {MOST_OUTSTANDING}")))
}
