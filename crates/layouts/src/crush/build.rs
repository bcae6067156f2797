//! Building a map, from the OSDs up.

use std::collections::{BTreeMap, BTreeSet};

use super::error::CrushError;
use super::map::{Bucket, CrushMap, level};
use super::shadow;
use super::weight::Weight;

/// OSD numbers and ids of buckets stay below this, so that nothing sized by them grows without bound. Ceph's own limit
/// for OSDs is a setting (`mon_max_osd`, 10,000 where not changed).
const MOST: u32 = 65_536;

/// Item of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item<'a> {
    /// An OSD and its weight.
    Osd(u32, Weight),
    /// A bucket by name; it weighs what its items weigh.
    Bucket(&'a str),
}

/// An OSD of a [`Host`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Osd<'a> {
    /// Its number.
    pub number: u32,
    /// Its weight, by convention the capacity in TiB.
    pub weight: Weight,
    /// Its device class, if it has one.
    pub class: Option<&'a str>,
}

/// A host with its OSDs, for [`CrushMap::of_hosts`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host<'a> {
    /// Its name, which no other bucket has; it does not enter the hash.
    pub name: &'a str,
    /// Its OSDs, in the order of the bucket.
    pub osds: Vec<Osd<'a>>,
}

/// Accepts the parts of a map: first OSDs, then buckets, each after its contents.
#[derive(Clone, Debug)]
pub struct Builder {
    map: CrushMap,
    /// Requested ids of shadow buckets: (bucket, class) -> id.
    shadow_ids: BTreeMap<(i32, usize), i32>,
    /// Items already in a bucket.
    held: BTreeSet<i32>,
}

impl Builder {
    /// Starts a map with the names of its levels from the OSDs up, such as `["osd", "host", "rack", "root"]`.
    pub fn new(levels: &[&str]) -> Self {
        let map = CrushMap {
            levels: levels.iter().map(|&level| level.to_owned()).collect(),
            classes: Vec::new(),
            osds: BTreeMap::new(),
            buckets: BTreeMap::new(),
            names: BTreeMap::new(),
            shadows: BTreeMap::new(),
        };
        Self { map, shadow_ids: BTreeMap::new(), held: BTreeSet::new() }
    }

    /// Adds an OSD, with its device class if it has one.
    ///
    /// # Errors
    /// An OSD added twice, or of a number from 65,536 on.
    pub fn osd(&mut self, osd: u32, class: Option<&str>) -> Result<&mut Self, CrushError> {
        if osd >= MOST {
            return Err(CrushError::BadOsd(osd));
        }
        if self.map.osds.contains_key(&osd) {
            return Err(CrushError::Twice(format!("OSD {osd}")));
        }
        let class = class.map(|name| self.class(name));
        self.map.osds.insert(osd, class);
        Ok(self)
    }

    /// Adds a straw2 bucket of a level with its id (from -1 down, which enters the hash) and what it holds.
    ///
    /// # Errors
    /// An unknown level or item, an item of the same level or above, a name, id or item in use, weights beyond 65,536.
    pub fn bucket(&mut self, at: &str, name: &str, id: i32, items: &[Item]) -> Result<&mut Self, CrushError> {
        let level = level(&self.map.levels, at)?;
        if level == 0 {
            return Err(CrushError::Lowest { bucket: name.to_owned(), level: at.to_owned() });
        }
        self.check_id(name, id)?;
        if self.map.names.contains_key(name) {
            return Err(CrushError::Twice(format!("{name:?}")));
        }
        let mut bucket = Bucket::new(level);
        for &item in items {
            let (item_id, weight) = self.take(item, name)?;
            if self.map.level_of(item_id) >= level {
                return Err(CrushError::NotBelow { bucket: name.to_owned(), item: shown(item) });
            }
            bucket.push(item_id, weight);
        }
        if bucket.weight() > u64::from(u32::MAX) {
            return Err(CrushError::TooHeavy(name.to_owned()));
        }
        self.map.buckets.insert(id, bucket);
        self.map.names.insert(name.to_owned(), id);
        Ok(self)
    }

    /// Says which id the shadow of a bucket for a class has (`id -2 class hdd` in a map's text). Without it shadows get
    /// ids as Ceph gives them when it compiles a map.
    ///
    /// # Errors
    /// An unknown bucket or class, an id in use.
    pub fn shadow_id(&mut self, bucket: &str, class: &str, id: i32) -> Result<&mut Self, CrushError> {
        let bucket_id = *self.map.names.get(bucket).ok_or_else(|| CrushError::UnknownBucket(bucket.to_owned()))?;
        let unknown = || CrushError::UnknownClass(class.to_owned());
        let class = self.map.classes.iter().position(|have| have == class).ok_or_else(unknown)?;
        self.check_id(bucket, id)?;
        if self.shadow_ids.contains_key(&(bucket_id, class)) {
            return Err(CrushError::Twice(format!("the shadow of {bucket:?} for one class")));
        }
        self.shadow_ids.insert((bucket_id, class), id);
        Ok(self)
    }

    /// Ends the map: adds the shadow trees of its device classes.
    pub fn build(self) -> CrushMap {
        let mut map = self.map;
        shadow::grow(&mut map, &self.shadow_ids);
        map
    }

    fn class(&mut self, name: &str) -> usize {
        let classes = &mut self.map.classes;
        classes.iter().position(|have| have == name).unwrap_or_else(|| {
            classes.push(name.to_owned());
            classes.len() - 1
        })
    }

    fn check_id(&self, name: &str, id: i32) -> Result<(), CrushError> {
        if id >= 0 || id.unsigned_abs() > MOST {
            return Err(CrushError::BadId { bucket: name.to_owned(), id });
        }
        if self.map.buckets.contains_key(&id) || self.shadow_ids.values().any(|&have| have == id) {
            return Err(CrushError::Twice(format!("the id {id} of {name:?}")));
        }
        Ok(())
    }

    /// The id and weight of an item, which must be known and lie in no other bucket.
    fn take(&mut self, item: Item, into: &str) -> Result<(i32, Weight), CrushError> {
        let (id, weight) = match item {
            Item::Osd(osd, weight) if self.map.osds.contains_key(&osd) => (osd as i32, weight),
            Item::Osd(osd, _) => return Err(CrushError::UnknownOsd(osd)),
            Item::Bucket(name) => {
                let id = *self.map.names.get(name).ok_or_else(|| CrushError::UnknownBucket(name.to_owned()))?;
                (id, Weight(self.map.buckets[&id].weight() as u32))
            }
        };
        if self.held.insert(id) {
            Ok((id, weight))
        } else {
            Err(CrushError::Twice(format!("{} (in {into:?})", shown(item))))
        }
    }
}

fn shown(item: Item) -> String {
    match item {
        Item::Osd(osd, _) => format!("OSD {osd}"),
        Item::Bucket(name) => format!("{name:?}"),
    }
}

impl CrushMap {
    /// The map of a cluster that was set up in the usual way: one root `default`, hosts with their OSDs, failure domain
    /// levels `osd`, `host`, `rack`, `root`. Ids are those of such a cluster with one device class: the root is -1 and
    /// its shadow -2, the first host -3 and -4, the next -5 and -6; with more classes every bucket has one id more for
    /// each, without classes one less.
    ///
    /// # Errors
    /// A host or OSD twice, weights beyond 65,536, too many of either.
    pub fn of_hosts(hosts: &[Host]) -> Result<Self, CrushError> {
        let mut builder = Builder::new(&["osd", "host", "rack", "root"]);
        for osd in hosts.iter().flat_map(|host| &host.osds) {
            builder.osd(osd.number, osd.class)?;
        }
        let classes = builder.map.classes.clone();
        let each = classes.len() as i32 + 1;
        let first_id =
            |bucket: usize| (-1_i32).saturating_sub(each.saturating_mul(i32::try_from(bucket).unwrap_or(i32::MAX)));
        for (number, host) in (1..).zip(hosts) {
            let items: Vec<Item> = host.osds.iter().map(|osd| Item::Osd(osd.number, osd.weight)).collect();
            builder.bucket("host", host.name, first_id(number), &items)?;
        }
        let items: Vec<Item> = hosts.iter().map(|host| Item::Bucket(host.name)).collect();
        builder.bucket("root", "default", first_id(0), &items)?;
        let names = std::iter::once("default").chain(hosts.iter().map(|host| host.name));
        for (bucket, name) in names.enumerate() {
            for (shadow, class) in (1..).zip(&classes) {
                builder.shadow_id(name, class, first_id(bucket) - shadow)?;
            }
        }
        Ok(builder.build())
    }
}
