//! Layout before the first operation: mke2fs, then every process makes its directories and files.

use hotband_machine::UntimedWrite;

use super::cache::META;
use super::disk::{DATA, JOURNAL, METADATA};
use super::files::{Files, NONE};
use super::geometry::{GROUP, Geometry};
use super::space::Extent;
use super::spec::{BLOCK, FileSystemSpec, Operation};
use super::state::FileSystem;
use crate::Random;

/// The largest write of the layout in blocks (1 MiB).
const LARGEST: u32 = 256;

/// Remaining files to lay out.
#[derive(Clone, Debug)]
pub struct Layout {
    random: Random,
    /// Fixed metadata and the journal, last first.
    fixed: Vec<(u16, Extent)>,
    /// The next directory.
    dir: u32,
    /// Extents that are not yet written.
    waiting: Vec<(u16, Extent)>,
}

impl Layout {
    /// Return the layout of a new file system.
    pub fn new(geometry: &Geometry, random: Random) -> Self {
        let mut fixed: Vec<(u16, Extent)> = geometry.fixed().map(|extent| (METADATA, extent)).collect();
        fixed.push((JOURNAL, (geometry.journal, geometry.journal_len)));
        fixed.reverse();
        Self { random, fixed, dir: 0, waiting: Vec::new() }
    }

    /// Whether the files of a set are there from the beginning: those that `create` makes are not.
    fn has_files(spec: &FileSystemSpec, set: u32) -> bool {
        let sets = spec.population.sets;
        set != Operation::Create as u32
            || sets <= Operation::Create as u32
            || spec.mix[Operation::Create as usize] <= 0.0
    }

    /// Blocks that files and directories are expected to take.
    pub fn wanted_blocks(spec: &FileSystemSpec) -> f64 {
        let population = &spec.population;
        let sets = (0..population.sets).filter(|set| Self::has_files(spec, *set)).count() as f64;
        let dirs = f64::from(spec.processes) * f64::from(population.dirs);
        let files = Files::mean_blocks(population) * f64::from(population.files_per_dir);
        dirs * (sets * files + f64::from(population.sets) * (f64::from(population.files_per_dir) / 128.0).ceil())
    }
}

impl FileSystem {
    /// Appends at most `most` writes of the layout.
    pub(super) fn put_files(&mut self, most: usize, out: &mut Vec<(u16, UntimedWrite)>) {
        let first = out.len();
        while out.len() - first < most {
            let Some((stream, (start, len))) = self.layout.waiting.pop() else {
                if let Some((stream, extent)) = self.layout.fixed.pop() {
                    self.layout.waiting.push((stream, extent));
                    self.mark(stream, extent);
                } else if self.layout.dir < self.files.dirs() {
                    let dir = self.layout.dir;
                    self.layout.dir += 1;
                    self.put_dir(dir);
                } else {
                    break;
                }
                continue;
            };
            let count = len.min(LARGEST);
            if len > count {
                self.layout.waiting.push((stream, (start + count, len - count)));
            }
            let entropy = if stream == DATA { self.data.draw() } else { self.spec.metadata };
            let (offset, len) = (u64::from(start) * u64::from(BLOCK), count * BLOCK);
            out.push((stream, UntimedWrite { offset, len, entropy, trim: false }));
        }
    }

    fn mark(&mut self, stream: u16, (start, len): Extent) {
        if stream == METADATA {
            (start..start + len).for_each(|block| self.cache.set(block, META));
        }
    }

    /// Makes a directory and its files.
    fn put_dir(&mut self, dir: u32) {
        let mut goal = self.files.group_of(dir) * GROUP;
        let mut extents = Vec::new();
        let blocks = self.files.dir_blocks();
        // Directories of several blocks are kept in one piece: nothing that is modelled depends on it.
        self.space.allocate(goal, blocks, &mut extents);
        let start = extents.first().map_or(0, |extent| extent.0);
        self.files.place_dir(dir, start);
        let whole = extents.first().copied().unwrap_or((0, 1));
        self.mark(METADATA, whole);
        self.layout.waiting.push((METADATA, whole));
        goal = start + blocks;
        if !Layout::has_files(&self.spec, self.files.set_of(dir)) {
            return;
        }
        for file in self.files.of_dir(dir) {
            let size = self.files.draw_size(&mut self.layout.random);
            extents.clear();
            if !self.space.allocate(goal, size.div_ceil(BLOCK), &mut extents) {
                self.counters.no_space += 1;
                self.files.fill(file, 0, &[], None);
                continue;
            }
            let tree = self.tree_for(&extents);
            self.files.fill(file, size, &extents, tree);
            goal = extents.last().map_or(goal, |(start, len)| start + len);
            for extent in &extents {
                match self.layout.waiting.last_mut() {
                    Some((DATA, (start, len))) if *start + *len == extent.0 => *len += extent.1,
                    _ => self.layout.waiting.push((DATA, *extent)),
                }
            }
            self.layout.waiting.extend(tree.map(|block| (METADATA, (block, 1))));
        }
    }

    /// A block for the extents that do not fit into the inode, where they need one and one is free.
    pub(super) fn tree_for(&mut self, extents: &[Extent]) -> Option<u32> {
        if !Files::needs_tree(extents) {
            return None;
        }
        let mut block = Vec::new();
        let goal = extents.last().map_or(0, |(start, len)| start + len);
        let allocated = self.space.allocate(goal, 1, &mut block);
        let block = block.first().map_or(NONE, |extent| extent.0);
        allocated.then(|| {
            self.cache.set(block, META);
            block
        })
    }
}
