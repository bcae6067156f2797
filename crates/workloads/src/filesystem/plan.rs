//! Operations as steps, and going through them.

use hotband_units::{Instant, Span};

use super::cache::{COMMITTING, RUNNING};
use super::files::NONE;
use super::spec::{BLOCK, OPERATIONS, Operation};
use super::state::FileSystem;
use super::task::Step;

impl FileSystem {
    /// Draws the next operation of a task and its steps; the processor time that it takes.
    pub(super) fn plan(&mut self, now: Instant, index: u32) -> Span {
        let number = self.tasks[index as usize].process;
        let mut steps = std::mem::take(&mut self.tasks[index as usize].steps);
        steps.clear();
        let draw = self.processes[number as usize].random.unit();
        let at = self.mix.iter().position(|upto| draw < *upto).unwrap_or(12);
        let operation = OPERATIONS[at].1;
        let set = operation as u32 % self.spec.population.sets;
        let file = match operation {
            Operation::Mkdir => self.files.pick_made(number, &mut self.processes[number as usize].random),
            _ => self.files.pick(number, set, &mut self.processes[number as usize].random),
        };
        let task = &mut self.tasks[index as usize];
        (task.operation, task.file, task.offset, task.len) = (operation, file, 0, 0);
        self.prepare(now, operation, file);
        match operation {
            Operation::Read | Operation::RandRead | Operation::Write | Operation::RandWrite => {
                self.plan_part(index, &mut steps);
            }
            Operation::Mkdir => self.plan_mkdir(file, &mut steps),
            Operation::Readdir => self.plan_readdir(file, &mut steps),
            _ => self.plan_whole(index, &mut steps),
        }
        steps.push(Step::End);
        if operation == Operation::Unlink {
            steps.push(Step::Tidy);
        }
        let task = &mut self.tasks[index as usize];
        (task.steps, task.at) = (steps, 0);
        self.spec.cpu + Span(self.spec.cpu_per_page.0 * u64::from(task.len.div_ceil(BLOCK)))
    }

    /// A block must be in memory before what follows.
    fn need(&mut self, block: u32, steps: &mut Vec<Step>) {
        if self.cache.touch(block) {
            self.counters.hits += 1;
        } else {
            steps.extend([Step::Read { block, len: 1 }, Step::Join]);
        }
    }

    /// Reads and writes of a part of an open file.
    fn plan_part(&mut self, index: u32, steps: &mut Vec<Step>) {
        let task = &self.tasks[index as usize];
        let (operation, mut file, number) = (task.operation, task.file, task.process as usize);
        let writes = matches!(operation, Operation::Write | Operation::RandWrite);
        let sizes = if writes { &self.spec.write_sizes } else { &self.spec.read_sizes };
        let process = &mut self.processes[number];
        let len = sizes.as_ref().expect("read with the mix").draw(&mut process.random);
        let cursor = match operation {
            Operation::Read => Some(&mut process.read_at),
            Operation::Write => Some(&mut process.write_at),
            _ => None,
        };
        let offset = if let Some(cursor) = cursor {
            // A sequential process stays with a file until it is through.
            let whole = cursor.0 != NONE && cursor.1 + len <= self.files.size(cursor.0);
            *cursor = if whole { *cursor } else { (file, 0) };
            file = cursor.0;
            let offset = cursor.1;
            cursor.1 += len;
            offset
        } else {
            let slots = (self.files.size(file).saturating_sub(len)) / self.spec.align + 1;
            process.random.below(u64::from(slots)) as u32 * self.spec.align
        };
        let len = len.min(self.files.size(file).saturating_sub(offset));
        let task = &mut self.tasks[index as usize];
        (task.file, task.offset, task.len) = (file, offset, len);
        self.need(self.geometry.inode_block(self.files.inode(file)), steps);
        if let Some(tree) = self.files.tree(file) {
            self.need(tree, steps);
        }
        if len == 0 {
            return;
        }
        let (page, end) = (offset / BLOCK, (offset + len).div_ceil(BLOCK));
        if writes {
            self.plan_write(index, page, end - page, steps);
        } else {
            let ahead = if operation == Operation::Read { self.spec.cache.read_ahead / BLOCK } else { 0 };
            self.plan_read(file, page, end - page, ahead, steps);
        }
    }

    /// Pages of a file come into memory; a miss of a sequential read brings in what follows.
    fn plan_read(&mut self, file: u32, page: u32, pages: u32, ahead: u32, steps: &mut Vec<Step>) {
        let mut extents = std::mem::take(&mut self.scratch);
        self.files.extents(file, page, pages, &mut extents);
        let blocks = extents.iter().flat_map(|(start, len)| *start..start + len);
        let missing = blocks.enumerate().find(|(_, block)| !self.cache.has(*block, super::cache::CACHED));
        if let (Some((skip, _)), true) = (missing, ahead > 0) {
            extents.clear();
            let skip = skip as u32;
            self.files.extents(file, page, skip, &mut extents);
            self.files.extents(file, page + skip, (pages - skip).max(ahead), &mut extents);
        }
        steps.extend(extents.drain(..).map(|(block, len)| Step::Read { block, len }));
        steps.push(Step::Join);
        self.scratch = extents;
    }

    /// Plans a write of existing pages: partial pages are read first, the first page and then the last.
    fn plan_write(&mut self, index: u32, page: u32, pages: u32, steps: &mut Vec<Step>) {
        let task = &self.tasks[index as usize];
        let (file, offset, end) = (task.file, task.offset, task.offset + task.len);
        let number = task.process as usize;
        steps.push(Step::Gate { blocks: 0 });
        if offset % BLOCK != 0 {
            self.need(self.files.block_of(file, page), steps);
        }
        let last = page + pages - 1;
        let partial = !end.is_multiple_of(BLOCK) && end < self.files.size(file);
        if partial && (last > page || offset.is_multiple_of(BLOCK)) {
            self.need(self.files.block_of(file, last), steps);
        }
        steps.push(Step::Apply);
        let random = &mut self.processes[number].random;
        let (sync, commit) = (random.unit() < self.spec.sync, random.unit() < self.spec.commit);
        if sync && !commit {
            steps.extend([Step::SyncData { page, pages }, Step::Join, Step::SyncLog, Step::Join]);
        } else if commit {
            steps.extend([Step::SyncData { page: 0, pages: u32::MAX }, Step::Join, Step::SyncLog, Step::Join]);
        }
    }

    /// Operations on a file by its name.
    fn plan_whole(&mut self, index: u32, steps: &mut Vec<Step>) {
        let task = &self.tasks[index as usize];
        let (operation, file, number) = (task.operation, task.file, task.process as usize);
        let dir = self.files.dir_of(file);
        self.need(self.geometry.inode_block(self.files.dir_inode(dir)), steps);
        self.need(self.files.entry_block(file), steps);
        self.need(self.geometry.inode_block(self.files.inode(file)), steps);
        if let (Some(tree), Operation::ReadFile | Operation::Unlink | Operation::WriteFile) =
            (self.files.tree(file), operation)
        {
            self.need(tree, steps);
        }
        match operation {
            Operation::ReadFile => {
                self.tasks[index as usize].len = self.files.size(file);
                let ahead = self.spec.cache.read_ahead / BLOCK;
                self.plan_read(file, 0, self.files.size(file).div_ceil(BLOCK), ahead, steps);
            }
            Operation::WriteFile => {
                let random = &mut self.processes[number].random;
                let len = self.files.draw_size(random);
                let commit = random.unit() < self.spec.commit.max(self.spec.sync);
                self.tasks[index as usize].len = len;
                steps.extend([Step::Gate { blocks: len.div_ceil(BLOCK) + 1 }, Step::Apply]);
                if commit {
                    steps.push(Step::SyncData { page: 0, pages: u32::MAX });
                    steps.extend([Step::Join, Step::SyncLog, Step::Join]);
                }
            }
            Operation::Chmod | Operation::Create => steps.extend([Step::Gate { blocks: 0 }, Step::Apply]),
            Operation::Unlink => {
                let len = self.files.draw_size(&mut self.processes[number].random);
                self.tasks[index as usize].len = len;
                steps.extend([Step::Gate { blocks: len.div_ceil(BLOCK) + 1 }, Step::Apply]);
            }
            _ => {}
        }
    }

    fn plan_readdir(&mut self, file: u32, steps: &mut Vec<Step>) {
        let dir = self.files.dir_of(file);
        self.need(self.geometry.inode_block(self.files.dir_inode(dir)), steps);
        let (block, len) = (self.files.dir_start(dir), self.files.dir_blocks());
        steps.extend([Step::Read { block, len }, Step::Join]);
    }

    fn plan_mkdir(&mut self, made: u32, steps: &mut Vec<Step>) {
        let parent = self.first_dir(super::files::Files::maker(made));
        self.need(self.geometry.inode_block(self.files.dir_inode(parent)), steps);
        self.need(self.files.dir_start(parent), steps);
        steps.extend([Step::Gate { blocks: 1 }, Step::Apply]);
    }

    /// Goes through the steps of a task until it has to wait.
    pub(super) fn run(&mut self, now: Instant, index: u32) {
        loop {
            let task = &mut self.tasks[index as usize];
            let Some(step) = task.steps.get(task.at).copied() else { return self.rest(now, index) };
            task.at += 1;
            match step {
                Step::Read { block, len } => self.read((block, len), index),
                Step::Join if task.pending > 0 => return,
                Step::Join => {}
                Step::Gate { blocks } => {
                    if !self.stalled.is_empty() || !self.is_open(blocks) {
                        self.counters.waits += 1;
                        self.stalled.push_back(index);
                        return;
                    }
                }
                Step::Apply => self.apply(now, index),
                Step::SyncData { page, pages } => {
                    let mut extents = std::mem::take(&mut self.scratch);
                    self.files.extents(self.tasks[index as usize].file, page, pages, &mut extents);
                    let sent = self.sync(now, &extents, index);
                    extents.clear();
                    self.scratch = extents;
                    if !sent {
                        // Once more when what was on its way has arrived.
                        self.tasks[index as usize].at -= 1;
                        return;
                    }
                }
                Step::SyncLog => {
                    if self.sync_log(index) {
                        return;
                    }
                }
                Step::End => self.answer(now, index),
                Step::Tidy => self.tidy(now, index),
            }
        }
    }

    /// Makes the inode of a file durable; whether the task waits for a transaction.
    fn sync_log(&mut self, index: u32) -> bool {
        self.counters.fsyncs += 1;
        let inode = self.geometry.inode_block(self.files.inode(self.tasks[index as usize].file));
        if self.cache.has(inode, RUNNING) {
            self.journal.requested = true;
            self.durable.push((self.journal.running.number, index));
            return true;
        }
        // Only in the transaction that is being committed, whose flush may have passed the data already: wait for it,
        // and ask the drive to flush by coming here again.
        if let (true, Some((transaction, _))) = (self.cache.has(inode, COMMITTING), &self.journal.committing) {
            self.durable.push((transaction.number, index));
            self.counters.fsyncs -= 1;
            self.tasks[index as usize].at -= 1;
            return true;
        }
        if self.spec.barrier {
            self.flush(index);
        }
        false
    }

    /// Whether changes that want this many blocks are possible now. Asks for a commit where one would help.
    fn is_open(&mut self, blocks: u32) -> bool {
        let limit = (self.cache.most() as f64 * self.spec.cache.limit) as u64;
        let full = self.journal.is_full();
        let wanting = blocks > self.space.free_blocks();
        let freed = !self.journal.running.freed.is_empty();
        let freeing = self.journal.committing.as_ref().is_some_and(|(transaction, _)| !transaction.freed.is_empty());
        let dirty = self.cache.dirty() > limit;
        self.journal.requested |= full || dirty && self.journal.is_pressed() || wanting && freed;
        !(full || dirty || wanting && (freed || freeing))
    }

    /// Continues the tasks that waited until changes are possible, in their order.
    pub(super) fn resume(&mut self, now: Instant) {
        while let Some(index) = self.stalled.front().copied() {
            let task = &self.tasks[index as usize];
            let Some(Step::Gate { blocks }) = task.steps.get(task.at - 1).copied() else {
                unreachable!("it waits there")
            };
            if !self.is_open(blocks) {
                return;
            }
            self.stalled.pop_front();
            self.run(now, index);
        }
    }
}
