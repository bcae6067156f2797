//! Reads of what was written, and writes over it, by block.

use super::figures::Rewrites as Found;
use super::quantiles::{Values, share};
use super::reuse::Accesses;
use super::sample::Before;

/// Times since a block was written.
#[derive(Debug, Default)]
pub(super) struct Rewrites {
    read_after_write: Values,
    overwrite: Values,
}

impl Rewrites {
    #[inline]
    pub(super) fn access(&mut self, now: u64, is_write: bool, before: Option<&Before>, weight: u64) {
        let Some((written, before)) = before.and_then(|before| Some((before.written?, before))) else { return };
        if is_write {
            self.overwrite.add(now - written, weight);
        } else if before.last_is_write {
            self.read_after_write.add(now - written, weight);
        }
    }

    pub(super) fn finish(self, accesses: Accesses) -> Found {
        // A sample may count a little more than there are.
        let share_of = |values: &Values, whole: u64| share(values.count(), whole).min(1.0);
        Found {
            read_after_write: share_of(&self.read_after_write, accesses.reads),
            read_after_write_ns: self.read_after_write.finish(),
            overwrite: share_of(&self.overwrite, accesses.writes),
            overwrite_ns: self.overwrite.finish(),
        }
    }
}
