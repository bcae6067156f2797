//! Where the objects of an image lie: placement groups, daemons, and places on their disks.

use super::spec::{FailureDomain, PoolSpec};
use crate::crush::{self, CrushError, CrushMap, Placement, Rule, Weight, object_pg};

/// Daemons of every placement group, and the place of every object on each.
pub struct Places {
    /// Copies of a placement group, the primary first: `replicas` daemons a group.
    acting: Vec<u16>,
    replicas: usize,
    /// Placement group of every object.
    group: Vec<u32>,
    /// For every object and copy the place on its daemon, in objects.
    slot: Vec<u32>,
    /// Objects on every daemon.
    held: Vec<u32>,
    /// The place behind the last that each daemon has used.
    next: Vec<u32>,
}

impl Places {
    /// Objects written in the order of their numbers, each to the next place on its daemons: an image that was
    /// filled from front to back.
    pub fn new(acting: Vec<u16>, replicas: usize, group: Vec<u32>, osds: usize) -> Self {
        let mut held = vec![0_u32; osds];
        let mut slot = Vec::with_capacity(group.len() * replicas);
        for group in &group {
            for copy in 0..replicas {
                let osd = usize::from(acting[*group as usize * replicas + copy]);
                slot.push(held[osd]);
                held[osd] += 1;
            }
        }
        let next = held.clone();
        Self { acting, replicas, group, slot, held, next }
    }

    /// Placement group of an object.
    pub fn group_of(&self, object: u32) -> u32 {
        self.group[object as usize]
    }

    /// The daemons of a group, the primary first.
    pub fn acting(&self, group: u32) -> &[u16] {
        &self.acting[group as usize * self.replicas..][..self.replicas]
    }

    /// Place of copy number `copy` of an object on its daemon, in objects.
    pub fn slot(&self, object: u32, copy: usize) -> u32 {
        self.slot[object as usize * self.replicas + copy]
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
        self.group.len() as u32
    }

    /// A place behind everything that `osd` has.
    pub fn take_slot(&mut self, osd: u16) -> u32 {
        let next = &mut self.next[usize::from(osd)];
        *next += 1;
        *next - 1
    }

    /// Copy number `copy` of a group is on `osd` from now on, its `objects` (number and place there) with it. Where all
    /// copies are on the daemons of `after`, the first of these is the primary.
    pub fn move_copy(&mut self, (group, copy): (u32, usize), osd: u16, objects: &[(u32, u32)], after: &[u16]) {
        let begin = group as usize * self.replicas;
        let before = std::mem::replace(&mut self.acting[begin + copy], osd);
        self.held[usize::from(before)] -= objects.len() as u32;
        self.held[usize::from(osd)] += objects.len() as u32;
        for &(object, slot) in objects {
            self.slot[object as usize * self.replicas + copy] = slot;
        }
        let acting = &mut self.acting[begin..begin + self.replicas];
        let from: Vec<usize> = after.iter().filter_map(|osd| acting.iter().position(|have| have == osd)).collect();
        if from.len() < self.replicas {
            return;
        }
        acting.copy_from_slice(after);
        for (object, _) in objects {
            let slots = &mut self.slot[*object as usize * self.replicas..][..self.replicas];
            let old = slots.to_vec();
            slots.iter_mut().zip(&from).for_each(|(slot, from)| *slot = old[*from]);
        }
    }
}

/// The placement group of every object of an image of `objects` objects, by the names that RBD gives them.
pub fn groups_of_objects(spec: &PoolSpec, objects: u32) -> Vec<u32> {
    let name = |object: u32| format!("rbd_data.{}.{object:016x}", spec.image_id);
    (0..objects).map(|object| object_pg(&name(object), spec.placement_groups)).collect()
}

/// A cluster map and the rule of a pool on it.
pub struct Cluster {
    map: CrushMap,
    rule: Rule,
    pool: crush::Pool,
    balanced: bool,
    /// The daemon that each of the map's stands for here, where the pool uses it.
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
        let pool = crush::Pool { id: spec.pool_id, pg_num: spec.placement_groups, size: spec.replicas as u32 };
        let mut number = vec![None; weights.len()];
        let used = spec
            .used()
            .into_iter()
            .flat_map(|member| (0..spec.osds_per_member).map(move |slice| member * spec.osds_per_member + slice));
        used.enumerate().for_each(|(here, osd)| number[osd] = Some(here as u16));
        Ok(Self { map, rule, pool, balanced: spec.balanced, number })
    }

    /// The daemons of every placement group, the primary first, one group after the other; `without` is marked out.
    /// None where CRUSH finds too few for a group.
    pub fn acting_sets(&self, without: Option<usize>) -> Option<Vec<u16>> {
        let mut reweight = self.map.all_in();
        if let Some(out) = without {
            let osd = self.number.iter().position(|number| *number == Some(out as u16))?;
            reweight[osd] = Weight::ZERO;
        }
        let mut placement = Placement::of_pool(&self.map, &self.rule, &self.pool, &reweight);
        if self.balanced {
            placement.balance(&self.map, &self.rule, &reweight);
        }
        let full = placement.pgs.iter().all(|osds| osds.len() == self.pool.size as usize);
        let known = |osd: &u32| self.number[*osd as usize].expect("the rule reaches daemons that the pool uses");
        full.then(|| placement.pgs.iter().flatten().map(known).collect())
    }
}
