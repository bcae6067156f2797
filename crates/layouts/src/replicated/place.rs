//! Where the objects of an image lie: placement groups, daemons, and places on their disks.

use super::spec::PoolSpec;

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
        Self { acting, replicas, group, slot, held }
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

    /// Objects of a group, in order.
    pub fn objects_of(&self, group: u32) -> impl Iterator<Item = u32> {
        let mine = self.group.iter().enumerate().filter(move |(_, of)| **of == group);
        mine.map(|(object, _)| object as u32)
    }

    /// Copy number `copy` of a group is on `osd` from now on.
    pub fn move_copy(&mut self, group: u32, copy: usize, osd: u16) {
        self.acting[group as usize * self.replicas + copy] = osd;
    }

    /// Puts copy number `copy` of an object into the next place on `osd`.
    pub fn settle(&mut self, object: u32, copy: usize, osd: u16) -> u32 {
        let slot = self.held[usize::from(osd)];
        self.held[usize::from(osd)] += 1;
        self.slot[object as usize * self.replicas + copy] = slot;
        slot
    }
}

/// Placement group of every object of the image.
pub fn groups_of_objects(spec: &PoolSpec, objects: u32) -> Vec<u32> {
    let mut x = 0x9e37_79b9_u64;
    (0..objects)
        .map(|_| {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            (x % u64::from(spec.placement_groups)) as u32
        })
        .collect()
}

/// The daemons of every placement group; `without` is marked out.
pub fn acting_sets(spec: &PoolSpec, weights: &[f64], without: Option<usize>) -> Vec<u16> {
    let osds = weights.len() as u64;
    let mut x = 0x1234_5678_u64;
    let mut sets = Vec::new();
    for _ in 0..spec.placement_groups {
        let mut set: Vec<u16> = Vec::new();
        while set.len() < spec.replicas {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            let osd = (x % osds) as u16;
            if !set.contains(&osd) && without != Some(usize::from(osd)) {
                set.push(osd);
            }
        }
        sets.extend(set);
    }
    sets
}
