//! A walk through trees in the order of names, in constant memory.
//!
//! A folder's names are sorted so that two walks, and copies of a tree, give the same stream. A folder with more names
//! than may be held is scanned several times, each time for the next names in order; so are the folders above it if
//! they hold too many.

use std::collections::BinaryHeap;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::mem::size_of;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::vec;

use crate::links::{Links, REMEMBERED};
use crate::mounts;

/// Memory limit of a walk.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of the names that one scan of a folder keeps.
    pub scan: usize,
    /// Bytes of all names.
    pub names: usize,
    /// Files with several names.
    pub links: usize,
}

impl Default for Limits {
    /// A folder of 200,000 names of usual length is scanned once.
    fn default() -> Self {
        Self { scan: 16 << 20, names: 64 << 20, links: REMEMBERED }
    }
}

/// A regular file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Regular {
    /// Path of the file.
    pub path: PathBuf,
    /// Its length.
    pub size: u64,
    /// Bytes that the file system stores for it: fewer than its length if it has holes.
    pub allocated: u64,
}

/// Entry found by a walk.
#[derive(Debug)]
pub enum Found {
    /// A file, at the first of its names.
    File(Regular),
    /// A symbolic link; it is not followed.
    SymbolicLink,
    /// A further name of a file.
    HardLink,
    /// A FIFO, socket or device.
    Special,
    /// A file system that is left out.
    Mount,
    /// Entry that could not be examined.
    Unreadable(PathBuf, io::Error),
}

/// A folder whose entries are being visited.
#[derive(Debug)]
struct Folder {
    path: PathBuf,
    device: u64,
    /// Names still to visit, the next one last.
    names: Vec<OsString>,
    /// The last name that was visited.
    last: Option<OsString>,
    /// Whether `names` are all that are left.
    whole: bool,
}

/// Memory of a stored name: its bytes, their string and the overhead of the allocator.
fn cost(name: &OsString) -> usize {
    name.len() + size_of::<OsString>() + 16
}

fn cost_of(names: &[OsString]) -> usize {
    names.iter().map(cost).sum()
}

/// A walk: an iterator of the files and folders of a tree.
#[derive(Debug)]
pub struct Walk {
    roots: vec::IntoIter<PathBuf>,
    stack: Vec<Folder>,
    links: Links,
    limits: Limits,
    one_file_system: bool,
    held: usize,
    most_held: usize,
}

impl Walk {
    /// A walk through `roots`; of these, symbolic links are followed.
    pub fn new(roots: Vec<PathBuf>, one_file_system: bool, limits: Limits) -> Self {
        let links = Links::new(limits.links);
        Self { roots: roots.into_iter(), stack: Vec::new(), links, limits, one_file_system, held: 0, most_held: 0 }
    }

    /// The most bytes of names that were held at a time.
    pub fn most_held(&self) -> usize {
        self.most_held
    }

    /// Files with several names that could not be remembered.
    pub fn links_forgotten(&self) -> u64 {
        self.links.forgotten()
    }

    /// Examines `path`; descends into it if it is a folder.
    fn visit(&mut self, path: PathBuf, metadata: io::Result<Metadata>, parent: Option<u64>) -> Option<Found> {
        let metadata = match metadata {
            Ok(metadata) => metadata,
            Err(error) => return Some(Found::Unreadable(path, error)),
        };
        let kind = metadata.file_type();
        if kind.is_dir() {
            let device = metadata.dev();
            let mounted = parent.is_some_and(|parent| parent != device);
            if mounted && (self.one_file_system || mounts::kernel(&path)) {
                return Some(Found::Mount);
            }
            self.stack.push(Folder { path, device, names: Vec::new(), last: None, whole: false });
            return None;
        }
        Some(match kind {
            kind if kind.is_symlink() => Found::SymbolicLink,
            kind if !kind.is_file() => Found::Special,
            _ if self.links.repeats(&metadata) => Found::HardLink,
            // st_blocks counts 512 bytes whatever the file system's block (stat(2)).
            _ => Found::File(Regular { path, size: metadata.len(), allocated: metadata.blocks() * 512 }),
        })
    }

    /// Scans the innermost folder for its next names.
    fn scan(&mut self) -> io::Result<()> {
        self.make_room();
        let folder = self.stack.last_mut().expect("a folder is being visited");
        let mut next = BinaryHeap::new();
        let mut size = 0;
        folder.whole = true;
        for entry in fs::read_dir(&folder.path)? {
            let name = entry?.file_name();
            if folder.last.as_ref().is_some_and(|last| name <= *last) {
                continue;
            }
            size += cost(&name);
            next.push(name);
            while size > self.limits.scan && next.len() > 1 {
                size -= cost(&next.pop().expect("there are at least two"));
                folder.whole = false;
            }
        }
        folder.names = next.into_vec();
        folder.names.sort_unstable_by(|a, b| b.cmp(a));
        self.held += size;
        self.most_held = self.most_held.max(self.held);
        Ok(())
    }

    /// Forgets names of the outermost folders while there is no room for another scan; they are scanned again later.
    fn make_room(&mut self) {
        for folder in &mut self.stack {
            if self.held + self.limits.scan <= self.limits.names {
                break;
            }
            self.held -= cost_of(&folder.names);
            folder.whole &= folder.names.is_empty();
            folder.names = Vec::new();
        }
    }
}

impl Iterator for Walk {
    type Item = Found;

    fn next(&mut self) -> Option<Found> {
        loop {
            let Some(folder) = self.stack.last_mut() else {
                let root = self.roots.next()?;
                let metadata = fs::metadata(&root);
                if let Some(entry) = self.visit(root, metadata, None) {
                    return Some(entry);
                }
                continue;
            };
            if let Some(name) = folder.names.pop() {
                self.held -= cost(&name);
                let (path, device) = (folder.path.join(&name), folder.device);
                folder.last = Some(name);
                let metadata = fs::symlink_metadata(&path);
                if let Some(entry) = self.visit(path, metadata, Some(device)) {
                    return Some(entry);
                }
            } else if folder.whole {
                self.stack.pop();
            } else if let Err(error) = self.scan() {
                let folder = self.stack.pop().expect("it was scanned");
                return Some(Found::Unreadable(folder.path, error));
            }
        }
    }
}
