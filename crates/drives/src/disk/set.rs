//! Values of a disk that change while it runs: the switches of its write caches (MODE SELECT of the caching page).
//!
//! A cache that is switched off, or gives way to another, is written to the media first; writes that come meanwhile wait,
//! as they do for room. Our reading of SBC, which leaves it to the drive: one that forgot its cache would lose acknowledged
//! writes.
//!
//! Leaves out: the time of the mode page itself, and hosts that learn of it (who flushes is settled when a run begins).

use hotband_machine::SetError;
use hotband_units::Instant;

use crate::disk::Disk;
use crate::disk::caches::WriteCaches;

impl Disk {
    /// Its switches as they were last turned, whether or not they count yet.
    pub(super) fn switches(&self) -> WriteCaches {
        self.switching.unwrap_or(self.params.write_caches)
    }

    /// The write caches with a switch turned as a host asks.
    pub(super) fn switched(&self, key: &str, value: &str) -> Result<WriteCaches, SetError> {
        let caches = self.switches();
        if !caches.switches().contains(&key) {
            return Err(SetError::unknown(key, value, caches.switches()));
        }
        let on = match value {
            "on" => Some(true),
            "off" => Some(false),
            _ => None,
        };
        on.and_then(|on| caches.with(key, on)).ok_or_else(|| {
            let accepted = "expected \"on\" or \"off\"".to_owned();
            SetError { key: key.to_owned(), value: value.to_owned(), accepted }
        })
    }

    /// Turns a switch at `now`; one that stands so already changes nothing.
    pub(super) fn switch(&mut self, now: Instant, caches: WriteCaches) {
        if caches.stand_as(&self.switches()) {
            return;
        }
        self.catch_up(now);
        self.switching = Some(caches);
        self.end_switch(now);
        self.dispatch(now);
    }

    /// The switches count when the cache that was in use is empty; what waited is taken in as they are now.
    pub(super) fn end_switch(&mut self, now: Instant) {
        let Some(caches) = self.switching.filter(|_| self.dirty.is_empty()) else { return };
        self.switching = None;
        self.params.switch_write_caches(caches);
        self.dirty.resize(self.params.room);
        for arrived in std::mem::take(&mut self.blocked) {
            self.accept_write(now, &arrived);
        }
    }
}
