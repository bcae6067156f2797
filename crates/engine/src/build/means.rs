//! Purpose and limits of a machine, checked before it is built.

use hotband_machine::{Look, MemoryError, unwatched};
use hotband_units::Bytes;
use hotband_workloads::{Precondition, Workload};

/// Use of drives by a workload, as far as their memory depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Reads only.
    Reads,
    /// Some of it is written.
    Writes,
    /// The whole drive is written before the first timed phase.
    Fills,
}

impl Use {
    /// Return the use of a workload.
    pub fn of(workload: &Workload) -> Self {
        let writes = |stream: &hotband_workloads::StreamSpec| stream.read_pct < 100.0;
        // Fresh out of the box is a state in which nothing is written.
        let is_filled = workload.precondition.as_ref().is_some_and(Precondition::writes);
        match () {
            () if is_filled => Self::Fills,
            () if workload.app.is_some() || !workload.traces.is_empty() || workload.streams.iter().any(writes) => {
                Self::Writes
            }
            () => Self::Reads,
        }
    }
}

/// Memory limit of building, and its cancellation check.
#[derive(Clone, Copy)]
pub struct Means<'a> {
    /// Asked several times a second.
    pub look: Look<'a>,
    /// Bytes of memory that there are; any number where that is not known.
    pub memory: Option<u64>,
    /// Use of the machine.
    pub is_for: Use,
}

impl Default for Means<'_> {
    fn default() -> Self {
        Self { look: &unwatched, memory: None, is_for: Use::Reads }
    }
}

impl Means<'_> {
    pub(crate) fn for_use(self, is_for: Use) -> Self {
        Self { is_for, ..self }
    }
}

/// Memory that parts will take, summed up before they are built.
pub struct Memory {
    pub taken: Bytes,
    available: Option<u64>,
}

impl Memory {
    pub fn new(means: &Means) -> Self {
        Self { taken: Bytes(0), available: means.memory }
    }

    /// Adds the bytes of one more part.
    pub fn take(&mut self, bytes: u64) {
        self.taken = Bytes(self.taken.0.saturating_add(bytes));
    }

    /// Whether all of it fits.
    ///
    /// # Errors
    /// It does not.
    pub fn check(&self) -> Result<(), MemoryError> {
        match self.available {
            Some(available) if self.taken.0 > available => {
                Err(MemoryError::TooLarge { needs: self.taken, available: Bytes(available) })
            }
            _ => Ok(()),
        }
    }
}
