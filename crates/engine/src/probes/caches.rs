//! The caches of a machine over the measured time: how full, how warm, how often they answered.

use hotband_machine::{CacheState, Machine, Warmth};
use hotband_units::Instant;
use serde::Serialize;

use crate::control::RunError;
use crate::probes::probe::{Findings, Interval, Probe, RunEnd};
use crate::probes::table::{Table, Text, rows};

rows! { "caches":
    /// The caches of all drives together in an interval.
    pub struct CacheRow {
        /// Start of the interval since the measured time began.
        time_ns: u64,
        /// Reads that flash answered, in the interval.
        flash_hits: u64,
        /// Reads that flash could have served and did not, in the interval.
        flash_misses: u64,
        /// Bytes copied into flash, in the interval.
        flash_promoted_bytes: u64,
        /// Bytes held in flash at its end.
        flash_used_bytes: u64,
        /// Extents written from the write caches to the media, in the interval.
        destages: u64,
        /// Extents in the write caches at its end.
        write_cache_extents: u64,
        /// Bytes in the write caches at its end.
        write_cache_bytes: u64,
        /// Commands and extents that the media served, in the interval.
        media_ios: u64,
        /// "cold", "warming" or "warm" at its end; empty if there is no flash.
        state: Text,
    }
}

/// Name of a state in records.
pub fn name_of(warmth: Warmth) -> &'static str {
    match warmth {
        Warmth::Cold => "cold",
        Warmth::Warming => "warming",
        Warmth::Warm => "warm",
    }
}

/// Section of a record about the flash read caches of its machine.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct CachesRecord {
    state_begin: &'static str,
    state_end: &'static str,
    flash_hit_ratio: Option<f64>,
    warm_after_ns: Option<u64>,
}

/// Watches the caches while a run is measured.
#[derive(Debug)]
pub struct CacheProbe {
    table: Table,
    begin: Option<CacheState>,
    last: CacheState,
    /// Begin of the first interval from whose end on the flash stayed warm.
    warm_after: Option<u64>,
    has_begun: bool,
}

impl CacheProbe {
    pub fn new() -> Self {
        let (begin, last) = (None, CacheState::default());
        Self { table: Table::of::<CacheRow>(), begin, last, warm_after: None, has_begun: false }
    }

    /// Return the section of the record; none if no drive has a flash cache.
    pub(crate) fn record(&self) -> Option<CachesRecord> {
        let begin = self.begin?;
        let (hits, misses) = (self.last.flash_hits - begin.flash_hits, self.last.flash_misses - begin.flash_misses);
        Some(CachesRecord {
            state_begin: name_of(begin.warmth?),
            state_end: name_of(self.last.warmth?),
            flash_hit_ratio: (hits + misses > 0).then(|| hits as f64 / (hits + misses) as f64),
            warm_after_ns: self.warm_after,
        })
    }
}

impl Probe for CacheProbe {
    fn begin(&mut self, now: Instant, machine: &Machine) {
        if std::mem::replace(&mut self.has_begun, true) {
            return;
        }
        self.begin = machine.drives().caches(now);
        self.last = self.begin.unwrap_or_default();
        self.warm_after = (self.last.warmth == Some(Warmth::Warm)).then_some(0);
    }

    fn interval(&mut self, interval: &Interval, machine: &Machine) {
        let Some(state) = self.begin.and_then(|_| machine.drives().caches(interval.end)) else { return };
        let last = self.last;
        self.table.push(CacheRow {
            time_ns: interval.time_ns,
            flash_hits: state.flash_hits - last.flash_hits,
            flash_misses: state.flash_misses - last.flash_misses,
            flash_promoted_bytes: state.flash_promoted_bytes - last.flash_promoted_bytes,
            flash_used_bytes: state.flash_used_bytes,
            destages: state.destages - last.destages,
            write_cache_extents: state.write_cache_extents,
            write_cache_bytes: state.write_cache_bytes,
            media_ios: state.media_ios - last.media_ios,
            state: state.warmth.map_or("", name_of).into(),
        });
        if state.warmth == Some(Warmth::Warm) {
            self.warm_after = self.warm_after.or(Some(interval.time_ns));
        } else {
            self.warm_after = None;
        }
        self.last = state;
    }

    fn end(self: Box<Self>, _: &mut RunEnd) -> Result<Findings, RunError> {
        let mut findings = Findings::default();
        if let Some(record) = self.record() {
            findings = findings.with("caches", record);
        }
        Ok(findings.with_table(self.table))
    }
}
