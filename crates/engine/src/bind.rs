//! The streams of a workload on the volumes of a machine.

use hotband_machine::{Machine, SpecError, What};
use hotband_workloads::{Data, Load, Modelled, Random, Stream, StreamBounds, Workload, check_bands};

use crate::build::assemble::Assembled;
use crate::events::support::{TRIMS, supported};
use crate::parts::Parts;

/// Binds every stream to its target; `parts` are the volumes that are parts of the only one.
pub fn bind(
    workload: &Workload,
    assembled: &Assembled,
    parts: Option<&Parts>,
    seed: u64,
) -> Result<Vec<(Stream, u16)>, SpecError> {
    let machine = &assembled.machine;
    let block = machine.drives().block().0;
    let shared = workload.largest_load();
    let extents = workload.streams.iter().map(|spec| {
        let key = format!("{}.volume", spec.key);
        let part = spec.volume.as_deref().and_then(|volume| parts?.extent(volume));
        let volume = spec.volume.as_deref().filter(|_| part.is_none());
        let target = target_of(workload, &key, volume, assembled)?;
        Ok((target, part.unwrap_or((0, machine.volumes()[usize::from(target)].size))))
    });
    let extents = extents.collect::<Result<Vec<_>, SpecError>>()?;
    let bound = workload.streams.iter().enumerate().map(|(index, spec)| {
        let (target, (begin, capacity)) = extents[index];
        workload.check_clients(index, capacity)?;
        let of_target = workload.streams.iter().zip(&extents).filter(|(_, extent)| **extent == extents[index]);
        let of_target: Vec<_> = of_target.map(|(stream, _)| stream).collect();
        let (scale, exact) = assembled.caches.scale(target);
        let within = spec.bounds(&workload.file, &Modelled::new(capacity, scale, exact, &of_target), block)?;
        let bounds = StreamBounds { from: begin + within.from, to: begin + within.to };
        let load = spec.load.as_ref().or(shared.as_ref());
        let threads = workload.users(index).map(|users| users as usize).or(load.map(Load::threads)).unwrap_or(1);
        let path = format!("streams.{}", spec.name);
        let mut stream = Stream::new(spec.clone(), bounds, threads, Random::new(seed, &path));
        if let Some(data) = workload.data_of(index) {
            stream = stream.with_data(Data::new(data, Random::new(seed, &format!("{path}.data"))));
        }
        let Some(files) = spec.files else { return Ok((stream, target)) };
        let mut random = Random::new(seed, &format!("{path}.files"));
        let files = files.lay_out((&workload.file, &format!("{}.files", spec.key)), bounds, &mut random)?;
        Ok((stream.with_files(files), target))
    });
    let bound = bound.collect::<Result<Vec<_>, _>>()?;
    check_bands(&workload.file, &bound)?;
    Ok(bound)
}

/// Why a layout of a target stops trims; none if it passes them to its drives.
fn layout_stops_trims(machine: &Machine, target: u16) -> Option<String> {
    let name = &machine.volumes()[usize::from(target)].name;
    let stops = !machine.layouts().passes_trim(target);
    stops.then(|| format!("\"{name}\" is on a layout that does not pass trims to its drives"))
}

/// Why a target takes no trims in a run, in which power may be cut; none if it does.
pub(crate) fn stops_trims(machine: &Machine, target: u16, power_cut: bool) -> Option<String> {
    let name = &machine.volumes()[usize::from(target)].name;
    let of_drives = || format!("\"{name}\" is on disks without TRIM: an operating system does not trim them");
    let of_cut = || supported(What::PowerOff.name(), TRIMS).err().filter(|_| power_cut).map(|why| why.to_string());
    layout_stops_trims(machine, target).or_else(|| (!machine.takes_trims(target)).then(of_drives)).or_else(of_cut)
}

/// Trims are issued only if they reach drives and power is not cut: a trimmed byte would appear to be lost.
pub fn check_trims(
    workload: &Workload,
    streams: &[(Stream, u16)],
    machine: &Machine,
    power_cut: bool,
) -> Result<(), SpecError> {
    for (spec, (_, target)) in workload.streams.iter().zip(streams) {
        let Some((key, value)) = spec.trims() else { continue };
        let why = stops_trims(machine, *target, power_cut);
        if let Some(accepted) = why {
            return Err(SpecError::new(&workload.file, &key, value, format!("{accepted}; expected none")));
        }
    }
    let Some(spec) = workload.precondition.as_ref().filter(|spec| spec.trim) else { return Ok(()) };
    // Disks are not preconditioned, so that a state with trims is accepted for them.
    match (0..machine.volumes().len() as u16).find_map(|target| layout_stops_trims(machine, target)) {
        Some(why) => Err(SpecError::new(&spec.asked_at.0, &spec.asked_at.1, "", why)),
        None => Ok(()),
    }
}

/// The target that `volume` names, or the only one.
pub(crate) fn target_of(
    workload: &Workload,
    key: &str,
    volume: Option<&str>,
    assembled: &Assembled,
) -> Result<u16, SpecError> {
    let targets = assembled.machine.volumes();
    let names: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
    match volume {
        Some(name) => {
            let position = names.iter().position(|have| *have == name);
            position.map(|index| index as u16).ok_or_else(|| SpecError::unknown(&workload.file, key, name, &names))
        }
        None if targets.len() == 1 => Ok(0),
        None => {
            let accepted = format!("missing: the machine has several volumes; expected one of {}", names.join(", "));
            Err(SpecError::new(&workload.file, key, "", accepted))
        }
    }
}
