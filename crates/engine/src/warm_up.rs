//! Warm-up of a workload whose measured time was shortened (`--duration`), or may be (`until_precise`): equally
//! short, if nothing in the machine takes longer to fill. Tests over ten seeds (tests/long) hold both within 1 %.
//!
//! Leaves out, so that they warm up for the full time of the workload: drives with a volatile write cache, a pseudo-SLC
//! cache, a flash cache or a map that does not fit into memory; controllers, stripe caches, pools and RAID-Z; apps,
//! scripts and replays, which have caches of their own; workloads whose warm-ups differ.

use hotband_drives::SsdParams;
use hotband_layouts::PLANNERS;
use hotband_machine::MachineSpec;
use hotband_units::Span;
use toml::Table;

use crate::build::assemble::as_value;
use crate::build::catalog::Catalog;
use crate::keys::takes;
use crate::probes::precise::least_time;
use crate::request::Request;
use crate::texts::{machine_text, workload_of, workload_text};

/// The key of `--set`.
const WARM_UP: &str = "warm_up";

/// `request` with its actual warm-up, if that is not the workload's. Errors in it are reported when it is built.
pub(crate) fn fitted(catalog: &Catalog, mut request: Request) -> Request {
    if let Some(time) = shorter(catalog, &request) {
        request.set.push((WARM_UP.to_owned(), time.to_string()));
    }
    request
}

fn shorter(catalog: &Catalog, request: &Request) -> Option<Span> {
    let is_said = request.set.iter().any(|(key, _)| key == WARM_UP);
    if !request.in_use || is_said {
        return None;
    }
    let (mut workload, _) = workload_of(request, &workload_text(catalog, request).ok()?).ok()?;
    let time: Span = match &request.duration {
        Some(duration) => duration.parse().ok()?,
        None => workload.phases.iter().filter_map(|phase| least_time(&workload, phase)).max()?,
    };
    let warm_up = workload.warm_up()?;
    (time > Span::ZERO && warm_up > time && workload.is_streams() && fills_soon(catalog, request)?).then_some(time)
}

/// Whether nothing in the machine takes long to fill, if this is known.
fn fills_soon(catalog: &Catalog, request: &Request) -> Option<bool> {
    let (file, text) = machine_text(catalog, request).ok()?;
    let spec = MachineSpec::read(&file, &text).ok()?;
    if !spec.layouts.iter().all(|layout| PLANNERS.contains(&layout.kind.as_str())) {
        return Some(false);
    }
    let mut known: Vec<(&str, &Table)> = Vec::new();
    for drive in &spec.drives {
        if known.contains(&(&drive.product, &drive.set)) {
            continue;
        }
        known.push((&drive.product, &drive.set));
        let (product, _) = catalog.drive(&drive.product, (&spec.file, &drive.key)).ok()?;
        if product.kind != "ssd" {
            return Some(false);
        }
        let mut set = drive.set.clone();
        let given = request.set.iter().filter(|(key, _)| takes(&product, key));
        set.extend(given.map(|(key, value)| (key.clone(), as_value(value))));
        let drive = SsdParams::read(&product, &set, "", "").ok()?;
        let is_volatile = drive.cache.volatile && !drive.cache.protected;
        if is_volatile || drive.fills_slowly() {
            return Some(false);
        }
    }
    Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warm_up(machine: &str, workload: &str, duration: Option<&str>, set: &[(&str, &str)]) -> Option<String> {
        let catalog = Catalog::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/hotband/data/catalog"));
        let set = set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let request = Request {
            machine: machine.to_owned(),
            workload: workload.to_owned(),
            set,
            seed: 1,
            duration: duration.map(str::to_owned),
            in_use: true,
            ..Request::default()
        };
        fitted(&catalog, request).set.into_iter().find(|(key, _)| key == WARM_UP).map(|(_, value)| value)
    }

    const TWO: Option<&str> = Some("2 s");

    #[test]
    fn a_shortened_run_of_a_drive_without_a_volatile_cache_warms_up_as_long_as_it_measures() {
        assert_eq!(warm_up("7450-pro-3840", "vdbench-8k-random", TWO, &[]).as_deref(), Some("2 s"));
        assert_eq!(warm_up("raid5:4x7450-pro-3840", "vdbench-8k-random", TWO, &[]).as_deref(), Some("2 s"));
        assert_eq!(warm_up("7450-pro-3840", "vdbench-8k-random", Some("60 s"), &[]), None, "it is no longer than that");
        assert_eq!(warm_up("7450-pro-3840", "vdbench-8k-random", None, &[]), None);
        let settings = [("warm_up", "30 s")];
        assert_eq!(warm_up("7450-pro-3840", "vdbench-8k-random", TWO, &settings).as_deref(), Some("30 s"));
    }

    #[test]
    fn a_machine_with_something_to_fill_warms_up_as_the_workload_says() {
        for machine in ["ent-10k", "replicated:6xmg06sca-10tb", "raidz1:3x7450-pro-3840"] {
            assert_eq!(warm_up(machine, "vdbench-8k-random", TWO, &[]), None, "{machine}");
        }
    }
}
