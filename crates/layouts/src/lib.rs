//! Layouts, which form one address space from drives: one file per layout, each a pure planner; a replicated pool and
//! RAID-Z are services with a state of their own.

mod concat;
pub mod controller;
pub mod crush;
pub mod md;
mod mirror;
mod mirror_degraded;
mod parity;
mod parity_degraded;
mod parity_groups;
mod pending;
mod policy;
pub mod raidz;
pub mod replicated;
mod stripe;

use hotband_machine::{Layout, LayoutSpec, Section, SpecError};
use hotband_units::Bytes;

pub use concat::Concat;
pub use mirror::Mirror;
pub use parity::Parity;
pub use parity_groups::ParityGroups;
pub use policy::ReadPolicy;
pub use stripe::Stripe;

/// Names of the layouts, as specs write them.
pub const KINDS: [&str; 16] = [
    "single", "concat", "raid0", "raid1", "raid5", "raid6", "raid10", "raid50", "raid60", "raidz1", "raidz2", "raidz3",
    REPLICATED, ERASURE, CONTROLLER, MD,
];

/// Kinds of layouts that only plan.
pub const PLANNERS: [&str; 9] = ["single", "concat", "raid0", "raid1", "raid5", "raid6", "raid10", "raid50", "raid60"];

/// The service whose members carry daemons; those of [`raidz::RAIDZ`] are services too.
pub const REPLICATED: &str = "replicated";
/// A cache before another layout, which is one, too.
pub const CONTROLLER: &str = "controller";
/// A stripe cache before a layout with parity, which is one, too.
pub const MD: &str = "md";

/// Kind of a pool with erasure-coded objects.
pub const ERASURE: &str = "erasure";

/// Whether a layout is a pool with daemons.
pub fn is_pool(kind: &str) -> bool {
    [REPLICATED, ERASURE].contains(&kind)
}

/// Chunk size where a spec does not say: the default of common controllers and of the published arrays whose
/// chunk is not stated (64 KiB).
const DEFAULT_CHUNK: Bytes = Bytes(64 * 1024);
/// Groups of RAID 50 and 60 where a spec does not say: the fewest that there can be.
const DEFAULT_GROUPS: u64 = 2;

/// Groups of members with redundancy of their own that a checked spec requests; one where its kind has none.
pub fn groups(spec: &LayoutSpec) -> u64 {
    let given = spec.options.get("groups").and_then(toml::Value::as_integer);
    let has_groups = ["raid50", "raid60"].contains(&spec.kind.as_str());
    if has_groups { given.map_or(DEFAULT_GROUPS, i64::cast_unsigned) } else { 1 }
}

/// Builds the planner of a spec on members of the given sizes (bytes usable on each, in their order).
///
/// # Errors
/// An unknown kind or option, too few members, a chunk that is not a multiple of 4 KiB.
pub fn build(file: &str, spec: &LayoutSpec, sizes: &[u64]) -> Result<Box<dyn Layout>, SpecError> {
    let options = Section::new(file, &spec.key, &spec.options);
    let count = sizes.len();
    let smallest = sizes.iter().copied().min().unwrap_or(0);
    let layout: Box<dyn Layout> = match spec.kind.as_str() {
        "single" => {
            members(&options, "single", count, 1, count == 1)?;
            Box::new(Concat::new("single", sizes))
        }
        "concat" => Box::new(Concat::new("concat", sizes)),
        "raid0" => {
            members(&options, "raid0", count, 2, true)?;
            Box::new(Stripe::new(count as u64, smallest, chunk(&options)?))
        }
        "raid1" => {
            members(&options, "raid1", count, 2, true)?;
            Box::new(Mirror::new("raid1", count as u64, count as u64, smallest, u64::MAX, policy(&options)?))
        }
        "raid10" => {
            members(&options, "raid10", count, 4, count.is_multiple_of(2))?;
            Box::new(Mirror::new("raid10", count as u64, 2, smallest, chunk(&options)?, policy(&options)?))
        }
        "raid5" => {
            members(&options, "raid5", count, 3, true)?;
            Box::new(Parity::new("raid5", count as u64, 1, smallest, chunk(&options)?))
        }
        "raid6" => {
            members(&options, "raid6", count, 4, true)?;
            Box::new(Parity::new("raid6", count as u64, 2, smallest, chunk(&options)?))
        }
        "raid50" => Box::new(parity_groups(&options, ("raid50", 1), count as u64, smallest)?),
        "raid60" => Box::new(parity_groups(&options, ("raid60", 2), count as u64, smallest)?),
        other => return Err(SpecError::unknown(file, &spec.key, other, &KINDS)),
    };
    options.finish()?;
    if layout.capacity().0 == 0 {
        return Err(SpecError::new(file, &spec.key, "", "the members are smaller than one chunk"));
    }
    Ok(layout)
}

/// RAID 50 or RAID 60: equal groups with this many parities each.
fn parity_groups(
    options: &Section,
    (kind, parities): (&'static str, u64),
    count: u64,
    size: u64,
) -> Result<ParityGroups, SpecError> {
    let given = options.count("groups", 2..=count.max(2))?;
    let groups = given.unwrap_or(DEFAULT_GROUPS);
    let (width, least) = (count / groups, parities + 2);
    if !count.is_multiple_of(groups) || width < least {
        let accepted = format!("{kind} needs equal groups of at least {least} drives each: {groups} groups");
        let (key, value) = given.map_or(("members", count), |groups| ("groups", groups));
        let accepted = if given.is_some() { format!("{accepted} do not fit {count} members") } else { accepted };
        return Err(options.error(key, value.to_string(), accepted));
    }
    Ok(ParityGroups::new(kind, Parity::new(kind, width, parities, size, chunk(options)?), groups))
}

fn members(options: &Section, kind: &str, count: usize, least: usize, fits: bool) -> Result<(), SpecError> {
    let accepted = match kind {
        "single" => "expected exactly 1 member".to_owned(),
        "raid10" => "raid10 needs an even number of at least 4 drives".to_owned(),
        kind => format!("{kind} needs at least {least} drives"),
    };
    if count < least || !fits {
        return Err(options.error("members", count.to_string(), accepted));
    }
    Ok(())
}

fn chunk(options: &Section) -> Result<u64, SpecError> {
    let chunk = options.quantity::<Bytes>("chunk")?.unwrap_or(DEFAULT_CHUNK);
    if chunk.0 == 0 || !chunk.0.is_multiple_of(4096) || chunk.0 > 1 << 30 {
        return Err(options.error("chunk", chunk.to_string(), "expected a multiple of 4 KiB up to 1 GiB"));
    }
    Ok(chunk.0)
}

fn policy(options: &Section) -> Result<ReadPolicy, SpecError> {
    Ok(options.choice("read_policy", &ReadPolicy::NAMES)?.unwrap_or(ReadPolicy::LeastPending))
}

/// `(chunk number, offset in it, length)` of every chunk that `offset..offset + len` touches.
fn chunks(chunk: u64, offset: u64, len: u32) -> impl Iterator<Item = (u64, u64, u32)> {
    let end = offset + u64::from(len);
    let mut at = offset;
    std::iter::from_fn(move || {
        if at >= end {
            return None;
        }
        let (number, within) = (at / chunk, at % chunk);
        let piece = (chunk - within).min(end - at);
        at += piece;
        Some((number, within, piece as u32))
    })
}

#[cfg(test)]
mod tests;
