//! A part of a run.

use hotband_units::Span;

use crate::until::precise::Precision;
use crate::until::steady::UntilSteady;
use crate::until::{Until, longest};

/// Amount that a phase without timing writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// Bytes written, times the capacity of the targets that are written to.
    Fills(f64),
    /// Writes and trims.
    Ios(u64),
}

/// A part of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// Name.
    pub name: String,
    /// Conditions, of which the first ends it. Nothing if it takes no time.
    pub until: Vec<Until>,
    /// The phase takes no simulated time: its writes change the contents of the drives.
    pub untimed: Option<Amount>,
    /// Whether the phase is measured.
    pub measure: bool,
    /// Once it is over, no more I/Os are issued, and it continues until all outstanding ones are completed.
    pub drain: bool,
    /// Streams that run in it; all by default.
    pub streams: Option<Vec<String>>,
    /// Threads of the closed loop in `[load]` while it lasts; those of the loop by default.
    pub threads: Option<u32>,
    /// Its settings for scripts.
    pub scripts: PhaseScripts,
}

/// Settings of a phase for scripts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PhaseScripts {
    /// Scripts that run in it (indices in the workload); all by default.
    pub run: Option<Vec<usize>>,
    /// Clients of repeating scripts that are active.
    pub clients: Option<u32>,
}

impl Phase {
    /// Its length, or the most that it can be; none if that is not known before the run.
    pub fn longest(&self) -> Option<Span> {
        longest(&self.until)
    }

    /// Its remainder when drained: the same without new I/Os, until nothing is outstanding.
    pub fn rest(&self) -> Option<Self> {
        let scripts = PhaseScripts { run: Some(Vec::new()), ..self.scripts.clone() };
        let nobody = || Self { until: vec![Until::Drained], streams: Some(Vec::new()), scripts, ..self.clone() };
        self.drain.then(nobody)
    }

    /// Whether operations of the app are counted in it.
    pub fn counts_operations(&self) -> bool {
        self.until.iter().any(|condition| matches!(condition, Until::Operations(_)))
    }

    /// Whether its end depends on rounds that are steady.
    pub fn steady(&self) -> Option<UntilSteady> {
        self.until.iter().find_map(Until::steady)
    }

    /// Precision of rates and latencies with which it ends.
    pub fn precise(&self) -> Option<Precision> {
        self.until.iter().find_map(Until::precise)
    }

    /// Whether the stream `name` runs in it.
    pub fn runs(&self, name: &str) -> bool {
        self.streams.as_ref().is_none_or(|streams| streams.iter().any(|named| named == name))
    }
}
