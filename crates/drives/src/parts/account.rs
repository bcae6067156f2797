//! Versions of every byte in each place: in the write cache, under the head, on the media.
//!
//! The account is kept beside the model and never changes what the model does. Bytes are numbered as the host does.

use std::ops::Range;

use hotband_machine::Versions;
use hotband_units::Instant;

/// Write under the head.
#[derive(Clone, Debug)]
pub struct UnderWay {
    /// First byte and first beyond.
    pub range: Range<u64>,
    /// Time when the last of it has passed the head.
    pub ends: Instant,
    /// Versions being written.
    versions: Versions,
    /// Whether the cache holds it until it has landed.
    cached: bool,
}

/// The account of one drive.
#[derive(Clone, Debug, Default)]
pub struct Account {
    waiting: Versions,
    under_way: Option<UnderWay>,
    media: Versions,
}

impl Account {
    /// Records a write that the cache accepts.
    pub fn take_in(&mut self, range: Range<u64>, version: u64) {
        self.waiting.set(range, version);
    }

    /// The head begins to write `range` from the cache. A write that comes now waits for the next time.
    pub fn send(&mut self, range: Range<u64>, ends: Instant) {
        let mut versions = Versions::default();
        self.waiting.held(range.clone()).for_each(|(part, version)| versions.set(part, version));
        self.waiting.forget(range.clone());
        self.begin(UnderWay { range, ends, versions, cached: true });
    }

    /// The head begins to write a command past the cache.
    pub fn write(&mut self, range: Range<u64>, version: u64, ends: Instant) {
        let mut versions = Versions::default();
        versions.set(range.clone(), version);
        self.begin(UnderWay { range, ends, versions, cached: false });
    }

    fn begin(&mut self, under_way: UnderWay) {
        assert!(self.under_way.is_none(), "one head writes one thing at a time");
        self.under_way = Some(under_way);
    }

    /// The data under the head is on the media. A write past the cache makes older cached data obsolete.
    pub fn landed(&mut self) {
        let landed = self.under_way.take().expect("something lands that was begun");
        self.media.overlay(&landed.versions);
        if !landed.cached {
            self.waiting.forget(landed.range);
        }
    }

    /// Return the write under the head.
    pub fn under_way(&self) -> Option<&UnderWay> {
        self.under_way.as_ref()
    }

    /// Contents of the drive after power was lost when the head had written everything up to `written` of the current
    /// extent; with the whole cache if that `survives`.
    pub fn left(&mut self, written: u64, survives: bool) -> Versions {
        let mut left = std::mem::take(&mut self.media);
        if let Some(under_way) = self.under_way.take() {
            let to = if survives && under_way.cached { under_way.range.end } else { written };
            let passed = under_way.versions.held(under_way.range.start..to.max(under_way.range.start));
            passed.for_each(|(part, version)| left.set(part, version));
        }
        if survives {
            left.overlay(&self.waiting);
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(account: &Account, written: u64, survives: bool) -> Vec<(Range<u64>, u64)> {
        account.clone().left(written, survives).iter().collect()
    }

    #[test]
    fn a_write_that_comes_while_its_place_is_written_waits_for_the_next_time() {
        let mut account = Account::default();
        account.take_in(0..100, 1);
        account.send(0..100, Instant(9));
        account.take_in(50..150, 2);
        assert_eq!(left(&account, 60, false), [(0..60, 1)]);
        assert_eq!(left(&account, 60, true), [(0..50, 1), (50..150, 2)]);
        account.landed();
        assert_eq!(left(&account, 0, false), [(0..100, 1)]);
        assert_eq!(left(&account, 0, true), [(0..50, 1), (50..150, 2)]);
    }

    #[test]
    fn what_is_written_past_the_cache_makes_old_what_waits_there_once_it_has_landed() {
        let mut account = Account::default();
        account.take_in(0..100, 1);
        account.write(20..40, 2, Instant(9));
        assert_eq!(left(&account, 30, false), [(20..30, 2)]);
        assert_eq!(left(&account, 30, true), [(0..100, 1)]);
        account.landed();
        assert_eq!(left(&account, 0, true), [(0..20, 1), (20..40, 2), (40..100, 1)]);
    }
}
