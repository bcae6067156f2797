//! Location of the host's sectors: in their band, or in the media cache. No time passes here.

use std::collections::{BTreeSet, VecDeque};

use crate::disk::commands::WRITERS;
use crate::disk::smr::log::{Extent, Log};
use crate::disk::smr::params::{CacheAt, Managed, PHYSICAL, SmrParams};

/// Destination of a piece of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// First sector of the host.
    pub first: u64,
    /// Sectors.
    pub count: u64,
    /// To its band, and not to the media cache.
    pub streams: bool,
}

/// Source of a piece of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Sectors of the media, and how many.
    Media(u64, u64),
    /// Positions of the log.
    Log(u64, u64),
}

/// Something the arm does for a cleaning, in sectors of the media.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// First sector.
    pub first: u64,
    /// Sectors.
    pub count: u64,
    /// Whether they are written.
    pub write: bool,
}

/// The cleaning of a band.
#[derive(Clone, Debug)]
pub struct Cleaning {
    band: u64,
    /// Positions of the log from here on came after it began.
    limit: u64,
    /// Sectors of the band that hold data at its end.
    to: u64,
    /// Remaining steps.
    pub steps: VecDeque<Step>,
}

/// A run of writes, each where the previous one ended.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    next: u64,
    count: u64,
    /// The write goes to its bands.
    streams: bool,
}

/// The translation of addresses.
#[derive(Clone, Debug)]
pub struct Layer {
    params: SmrParams,
    sectors: u64,
    pub log: Log,
    /// Sectors of each band, from its first on, that hold data: the write pointer of a zone.
    written: Vec<u32>,
    /// The last runs, the latest first.
    runs: [Run; WRITERS],
    /// Bands whose tracks beyond the end of a stream are to be written again.
    torn: BTreeSet<u64>,
    cleaned: Option<u64>,
}

impl Layer {
    /// An empty media cache over `sectors` of the host.
    pub fn new(params: SmrParams, sectors: u64) -> Self {
        let bands = sectors.div_ceil(params.band);
        let filled = (sectors as f64 * params.filled) as u64 / PHYSICAL * PHYSICAL;
        let written = |band: u64| filled.saturating_sub(band * params.band).min(params.band) as u32;
        Self {
            log: Log::new(params.cache, params.extents),
            written: (0..bands).map(written).collect(),
            runs: [Run { next: u64::MAX, ..Run::default() }; WRITERS],
            torn: BTreeSet::new(),
            cleaned: None,
            params,
            sectors,
        }
    }

    /// First sector of the media cache.
    fn cache_first(&self) -> u64 {
        match self.params.cache_at {
            CacheAt::Outer => 0,
            CacheAt::Middle => self.sectors / 2 / self.params.band * self.params.band,
            CacheAt::Inner => self.sectors.next_multiple_of(PHYSICAL),
        }
    }

    /// The media sector of `sector` within its band.
    pub fn home(&self, sector: u64) -> u64 {
        if sector >= self.cache_first() { sector + self.params.reserved() } else { sector }
    }

    /// The sector of the media at a position of the log.
    pub fn in_log(&self, at: u64) -> u64 {
        self.cache_first() + at % self.params.cache
    }

    fn band_of(&self, sector: u64) -> u64 {
        sector / self.params.band
    }

    fn band_end(&self, band: u64) -> u64 {
        ((band + 1) * self.params.band).min(self.sectors)
    }

    /// Return the sources of `first..end`, in order of addresses.
    pub fn find(&self, first: u64, end: u64) -> Vec<Source> {
        let mut sources = Vec::new();
        let mut from = first;
        for extent in self.log.within(first, end) {
            self.find_home(from, extent.first, &mut sources);
            sources.push(Source::Log(extent.at, extent.count));
            from = extent.first + extent.count;
        }
        self.find_home(from, end, &mut sources);
        sources
    }

    fn find_home(&self, first: u64, end: u64, sources: &mut Vec<Source>) {
        let cut = self.cache_first().clamp(first, end.max(first));
        for (first, end) in [(first, cut), (cut, end)] {
            if first < end {
                sources.push(Source::Media(self.home(first), end - first));
            }
        }
    }

    /// Place where the pieces of a write of `first..end` go; parts for its band are stored there from now on.
    pub fn write(&mut self, first: u64, end: u64) -> Vec<Piece> {
        let streams = self.params.managed == Managed::Drive && self.goes_on(first, end);
        let mut pieces = Vec::new();
        let mut from = first;
        while from < end {
            let band = self.band_of(from);
            let to = end.min(self.band_end(band));
            let at_pointer = from - band * self.params.band == u64::from(self.written[band as usize]);
            let streams =
                (streams || self.params.managed == Managed::HostAware && at_pointer) && self.cleaned != Some(band);
            if streams {
                self.stream(band, from, to);
            }
            pieces.push(Piece { first: from, count: to - from, streams });
            from = to;
        }
        pieces
    }

    /// Whether a write continues where one of the last runs ended, and the run is long by now. One that begins a run is
    /// not a stream however long it is: it would tear the band behind it.
    fn goes_on(&mut self, first: u64, end: u64) -> bool {
        let run_index = self.runs.iter().position(|run| run.count > 0 && run.next == first);
        let index = run_index.unwrap_or(WRITERS - 1);
        if run_index.is_none() {
            self.end_run(index);
            self.runs[index] = Run::default();
        }
        self.runs[..=index].rotate_right(1);
        let run = &mut self.runs[0];
        (run.next, run.count) = (end, run.count + (end - first));
        run.streams |= run_index.is_some() && run.count >= self.params.stream_from;
        run.streams
    }

    fn stream(&mut self, band: u64, first: u64, end: u64) {
        self.log.forget(first, end);
        let to = (end - band * self.params.band) as u32;
        let written = &mut self.written[band as usize];
        *written = (*written).max(to);
    }

    /// A run is over: the tracks beyond its end were written over.
    fn end_run(&mut self, index: usize) {
        let run = &mut self.runs[index];
        if !std::mem::take(&mut run.streams) || run.next >= self.sectors {
            return;
        }
        let (band, within) = (run.next / self.params.band, run.next % self.params.band);
        if within > 0 && within < u64::from(self.written[band as usize]) {
            self.torn.insert(band);
        }
    }

    /// The drive is at rest: no run continues.
    pub fn end_runs(&mut self) {
        (0..WRITERS).for_each(|index| self.end_run(index));
    }

    /// Whether a cleaning would find something to do once the drive has been at rest.
    pub fn wants_rest(&self) -> bool {
        let streams = self.runs.iter().any(|run| run.streams);
        self.cleaned.is_some() || streams || !self.torn.is_empty() || self.is_above(self.params.clean_from)
    }

    fn is_above(&self, share: f64) -> bool {
        self.log.live() > 0 && self.log.fill() > share
    }

    /// Whether it has to be cleaned before anything else.
    pub fn is_full(&self) -> bool {
        self.log.live() > 0 && self.log.fill() >= self.params.clean_full || self.torn.len() > WRITERS
    }

    /// Whether the host resets zones.
    pub fn has_zones(&self) -> bool {
        self.params.managed == Managed::HostAware
    }

    /// A trim gives zones that it covers whole back to their beginning; returns how many.
    pub fn reset(&mut self, first: u64, end: u64) -> u64 {
        let mut zones = 0;
        if !self.has_zones() {
            return zones;
        }
        for band in first.div_ceil(self.params.band)..=self.band_of(end.min(self.sectors - 1)) {
            let (begin, stop) = (band * self.params.band, self.band_end(band));
            zones += u64::from(stop <= end);
            if stop <= end && self.cleaned != Some(band) {
                self.log.forget(begin, stop);
                self.written[band as usize] = 0;
            }
        }
        zones
    }

    /// Begins to clean the band of the oldest write that lies before `appended`, or one that a stream left torn.
    /// `pressed`: no matter how little the media cache holds.
    pub fn clean(&mut self, appended: u64, pressed: bool) -> Option<Cleaning> {
        let oldest = (pressed || self.is_above(self.params.clean_from)).then(|| self.log.oldest(appended)).flatten();
        let torn = self.torn.first().copied();
        let torn_first = torn.filter(|_| self.torn.len() > WRITERS || oldest.is_none());
        let band = torn_first.or_else(|| oldest.map(|sector| self.band_of(sector)))?;
        let (begin, end) = (band * self.params.band, self.band_end(band));
        let dirty: Vec<Extent> = self.log.within(begin, end).filter(|extent| extent.at < appended).collect();
        let last = dirty.last().map_or(begin, |extent| extent.first + extent.count);
        let held = u64::from(self.written[band as usize]);
        let to = held.max(last - begin).next_multiple_of(PHYSICAL);
        self.cleaned = Some(band);
        Some(Cleaning { band, limit: appended, to, steps: self.steps(band, held, to, &dirty) })
    }

    /// Work of the arm: for each part of the band that fits into memory, read it, read its newer data from the media
    /// cache, and write it, first to the place for copies if the drive has one.
    fn steps(&self, band: u64, held: u64, to: u64, dirty: &[Extent]) -> VecDeque<Step> {
        let (begin, copies) = (band * self.params.band, self.cache_first() + self.params.cache);
        let home = self.home(begin);
        let parts =
            || (0..to).step_by(self.params.buffer as usize).map(|from| (from, to.min(from + self.params.buffer)));
        let mut steps = VecDeque::new();
        let mut add = |first: u64, count: u64, write: bool| {
            if count > 0 {
                steps.push_back(Step { first, count, write });
            }
        };
        for (from, stop) in parts() {
            add(home + from, held.min(stop).saturating_sub(from), false);
            let mut merged: Vec<Extent> =
                dirty.iter().filter(|extent| (from..stop).contains(&(extent.first - begin))).copied().collect();
            merged.sort_unstable_by_key(|extent| extent.at);
            for extent in merged {
                let first = extent.at / PHYSICAL * PHYSICAL;
                let end = (extent.at + extent.count).next_multiple_of(PHYSICAL);
                add(self.in_log(first), end - first, false);
            }
            add(if self.params.band_copy { copies } else { home } + from, stop - from, true);
        }
        if self.params.band_copy {
            let is_one = to <= self.params.buffer;
            for (from, stop) in parts() {
                add(copies + from, if is_one { 0 } else { stop - from }, false);
                add(home + from, stop - from, true);
            }
        }
        steps
    }

    /// Marks the band of `cleaning` as holding its data, except for later writes.
    pub fn cleaned(&mut self, cleaning: &Cleaning) {
        let band = cleaning.band;
        self.log.forget_before(cleaning.limit, band * self.params.band, self.band_end(band));
        let written = &mut self.written[band as usize];
        *written = (*written).max((cleaning.to as u32).min(self.params.band as u32));
        self.torn.remove(&band);
        self.cleaned = None;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use hotband_units::Span;
    use proptest::prelude::*;

    use super::*;

    const BAND: u64 = 64;
    const SECTORS: u64 = 20 * BAND;

    fn params(managed: Managed, cache_at: CacheAt, band_copy: bool) -> SmrParams {
        SmrParams {
            managed,
            cache: 4 * BAND,
            cache_at,
            extents: 16,
            band: BAND,
            band_copy,
            buffer: 24,
            step: 24,
            append_revolutions: 1,
            idle: Span(1),
            clean_from: 0.0,
            clean_full: 1.0,
            stream_from: 16,
            filled: if managed == Managed::Drive { 1.0 } else { 0.0 },
        }
    }

    /// The media, sector by sector: which write it holds. It learns of writes, appends and cleanings, as a disk does.
    struct Media {
        layer: Layer,
        holds: BTreeMap<u64, u64>,
    }

    impl Media {
        fn write(&mut self, first: u64, count: u64, version: u64) {
            for piece in self.layer.write(first, first + count) {
                if piece.streams {
                    self.put(self.layer.home(piece.first), piece.count, version);
                    continue;
                }
                while !self.layer.log.has_room(piece.count) {
                    self.clean();
                }
                let at = self.layer.log.put(piece.first, piece.count);
                self.put(self.layer.in_log(at), piece.count, version);
            }
        }

        fn put(&mut self, first: u64, count: u64, version: u64) {
            self.holds.extend((first..first + count).map(|sector| (sector, version)));
        }

        /// Cleans a band in its steps: read, merge in memory by address, write.
        fn clean(&mut self) {
            let cleaning = self.layer.clean(self.layer.log.head(), true).expect("there is a band to clean");
            let begin = cleaning.band * BAND;
            let merged: Vec<(u64, Option<u64>)> = (begin..begin + cleaning.to).map(|at| (at, self.read(at))).collect();
            let written: u64 = cleaning.steps.iter().filter(|step| step.write).map(|step| step.count).sum();
            assert_eq!(written, cleaning.to * if self.layer.params.band_copy { 2 } else { 1 });
            let home = self.layer.home(begin);
            let within = |step: &&Step| step.write && (home..home + BAND).contains(&step.first);
            let back: u64 = cleaning.steps.iter().filter(within).map(|step| step.count).sum();
            assert_eq!(back, cleaning.to, "the whole band is written where it belongs");
            for (sector, version) in merged {
                if let Some(version) = version {
                    self.holds.insert(self.layer.home(sector), version);
                }
            }
            self.layer.cleaned(&cleaning);
        }

        fn read(&self, sector: u64) -> Option<u64> {
            let source = match self.layer.find(sector, sector + 1)[..] {
                [Source::Media(source, 1)] => source,
                [Source::Log(at, 1)] => self.layer.in_log(at),
                ref other => panic!("{other:?}"),
            };
            self.holds.get(&source).copied()
        }
    }

    #[test]
    fn one_long_write_is_no_stream_and_what_goes_on_from_it_is() {
        let mut layer = Layer::new(params(Managed::Drive, CacheAt::Outer, true), SECTORS);
        let streams = |pieces: Vec<Piece>| pieces.iter().map(|piece| piece.streams).collect::<Vec<_>>();
        for first in [0, 5 * BAND, 9 * BAND + 1] {
            assert_eq!(streams(layer.write(first, first + 17)), [false], "at {first}");
        }
        assert_eq!(streams(layer.write(9 * BAND + 18, 9 * BAND + 20)), [true]);
        assert_eq!(streams(layer.write(5 * BAND + 17, 6 * BAND + 3)), [true, true]);
        assert_eq!(streams(layer.write(17, 18)), [true]);
        layer.end_runs();
        assert_eq!(layer.torn.len(), 3);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Every sector is read where its last write went, whatever streams, is logged, wraps round and is cleaned;
        /// what the media cache says it holds is the sum of its extents; no two addresses share a sector.
        #[test]
        fn what_was_written_is_read(
            host_aware in any::<bool>(), copy in any::<bool>(), at in 0_usize..3,
            ios in prop::collection::vec((0_u8..10, 0..SECTORS, 1_u64..100), 1..120),
        ) {
            let managed = if host_aware { Managed::HostAware } else { Managed::Drive };
            let at = [CacheAt::Outer, CacheAt::Middle, CacheAt::Inner][at];
            let layer = Layer::new(params(managed, at, copy), SECTORS);
            let mut media = Media { layer, holds: BTreeMap::new() };
            let (mut last, mut wanted) = (0, BTreeMap::new());
            for (version, (kind, sector, count)) in ios.into_iter().enumerate() {
                let version = version as u64;
                match kind {
                    0 if media.layer.wants_rest() => {
                        media.layer.end_runs();
                        if media.layer.wants_rest() {
                            media.clean();
                        }
                    }
                    _ => {
                        let first = if kind > 5 && last < SECTORS { last } else { sector };
                        let count = count.min(SECTORS - first);
                        media.write(first, count, version);
                        wanted.extend((first..first + count).map(|sector| (sector, version)));
                        last = first + count;
                    }
                }
                let log = &media.layer.log;
                let sum: u64 = log.within(0, SECTORS).map(|extent| extent.count).sum();
                prop_assert_eq!((sum, log.within(0, SECTORS).count()), (log.live(), log.extents()));
                prop_assert!(log.live() <= log.used() && log.used() <= 4 * BAND && log.extents() <= 16);
            }
            for (sector, version) in wanted {
                prop_assert_eq!(media.read(sector), Some(version), "sector {}", sector);
            }
            let homes: BTreeSet<u64> = (0..SECTORS).map(|sector| media.layer.home(sector)).collect();
            prop_assert_eq!(homes.len() as u64, SECTORS);
            prop_assert!((0..4 * BAND).all(|at| !homes.contains(&media.layer.in_log(at))));
        }
    }
}
