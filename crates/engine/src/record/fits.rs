//! Streams whose span fits into a cache that served most of their I/Os: their rates are the cache's.
//!
//! Leaves out: memory above the volumes (apps and their hosts have caches of their own, which shape the requested
//! I/Os), pools and RAID-Z. Data that shares drives with a stream counts as its own.

use hotband_machine::PartReport;
use hotband_units::Bytes;
use hotband_workloads::{Stream, Workload};

use crate::build::caches::{Below, DriveCaches, MachineCaches};

/// Share of a stream's I/Os from which on its result is said to be the cache's: most of its I/Os.
const MOST: f64 = 0.5;

/// Effect of a read cache.
const ANSWERED: &str = "which served % of reads";

/// Span and volume of a stream.
#[derive(Clone, Debug)]
pub(crate) struct Reach {
    name: String,
    pub target: u16,
    span: u64,
    reads: bool,
    writes: bool,
}

/// Ranges of all streams of `workload`.
pub(crate) fn reaches(workload: &Workload, streams: &[(Stream, u16)]) -> Vec<Reach> {
    let reach = |(spec, (stream, target)): (&hotband_workloads::StreamSpec, &(Stream, u16))| Reach {
        name: spec.name.clone(),
        target: *target,
        span: stream.bounds().to - stream.bounds().from,
        reads: spec.read_pct > 0.0,
        writes: spec.read_pct < 100.0,
    };
    workload.streams.iter().zip(streams).map(reach).collect()
}

/// A cache below a volume: its name, its bytes, its effect, and the share of I/Os with this effect.
struct Cache {
    what: String,
    bytes: u64,
    share: f64,
    did: &'static str,
}

/// Counters of parts when the measured time began, and when it ended.
type Counted<'a> = &'a (Vec<PartReport>, Vec<PartReport>);

/// Sum of a counter of the measured time over the parts of which `is_meant` holds.
fn sum_of((before, after): Counted, is_meant: impl Fn(&PartReport) -> bool, name: &str) -> f64 {
    let counter = |part: &PartReport| part.counter(name).unwrap_or(0);
    let parts = after.iter().zip(before).filter(|(part, _)| is_meant(part));
    parts.map(|(after, before)| counter(after) - counter(before)).sum::<u64>() as f64
}

/// A note for each stream and direction whose span fits into a cache that answered most of it.
pub(crate) fn fits_notes(reaches: &[Reach], caches: &MachineCaches, counted: Counted) -> Vec<String> {
    let mut notes = Vec::new();
    for reach in reaches {
        let Some(below) = caches.below.get(usize::from(reach.target)) else { continue };
        let of = |is_read: bool| {
            let found = found(below, caches, counted, is_read);
            found.into_iter().find(|cache| cache.bytes >= reach.span && cache.share >= MOST)
        };
        let whose = if reaches.len() > 1 { format!("stream \"{}\": ", reach.name) } else { String::new() };
        let note = |Cache { what, bytes, share, did }: Cache| {
            let (span, bytes, percent) = (size(reach.span), size(bytes), 100.0 * share.min(1.0));
            let did = did.replace('%', &format!("{percent:.0} %"));
            format!("{whose}the span of {span} fits into {what} of {bytes}, {did}: the result is that of the cache")
        };
        notes.extend(of(true).filter(|_| reach.reads).map(note));
        notes.extend(of(false).filter(|_| reach.writes).map(note));
    }
    notes
}

/// The caches that are between a volume and its media, those of controllers first.
fn found(below: &Below, caches: &MachineCaches, counted: Counted, is_read: bool) -> Vec<Cache> {
    let controllers = below.controllers.iter().map(|index| {
        let setting = &caches.controllers[*index];
        let id = format!("{}.cache", setting.name);
        let sum = |name: &str| sum_of(counted, |part| part.kind == "controller" && part.id == id, name);
        let (share, did) = if is_read {
            (sum("read_hits") / sum("reads"), ANSWERED)
        } else {
            ((sum("cached_writes") - sum("waited_writes")) / sum("writes"), "which absorbed % of writes at once")
        };
        Cache { what: "the controller's cache".to_owned(), bytes: setting.cache_bytes, share, did }
    });
    let drives: Vec<&DriveCaches> = below.drives.iter().map(|index| &caches.drives[*index].caches).collect();
    let names: Vec<&str> = below.drives.iter().map(|index| caches.drives[*index].name.as_str()).collect();
    let sum = |name: &str| sum_of(counted, |part| names.contains(&part.id.as_str()), name);
    let bytes = |size: fn(&DriveCaches) -> u64| drives.iter().map(|caches| size(caches)).sum::<u64>();
    let whose = if drives.len() == 1 { "the drive's" } else { "the drives'" };
    let of_drives =
        |what: &str, bytes: u64, share: f64, did| Cache { what: format!("{whose} {what}"), bytes, share, did };
    let drive_cache = if is_read {
        vec![
            of_drives("memory", bytes(|caches| caches.read_cache_bytes), sum("cache_hits") / sum("reads"), ANSWERED),
            of_drives("flash", bytes(|caches| caches.flash_cache_bytes), sum("flash_hits") / sum("reads"), ANSWERED),
            of_drives("buffer", bytes(|caches| caches.write_cache_bytes), sum("buffer_hits") / sum("reads"), ANSWERED),
        ]
    } else {
        // What is written again while it waits for the media is written there once: a cache that holds all of a span
        // never fills.
        let joined = if drives.iter().any(|caches| caches.read_ahead.is_none()) {
            sum("coalesced_bytes") / sum("written_bytes")
        } else {
            sum("joined_writes") / sum("writes")
        };
        let held = bytes(|caches| caches.write_cache_bytes);
        vec![of_drives("write cache", held, joined, "where % of writes merged with waiting ones")]
    };
    controllers.chain(drive_cache).collect()
}

/// "64 MiB": a whole number of the largest unit that it is a tenth of at least.
fn size(bytes: u64) -> String {
    let units = [("GiB", 1_u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    let unit = units.into_iter().find(|(_, unit)| bytes >= *unit);
    match unit {
        Some((name, unit)) if bytes.is_multiple_of(unit) => format!("{} {name}", bytes / unit),
        Some((name, unit)) => format!("{:.1} {name}", bytes as f64 / unit as f64),
        None => Bytes(bytes).to_string(),
    }
}
