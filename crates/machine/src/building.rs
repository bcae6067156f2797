//! Cancellation check of a machine's construction, and the errors that stop it.

use hotband_units::Bytes;
use thiserror::Error;

use crate::SpecError;

/// The caller of long work has cancelled it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("interrupted")]
pub struct Stopped;

/// Called by long work at least several times a second: the work continues unless this returns an error.
pub type Look<'a> = &'a dyn Fn() -> Result<(), Stopped>;

/// Never stop.
///
/// # Errors
/// None.
pub fn unwatched() -> Result<(), Stopped> {
    Ok(())
}

/// A machine does not get the memory that it needs.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MemoryError {
    /// The machine needs more memory than there is.
    #[error("needs {needs} of memory, and {available} are available")]
    TooLarge {
        /// All parts together.
        needs: Bytes,
        /// Memory that is available.
        available: Bytes,
    },
    /// The system refused the memory.
    #[error("{part} needs {needs} of memory, which the system refused")]
    Refused {
        /// Name of the part in the machine.
        part: String,
        /// Memory that it needs.
        needs: Bytes,
    },
}

/// Why a part was not built.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BuildError {
    /// The user's mistake.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The build was cancelled.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// The memory for the machine cannot be allocated.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}
