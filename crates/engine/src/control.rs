//! Progress of a run, its stop signal, and its errors.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hotband_machine::{BuildError, MemoryError, SpecError};
use hotband_units::Span;
use thiserror::Error;

/// Errors of a run.
#[derive(Debug, Error)]
pub enum RunError {
    /// The user's mistake.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The run was interrupted.
    #[error("interrupted")]
    Interrupted,
    /// There is not the memory for the machine.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// More I/Os wait than there is memory for: the load comes faster than the machine completes it.
    #[error(
        "does not keep up: {waiting} I/Os wait after {time}, as many as memory is left for; \
         expected a lower rate, or a shorter duration"
    )]
    Overloaded {
        /// I/Os outstanding.
        waiting: u64,
        /// Virtual time.
        time: Span,
    },
    /// The I/O log could not be written.
    #[error("the I/O log could not be written: {0}")]
    Log(std::io::Error),
    /// A phase that counts I/Os ran out of I/Os.
    #[error(
        "phase \"{phase}\" stalled after {done} of {asked} I/Os or operations: nothing is outstanding and nothing arrives"
    )]
    Stalled {
        /// Its name.
        phase: String,
        /// I/Os, or operations of the app, it completed.
        done: u64,
        /// Number that it was to complete.
        asked: u64,
    },
}

impl From<BuildError> for RunError {
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::Spec(error) => Self::Spec(error),
            BuildError::Stopped(_) => Self::Interrupted,
            BuildError::Memory(error) => Self::Memory(error),
        }
    }
}

/// A completed interval of the measured time, for whoever watches the run: reads and writes of all streams.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Passed {
    /// Its beginning, since the measured time began.
    pub time_ns: u64,
    /// I/Os a second.
    pub iops: f64,
    /// Mean latency, if there was an I/O.
    pub latency_mean_ns: Option<f64>,
}

/// Most I/Os outstanding if the memory is unknown: 4 GB of them.
const MOST_WAITING: u64 = 1 << 24;
/// Bytes of memory of an I/O that waits: 230 on one disk (a run of 20,000 IOPS against 718 grows by that much), doubled
/// for vectors that grow, and for the parts that layouts divide it into.
const OF_WAITING: u64 = 512;

/// Progress out, interruption in; shared between threads.
#[derive(Debug, Default)]
pub struct Control {
    /// Share of the run that is done, in millionths.
    done: AtomicU64,
    /// I/Os completed.
    ios: AtomicU64,
    stop: AtomicBool,
    /// Phases of the run, and the current one.
    phases: AtomicU64,
    phase: AtomicU64,
    /// Intervals that are over.
    passed: Mutex<Vec<Passed>>,
    /// Bytes of memory for I/Os that wait; zero if that is not known.
    memory: u64,
}

impl Control {
    /// A control block of a run that may use `memory` bytes, half of them for I/Os that wait.
    pub fn within(memory: Option<u64>) -> Self {
        Self { memory: memory.unwrap_or(0), ..Self::default() }
    }

    /// Refuse to continue if more I/Os wait than fit into the remaining memory.
    pub(crate) fn check_waiting(&self, waiting: u64, time: Span) -> Result<(), RunError> {
        let most = if self.memory == 0 { MOST_WAITING } else { (self.memory / 2 / OF_WAITING).min(MOST_WAITING) };
        if waiting > most { Err(RunError::Overloaded { waiting, time }) } else { Ok(()) }
    }

    /// Share done, from 0 to 1, and I/Os completed.
    pub fn progress(&self) -> (f64, u64) {
        (self.done.load(Ordering::Relaxed) as f64 / 1e6, self.ios.load(Ordering::Relaxed))
    }

    /// Index of the current one of [`crate::Run::phases`]; their number once they are over.
    pub fn phase(&self) -> usize {
        self.phase.load(Ordering::Relaxed) as usize
    }

    /// Completed intervals of the measured time, without the first `known`.
    pub fn passed(&self, known: usize) -> Vec<Passed> {
        let passed = self.passed.lock();
        passed.ok().and_then(|passed| passed.get(known..).map(<[Passed]>::to_vec)).unwrap_or_default()
    }

    /// Takes intervals that are over now, and leaves none. Costs one test if there are none.
    #[inline]
    pub(crate) fn pass(&self, intervals: &mut Vec<Passed>) {
        if !intervals.is_empty()
            && let Ok(mut passed) = self.passed.lock()
        {
            passed.append(intervals);
        }
    }

    /// Asks the run to stop.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether the run was interrupted.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Sets the number of phases of the run.
    pub(crate) fn set_phases(&self, phases: u64) {
        self.phases.store(phases, Ordering::Relaxed);
    }

    /// The run is in this phase, from 0.
    pub(crate) fn begin_phase(&self, phase: u64) {
        self.phase.store(phase, Ordering::Relaxed);
    }

    pub(crate) fn report(&self, share: f64, ios: u64) -> Result<(), RunError> {
        let phases = self.phases.load(Ordering::Relaxed).max(1) as f64;
        let whole = (self.phase.load(Ordering::Relaxed) as f64 + share.clamp(0.0, 1.0)) / phases;
        self.done.store((whole * 1e6) as u64, Ordering::Relaxed);
        self.ios.store(ios, Ordering::Relaxed);
        if self.is_stopped() { Err(RunError::Interrupted) } else { Ok(()) }
    }
}
