//! Solid-state drives in use: preconditioned before a run that does not state their contents, at a model size at which
//! that takes seconds. New drives that are written to get a model size at which their maps fit.
//!
//! Leaves out, so that such drives start new and whole as ever: machines with disks, too, which have no scale and would
//! be out of proportion; pools and RAID-Z, which pass on no writes that take no time; runs in which drives fail or
//! daemons go out, as a rebuild takes as long as drives are large.

use hotband_drives::SsdParams;
use hotband_layouts::is_pool;
use hotband_machine::{MachineSpec, What};
use hotband_workloads::{RangeSpec, Stream, Workload};
use toml::Table;

use crate::build::assemble::as_value;
use crate::build::caches::{MachineCaches, stays_new};
use crate::build::catalog::Catalog;
use crate::build::means::Use;
use crate::drive::contents;
use crate::events::Asked;
use crate::keys::takes;
use crate::request::Request;
use crate::texts::{self, machine_text, workload_of, workload_text};

/// Bytes that the drives of a machine hold together at the scale that is chosen, at most. All of it written twice in
/// order and once at random takes 2 to 3 s of a core of 2020, with compression 5 s (docs/guides/steady-state.md).
pub(crate) const HELD: u64 = 32_000_000_000;
/// Like the above, for new drives that are written to, of which only the maps need memory: 1 GB.
const HELD_NEW: u64 = 1_024_000_000_000;
/// Multiple of that size that is still accepted if the range of the workload does not fit.
const MOST: u64 = 8;
/// Bytes of the largest drives that are accepted: their contents are stored for later runs like those of smaller ones.
const LARGEST: u64 = MOST * HELD;
const _: () = assert!(contents::are_small(LARGEST));
/// Smallest ratio of shares of the drives that gets a note: it rounds to twice.
const NOTED: f64 = 1.5;
/// Largest scale of a drive.
const LARGEST_SCALE: u64 = 4096;
/// Key and value of the state that drives in use are in.
const STATE: (&str, &str) = (texts::STATE, "preconditioned");

/// Settings chosen for a run on drives in use that does not set them itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    /// The state, if none is set, and the scale, if none is set.
    set: Vec<(String, String)>,
}

impl Chosen {
    /// Return `request` with these contents.
    pub fn add_to(&self, request: &Request) -> Request {
        let mut request = request.clone();
        request.set.extend(self.set.iter().cloned());
        request
    }

    /// Settings for a run that follows: only the scale of the drives.
    pub fn of_follower(&self) -> Self {
        Self { set: self.set.iter().filter(|(key, _)| key != STATE.0).cloned().collect() }
    }

    /// Whether drives without a stated state are preconditioned.
    pub fn preconditions(&self) -> bool {
        self.has(STATE.0).is_some()
    }

    fn has(&self, key: &str) -> Option<&str> {
        self.set.iter().find(|(have, _)| have == key).map(|(_, value)| value.as_str())
    }

    /// Notes for the record: nothing for a run that continues with drives as they were left.
    pub fn notes(&self, caches: &MachineCaches, workload: &Workload, streams: &[(Stream, u16)]) -> Vec<String> {
        let scale = self.has("scale").filter(|scale| *scale != "1");
        let at = scale.map_or_else(String::new, |scale| format!(", on a 1/{scale}-size model"));
        let whole = if scale.is_some() { "; scale=1: full size" } else { "" };
        let names = names(caches);
        let over = self.has(STATE.0).map(|_| format!("{names}: preconditioned first{at} (state=fob: new{whole})"));
        let over = over.or_else(|| scale.map(|scale| format!("{names}: 1/{scale}-size model (scale=1: full size)")));
        let larger = scale.and_then(|scale| larger_share(scale.parse().ok()?, workload, streams)).map(|times| {
            format!(
                "ranges in bytes and files cover {times:.0} times as large a share of these drives as of full-size ones: writes \
                 may cost more than there"
            )
        });
        over.into_iter().chain(larger).collect()
    }
}

/// Text about drives that are not preconditioned, because the workload does not fit on any model that would be quick.
pub(crate) fn too_large(caches: &MachineCaches) -> String {
    format!(
        "{}: new, because the drives that the workload needs are too large to precondition quickly \
         (state=preconditioned does it)",
        names(caches)
    )
}

/// `d0`, or `d0 to d7`.
fn names(caches: &MachineCaches) -> String {
    match &caches.drives[..] {
        [first, .., last] => format!("{} to {}", first.name, last.name),
        [only] => only.name.clone(),
        [] => String::new(),
    }
}

/// Settings to try for `request`, the quickest first; each further one is for a workload that does not fit on the
/// drives of the previous one. Empty if drives stay as they are, or on an error, which is reported when the machine is
/// built.
pub(crate) fn settings(catalog: &Catalog, request: &Request) -> Vec<Chosen> {
    if request.in_use { settings_of(catalog, request).unwrap_or_default() } else { Vec::new() }
}

fn settings_of(catalog: &Catalog, request: &Request) -> Option<Vec<Chosen>> {
    let (workload, _) = workload_of(request, &workload_text(catalog, request).ok()?).ok()?;
    let state = request.set.iter().rev().find(|(key, _)| key == STATE.0).map(|(_, value)| value.as_str());
    let (file, machine) = machine_text(catalog, request).ok()?;
    let spec = MachineSpec::read(&file, &machine).ok()?;
    let is_said = state.is_none() && (workload.precondition.is_some() || workload.is_preconditioned());
    if is_said || stays_new(&spec) || takes_its_time(request, &workload, &spec) {
        return None;
    }
    // Reads of unwritten blocks need no memory.
    let is_new = state == Some("fob");
    if is_new && Use::of(&workload) == Use::Reads {
        return None;
    }
    let held = capacity(catalog, request, &spec)?;
    let has = |key: &str| request.set.iter().any(|(have, _)| have == key);
    let is_scaled = has("scale") || spec.drives.iter().any(|drive| drive.set.contains_key("scale"));
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    // What a run finds that follows another is what that one leaves.
    let over = (state.is_none() && !request.follows).then(|| pair(STATE.0, STATE.1));
    let chosen = |scale: Option<u64>| {
        let scale = scale.map(|scale| pair("scale", &scale.to_string()));
        Chosen { set: over.clone().into_iter().chain(scale).collect() }
    };
    let of_scale = |scale| chosen(Some(scale));
    match (is_new, is_scaled) {
        (true, true) => None,
        (false, true) => Some(vec![chosen(None)]),
        (true, false) => Some(scales(held, HELD_NEW).filter(|scale| *scale > 1).map(of_scale).collect()),
        (false, false) => Some(scales(held, HELD).map(of_scale).collect()),
    }
}

/// Scales at which drives that hold `held` take about as long as those that hold `quick`, the quickest first.
fn scales(held: u64, quick: u64) -> impl Iterator<Item = u64> {
    let quickest = held.div_ceil(quick).next_power_of_two().min(LARGEST_SCALE);
    (0..=quickest.ilog2()).map(move |halvings| quickest >> halvings).filter(move |scale| held / scale <= MOST * quick)
}

/// Whether the run includes something whose time grows with the size of the drives.
fn takes_its_time(request: &Request, workload: &Workload, spec: &MachineSpec) -> bool {
    let requested = Asked::of(request, workload, &spec.events).map(|requested| requested.events).unwrap_or_default();
    let is_long = |what: &What| matches!(what, What::Fail | What::Out);
    let goes_out = spec.layouts.iter().any(|layout| is_pool(&layout.kind) && layout.options.contains_key("out"));
    !request.repair.is_empty() || goes_out || requested.iter().any(|event| is_long(&event.what))
}

/// Factor by which the written share of drives at `scale` exceeds that of full-size ones; none if no
/// range in bytes, file or trace keeps its size.
fn larger_share(scale: u64, workload: &Workload, streams: &[(Stream, u16)]) -> Option<f64> {
    if workload.app.is_some() || !workload.traces.is_empty() {
        return Some(scale as f64);
    }
    let written = workload.streams.iter().zip(streams).filter(|(spec, _)| spec.read_pct < 100.0);
    let times = written.filter_map(|(spec, (stream, _))| {
        let RangeSpec::At(to) = spec.to else { return None };
        let from = if let RangeSpec::At(from) = spec.from { from.0 } else { 0 };
        let modelled = stream.bounds().to - stream.bounds().from;
        Some(modelled as f64 * scale as f64 / to.0.saturating_sub(from).max(1) as f64)
    });
    times.max_by(f64::total_cmp).filter(|times| *times >= NOTED)
}

/// Bytes of the solid-state drives of a machine; none if it also has other drives.
fn capacity(catalog: &Catalog, request: &Request, spec: &MachineSpec) -> Option<u64> {
    let mut known: Vec<(&str, &Table, u64)> = Vec::new();
    let mut held = 0_u64;
    for drive in &spec.drives {
        let known_drive = known.iter().find(|(name, set, _)| *name == drive.product && **set == drive.set);
        let capacity = if let Some((.., capacity)) = known_drive {
            *capacity
        } else {
            let (product, _) = catalog.drive(&drive.product, (&spec.file, &drive.key)).ok()?;
            let mut set = drive.set.clone();
            let given = request.set.iter().filter(|(key, _)| takes(&product, key));
            set.extend(given.map(|(key, value)| (key.clone(), as_value(value))));
            let params = (product.kind == "ssd").then(|| SsdParams::read(&product, &set, "", "").ok()).flatten()?;
            let whole = params.capacity * params.scale;
            known.push((&drive.product, &drive.set, whole));
            whole
        };
        held += capacity;
    }
    (held > 0).then_some(held)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drives_hold_what_is_written_quickly_and_larger_ones_are_tried_next() {
        assert_eq!(scales(960_000_000_000, HELD).collect::<Vec<_>>(), [32, 16, 8, 4]);
        assert_eq!(scales(24_000_000_000, HELD).collect::<Vec<_>>(), [1], "it is small enough");
        assert_eq!(scales(HELD, HELD).next(), Some(1));
        assert_eq!(scales(HELD + 1, HELD).next(), Some(2));
        let largest = 1000 * LARGEST_SCALE * HELD;
        assert_eq!(scales(largest, HELD).count(), 0, "no scale makes it quick");
    }
}
