//! Images as they were laid out: runs of a sequence, a study or a review have pools that are identical, and where
//! millions of objects lie is found once for all of them.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Images that are kept, those used last: two configurations of a study, with and without what is asked about. An image
/// of the most objects takes 64 MB.
const KEPT: usize = 4;

/// Parameters that determine the placement of an image's objects. The daemons have numbers; what they are does not
/// matter.
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
    /// By block of objects, for every daemon: objects on it that come before the block.
    pub before: Vec<u32>,
    /// Objects on every daemon.
    pub held: Vec<u32>,
    /// Objects of every group.
    pub of_groups: Vec<u32>,
    /// Objects whose metadata is in memory then, by shard, of pools whose shards have this much room each.
    pub warm: OnceLock<(Vec<Room>, LastWritten)>,
}

/// Objects of which a shard keeps the metadata; none if it keeps that of all.
pub type Room = Option<usize>;

/// By shard: the objects written last, the newest first.
pub type LastWritten = Vec<Arc<[u32]>>;

static ALL: Mutex<Vec<(LaidKey, Arc<Laid>)>> = Mutex::new(Vec::new());

/// The image of `key`: one laid out before, or what `lay_out` makes. It is made outside the lock: two threads may
/// make it at once, and none waits for another.
///
/// # Errors
/// Those of `lay_out`.
pub fn laid<E>(key: LaidKey, lay_out: impl FnOnce() -> Result<Laid, E>) -> Result<Arc<Laid>, E> {
    let lock = || ALL.lock().unwrap_or_else(PoisonError::into_inner);
    let mut all = lock();
    if let Some(at) = all.iter().position(|(have, _)| *have == key) {
        let entry = all.remove(at);
        let image = Arc::clone(&entry.1);
        all.push(entry);
        return Ok(image);
    }
    drop(all);
    let image = Arc::new(lay_out()?);
    let mut all = lock();
    if all.len() == KEPT {
        all.remove(0);
    }
    all.push((key, Arc::clone(&image)));
    Ok(image)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(image: &str, objects: Option<u64>) -> LaidKey {
        LaidKey { image_id: image.to_owned(), objects, replicas: 1, acting: vec![0], room: vec![9] }
    }

    fn image(objects: usize) -> Laid {
        let (held, of_groups) = (vec![objects as u32], vec![objects as u32]);
        Laid { group: vec![0; objects], before: vec![0], held, of_groups, warm: OnceLock::new() }
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
}
