//! Ways in which hosts force a write to a drive: with FUA, or with a FLUSH after it.

use hotband_machine::{Section, SpecError};

/// Whether `forced_writes` is `flush`; a drive that does not state it gets FUA.
pub(crate) fn read_forced_writes(section: &Section) -> Result<bool, SpecError> {
    Ok(section.choice("forced_writes", &[("fua", false), ("flush", true)])?.unwrap_or(false))
}
