//! From the spec of a pool to a pool: members cut into slices, groups placed, the image laid out.

use hotband_machine::{LayoutSpec, MemberRange, Random, Service, SpecError};
use hotband_units::Bytes;

use super::osd::Slice;
use super::params::OsdParams;
use super::place::{Places, acting_sets, groups_of_objects};
use super::spec::PoolSpec;
use super::{Built, Pool};

/// Slices begin and end on whole MiB, as logical volumes do.
const GRAIN: u64 = 1 << 20;
/// Share of the raw space that an image gets where its size is not said: room for a daemon to fail.
const FILLED: f64 = 0.7;
/// Most objects of an image: their places are a table.
const MOST_OBJECTS: u64 = 1 << 24;

impl PoolSpec {
    /// The slices of the members that the pool uses, a daemon each.
    #[must_use]
    pub fn slices(&self, members: &[MemberRange]) -> Vec<MemberRange> {
        let cut = |member: &usize| {
            let range = members[*member];
            let size = range.size / self.osds_per_member as u64 / GRAIN * GRAIN;
            (0..self.osds_per_member as u64).map(move |n| MemberRange { from: range.from + n * size, size, ..range })
        };
        self.used().iter().flat_map(cut).collect()
    }
}

/// A pool on `slices`, the daemons' parts of the members.
///
/// # Errors
/// An image that does not fit.
pub fn build(
    file: &str,
    layout: &LayoutSpec,
    spec: PoolSpec,
    params: OsdParams,
    slices: &[MemberRange],
    random: Random,
) -> Result<Box<dyn Service>, SpecError> {
    let error = |key: &str, value: String, accepted: String| {
        SpecError::new(file, &format!("{}.{key}", layout.key), value, accepted)
    };
    let sizes: Vec<u64> = slices.iter().map(|slice| slice.size).collect();
    let room: Vec<u64> = sizes.iter().map(|size| Slice::new(*size, spec.object, &params).objects()).collect();
    if let Some(least) = room.iter().min()
        && *least == 0
    {
        return Err(error("members", String::new(), "the slices of the members hold no object".into()));
    }
    let weights = daemon_weights(&spec, &sizes);
    let acting = acting_sets(&spec, &weights, None);
    let after_out = spec.out.map_or_else(Vec::new, |out| acting_sets(&spec, &weights, Some(out.osd)));
    let asked = spec.image.map(|image| image.div_ceil(spec.object));
    let mut objects = asked.unwrap_or((room.iter().sum::<u64>() as f64 * FILLED) as u64 / spec.replicas as u64);
    if asked.is_some_and(|objects| objects > MOST_OBJECTS) {
        let most = Bytes(MOST_OBJECTS * spec.object).to_string();
        return Err(error("image", Bytes(objects * spec.object).to_string(), format!("expected at most {most}")));
    }
    objects = objects.clamp(1, MOST_OBJECTS);
    let places = loop {
        let groups = groups_of_objects(&spec, objects as u32);
        let places = Places::new(acting.clone(), spec.replicas, groups, sizes.len());
        let full = places.held().iter().zip(&room).position(|(held, room)| u64::from(*held) > *room);
        match (full, asked) {
            (None, _) => break places,
            (Some(osd), Some(_)) => {
                let accepted = format!("expected less: daemon {osd} of {} would be over full", sizes.len());
                return Err(error("image", Bytes(objects * spec.object).to_string(), accepted));
            }
            // Groups are never even: the fullest daemon decides.
            (Some(_), None) => objects = (objects * 9 / 10).max(1),
        }
    };
    let capacity = spec.image.unwrap_or(objects * spec.object);
    let hosts = hosts_of(&spec);
    let slices = sizes;
    Ok(Box::new(Pool::new(spec, params, Built { capacity, places, slices, after_out, hosts }, random)))
}

/// Weights as Ceph sets them: the size in TiB, shared by the daemons of a member where the spec gives a weight.
fn daemon_weights(spec: &PoolSpec, sizes: &[u64]) -> Vec<f64> {
    let members = spec.used();
    let of_size = |size: u64| size as f64 / (1_u64 << 40) as f64;
    sizes
        .iter()
        .enumerate()
        .map(|(osd, size)| {
            let weight = spec.weights[members[osd / spec.osds_per_member]];
            if weight > 0.0 { weight / spec.osds_per_member as f64 } else { of_size(*size) }
        })
        .collect()
}

/// Host of every daemon: the members are dealt to the hosts in equal runs.
fn hosts_of(spec: &PoolSpec) -> Vec<u16> {
    let members = spec.weights.len();
    let host = |member: usize| (member * spec.hosts / members) as u16;
    spec.used().into_iter().flat_map(|member| std::iter::repeat_n(host(member), spec.osds_per_member)).collect()
}
