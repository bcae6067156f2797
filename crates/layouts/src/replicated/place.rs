//! Placement of the objects of an image: placement groups, daemons, and places on their disks.

use std::cell::OnceCell;
use std::convert::Infallible;
use std::sync::Arc;

use hotband_machine::{Look, Stopped};

use super::laid::Laid;
use super::recent::Recent;
use super::spec::{FailureDomain, PoolSpec};
use crate::crush::{self, CrushError, CrushMap, Placement, Rule, Weight};

/// Objects whose places are found together, at least.
const BLOCK: usize = 1024;
/// Objects between two checks whether the caller still waits.
const LOOK_EVERY: usize = 1 << 16;

/// Tries for each shard in the rules that Ceph makes for erasure-coded pools ("step set_choose_tries 100").
const CODED_TRIES: u32 = 100;

/// Stands in for the daemon of a copy that does not exist: its daemon is gone, or CRUSH finds none.
pub const GONE: u16 = u16::MAX;

/// Daemons of every placement group, and the place of every object on each.
///
/// An image has millions of objects, and a run requests few of them: places are found when they are first asked for, a
/// block of objects at a time.
pub struct Places {
    /// Copies of a placement group, the primary first: `replicas` daemons per group. If any copy
    /// remains, the first is set.
    acting: Vec<u16>,
    /// Placement when the image was filled.
    filled: Vec<u16>,
    replicas: usize,
    /// The image when it was filled.
    laid: Arc<Laid>,
    /// For every object and copy of a block the place on its daemon, in objects; empty until one is requested.
    slots: Vec<OnceCell<Box<[u32]>>>,
    /// Objects of a block are two to this.
    block_shift: u32,
    /// Objects on every daemon.
    held: Vec<u32>,
    /// The place behind the last that each daemon has used.
    next: Vec<u32>,
    /// Copies of groups that are nowhere.
    missing: u32,
    /// Copies that an object needs: one, or as many shards as have data. Shards keep their order.
    needed: usize,
}

impl Places {
    /// Placements of a filled image, before anything moved.
    pub fn new(acting: Vec<u16>, replicas: usize, laid: Arc<Laid>) -> Self {
        let (held, block) = (laid.held.clone(), block_of(laid.held.len()));
        let slots = (0..laid.group.len().div_ceil(block)).map(|_| OnceCell::new()).collect();
        let (next, filled, block_shift) = (held.clone(), acting.clone(), block.ilog2());
        Self { acting, filled, replicas, laid, slots, block_shift, held, next, missing: 0, needed: 1 }
    }

    /// The image when it was filled.
    pub fn laid(&self) -> &Arc<Laid> {
        &self.laid
    }

    /// Like the above, with shards instead of copies, of which an object needs so many.
    pub fn coded(self, needed: usize) -> Self {
        Self { needed, ..self }
    }

    /// Placement group of an object.
    pub fn group_of(&self, object: u32) -> u32 {
        self.laid.group[object as usize]
    }

    /// The daemons of a group, the primary first.
    pub fn acting(&self, group: u32) -> &[u16] {
        &self.acting[group as usize * self.replicas..][..self.replicas]
    }

    /// The daemon that serves a group; none if no copy, or too few shards, are left.
    pub fn primary(&self, group: u32) -> Option<u16> {
        let acting = self.acting(group);
        if self.needed == 1 {
            return Some(acting[0]).filter(|osd| *osd != GONE);
        }
        let present = acting.iter().filter(|osd| **osd != GONE).count();
        acting.iter().copied().find(|osd| *osd != GONE).filter(|_| present >= self.needed)
    }

    /// Whether every group has all its copies.
    pub fn is_whole(&self) -> bool {
        self.missing == 0
    }

    /// Objects of which no copy, or too few shards, are left.
    pub fn lost(&self) -> u64 {
        if self.is_whole() {
            return 0;
        }
        let objects = (0..).zip(self.objects_of_groups());
        objects.filter(|(group, _)| self.primary(*group).is_none()).map(|(_, objects)| u64::from(*objects)).sum()
    }

    /// Removes these daemons with everything that they hold. In each group, the remaining copies come first, in
    /// order; shards stay where they are.
    pub fn lose(&mut self, osds: &[u16]) {
        let mut orders: Vec<Option<Vec<usize>>> = vec![None; self.groups() as usize];
        for (group, order) in orders.iter_mut().enumerate() {
            let acting = &mut self.acting[group * self.replicas..][..self.replicas];
            let left = acting.iter().filter(|osd| **osd != GONE).count();
            acting.iter_mut().filter(|osd| osds.contains(osd)).for_each(|osd| *osd = GONE);
            let before = acting.to_vec();
            let mut new: Vec<usize> = (0..self.replicas).collect();
            if self.needed == 1 {
                new.sort_by_key(|copy| before[*copy] == GONE);
            }
            acting.iter_mut().zip(&new).for_each(|(osd, copy)| *osd = before[*copy]);
            self.missing += (left - before.iter().filter(|osd| **osd != GONE).count()) as u32;
            *order = Some(new).filter(|new| !new.is_sorted());
        }
        self.reorder_slots(&orders);
        for osd in osds {
            self.held[usize::from(*osd)] = 0;
        }
    }

    /// The first daemon of `after` leads each group of which it has a copy. Shards stay where they are.
    pub fn lead(&mut self, after: &[u16]) {
        if self.needed > 1 {
            return;
        }
        let mut orders: Vec<Option<Vec<usize>>> = vec![None; self.groups() as usize];
        for (group, order) in orders.iter_mut().enumerate() {
            let begin = group * self.replicas;
            let acting = &mut self.acting[begin..][..self.replicas];
            let Some(leads) = acting.iter().position(|osd| *osd != GONE && *osd == after[begin]) else { continue };
            if leads > 0 {
                acting[..=leads].rotate_right(1);
                let mut new: Vec<usize> = (0..self.replicas).collect();
                new[..=leads].rotate_right(1);
                *order = Some(new);
            }
        }
        self.reorder_slots(&orders);
    }

    /// Copies of the groups that have a new order are in it: which copy each was before.
    fn reorder_slots(&mut self, orders: &[Option<Vec<usize>>]) {
        for object in 0..self.objects() {
            let Some(order) = &orders[self.group_of(object) as usize] else { continue };
            let slots = self.slots_mut(object);
            let before = slots.to_vec();
            slots.iter_mut().zip(order).for_each(|(slot, copy)| *slot = before[*copy]);
        }
    }

    /// Place of copy number `copy` of an object on its daemon, in objects.
    pub fn slot(&self, object: u32, copy: usize) -> u32 {
        let block = object as usize >> self.block_shift;
        self.slots[block].get_or_init(|| self.find(block))[self.within_block(object) + copy]
    }

    /// Place where the places of an object begin in those of its block.
    fn within_block(&self, object: u32) -> usize {
        (object as usize & ((1 << self.block_shift) - 1)) * self.replicas
    }

    /// The places of a block when the image was filled.
    fn find(&self, block: usize) -> Box<[u32]> {
        let (size, osds) = (1 << self.block_shift, self.held.len());
        let mut held = self.laid.before[block * osds..][..osds].to_vec();
        let begin = block * size;
        let objects = &self.laid.group[begin..self.laid.group.len().min(begin + size)];
        let daemons = objects.iter().flat_map(|group| &self.filled[*group as usize * self.replicas..][..self.replicas]);
        let take = |osd: &u16| {
            let held = &mut held[usize::from(*osd)];
            *held += 1;
            *held - 1
        };
        daemons.map(take).collect()
    }

    /// The places of an object, to be changed.
    fn slots_mut(&mut self, object: u32) -> &mut [u32] {
        let (block, at) = (object as usize >> self.block_shift, self.within_block(object));
        if self.slots[block].get().is_none() {
            self.slots[block] = OnceCell::from(self.find(block));
        }
        let slots = self.slots[block].get_mut().expect("it was found just now");
        &mut slots[at..at + self.replicas]
    }

    /// Objects on every daemon.
    pub fn held(&self) -> &[u32] {
        &self.held
    }

    /// Number of placement groups.
    pub fn groups(&self) -> u32 {
        (self.acting.len() / self.replicas) as u32
    }

    /// Objects of the image.
    pub fn objects(&self) -> u32 {
        self.laid.group.len() as u32
    }

    /// Objects of every group.
    pub fn objects_of_groups(&self) -> &[u32] {
        &self.laid.of_groups
    }

    /// A place behind everything that `osd` has.
    pub fn take_slot(&mut self, osd: u16) -> u32 {
        let next = &mut self.next[usize::from(osd)];
        *next += 1;
        *next - 1
    }

    /// Copy number `copy` of a group is on `osd` from now on, its `objects` (number and place there) with it. If all
    /// copies are on the daemons of `after`, the first of these is the primary.
    pub fn move_copy(&mut self, (group, copy): (u32, usize), osd: u16, objects: &[(u32, u32)], after: &[u16]) {
        let begin = group as usize * self.replicas;
        let before = std::mem::replace(&mut self.acting[begin + copy], osd);
        match self.held.get_mut(usize::from(before)) {
            Some(held) => *held -= objects.len() as u32,
            None => self.missing -= 1,
        }
        self.held[usize::from(osd)] += objects.len() as u32;
        for &(object, slot) in objects {
            self.slots_mut(object)[copy] = slot;
        }
        let acting = &mut self.acting[begin..begin + self.replicas];
        let from: Vec<usize> = after.iter().filter_map(|osd| acting.iter().position(|have| have == osd)).collect();
        if from.len() < self.replicas || self.needed > 1 {
            return;
        }
        acting.copy_from_slice(after);
        for (object, _) in objects {
            let slots = self.slots_mut(*object);
            let old = slots.to_vec();
            slots.iter_mut().zip(&from).for_each(|(slot, from)| *slot = old[*from]);
        }
    }
}

/// Objects of a block: more than there are daemons, so that what lies before each is smaller than a table of all
/// places.
fn block_of(osds: usize) -> usize {
    BLOCK.max(osds.next_power_of_two())
}

/// An image filled from front to back: objects of these groups written in the order of their numbers, each to the next
/// place on its daemons.
///
/// # Errors
/// The caller stopped it.
pub fn fill(acting: &[u16], replicas: usize, group: Vec<u32>, osds: usize, look: Look) -> Result<Laid, Stopped> {
    let block = block_of(osds);
    let mut held = vec![0_u32; osds];
    let mut before = Vec::with_capacity(group.len().div_ceil(block) * osds);
    for (number, objects) in group.chunks(block).enumerate() {
        if (number * block).is_multiple_of(LOOK_EVERY) {
            look()?;
        }
        before.extend_from_slice(&held);
        for group in objects {
            let daemons = &acting[*group as usize * replicas..][..replicas];
            for osd in daemons {
                held[usize::from(*osd)] += 1;
            }
        }
    }
    let of_groups = counts(&group, (acting.len() / replicas) as u32);
    Ok(Laid::new(group, of_groups, before, held))
}

/// Number of objects in each of `groups`; `group` returns the group of an object.
pub fn counts(group: &[u32], groups: u32) -> Vec<u32> {
    let mut counts = vec![0; groups as usize];
    for group in group {
        counts[*group as usize] += 1;
    }
    counts
}

/// The placement group, out of `groups`, of every object of an image of `objects` objects, by the
/// names that RBD gives them.
///
/// # Errors
/// The caller stopped it.
pub fn groups_of_objects(image_id: &str, groups: u32, objects: u32, look: Look) -> Result<Vec<u32>, Stopped> {
    let mut group_of_object = Vec::with_capacity(objects as usize);
    let mut hashes = [0; 256];
    for object in (0..objects).step_by(256) {
        if (object as usize).is_multiple_of(LOOK_EVERY) {
            look()?;
        }
        // All digits but the last two.
        let prefix = format!("rbd_data.{image_id}.{:014x}", object / 256);
        crush::hash_endings(prefix.as_bytes(), &HEX, &mut hashes);
        let here = (objects - object).min(256) as usize;
        group_of_object.extend(hashes[..here].iter().map(|hash| crush::stable_mod(*hash, groups)));
    }
    Ok(group_of_object)
}

/// Two digits of every byte.
const HEX: [[u8; 2]; 256] = {
    let digits = b"0123456789abcdef";
    let mut all = [[0; 2]; 256];
    let mut byte = 0;
    while byte < 256 {
        all[byte] = [digits[byte >> 4], digits[byte & 15]];
        byte += 1;
    }
    all
};

/// Number of stored placements: with and without a daemon, for two pools.
const KEPT: usize = 4;
/// The acting sets of a cluster without some daemons: the pools of a sweep are identical.
static ACTING: Recent<(Cluster, Vec<u16>), Vec<u16>> = Recent::new(KEPT);

/// A cluster map and the rule of a pool on it.
#[derive(Clone, PartialEq)]
pub struct Cluster {
    map: CrushMap,
    rule: Rule,
    pool: crush::Pool,
    balanced: bool,
    /// The daemon that each of the map's represents here, where the pool uses it.
    number: Vec<Option<u16>>,
}

impl Cluster {
    /// The map of a pool's daemons with these weights, those of members that the pool does not use among them.
    ///
    /// # Errors
    /// What CRUSH does not take: weights or numbers beyond its bounds.
    pub fn new(spec: &PoolSpec, weights: &[f64]) -> Result<Self, CrushError> {
        let per_host = weights.len() / spec.hosts;
        let class = |osd: usize| spec.classes.get(osd / spec.osds_per_member).map(String::as_str);
        let names: Vec<String> = (0..spec.hosts).map(|host| format!("host{host}")).collect();
        let osd = |osd: usize| crush::Osd { number: osd as u32, weight: Weight::of(weights[osd]), class: class(osd) };
        let osds_of = |host: usize| (host * per_host..(host + 1) * per_host).map(osd).collect();
        let hosts = names.iter().enumerate().map(|(host, name)| crush::Host { name, osds: osds_of(host) });
        let hosts: Vec<crush::Host> = hosts.collect();
        let map = CrushMap::of_hosts(&hosts)?;
        let domain = match spec.failure_domain {
            FailureDomain::Osd => "osd",
            FailureDomain::Host => "host",
        };
        let rule = map.rule("default", spec.class.as_deref(), domain)?;
        let rule = if spec.erasure.is_some() { rule.with_tries(CODED_TRIES) } else { rule };
        let pool = crush::Pool { id: spec.pool_id, pg_num: spec.placement_groups, size: spec.replicas as u32 };
        let mut number = vec![None; weights.len()];
        let used = spec
            .used()
            .into_iter()
            .flat_map(|member| (0..spec.osds_per_member).map(move |slice| member * spec.osds_per_member + slice));
        used.enumerate().for_each(|(here, osd)| number[osd] = Some(here as u16));
        Ok(Self { map, rule, pool, balanced: spec.balanced, number })
    }

    /// The daemons of every placement group, the primary first, one group after the other; those `without` are marked
    /// out. Where CRUSH finds too few for a group, the last are [`GONE`].
    pub fn acting_sets(&self, without: &[u16]) -> Arc<Vec<u16>> {
        let make = |_: &_| Ok::<_, Infallible>(self.place(without));
        let Ok(acting) = ACTING.get((self.clone(), without.to_vec()), make);
        acting
    }

    fn place(&self, without: &[u16]) -> Vec<u16> {
        let mut reweight = self.map.all_in();
        for (osd, number) in self.number.iter().enumerate() {
            if number.is_some_and(|number| without.contains(&number)) {
                reweight[osd] = Weight::ZERO;
            }
        }
        let mut placement = Placement::of_pool(&self.map, &self.rule, &self.pool, &reweight);
        if self.balanced {
            placement.balance(&self.map, &self.rule, &reweight);
        }
        let known = |osd: &u32| self.number[*osd as usize].expect("the rule reaches daemons that the pool uses");
        let group = |osds: &Vec<u32>| {
            let mut group: Vec<u16> = osds.iter().map(known).collect();
            group.resize(self.pool.size as usize, GONE);
            group
        };
        placement.pgs.iter().flat_map(group).collect()
    }
}

#[cfg(test)]
mod tests {
    use hotband_machine::unwatched;

    use super::*;
    use crate::crush::object_pg;

    #[test]
    fn places_found_late_are_those_of_an_image_filled_from_front_to_back() {
        let acting: Vec<u16> = vec![0, 1, 1, 2, 2, 0, 3, 1];
        let group: Vec<u32> = (0..5000_u32).map(|object| object.wrapping_mul(2_654_435_761) >> 30).collect();
        let places = Places::new(acting.clone(), 2, Arc::new(fill(&acting, 2, group.clone(), 4, &unwatched).unwrap()));
        let mut held = [0_u32; 4];
        for (object, group) in group.iter().enumerate() {
            for copy in 0..2 {
                let on = &mut held[usize::from(acting[*group as usize * 2 + copy])];
                assert_eq!(places.slot(object as u32, copy), *on, "object {object}, copy {copy}");
                *on += 1;
            }
        }
        assert_eq!(places.held(), held);
    }

    #[test]
    fn a_copy_that_moved_before_its_places_were_asked_for_leaves_the_others_where_they_were() {
        let group: Vec<u32> = (0..3000).map(|object| object % 2).collect();
        let acting = [0, 1, 0, 1];
        let laid = Arc::new(fill(&acting, 2, group.clone(), 3, &unwatched).unwrap());
        let fresh = || Places::new(acting.to_vec(), 2, Arc::clone(&laid));
        let (before, mut after) = (fresh(), fresh());
        let moved: Vec<(u32, u32)> = (0..1500).map(|n| (2 * n, n)).collect();
        after.move_copy((0, 1), 2, &moved, &[2, 0]);
        assert_eq!(after.acting(0), [2, 0], "the first of the new daemons is the primary");
        let odd = (0..1500).map(|n| 2 * n + 1);
        assert!(odd.flat_map(|object| [(object, 0), (object, 1)]).all(|(o, c)| before.slot(o, c) == after.slot(o, c)));
        assert!(moved.iter().all(|&(object, slot)| after.slot(object, 0) == slot));
        assert!(moved.iter().all(|&(object, _)| after.slot(object, 1) == before.slot(object, 0)));
    }

    #[test]
    fn groups_of_many_objects_are_those_of_their_names() {
        let groups = groups_of_objects("ab", 100, 70_000, &unwatched).unwrap();
        for object in [0, 1, 255, 256, 4095, 4096, 65_535, 65_536, 69_999] {
            let name = format!("rbd_data.ab.{object:016x}");
            assert_eq!(groups[object], object_pg(&name, 100), "{name}");
        }
    }

    #[test]
    fn nobody_waits_for_it() {
        let stopped = || Err(Stopped);
        assert_eq!(fill(&[0], 1, vec![0; 10], 1, &stopped).err(), Some(Stopped));
        assert_eq!(groups_of_objects("1", 8, 10, &stopped), Err(Stopped));
    }
}
