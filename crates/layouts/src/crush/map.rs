//! The map: a tree of straw2 buckets over OSDs.

use std::collections::BTreeMap;

use super::error::CrushError;
use super::hash::hash32_3;
use super::ln::{LN_OF_ALL, crush_ln, higher_from};
use super::weight::Weight;

/// Tries for each replica: the tunable `choose_total_tries` = 50 counts repetitions, the first try comes on top.
const TRIES: u32 = 51;

/// Items whose hashes are computed together, in the lanes of vector instructions.
const LANES: usize = 64;
/// Number of items of equal weight from which hashing them together is faster.
const LEAST_EVEN: usize = LANES / 4;

/// A node of the tree that holds others.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bucket {
    /// Index in the levels of the map; 0 is the OSDs and no bucket's.
    pub level: usize,
    /// Ids of the contents: OSDs from 0 up, buckets from -1 down.
    pub items: Vec<i32>,
    /// Weights of the items.
    pub weights: Vec<Weight>,
    /// The weight of each item, if all have the same.
    even: Option<Weight>,
}

impl Bucket {
    /// A bucket of `level` that holds nothing.
    pub(super) fn new(level: usize) -> Self {
        Self { level, items: Vec::new(), weights: Vec::new(), even: None }
    }

    /// Adds an item.
    pub(super) fn push(&mut self, id: i32, weight: Weight) {
        self.even = self.even.or(self.items.is_empty().then_some(weight)).filter(|even| *even == weight);
        self.items.push(id);
        self.weights.push(weight);
    }

    /// The straw2 choice: every item draws a straw for (x, its id, r), and the longest wins, the first among equals.
    ///
    /// A straw is ln(u) / weight with u uniform in (0, 1]: the largest of such draws falls on an item with a
    /// probability in proportion to its weight, and depends on no other item's weight.
    fn choose(&self, x: u32, r: u32) -> Option<i32> {
        if let Some(weight) = self.even.filter(|_| self.items.len() >= LEAST_EVEN) {
            return self.choose_evenly(x, r, weight);
        }
        let draw = |(&id, &weight): (&i32, &Weight)| (id, straw(uniform(x, id, r), weight));
        let straws = self.items.iter().zip(&self.weights).map(draw);
        straws.reduce(|best, other| if other.1 > best.1 { other } else { best }).map(|(id, _)| id)
    }

    /// Chooses likewise among items of equal weight. Only an item whose `u` has a higher logarithm than that of the
    /// longest straw so far can have a longer one, and few do: they alone need logarithm and division.
    fn choose_evenly(&self, x: u32, r: u32, weight: Weight) -> Option<i32> {
        let (mut best, mut least) = (None, 0);
        let mut uniforms = [0; LANES];
        for items in self.items.chunks(LANES) {
            for (u, &id) in uniforms.iter_mut().zip(items) {
                *u = uniform(x, id, r);
            }
            let uniforms = &uniforms[..items.len()];
            if uniforms.iter().fold(0, |most, &u| u.max(most)) < least {
                continue;
            }
            for (&u, &id) in uniforms.iter().zip(items) {
                if u < least {
                    continue;
                }
                let length = straw(u, weight);
                if best.is_none_or(|(longest, _)| length > longest) {
                    (best, least) = (Some((length, id)), higher_from(u as u16));
                }
            }
        }
        best.map(|(_, id)| id)
    }

    /// Return the sum of the weights of the items.
    pub(super) fn weight(&self) -> u64 {
        self.weights.iter().map(|weight| u64::from(weight.0)).sum()
    }
}

/// The random number that an item draws, of 16 bits.
#[inline]
fn uniform(x: u32, id: i32, r: u32) -> u32 {
    hash32_3(x, id as u32, r) & 0xffff
}

/// The straw of an item with the random number `u`: at most zero, and the nearer to it the heavier the item.
fn straw(u: u32, weight: Weight) -> i64 {
    if weight == Weight::ZERO {
        return i64::MIN;
    }
    (crush_ln(u as u16) as i64 - LN_OF_ALL) / i64::from(weight.0)
}

/// Outcome of a descent from the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Descent {
    /// Stopped at an item of the requested level.
    At(i32),
    /// At a bucket that holds nothing.
    Empty,
    /// Stopped at an OSD above the requested level: another try would not help.
    Missed,
}

/// A cluster's tree of buckets, with a shadow tree for every device class. Made by a [`Builder`](super::Builder).
#[derive(Clone, Debug, PartialEq)]
pub struct CrushMap {
    /// Names of the levels, from the OSDs up.
    pub(super) levels: Vec<String>,
    /// Device classes in the order they first appear.
    pub(super) classes: Vec<String>,
    /// Class of each OSD, if it has one; by OSD number.
    pub(super) osds: BTreeMap<u32, Option<usize>>,
    /// Buckets by id, with the shadows.
    pub(super) buckets: BTreeMap<i32, Bucket>,
    /// Ids of the buckets by name, without the shadows.
    pub(super) names: BTreeMap<String, i32>,
    /// Shadow of a bucket for a class.
    pub(super) shadows: BTreeMap<(i32, usize), i32>,
}

/// `take` a root (of one class), `chooseleaf firstn 0` of a level, `emit`: what `ceph osd crush rule create-replicated`
/// makes. If the level is that of the OSDs, it is `choose firstn 0 type osd`, which chooses the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    pub(super) root: i32,
    pub(super) level: usize,
    pub(super) tries: u32,
}

impl Rule {
    /// Return the rule with a number of tries for each replica ("step set_choose_tries").
    #[must_use]
    pub fn with_tries(self, tries: u32) -> Self {
        Self { tries, ..self }
    }
}

impl CrushMap {
    /// A rule that starts at the bucket `root`, among OSDs of `class` alone where one is given, and puts every replica
    /// into another bucket of the level `domain` (the failure domain).
    ///
    /// # Errors
    /// An unknown bucket, class or level.
    pub fn rule(&self, root: &str, class: Option<&str>, domain: &str) -> Result<Rule, CrushError> {
        let id = *self.names.get(root).ok_or_else(|| CrushError::UnknownBucket(root.to_owned()))?;
        let root = match class {
            None => id,
            Some(name) => {
                let unknown = || CrushError::UnknownClass(name.to_owned());
                let class = self.classes.iter().position(|have| have == name).ok_or_else(unknown)?;
                self.shadows[&(id, class)]
            }
        };
        Ok(Rule { root, level: level(&self.levels, domain)?, tries: TRIES })
    }

    /// OSD numbers run from 0 to below this; the length of a full vector of reweights.
    pub fn osd_count(&self) -> usize {
        self.osds.last_key_value().map_or(0, |(&osd, _)| osd as usize + 1)
    }

    /// The vector of reweights with every OSD in.
    pub fn all_in(&self) -> Vec<Weight> {
        vec![Weight::ONE; self.osd_count()]
    }

    /// Id of a bucket, and of its shadow for a class.
    pub fn bucket_id(&self, name: &str, class: Option<&str>) -> Option<i32> {
        let id = *self.names.get(name)?;
        let Some(class) = class else { return Some(id) };
        let class = self.classes.iter().position(|have| have == class)?;
        self.shadows.get(&(id, class)).copied()
    }

    /// Device class of an OSD.
    pub fn class_of(&self, osd: u32) -> Option<&str> {
        (*self.osds.get(&osd)?).map(|class| self.classes[class].as_str())
    }

    /// OSDs that a rule can reach, in ascending order: (OSD, id of its failure domain, weight in the map).
    pub fn reach(&self, rule: &Rule) -> Vec<(u32, i32, Weight)> {
        let mut osds = Vec::new();
        self.gather(rule.root, None, rule.level, &mut osds);
        osds.sort_unstable_by_key(|&(osd, ..)| osd);
        osds
    }

    fn gather(&self, from: i32, domain: Option<i32>, level: usize, osds: &mut Vec<(u32, i32, Weight)>) {
        let bucket = &self.buckets[&from];
        for (&item, &weight) in bucket.items.iter().zip(&bucket.weights) {
            let domain = domain.or((self.level_of(item) == level).then_some(item));
            match domain {
                _ if item < 0 => self.gather(item, domain, level, osds),
                Some(domain) => osds.push((item as u32, domain, weight)),
                None => {}
            }
        }
    }

    pub(super) fn level_of(&self, item: i32) -> usize {
        if item < 0 { self.buckets[&item].level } else { 0 }
    }

    /// Chooses from bucket to bucket, down from `from` to an item of `level`.
    pub(super) fn descend(&self, from: i32, x: u32, r: u32, level: usize) -> Descent {
        let mut at = from;
        loop {
            let Some(item) = self.buckets[&at].choose(x, r) else { return Descent::Empty };
            if self.level_of(item) == level {
                return Descent::At(item);
            }
            if item >= 0 {
                return Descent::Missed;
            }
            at = item;
        }
    }
}

/// Index of a level by name.
pub(super) fn level(levels: &[String], name: &str) -> Result<usize, CrushError> {
    let unknown = || CrushError::UnknownLevel { name: name.to_owned(), known: levels.join(", ") };
    levels.iter().position(|have| have == name).ok_or_else(unknown)
}
