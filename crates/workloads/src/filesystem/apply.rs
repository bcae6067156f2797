//! Effects of operations: files, directories, dirty pages, the running transaction.

use hotband_units::Instant;

use super::cache::{FRESH, META, Soiled};
use super::files::{Files, NONE};
use super::geometry::{GROUP, Geometry};
use super::space::Extent;
use super::spec::{BLOCK, Operation, Rewrite};
use super::state::FileSystem;

impl FileSystem {
    /// The change that a task's operation makes.
    pub(super) fn apply(&mut self, now: Instant, index: u32) {
        let task = &self.tasks[index as usize];
        let (file, operation, offset, len) = (task.file, task.operation, task.offset, task.len);
        match operation {
            Operation::Write | Operation::RandWrite => {
                let (page, end) = (offset / BLOCK, (offset + len).div_ceil(BLOCK));
                self.overwrite(now, file, page, end - page);
            }
            Operation::WriteFile if self.spec.rewrite == Rewrite::InPlace && self.files.size(file) > 0 => {
                self.overwrite(now, file, 0, self.files.size(file).div_ceil(BLOCK));
            }
            Operation::WriteFile => {
                let goal = self.remove_blocks(now, file);
                self.write_anew(now, file, len, goal);
            }
            Operation::Chmod => self.change(now, self.geometry.inode_block(self.files.inode(file))),
            Operation::Unlink => self.unlink(now, file),
            Operation::Create => {
                // Another operation of the process may have made it meanwhile.
                self.prepare(now, operation, file);
                self.change_name(now, file);
                self.files.fill(file, 0, &[], None);
            }
            Operation::Mkdir => self.make_dir(now, file),
            _ => {}
        }
    }

    /// Work of a process after its operation, outside of it: a deleted file is written again.
    pub(super) fn tidy(&mut self, now: Instant, index: u32) {
        let (file, size) = (self.tasks[index as usize].file, self.tasks[index as usize].len);
        self.change_name(now, file);
        let goal = self.files.group_of(self.files.dir_of(file)) * GROUP;
        self.write_anew(now, file, size, goal);
    }

    /// Makes room for a create: the file that bears the name is deleted, outside of the operation.
    pub(super) fn prepare(&mut self, now: Instant, operation: Operation, file: u32) {
        if operation == Operation::Create && self.files.exists(file) {
            self.unlink(now, file);
        } else if operation == Operation::Mkdir {
            let block = self.files.exchange_made(file, NONE);
            if block != NONE {
                self.change_made(now, file);
                self.free(now, (block, 1));
            }
        }
    }

    /// Changes directory, inode and inode bitmap: a name comes or goes.
    fn change_name(&mut self, now: Instant, file: u32) {
        let inode = self.files.inode(file);
        let group = inode / self.geometry.inodes;
        self.change(now, self.files.entry_block(file));
        self.change(now, self.geometry.inode_block(self.files.dir_inode(self.files.dir_of(file))));
        self.change(now, self.geometry.inode_block(inode));
        self.change(now, self.geometry.inode_bitmap(group));
        self.change(now, Geometry::descriptor(group));
    }

    fn unlink(&mut self, now: Instant, file: u32) {
        self.change_name(now, file);
        self.remove_blocks(now, file);
    }

    /// Takes the blocks of a file away; where they began.
    fn remove_blocks(&mut self, now: Instant, file: u32) -> u32 {
        let mut extents = std::mem::take(&mut self.scratch);
        self.files.empty(file, &mut extents);
        let group = self.files.group_of(self.files.dir_of(file));
        let goal = extents.first().map_or(group * GROUP, |extent| extent.0);
        for extent in extents.drain(..) {
            self.free(now, extent);
        }
        self.scratch = extents;
        goal
    }

    /// Frees blocks: they are used until the running transaction is durable.
    fn free(&mut self, now: Instant, extent: Extent) {
        for block in extent.0..extent.0 + extent.1 {
            if self.cache.has(block, META) {
                self.cache.clear(block, META);
                self.journal.checkpointed(block);
            }
            self.cache.forget(block);
        }
        self.change_bitmaps(now, extent);
        self.journal.running.freed.push(extent);
    }

    /// Writes a file that has no blocks (another operation of the process may have given it some meanwhile).
    fn write_anew(&mut self, now: Instant, file: u32, size: u32, goal: u32) {
        if self.files.size(file) > 0 {
            self.remove_blocks(now, file);
        }
        let mut extents = std::mem::take(&mut self.scratch);
        if self.space.allocate(goal, size.div_ceil(BLOCK), &mut extents) {
            let tree = self.tree_for(&extents);
            if let Some(block) = tree {
                self.change(now, block);
                self.change_bitmaps(now, (block, 1));
            }
            self.files.fill(file, size, &extents, tree);
            for extent in &extents {
                self.soil(now, *extent, file, true);
            }
        } else {
            self.counters.no_space += 1;
            self.files.fill(file, 0, &[], None);
        }
        extents.clear();
        self.scratch = extents;
        self.change(now, self.geometry.inode_block(self.files.inode(file)));
    }

    /// Writes pages of a file where they are; its time of change is in the inode.
    fn overwrite(&mut self, now: Instant, file: u32, page: u32, pages: u32) {
        let mut extents = std::mem::take(&mut self.scratch);
        self.files.extents(file, page, pages, &mut extents);
        for extent in extents.drain(..) {
            self.soil(now, extent, file, false);
        }
        self.scratch = extents;
        self.change(now, self.geometry.inode_block(self.files.inode(file)));
    }

    /// Makes blocks dirty and queues those that were clean.
    fn soil(&mut self, now: Instant, (start, len): Extent, file: u32, fresh: bool) {
        let mut first = start;
        for block in start..start + len {
            if fresh {
                self.cache.set(block, FRESH);
            }
            if !self.cache.soil(block) {
                if block > first {
                    self.cache.queue(Soiled { at: now, start: first, len: block - first, file });
                }
                first = block + 1;
            }
        }
        if first < start + len {
            self.cache.queue(Soiled { at: now, start: first, len: start + len - first, file });
        }
    }

    /// The directory in which a made directory is, its inode and the bitmaps change.
    fn change_made(&mut self, now: Instant, made: u32) {
        let parent = self.first_dir(Files::maker(made));
        let group = self.files.group_of(parent);
        self.change(now, self.files.dir_start(parent));
        self.change(now, self.geometry.inode_block(self.files.dir_inode(parent)));
        // Its inode is one of those that the group keeps.
        self.change(now, self.geometry.inode_block(group * self.geometry.inodes));
        self.change(now, self.geometry.inode_bitmap(group));
    }

    fn make_dir(&mut self, now: Instant, made: u32) {
        self.prepare(now, Operation::Mkdir, made);
        let goal = self.files.group_of(self.first_dir(Files::maker(made))) * GROUP;
        let mut extents = std::mem::take(&mut self.scratch);
        if self.space.allocate(goal, 1, &mut extents) {
            let extent = extents[0];
            self.change(now, extent.0);
            self.change_bitmaps(now, extent);
            self.change_made(now, made);
            self.files.exchange_made(made, extent.0);
        } else {
            self.counters.no_space += 1;
        }
        extents.clear();
        self.scratch = extents;
    }

    /// The first directory of a process: those that it makes are in it.
    pub(super) fn first_dir(&self, process: u32) -> u32 {
        let population = &self.spec.population;
        process * population.sets * population.dirs
    }
}
