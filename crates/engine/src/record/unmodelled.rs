//! Results that rest on something that is not modelled and moves their figures: the record names them, its notes begin
//! with them, and they get no intervals (docs/guides/intervals.md).
//!
//! Leaves out: everything that no rule here is about. That a result is not named here is not a promise.

use hotband_layouts::is_pool;
use hotband_layouts::raidz::RAIDZ;
use hotband_machine::PartReport;
use hotband_units::Span;
use serde::Serialize;

use crate::build::caches::MachineCaches;
use crate::build::outline::LayoutOutline;
use crate::probes::Watched;
use crate::probes::repair::RepairRecord;
use crate::record::fits::Reach;

/// Writes a second that one thread of md is trusted with [our estimate, 30,000 to 200,000: eight threads on memory in
/// place of drives did 463,000, linux-raid, 27 August 2024, "Optimize wait_for_overlap"]. A write goes to one row of 4
/// KiB of each member at least.
const ROWS_OF_A_THREAD: f64 = 50_000.0;
/// Bytes of a row on each member (`STRIPE_SIZE`).
const PAGE: f64 = 4096.0;

/// The key "unmodelled".
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Unmodelled {
    /// "md-thread", "flash-pool", "flash-raidz" or "smr-rebuild".
    what: &'static str,
    /// The layout or drive that it is about.
    part: String,
    pub note: String,
}

/// Layouts and drives of a machine.
pub(crate) struct MadeOf<'a> {
    pub layouts: &'a [LayoutOutline],
    pub caches: &'a MachineCaches,
}

impl MadeOf<'_> {
    /// Return the unmodelled aspects that a run in a measured time of `duration` depends on.
    pub fn unmodelled(&self, reaches: &[Reach], watched: &Watched, duration: Span) -> Vec<Unmodelled> {
        let repair = watched.findings.sections.get::<RepairRecord>();
        let rebuilt = repair.into_iter().flat_map(|repair| smr_rebuilds(repair, &watched.parts.1));
        let of_layouts = self.layouts.iter().filter_map(|layout| {
            let kind = layout.kind.as_str();
            match parities_of(kind) {
                Some(parities) => Self::md_thread(layout, parities, &self.written(layout, reaches, watched, duration)),
                None if is_pool(kind) && self.is_on_flash(layout) => Some(flash_pool(layout)),
                None if RAIDZ.contains(&kind) && self.is_on_flash(layout) => Some(flash_raidz(layout)),
                None => None,
            }
        });
        of_layouts.chain(rebuilt).collect()
    }

    /// Whether a solid-state drive is among the members.
    fn is_on_flash(&self, layout: &LayoutOutline) -> bool {
        let is_ssd = |name: &str| self.caches.drives.iter().any(|drive| drive.name == name && drive.kind == "ssd");
        layout.members.iter().any(|member| is_ssd(&member.drive))
    }

    /// Writes of hosts to an array. Arrays below one volume have equal shares of it; behind a controller md has none.
    fn written(&self, array: &LayoutOutline, reaches: &[Reach], watched: &Watched, duration: Span) -> Written {
        let lies_on = |array: &LayoutOutline, drives: &[usize]| {
            let has = |name: &str| drives.iter().any(|drive| self.caches.drives[*drive].name == name);
            parities_of(&array.kind).is_some() && array.members.iter().any(|member| has(&member.drive))
        };
        let mut rates = Written::default();
        for (number, [_, write, ..]) in watched.streams.all.iter().enumerate() {
            // Applications and traces come after the streams; they may go to any volume.
            let targets: Vec<usize> = match reaches.get(number) {
                Some(reach) => vec![usize::from(reach.target)],
                None => (0..self.caches.below.len()).collect(),
            };
            let below = targets.iter().filter_map(|target| self.caches.below.get(*target));
            let below = below.filter(|below| below.controllers.is_empty() && lies_on(array, &below.drives));
            let Some(below) = below.into_iter().next() else { continue };
            let arrays = self.layouts.iter().filter(|layout| lies_on(layout, &below.drives)).count() as f64;
            rates.ios += write.count as f64 / duration.as_secs_f64() / arrays;
            rates.bytes += write.bytes as f64 / duration.as_secs_f64() / arrays;
        }
        rates
    }

    /// Note for more writes than one thread of md per group is assumed to manage.
    fn md_thread(layout: &LayoutOutline, parities: usize, written: &Written) -> Option<Unmodelled> {
        let (groups, Written { ios, bytes }) = (layout.groups as f64, *written);
        let data = (layout.members.len() as f64 / groups - parities as f64).max(1.0);
        let rows = ios.max(bytes / (PAGE * data));
        (rows > ROWS_OF_A_THREAD * groups).then(|| Unmodelled {
            what: "md-thread",
            part: layout.name.clone(),
            note: format!(
                "\"{}\" ({}): {} writes/s ({} MB/s) are what the drives alone allow. md prepares them in one kernel thread \
                 (raid5d), which is not modelled and stops far below: eight threads (group_thread_cnt) on memory in place of \
                 drives did 463,000 (linux-raid, 27 August 2024)",
                layout.name,
                layout.kind,
                thousands(ios),
                thousands(bytes / 1e6),
            ),
        })
    }
}

/// Host writes per second.
#[derive(Clone, Copy, Default)]
struct Written {
    ios: f64,
    bytes: f64,
}

/// Parities of a group of an array that md has a thread for; RAID 50 and 60 are stripes of such arrays.
fn parities_of(kind: &str) -> Option<usize> {
    match kind {
        "raid5" | "raid50" => Some(1),
        "raid6" | "raid60" => Some(2),
        _ => None,
    }
}

fn flash_pool(layout: &LayoutOutline) -> Unmodelled {
    let (name, kind) = (&layout.name, &layout.kind);
    Unmodelled {
        what: "flash-pool",
        part: name.clone(),
        note: format!(
            "\"{name}\" ({kind}) has daemons on solid-state drives. Daemons and client take processor times of Ceph 14 with \
             disks where osd_set gives no others, the client in one thread: these set the rate, not the drives, and pools on \
             flash do more"
        ),
    }
}

fn flash_raidz(layout: &LayoutOutline) -> Unmodelled {
    let (name, kind) = (&layout.name, &layout.kind);
    Unmodelled {
        what: "flash-raidz",
        part: name.clone(),
        note: format!(
            "\"{name}\" ({kind}) is on solid-state drives. ZFS's processor times, transaction groups and ARC are not modelled, \
             and on flash they set the rate, not the drives"
        ),
    }
}

/// Rebuilds onto shingled disks.
fn smr_rebuilds(repair: &RepairRecord, parts: &[PartReport]) -> impl Iterator<Item = Unmodelled> {
    let is_smr = |name: &str| parts.iter().any(|part| part.id == name && part.kind == "smr");
    repair.rebuilds.iter().filter(move |rebuild| is_smr(&rebuild.spare)).map(|rebuild| {
        let (drive, spare) = (&rebuild.drive, &rebuild.spare);
        let rate = rebuild.mean_bytes_per_s.map_or_else(String::new, |rate| format!(" at {} MB/s", thousands(rate / 1e6)));
        Unmodelled {
            what: "smr-rebuild",
            part: spare.clone(),
            note: format!(
                "the rebuild of {drive} on {spare}{rate} is one sequential stream to a shingled disk (SMR) that has nothing \
                 else to do. Rebuilds of real ones stall: ZFS took nine days for a WD40EFAX and 16 hours for other disks \
                 (ServeTheHome, 2020). Do not plan with this time"
            ),
        }
    })
}

/// "404,860": whole, with separators; below 1,000 with three significant digits.
fn thousands(value: f64) -> String {
    if value < 999.5 {
        let places = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
        return format!("{value:.places$}");
    }
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_separators_and_small_ones_three_digits() {
        let texts: Vec<String> = [0.5, 12.34, 189.9, 999.7, 404_860.4, 1_234_567.0].map(thousands).into();
        assert_eq!(texts, ["0.50", "12.3", "190", "1,000", "404,860", "1,234,567"]);
    }
}
