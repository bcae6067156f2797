//! Images as they were laid out: runs of a sequence, a study or a review have identical pools, and the places of
//! millions of objects are found once for all of them.

use std::cmp::Reverse;
use std::sync::{Arc, OnceLock};

use super::recent::Recent;

/// Images that are kept, those used last: two configurations of a study, with and without what is asked about. An image
/// of the most objects takes 64 MB.
const KEPT: usize = 4;

/// Parameters that determine the placement of an image's objects, with daemons as numbers.
#[derive(PartialEq)]
pub struct LaidKey {
    /// Id of the image, which is in the names of its objects.
    pub image_id: String,
    /// Objects that were requested; none if there are as many as there is room for.
    pub objects: Option<u64>,
    /// Copies or shards of a group.
    pub replicas: usize,
    /// Daemons of every group.
    pub acting: Vec<u16>,
    /// Objects that each daemon has room for.
    pub room: Vec<u64>,
}

/// An image that was filled from front to back.
pub struct Laid {
    /// Placement group of every object.
    pub group: Vec<u32>,
    /// Number of objects on every daemon before each block of objects.
    pub before: Vec<u32>,
    /// Objects on every daemon.
    pub held: Vec<u32>,
    /// Objects of every group.
    pub of_groups: Vec<u32>,
    /// Objects of each group in ascending order, one group after the other; made when first needed.
    by_group: OnceLock<Vec<u32>>,
}

impl Laid {
    /// An image whose objects have these groups; `of_groups` has the number of objects in each group.
    pub fn new(group: Vec<u32>, of_groups: Vec<u32>, before: Vec<u32>, held: Vec<u32>) -> Self {
        Self { group, before, held, of_groups, by_group: OnceLock::new() }
    }

    /// The `most` objects of these groups that were written last, the newest first.
    pub fn last_written(&self, groups: &[u32], most: usize) -> Vec<u32> {
        let by_group = self.by_group.get_or_init(|| self.sorted());
        let mut last = Vec::new();
        for &group in groups {
            let from: usize = self.of_groups[..group as usize].iter().map(|objects| *objects as usize).sum();
            let objects = &by_group[from..][..self.of_groups[group as usize] as usize];
            last.extend_from_slice(&objects[objects.len().saturating_sub(most)..]);
        }
        last.sort_unstable_by_key(|object| Reverse(*object));
        last.truncate(most);
        last
    }

    fn sorted(&self) -> Vec<u32> {
        let mut from = 0;
        let start = |objects: &u32| {
            from += *objects as usize;
            from - *objects as usize
        };
        let mut next: Vec<usize> = self.of_groups.iter().map(start).collect();
        let mut sorted = vec![0; self.group.len()];
        for (object, group) in (0..).zip(&self.group) {
            let at = &mut next[*group as usize];
            sorted[*at] = object;
            *at += 1;
        }
        sorted
    }
}

static ALL: Recent<LaidKey, Laid> = Recent::new(KEPT);

/// The image of `key`: one laid out before, or what `lay_out` makes.
///
/// # Errors
/// Those of `lay_out`.
pub fn laid<E>(key: LaidKey, lay_out: impl FnOnce() -> Result<Laid, E>) -> Result<Arc<Laid>, E> {
    ALL.get(key, |_| lay_out())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(image: &str, objects: Option<u64>) -> LaidKey {
        LaidKey { image_id: image.to_owned(), objects, replicas: 1, acting: vec![0], room: vec![9] }
    }

    fn image(objects: usize) -> Laid {
        let (held, of_groups) = (vec![objects as u32], vec![objects as u32]);
        Laid::new(vec![0; objects], of_groups, vec![0], held)
    }

    #[test]
    fn an_image_is_laid_out_once_and_another_is_not_taken_for_it() {
        let first = laid(key("laid-once", Some(3)), || Ok::<_, &str>(image(3))).unwrap();
        let again = laid(key("laid-once", Some(3)), || Err("it is there")).unwrap();
        assert!(Arc::ptr_eq(&first, &again));
        let other = laid(key("laid-once", None), || Ok::<_, &str>(image(5))).unwrap();
        assert_eq!((first.group.len(), other.group.len()), (3, 5));
    }

    #[test]
    fn what_failed_is_not_kept() {
        assert_eq!(laid(key("fails", None), || Err("full")).err(), Some("full"));
        assert_eq!(laid(key("fails", None), || Ok::<_, &str>(image(2))).unwrap().group.len(), 2);
    }

    #[test]
    fn the_objects_written_last_are_those_with_the_highest_numbers() {
        let group: Vec<u32> = (0..300_u32).map(|object| object.wrapping_mul(2_654_435_761) >> 30).collect();
        let of_groups =
            (0..4).map(|group_of| group.iter().filter(|group| **group == group_of).count() as u32).collect();
        let laid = Laid::new(group.clone(), of_groups, Vec::new(), Vec::new());
        for (groups, most) in [(&[2][..], 7), (&[0, 3], 1000), (&[0, 1, 2, 3], 50), (&[], 3), (&[1], 0)] {
            let expected: Vec<u32> =
                (0..300).rev().filter(|object| groups.contains(&group[*object as usize])).take(most).collect();
            assert_eq!(laid.last_written(groups, most), expected, "{most} of {groups:?}");
        }
    }
}
