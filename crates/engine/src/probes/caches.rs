//! The caches of a machine over the measured time: how full, how warm, how often they answered.

use hotband_machine::{CacheState, Machine, Warmth};
use hotband_units::{Instant, Span};
use serde::Serialize;

/// One row an interval, sums over all drives; by column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CacheSeries {
    /// Start of the interval since the measured time began.
    pub time_ns: Vec<u64>,
    /// Reads that flash answered, in the interval.
    pub flash_hits: Vec<u64>,
    /// Reads that flash could have answered and did not, in the interval.
    pub flash_misses: Vec<u64>,
    /// Bytes copied into flash, in the interval.
    pub flash_promoted_bytes: Vec<u64>,
    /// Bytes held in flash at its end.
    pub flash_used_bytes: Vec<u64>,
    /// Extents written from the write caches to the media, in the interval.
    pub destages: Vec<u64>,
    /// Extents in the write caches at its end.
    pub write_cache_extents: Vec<u64>,
    /// Bytes in the write caches at its end.
    pub write_cache_bytes: Vec<u64>,
    /// Commands and extents that the media served, in the interval.
    pub media_ios: Vec<u64>,
    /// "cold", "warming" or "warm" at its end; empty where there is no flash.
    pub state: Vec<&'static str>,
}

/// Name of a state in records.
pub fn name_of(warmth: Warmth) -> &'static str {
    match warmth {
        Warmth::Cold => "cold",
        Warmth::Warming => "warming",
        Warmth::Warm => "warm",
    }
}

/// What a record says about the flash read caches of its machine.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct CachesRecord {
    state_begin: &'static str,
    state_end: &'static str,
    flash_hit_ratio: Option<f64>,
    warm_after_ns: Option<u64>,
}

/// Watches the caches while a run is measured.
#[derive(Clone, Debug, Default)]
pub struct CacheWatch {
    pub series: CacheSeries,
    begin: Option<CacheState>,
    last: CacheState,
    /// Begin of the first interval from whose end on the flash stayed warm.
    warm_after: Option<u64>,
}

impl CacheWatch {
    /// The measured time begins.
    pub fn begin(&mut self, now: Instant, machine: &Machine) {
        self.begin = machine.caches(now);
        self.last = self.begin.unwrap_or_default();
        self.warm_after = (self.last.warmth == Some(Warmth::Warm)).then_some(0);
    }

    /// The interval that began at `start` (since the measured time began) ended at `now`.
    pub fn end_interval(&mut self, start: Span, now: Instant, machine: &Machine) {
        let Some(state) = self.begin.and_then(|_| machine.caches(now)) else { return };
        let last = self.last;
        let series = &mut self.series;
        series.time_ns.push(start.0);
        series.flash_hits.push(state.flash_hits - last.flash_hits);
        series.flash_misses.push(state.flash_misses - last.flash_misses);
        series.flash_promoted_bytes.push(state.flash_promoted_bytes - last.flash_promoted_bytes);
        series.flash_used_bytes.push(state.flash_used_bytes);
        series.destages.push(state.destages - last.destages);
        series.write_cache_extents.push(state.write_cache_extents);
        series.write_cache_bytes.push(state.write_cache_bytes);
        series.media_ios.push(state.media_ios - last.media_ios);
        series.state.push(state.warmth.map_or("", name_of));
        if state.warmth == Some(Warmth::Warm) {
            self.warm_after = self.warm_after.or(Some(start.0));
        } else {
            self.warm_after = None;
        }
        self.last = state;
    }

    /// What the record says; nothing where no drive has a flash cache.
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
