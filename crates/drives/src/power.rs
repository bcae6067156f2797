//! Power draw of drives, from the values of their catalog files and the ranges stated there.
//!
//! A disk's `power_active` is what data sheets rate: the arm does random reads all the time. `power_seek`, while
//! the arm moves, is more than that; on the track (waiting for a sector, transferring) it is less, by as much as makes
//! the rated mix of both `power_active`. An SSD's `power_read` and `power_write` are those of its rated sequential
//! rates.
//!
//! Leaves out: spin-up, parked heads and other low-power states, and what electronics draw that wait for the host.

use hotband_machine::{Draw, Levels, Product, Section, SpecError};
use hotband_units::{Power, Span};

use crate::disk::params::DiskParams;
use crate::parts::rotation::REVOLUTION;
use crate::ssd::params::SsdParams;

/// Highest accepted power of a drive.
const MOST: Power = Power(1_000_000);

/// A value and the ends of its range.
#[derive(Clone, Copy)]
struct Ranged {
    low: f64,
    value: f64,
    high: f64,
}

impl Ranged {
    /// `value` with the range that the product states for `key`; none if `set` gives it.
    fn new(value: Power, key: &str, product: &Product, set: &toml::Table) -> Self {
        let stated = product.assumptions.iter().find(|assumption| assumption.key == key && !set.contains_key(key));
        let ends = stated.and_then(|assumption| assumption.range.as_ref());
        let ends = ends.and_then(|(low, high)| Some((low.parse::<Power>().ok()?, high.parse::<Power>().ok()?)));
        let value = value.0 as f64;
        let (low, high) = ends.map_or((value, value), |(low, high)| (low.0 as f64, high.0 as f64));
        Self { low: low.min(value), value, high: high.max(value) }
    }
}

fn power(milliwatts: f64) -> Power {
    Power(milliwatts.round() as u64)
}

/// A power of a busy drive.
fn busy_power(section: &Section, key: &'static str) -> Result<Power, SpecError> {
    let power: Power = section.required(key, "a power, such as \"10 W\"")?;
    if power > MOST {
        return Err(section.error(key, power.to_string(), "expected at most 1 kW"));
    }
    Ok(power)
}

/// Checks that the first is at most the second; the error names the value from `set`, if one is.
fn ordered(
    (product, set): (&Product, &toml::Table),
    (low_key, low): (&str, Power),
    (high_key, high): (&str, Power),
) -> Result<(), SpecError> {
    if low <= high {
        return Ok(());
    }
    let (key, found, accepted) = if set.contains_key(low_key) && !set.contains_key(high_key) {
        (low_key, low, format!("expected at most {high_key} ({high})"))
    } else {
        (high_key, high, format!("expected at least {low_key} ({low})"))
    };
    Err(SpecError::new(&product.file, &format!("values.{key}"), found.to_string(), accepted))
}

/// Power of a disk as stated in its file: the power on the track is worked out by [`split_disk`].
pub(super) fn read_disk(section: &Section, actuators: u32) -> Result<Option<Draw>, SpecError> {
    let Some(idle) = section.quantity::<Power>("power_idle")? else { return Ok(None) };
    let active = busy_power(section, "power_active")?;
    let seek = match section.value("power_seek") {
        Some(_) => busy_power(section, "power_seek")?,
        None => active,
    };
    let levels = Levels { idle, busy: [seek, active] };
    let [low, high] = [[levels; 2]; 2];
    Ok(Some(Draw { states: ["seek", "track"], active, levels, low, high, actuators, is_parallel: false }))
}

/// Share of the time of a random read that the arm moves: the mean seek, then half a revolution.
fn moving(params: &DiskParams) -> f64 {
    let wait = params.geometry.rotation.time_for(REVOLUTION / 2);
    params.seek_read.average.0 as f64 / (params.seek_read.average + wait).0 as f64
}

/// Powers of a disk whose arm draws the share `excess` of the most that it can draw beyond the rated power.
fn disk_levels(idle: f64, active: f64, excess: f64, moving: f64) -> Levels {
    let active = active.max(idle);
    let seek = active + excess * (most_seek(idle, active, moving) - active);
    let track = (active - moving * seek) / (1.0 - moving);
    Levels { idle: power(idle), busy: [power(seek), power(track)] }
}

/// The rated power above rest, if all of it came from the arm.
fn most_seek(idle: f64, active: f64, moving: f64) -> f64 {
    active + (active - idle) * (1.0 - moving) / moving
}

/// Splits the rated power of a disk into those of seeking and of the time on the track, with their ranges. If `set`
/// changes the rated powers but not `power_seek`, the arm keeps its share of what is above rest.
pub(super) fn split_disk(
    mut params: DiskParams,
    product: &Product,
    set: &toml::Table,
) -> Result<DiskParams, SpecError> {
    let Some(mut draw) = params.draw else { return Ok(params) };
    let from = (product, set);
    ordered(from, ("power_idle", draw.levels.idle), ("power_active", draw.active))?;
    let moving = moving(&params);
    let idle = Ranged::new(draw.levels.idle, "power_idle", product, set);
    let active = Ranged::new(draw.active, "power_active", product, set);
    let of_file = |key: &str| {
        let stated = product.assumptions.iter().find(|assumption| assumption.key == key);
        stated.and_then(|assumption| assumption.value.parse::<Power>().ok()).map_or(0.0, |power| power.0 as f64)
    };
    // What the seek power was stated beside.
    let is_stated = product.has("power_seek") && !set.contains_key("power_seek");
    let (beside_idle, beside_active) =
        if is_stated { (of_file("power_idle"), of_file("power_active")) } else { (idle.value, active.value) };
    let seek = if product.has("power_seek") {
        Ranged::new(draw.levels.busy[0], "power_seek", product, set)
    } else {
        Ranged { low: beside_active, value: beside_active, high: beside_active }
    };
    let most = most_seek(beside_idle, beside_active, moving);
    ordered(from, ("power_active", power(beside_active)), ("power_seek", power(seek.value)))?;
    if seek.value > most + 1.0 {
        let accepted = format!("expected at most {}: more leaves less than power_idle on the track", power(most));
        return Err(SpecError::new(&product.file, "values.power_seek", power(seek.value).to_string(), accepted));
    }
    let excess = |seek: f64| {
        let room = most - beside_active;
        if room > 0.0 { ((seek - beside_active) / room).clamp(0.0, 1.0) } else { 0.0 }
    };
    let ends =
        |idle: f64, active: f64| [seek.low, seek.high].map(|seek| disk_levels(idle, active, excess(seek), moving));
    draw.levels = disk_levels(idle.value, active.value, excess(seek.value), moving);
    (draw.low, draw.high) = (ends(idle.low, active.low), ends(idle.high, active.high));
    params.draw = Some(draw);
    Ok(params)
}

/// Power of an SSD.
pub(super) fn read_ssd(section: &Section) -> Result<Option<Draw>, SpecError> {
    let Some(idle) = section.quantity::<Power>("power_idle")? else { return Ok(None) };
    let (read, write) = (busy_power(section, "power_read")?, busy_power(section, "power_write")?);
    let levels = Levels { idle, busy: [read, write] };
    let [low, high] = [[levels; 2]; 2];
    let active = read.max(write);
    Ok(Some(Draw { states: ["read", "write"], active, levels, low, high, actuators: 1, is_parallel: true }))
}

/// Like the above, with its ranges.
pub(super) fn range_ssd(mut params: SsdParams, product: &Product, set: &toml::Table) -> Result<SsdParams, SpecError> {
    let Some(draw) = params.draw else { return Ok(params) };
    let keys = ["power_idle", "power_read", "power_write"];
    let values = [draw.levels.idle, draw.levels.busy[0], draw.levels.busy[1]];
    ordered((product, set), (keys[0], values[0]), (keys[1], values[1]))?;
    ordered((product, set), (keys[0], values[0]), (keys[2], values[2]))?;
    let [idle, read, write] = [0, 1, 2].map(|n| Ranged::new(values[n], keys[n], product, set));
    let levels = |idle: f64, read: f64, write: f64| {
        [Levels { idle: power(idle), busy: [power(read.max(idle)), power(write.max(idle))] }; 2]
    };
    let (low, high) = (levels(idle.low, read.low, write.low), levels(idle.high, read.high, write.high));
    params.draw = Some(Draw { low, high, ..draw });
    Ok(params)
}

/// Time that `bytes` take at the rate that `power_read` is rated at, and at that of `power_write`.
pub(super) fn time_at(bytes: u64, bytes_a_second: u64) -> Span {
    Span((bytes as f64 / bytes_a_second.max(1) as f64 * 1e9) as u64)
}
