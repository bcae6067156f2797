//! From the spec of a pool to a pool: members cut into slices, groups placed, the image laid out.

use hotband_machine::{BuildError, LayoutSpec, Look, MemberRange, Random, Service, SpecError};
use hotband_units::{Bytes, Instant};

use super::laid::{Laid, LaidKey, laid};
use super::memory::Memory;
use super::osd::Slice;
use super::params::OsdParams;
use super::place::{Cluster, GONE, Places, counts, fill, groups_of_objects};
use super::spec::{OutSpec, PoolSpec};
use super::{Built, Pool};

/// Slices begin and end on whole MiB, as logical volumes do.
const GRAIN: u64 = 1 << 20;
/// Share of the raw space that an image gets where its size is not said: room for a daemon to fail.
const FILLED: f64 = 0.7;
/// Most objects of an image: their places are a table.
const MOST_OBJECTS: u64 = 1 << 24;
/// Most queues of operations of all daemons together: their events carry 21 bits.
const MOST_SHARDS: usize = 1 << 21;

impl PoolSpec {
    /// The slices of the members that the pool uses, a daemon each.
    fn slices(&self, members: &[MemberRange]) -> Vec<MemberRange> {
        let cut = |member: &usize| {
            let range = members[*member];
            let size = range.size / self.osds_per_member as u64 / GRAIN * GRAIN;
            (0..self.osds_per_member as u64).map(move |n| MemberRange { from: range.from + n * size, size, ..range })
        };
        self.used().iter().flat_map(cut).collect()
    }
}

/// Bytes of memory that a pool on `members` takes once every object was asked for: their groups and places, and the
/// memory of its daemons.
pub fn memory(spec: &PoolSpec, params: &OsdParams, members: &[MemberRange]) -> u64 {
    let raw: u64 = spec.used().iter().map(|member| members[*member].size).sum();
    let filled = || (raw as f64 * FILLED) as u64 / (spec.replicas as u64 * spec.shard());
    let objects = spec.image.map_or_else(filled, |image| image / spec.object).min(MOST_OBJECTS);
    let copies = objects * spec.replicas as u64;
    let daemons = (spec.used().len() * spec.osds_per_member) as u64;
    let remembered = daemons * params.data_blocks as u64 + copies.min(daemons * params.onodes as u64);
    (objects + copies) * size_of::<u32>() as u64 + remembered * Memory::OF_KEY
}

/// A pool on `members`, and the slices of them that its daemons have.
///
/// # Errors
/// An image that does not fit, a group for which CRUSH finds too few daemons; nobody waits for it any more.
pub fn build(
    file: &str,
    layout: &LayoutSpec,
    spec: PoolSpec,
    params: OsdParams,
    members: &[MemberRange],
    (random, look): (Random, Look),
) -> Result<(Box<dyn Service>, Vec<MemberRange>), BuildError> {
    let error = |key: &str, value: String, accepted: String| {
        SpecError::new(file, &format!("{}.{key}", layout.key), value, accepted)
    };
    let slices = spec.slices(members);
    let sizes: Vec<u64> = slices.iter().map(|slice| slice.size).collect();
    if slices.len() * params.shards > MOST_SHARDS {
        let (daemons, accepted) = (slices.len(), format!("expected at most {MOST_SHARDS} shards of all daemons"));
        return Err(error("members", format!("{daemons} daemons with {} shards", params.shards), accepted).into());
    }
    let room: Vec<u64> = sizes.iter().map(|size| Slice::new(*size, spec.shard(), &params).objects()).collect();
    if room.contains(&0) {
        return Err(error("members", String::new(), "the slices of the members hold no object".into()).into());
    }
    let cluster = Cluster::new(&spec, &daemon_weights(&spec, members))
        .map_err(|reason| error("weights", String::new(), reason.to_string()))?;
    let acting = cluster.acting_sets(&[]);
    if acting.contains(&GONE) {
        let accepted = "CRUSH finds too few daemons for a placement group: use fewer replicas or more even weights";
        let key = if spec.erasure.is_some() { "m" } else { "replicas" };
        return Err(error(key, spec.replicas.to_string(), accepted.to_owned()).into());
    }
    let image = layout.options.get("image").and_then(toml::Value::as_str).unwrap_or_default();
    let lay_out = ToLayOut { spec: &spec, acting: &acting, room: &room };
    let places = lay_out.places(|accepted| error("image", image.to_owned(), accepted), look)?;
    let objects = u64::from(places.objects());
    let capacity = spec.image.unwrap_or(objects * spec.object);
    let (hosts, out) = (hosts_of(&spec), spec.out);
    let built = Built { capacity, places, slices: sizes, room, cluster, hosts };
    let mut pool = Pool::new(spec, params, built, random);
    if let Some(OutSpec { osd, at }) = out {
        pool.expect_out(&[osd as u32], false)
            .map_err(|refused| error("out.osd", osd.to_string(), refused.to_string()))?;
        pool.mark_out_at(Instant::ZERO + at);
    }
    Ok((Box::new(pool), slices))
}

/// An image to be laid out.
struct ToLayOut<'a> {
    spec: &'a PoolSpec,
    /// Daemons of every group.
    acting: &'a [u16],
    /// Objects that each daemon has room for.
    room: &'a [u64],
}

impl ToLayOut<'_> {
    /// The objects of the image in their places: those asked for, or as many as the fullest daemon has room for.
    fn places(&self, error: impl Fn(String) -> SpecError, look: Look) -> Result<Places, BuildError> {
        let spec = self.spec;
        let image_objects = spec.image.map(|image| image.div_ceil(spec.object));
        let shown = |objects: u64| Bytes(objects * spec.object).to_string();
        if image_objects.is_some_and(|objects| !(1..=MOST_OBJECTS).contains(&objects)) {
            return Err(error(format!("expected from one object to {}", shown(MOST_OBJECTS))).into());
        }
        let (image_id, acting, room) = (spec.image_id.clone(), self.acting.to_vec(), self.room.to_vec());
        let key = LaidKey { image_id, objects: image_objects, replicas: spec.replicas, acting, room };
        let image = laid(key, || self.lay_out(image_objects, error, look))?;
        let places = Places::new(self.acting.to_vec(), spec.replicas, image);
        Ok(places.coded(spec.erasure.map_or(1, |erasure| erasure.data)))
    }

    /// An image of this many objects, or of as many as there is room for.
    fn lay_out(
        &self,
        image_objects: Option<u64>,
        error: impl Fn(String) -> SpecError,
        look: Look,
    ) -> Result<Laid, BuildError> {
        let (spec, room) = (self.spec, self.room);
        let mut objects =
            image_objects.unwrap_or((room.iter().sum::<u64>() as f64 * FILLED) as u64 / spec.replicas as u64);
        objects = objects.clamp(1, MOST_OBJECTS);
        let mut groups = groups_of_objects(&spec.image_id, spec.placement_groups, objects as u32, look)?;
        let mut in_groups = counts(&groups, spec.placement_groups);
        while let Some(osd) = self.over_full(&in_groups) {
            if image_objects.is_some() {
                return Err(error(format!(
                    "expected a smaller image: daemon {osd} of {} would be too full",
                    room.len()
                ))
                .into());
            }
            // Groups are never even: the fullest daemon decides.
            objects = (objects * 9 / 10).max(1);
            groups.drain(objects as usize..).for_each(|group| in_groups[group as usize] -= 1);
        }
        groups.shrink_to_fit();
        Ok(fill(self.acting, spec.replicas, groups, room.len(), look)?)
    }

    /// The first daemon that has no room for its groups, where these have this many objects.
    fn over_full(&self, in_groups: &[u32]) -> Option<usize> {
        let mut held = vec![0_u64; self.room.len()];
        for (daemons, objects) in self.acting.chunks(self.spec.replicas).zip(in_groups) {
            for osd in daemons {
                held[usize::from(*osd)] += u64::from(*objects);
            }
        }
        held.iter().zip(self.room).position(|(held, room)| held > room)
    }
}

/// The first daemon without room for its data when groups move to `after`.
pub(super) fn over_full(places: &Places, after: &[u16], replicas: usize, room: &[u64]) -> Option<usize> {
    let mut held: Vec<u64> = places.held().iter().map(|held| u64::from(*held)).collect();
    let objects = places.objects_of_groups();
    for (group, new) in after.chunks(replicas).enumerate() {
        let here = places.acting(group as u32);
        let coming = new.iter().filter(|osd| **osd != GONE && !here.contains(osd));
        coming.for_each(|osd| held[usize::from(*osd)] += u64::from(objects[group]));
    }
    held.iter().zip(room).position(|(held, room)| held > room)
}

/// Weights of all members' daemons, as Ceph sets them: the size in TiB, or an equal part of the weight that the spec
/// gives the member.
fn daemon_weights(spec: &PoolSpec, members: &[MemberRange]) -> Vec<f64> {
    let count = spec.osds_per_member;
    let weight = |(member, range): (usize, &MemberRange)| {
        let member_weight = spec.weights[member];
        (if member_weight > 0.0 { member_weight } else { range.size as f64 / (1_u64 << 40) as f64 }) / count as f64
    };
    members.iter().enumerate().map(weight).flat_map(|weight| std::iter::repeat_n(weight, count)).collect()
}

/// Host of every daemon: the members are dealt to the hosts in equal runs.
fn hosts_of(spec: &PoolSpec) -> Vec<u16> {
    let members = spec.weights.len();
    let host = |member: usize| (member * spec.hosts / members) as u16;
    spec.used().into_iter().flat_map(|member| std::iter::repeat_n(host(member), spec.osds_per_member)).collect()
}
