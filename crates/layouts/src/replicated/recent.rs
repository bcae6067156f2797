//! Recently used values that the runs of a process share, by their input.

use std::sync::{Arc, Mutex, PoisonError};

/// A few values by key, the ones used last at the end.
pub struct Recent<K, V> {
    most: usize,
    values: Mutex<Vec<(K, Arc<V>)>>,
}

impl<K: PartialEq, V> Recent<K, V> {
    /// Room for `most` values.
    pub const fn new(most: usize) -> Self {
        Self { most, values: Mutex::new(Vec::new()) }
    }

    /// The value of `key`: one made before, or the result of `make`. It is made outside of the lock: two callers may
    /// make it at once, and neither waits for the other.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn get<E>(&self, key: K, make: impl FnOnce(&K) -> Result<V, E>) -> Result<Arc<V>, E> {
        let lock = || self.values.lock().unwrap_or_else(PoisonError::into_inner);
        let mut values = lock();
        if let Some(at) = values.iter().position(|(have, _)| *have == key) {
            let entry = values.remove(at);
            let value = Arc::clone(&entry.1);
            values.push(entry);
            return Ok(value);
        }
        drop(values);
        let value = Arc::new(make(&key)?);
        let mut values = lock();
        if values.len() == self.most {
            values.remove(0);
        }
        values.push((key, Arc::clone(&value)));
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_that_was_not_used_for_longest_makes_room() {
        let recent = Recent::new(2);
        let get = |key: u8, is_made: bool| recent.get(key, |key| if is_made { Ok(*key) } else { Err(()) }).ok();
        assert_eq!([1, 2, 1, 3].map(|key| get(key, true).as_deref().copied()), [1, 2, 1, 3].map(Some));
        assert_eq!([1, 3, 2].map(|key| get(key, false).as_deref().copied()), [Some(1), Some(3), None]);
    }
}
