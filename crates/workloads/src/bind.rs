//! A stream as its text states it, bound to a target.

use hotband_machine::SpecError;
use hotband_units::Bytes;

use crate::Random;
use crate::bounds::{GRAIN, StreamBounds};
use crate::data::Data;
use crate::hotband::HotBand;
use crate::modelled::Modelled;
use crate::offsets::{OffsetSpec, Offsets};
use crate::spec::{Cursor, RangeSpec, StreamSpec};
use crate::stream::{Stream, Trims};

/// Part of a region of `size` bytes that a client can use, whose begin is rounded up.
fn region_of(size: u64) -> u64 {
    if size.is_multiple_of(GRAIN) { size } else { (size / GRAIN * GRAIN).saturating_sub(GRAIN) }
}

impl StreamSpec {
    /// Whether a range in bytes shrinks with the drives: true if its contents have no fixed size.
    pub fn shrinks(&self) -> bool {
        self.files.is_none() && self.per_client.is_none()
    }

    /// The range on a target (or on the first client's region of it), its ends rounded to 4 KiB.
    ///
    /// # Errors
    /// A range that is empty, ends beyond the target, or is smaller than the largest I/O; sizes or alignment that
    /// are not multiples of `block`.
    pub fn bounds(&self, file: &str, target: &Modelled, block: u64) -> Result<StreamBounds, SpecError> {
        let capacity = target.capacity();
        let capacity = self.per_client.map_or(capacity, |region| region_of(region.0).min(capacity));
        let at = |end: RangeSpec| match end {
            RangeSpec::Share(share) => (capacity as f64 * share.0) as u64 / GRAIN * GRAIN,
            RangeSpec::At(bytes) if self.shrinks() => target.address(bytes.0),
            RangeSpec::At(bytes) => bytes.0,
            RangeSpec::Sum(share, bytes) => {
                let first = if self.shrinks() { target.address(bytes.0) } else { bytes.0 };
                capacity.min(first + (capacity as f64 * share.0) as u64 / GRAIN * GRAIN)
            }
        };
        let whole = matches!(self.to, RangeSpec::Share(share) if share.0 >= 1.0);
        let (from, to) = (at(self.from), if whole { capacity } else { at(self.to) });
        let key = |name: &str| format!("{}.{name}", self.key);
        let error =
            |name: &str, value: String, accepted: String| Err(SpecError::new(file, &key(name), value, accepted));
        // Bytes of a scaled drive are named as they were written.
        let written = |end: RangeSpec, at: u64| match end {
            RangeSpec::At(bytes) if self.shrinks() => (bytes.0, target.full()),
            _ => (at, capacity),
        };
        if to > capacity {
            let (to, capacity) = written(self.to, to);
            return error("range", format!("{to} B"), format!("ends beyond the target of {capacity} B"));
        }
        if from >= capacity {
            let (from, capacity) = written(self.from, from);
            let accepted = format!("begins at the end of the target of {capacity} B, or beyond it");
            return error("range", format!("{from} B"), accepted);
        }
        if from >= to {
            return error("range", format!("{from} B .. {to} B"), "ends where it begins, or before".to_owned());
        }
        let largest = u64::from(self.sizes.largest());
        if from + largest > to {
            return error("range", format!("{from} B .. {to} B"), format!("does not hold one I/O of {largest} B"));
        }
        let misaligned = |size: &u32| !u64::from(*size).is_multiple_of(block);
        if let Some(size) = self.sizes.all().find(misaligned) {
            return error("sizes", format!("{size} B"), format!("misaligned: the drives take multiples of {block} B"));
        }
        if let Some(align) = self.align.filter(|align| !align.0.is_multiple_of(block)) {
            return error("align", align.to_string(), format!("misaligned: the drives take multiples of {block} B"));
        }
        if !from.is_multiple_of(block) {
            return error("range", format!("{from} B"), format!("misaligned: the drives take multiples of {block} B"));
        }
        self.check_steps(file, target, to - from)?;
        Ok(StreamBounds { from, to })
    }

    /// Refuse an alignment or a stride beyond a range of `length` bytes: every I/O would go to its beginning.
    fn check_steps(&self, file: &str, target: &Modelled, length: u64) -> Result<(), SpecError> {
        let scaled = u128::from(length) * u128::from(target.full()) / u128::from(target.capacity().max(1));
        let length = if self.shrinks() { scaled as u64 } else { length };
        let stride = match self.offsets {
            OffsetSpec::Strided { stride } => stride.unsigned_abs(),
            _ => 0,
        };
        let steps = [("align", self.align.map_or(0, |align| align.0)), ("offsets.stride", stride)];
        let Some((name, step)) = steps.into_iter().find(|(_, step)| *step > length) else { return Ok(()) };
        let accepted = format!("is larger than the range, {}: every I/O would go to one place", Bytes(length));
        Err(SpecError::new(file, &format!("{}.{name}", self.key), Bytes(step).to_string(), accepted))
    }
}

impl Stream {
    /// A stream over `bounds` for `threads` threads.
    pub fn new(spec: StreamSpec, bounds: StreamBounds, threads: usize, random: Random) -> Self {
        let is_per_client = spec.per_client.is_some();
        let cursors = if spec.cursor == Cursor::Shared && !is_per_client { 1 } else { threads.max(1) };
        let length = bounds.to - bounds.from;
        let align = spec.align.map_or(u64::from(spec.sizes.largest()), |align| align.0);
        let first = (length as f64 * spec.start) as u64;
        let start = |n: usize| {
            let apart = if is_per_client { 0 } else { length / cursors as u64 * n as u64 };
            bounds.from + (first + apart) % length / align * align
        };
        let hot_band = match spec.offsets {
            OffsetSpec::HotBand(band) => Some(HotBand::new(band, &random)),
            _ => None,
        };
        let mut stream = Self {
            name: spec.name,
            key: spec.key,
            align: spec.align.map(|align| align.0),
            random_mode: spec.random_mode,
            offset_spec: spec.offsets,
            flush_every: spec.flush_every,
            has_follow_ups: spec.flush_every > 0 || spec.trim_first,
            fua: spec.fua,
            files_spec: spec.files,
            bounds,
            offsets: Offsets::Uniform,
            hot_band,
            random,
            read_share: spec.read_pct / 100.0,
            random_share: spec.random_pct / 100.0,
            has_own_offsets: matches!(
                spec.offsets,
                OffsetSpec::Strided { .. } | OffsetSpec::Near { .. } | OffsetSpec::HotBand(_)
            ),
            decided: None,
            cursors: (0..cursors).map(start).collect(),
            runs: vec![(0, 0.0); cursors],
            writes: 0,
            slots: 0,
            per_client: spec.per_client.map_or(0, |region| region.0),
            files: None,
            trims: match () {
                () if spec.trim_first => Trims::First(vec![None; threads.max(1)]),
                () if spec.trim_pct > 0.0 => Trims::Share(spec.trim_pct / 100.0),
                () => Trims::Never,
            },
            data: Data::INCOMPRESSIBLE,
            sizes: spec.sizes,
        };
        let sizes: Vec<u32> = stream.sizes.all().collect();
        if let [only] = sizes[..] {
            stream.slots = stream.slots_for(only);
        }
        let slots = stream.slots_for(stream.sizes.largest());
        stream.offsets = Offsets::new(stream.offset_spec, slots);
        stream
    }
}

/// No two hot bands of a target share only a part of their ranges: what the band's beginning is would be unclear.
///
/// # Errors
/// The later of two such bands, named at its range.
pub fn check_bands(file: &str, streams: &[(Stream, u16)]) -> Result<(), SpecError> {
    let bands: Vec<&(Stream, u16)> = streams.iter().filter(|(stream, _)| stream.is_hot_band()).collect();
    for (index, (one, target)) in bands.iter().enumerate() {
        for (other, other_target) in &bands[..index] {
            let (a, b) = (one.bounds(), other.bounds());
            if target == other_target && a != b && a.from < b.to && b.from < a.to {
                let accepted =
                    format!("overlaps the hot band of stream \"{}\" ({} B .. {} B)", other.name(), b.from, b.to);
                return Err(SpecError::new(file, &one.key("range"), format!("{} B .. {} B", a.from, a.to), accepted));
            }
        }
    }
    Ok(())
}
