//! Files with several names: each is read once.

use std::collections::HashMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

/// Most files with names still to come that are remembered: some 100 MB at worst.
pub const REMEMBERED: usize = 1 << 20;

/// Files of which a name was met and others may follow.
#[derive(Debug)]
pub struct Links {
    /// By device and inode: how many names are still to come.
    open: HashMap<(u64, u64), u64>,
    most: usize,
    forgotten: u64,
}

impl Links {
    /// Remembers at most `most` files at a time.
    pub fn new(most: usize) -> Self {
        Self { open: HashMap::new(), most, forgotten: 0 }
    }

    /// Whether this is a further name of a file that was met before.
    pub fn repeats(&mut self, file: &Metadata) -> bool {
        if file.nlink() < 2 {
            return false;
        }
        let id = (file.dev(), file.ino());
        if let Some(left) = self.open.get_mut(&id) {
            *left = left.saturating_sub(1);
            if *left == 0 {
                self.open.remove(&id);
            }
            return true;
        }
        if self.open.len() < self.most {
            self.open.insert(id, file.nlink() - 1);
        } else {
            self.forgotten += 1;
        }
        false
    }

    /// Files that could not be remembered: their other names, if they are in the tree, count again.
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }
}
