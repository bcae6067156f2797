//! From the name of an object to the OSDs of its placement group, over a whole pool.

use super::hash::{hash_name, hash32_2};
use super::map::{CrushMap, Rule};
use super::weight::Weight;

/// Values of a pool that decide its placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Number of the pool; it enters the hash (`hashpspool`).
    pub id: u32,
    /// Placement groups (`pg_num`, and `pgp_num` the same).
    pub pg_num: u32,
    /// Replicas of each.
    pub size: u32,
}

/// Placement of each group of a pool on OSDs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// OSDs of each PG by its number, the primary first.
    pub pgs: Vec<Vec<u32>>,
}

impl Placement {
    /// Places every PG of a pool. A PG is shorter than the pool's size where [`CrushMap::place`] found too few OSDs.
    pub fn of_pool(map: &CrushMap, rule: &Rule, pool: &Pool, reweight: &[Weight]) -> Self {
        let acting_of = |pg| map.place(rule, pool.seed(pg), pool.size, reweight);
        Self { pgs: (0..pool.pg_num).map(acting_of).collect() }
    }

    /// PGs on each OSD, by number, for `osds` OSDs.
    pub fn counts(&self, osds: usize) -> Vec<u32> {
        let mut counts = vec![0; osds];
        self.pgs.iter().flatten().for_each(|&osd| counts[osd as usize] += 1);
        counts
    }
}

impl Pool {
    /// The value x that CRUSH places for a PG: its number hashed with the pool's.
    pub fn seed(&self, pg: u32) -> u32 {
        hash32_2(stable_mod(pg, self.pg_num), self.id)
    }
}

/// The PG that an object belongs to, of `pg_num` (at least one); for objects without namespace and locator key.
pub fn object_pg(name: &str, pg_num: u32) -> u32 {
    stable_mod(hash_name(name.as_bytes()), pg_num)
}

/// `ceph_stable_mod`: x modulo the next power of two, or half of it where that is not below `count`. Growing `count`
/// by one splits one group and moves no object of the others.
pub fn stable_mod(x: u32, count: u32) -> u32 {
    assert!(count > 0, "a pool has at least one placement group");
    let mask = u32::MAX.checked_shr((count - 1).leading_zeros()).unwrap_or(0);
    if x & mask < count { x & mask } else { x & (mask >> 1) }
}
