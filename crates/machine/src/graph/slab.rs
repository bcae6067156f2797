//! Things under way, by a number that is used again.

/// Entries by number; freed numbers are used again, last freed first.
#[derive(Debug)]
pub struct Slab<T> {
    all: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { all: Vec::new(), free: Vec::new() }
    }
}

impl<T: Copy> Slab<T> {
    /// Keeps `entry` under a number that no other has.
    pub fn add(&mut self, entry: T) -> u32 {
        if let Some(id) = self.free.pop() {
            self.all[id as usize] = entry;
            return id;
        }
        self.all.push(entry);
        u32::try_from(self.all.len() - 1).expect("fewer than 2^32 things are under way at once")
    }

    /// The entry of that number, to look at.
    pub fn at(&self, id: u32) -> T {
        self.all[id as usize]
    }

    /// The entry of that number.
    pub fn get(&mut self, id: u32) -> &mut T {
        &mut self.all[id as usize]
    }

    /// Frees an entry.
    pub fn take(&mut self, id: u32) -> T {
        self.free.push(id);
        self.all[id as usize]
    }
}
