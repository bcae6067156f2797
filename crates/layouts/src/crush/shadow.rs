//! Shadow trees: for every device class a copy of each tree with the OSDs of that class alone.
//!
//! A rule of a class starts at the shadow of its root. Shadows have ids of their own, which enter the hash: the same
//! OSDs under the same hosts are chosen differently with a class and without.

use std::collections::{BTreeMap, BTreeSet};

use super::map::{Bucket, CrushMap};
use super::weight::Weight;

/// Adds the shadow trees, in Ceph's order: from the root with the lowest id, class by class, what a bucket holds before
/// the bucket. A shadow without a given id gets the highest that is free.
pub(super) fn grow(map: &mut CrushMap, given: &BTreeMap<(i32, usize), i32>) {
    let held: BTreeSet<i32> = map.buckets.values().flat_map(|bucket| bucket.items.iter().copied()).collect();
    let roots: Vec<i32> = map.buckets.keys().copied().filter(|id| !held.contains(id)).collect();
    let mut used: BTreeSet<i32> = given.values().copied().collect();
    for root in roots {
        for class in 0..map.classes.len() {
            copy(map, root, class, given, &mut used);
        }
    }
}

/// Copies a bucket for one class; gives the copy's id and weight.
fn copy(
    map: &mut CrushMap,
    of: i32,
    class: usize,
    given: &BTreeMap<(i32, usize), i32>,
    used: &mut BTreeSet<i32>,
) -> (i32, Weight) {
    let Bucket { level, items, weights, .. } = map.buckets[&of].clone();
    let mut shadow = Bucket::new(level);
    for (item, weight) in items.into_iter().zip(weights) {
        if item < 0 {
            let (id, weight) = copy(map, item, class, given, used);
            shadow.push(id, weight);
        } else if map.osds[&(item as u32)] == Some(class) {
            shadow.push(item, weight);
        }
    }
    let free = |id: &i32| !used.contains(id) && !map.buckets.contains_key(id);
    let id = given.get(&(of, class)).copied().or_else(|| (1..=i32::MAX).map(|number| -number).find(free));
    let id = id.expect("a map holds far fewer buckets than there are negative numbers");
    used.insert(id);
    let weight = Weight(shadow.weight() as u32);
    map.buckets.insert(id, shadow);
    map.shadows.insert((of, class), id);
    (id, weight)
}
