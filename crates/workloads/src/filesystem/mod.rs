//! A file system under processes that work on files: operations on files become block I/O.
//!
//! Modelled after ext4 on Linux 3.10: extents in groups, inodes and directories as blocks, a journal in ordered mode, a
//! page cache with delayed write-back. Omissions, and sources of constants: `docs/models/filesystem.md`.

mod apply;
mod bits;
mod cache;
mod disk;
mod files;
mod geometry;
mod journal;
mod layout;
mod plan;
mod space;
mod spec;
mod state;
mod task;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use hotband_machine::{SpecError, UntimedWrite};
use hotband_units::{Bytes, Instant, Span};

use crate::Random;
use crate::app::{App, AppIo, AppStream, AppVolume, Ended};
use crate::data::{Data, DataSpec};
use crate::sources::arrival::ArrivalClock;
use cache::PageCache;
use disk::Disk;
use files::Files;
use geometry::Geometry;
use journal::Journal;
use layout::Layout;
use space::Space;
use spec::{BLOCK, OPERATIONS};
use state::{Counters, Event, FileSystem};
use task::{Process, Task};

pub use spec::FileSystemSpec;
use spec::Operation;

impl FileSystemSpec {
    /// The file system at work, its files still to be laid out.
    ///
    /// # Errors
    /// The volume does not hold the files.
    pub(crate) fn build(
        &self,
        volumes: &[AppVolume],
        data: Option<&DataSpec>,
        seed: u64,
    ) -> Result<Box<dyn App>, SpecError> {
        let volume = volumes[0];
        if !u64::from(BLOCK).is_multiple_of(volume.block) {
            let accepted = "expected drives with blocks of at most 4 KiB: the file system has blocks of 4 KiB";
            return Err(SpecError::new(&self.file, "app.volume", Bytes(volume.block).to_string(), accepted));
        }
        let data = data.map_or(Data::INCOMPRESSIBLE, |data| Data::new(data, Random::new(seed, "app.data")));
        Ok(Box::new(FileSystem::new(self, volume.capacity, data, seed)?))
    }
}

impl FileSystem {
    /// A file system on a volume of `capacity` bytes, with its files still to be laid out.
    ///
    /// # Errors
    /// The volume is too small for the files, or its inodes are too few.
    pub fn new(spec: &FileSystemSpec, capacity: u64, data: Data, seed: u64) -> Result<Self, SpecError> {
        let refuse = |key: &str, value: String, accepted: String| SpecError::new(&spec.file, key, value, accepted);
        let geometry = Geometry::new(capacity, spec.bytes_per_inode, spec.journal).ok_or_else(|| {
            let accepted = "expected a volume of at least 128 MiB beside the journal, and below 8 TiB".to_owned();
            refuse("app.volume", Bytes(capacity).to_string(), accepted)
        })?;
        let space = Space::new(&geometry);
        let wanted = Layout::wanted_blocks(spec) * f64::from(BLOCK);
        let free = f64::from(space.free_blocks()) * f64::from(BLOCK);
        if wanted > free {
            let value = format!("{wanted:.0} B of files on {capacity} B");
            return Err(refuse("app.metrics", value, format!("expected files of at most {free:.0} B")));
        }
        let files = Files::new(spec.population, spec.processes, &geometry).map_err(|_| {
            let value = Bytes(u64::from(spec.bytes_per_inode)).to_string();
            refuse("app.bytes_per_inode", value, "too few inodes for the files of a group: expected less".to_owned())
        })?;
        let cache = PageCache::new(geometry.blocks(), spec.cache.size / u64::from(BLOCK));
        let (mix, numbers) = operations(&spec.mix);
        let layout = Layout::new(&geometry, Random::new(seed, "app.layout"));
        let mut file_system = Self {
            geometry,
            space,
            files,
            cache,
            journal: Journal::new(&geometry),
            disk: Disk::default(),
            layout,
            tasks: Vec::new(),
            processes: Vec::new(),
            events: BinaryHeap::new(),
            sequence: 0,
            durable: Vec::new(),
            stalled: VecDeque::new(),
            expired: Instant(0),
            mix,
            numbers,
            ended: Vec::new(),
            counters: Counters::default(),
            scratch: Vec::new(),
            spec: spec.clone(),
            data,
        };
        file_system.add_processes(seed);
        Ok(file_system)
    }

    fn add_processes(&mut self, seed: u64) {
        for number in 0..self.spec.processes {
            let random = Random::new(seed, &format!("app.process[{number}]"));
            let clock = ArrivalClock::new(self.spec.rate, self.spec.arrival, random.clone(), Instant(0));
            let first = self.tasks.len() as u32;
            let idle = (first..first + self.spec.outstanding).rev().collect();
            let (read_at, write_at) = ((files::NONE, 0), (files::NONE, 0));
            self.processes.push(Process { clock, random, idle, late: false, read_at, write_at });
            self.tasks.extend((0..self.spec.outstanding).map(|_| Task {
                process: number,
                operation: Operation::Stat,
                due: Instant(0),
                began: Instant(0),
                file: 0,
                offset: 0,
                len: 0,
                steps: Vec::new(),
                at: 0,
                pending: 0,
            }));
        }
    }

    fn schedule(&mut self, at: Instant, event: Event) {
        self.sequence += 1;
        self.events.push(Reverse((at, self.sequence, event)));
    }

    /// A process's operation is due: an idle task begins it, else the first that becomes idle.
    fn due(&mut self, now: Instant, process: u32) {
        if let Some(task) = self.processes[process as usize].idle.pop() {
            self.begin(now, task);
        } else {
            self.counters.late += 1;
            self.processes[process as usize].late = true;
        }
    }

    /// A task begins the operation that is due, which may have been due earlier.
    fn begin(&mut self, now: Instant, index: u32) {
        let number = self.tasks[index as usize].process;
        let process = &mut self.processes[number as usize];
        let due = process.clock.next();
        process.clock.step();
        process.late = false;
        let next = process.clock.next();
        if next > now {
            self.schedule(next, Event::Due(number));
        } else if let Some(another) = self.processes[number as usize].idle.pop() {
            self.begin(now, another);
        } else {
            self.counters.late += 1;
            self.processes[number as usize].late = true;
        }
        let task = &mut self.tasks[index as usize];
        (task.due, task.began) = (due, now);
        let cpu = self.plan(now, index);
        self.schedule(now + cpu, Event::Ready(index));
    }

    /// A task's operation completes for its caller.
    fn answer(&mut self, now: Instant, index: u32) {
        let task = &self.tasks[index as usize];
        self.counters.operations += 1;
        self.counters.service_ns += now.since(task.began).0;
        let operation = self.numbers[task.operation as usize];
        self.ended.push(Ended { operation, began: task.due, ended: now });
    }

    /// A task has nothing more to do.
    fn rest(&mut self, now: Instant, index: u32) {
        let process = self.tasks[index as usize].process;
        if self.processes[process as usize].late {
            self.begin(now, index);
        } else {
            self.processes[process as usize].idle.push(index);
        }
    }

    /// Work of the background that has become possible.
    fn settle(&mut self, now: Instant) {
        self.write_back(now);
        self.commit(now);
        self.resume(now);
    }
}

/// Cumulative shares of a mix, and the numbers of the operations that it holds.
fn operations(weights: &[f64; 13]) -> ([f64; 13], [u16; 13]) {
    let total: f64 = weights.iter().sum();
    let (mut mix, mut numbers, mut sum, mut next) = ([0.0; 13], [0; 13], 0.0, 0);
    for (_, operation) in OPERATIONS {
        let at = operation as usize;
        sum += weights[at] / total;
        (mix[at], numbers[at]) = (sum, next);
        next += u16::from(weights[at] > 0.0);
    }
    (mix, numbers)
}

impl App for FileSystem {
    fn kind(&self) -> &'static str {
        "filesystem"
    }

    fn streams(&self) -> Vec<AppStream> {
        self.spec.streams()
    }

    fn operations(&self) -> Vec<&'static str> {
        let used = OPERATIONS.iter().filter(|(_, operation)| self.spec.mix[*operation as usize] > 0.0);
        used.map(|(name, _)| *name).collect()
    }

    fn requested_ops_per_s(&self) -> Option<f64> {
        Some(self.spec.rate * f64::from(self.spec.processes))
    }

    fn lay_out_bytes(&self) -> u64 {
        let fixed: u32 = self.geometry.fixed().map(|(_, len)| len).sum();
        let metadata = f64::from(fixed + self.geometry.journal_len);
        ((Layout::wanted_blocks(&self.spec) + metadata) * f64::from(BLOCK)) as u64
    }

    fn lay_out(&mut self, most: usize, out: &mut Vec<(u16, UntimedWrite)>) {
        self.put_files(most, out);
    }

    fn start(&mut self, now: Instant) {
        for number in 0..self.spec.processes {
            let process = &mut self.processes[number as usize];
            // Processes begin at different times within the gap between two operations of each.
            let phase = Span::from_secs_f64(process.random.unit() / self.spec.rate);
            let random = process.random.clone();
            process.clock = ArrivalClock::new(self.spec.rate, self.spec.arrival, random, now + phase);
            process.random = Random::new(process.random.bits(), "operations");
            let next = process.clock.next();
            self.schedule(next, Event::Due(number));
        }
        self.schedule(now + self.spec.cache.interval, Event::Expire);
    }

    fn next_time(&self) -> Option<Instant> {
        self.events.peek().map(|Reverse((at, ..))| *at)
    }

    fn advance(&mut self, now: Instant) {
        while let Some(Reverse((at, _, event))) = self.events.peek().copied() {
            if at > now {
                break;
            }
            self.events.pop();
            match event {
                Event::Due(process) => self.due(at, process),
                Event::Ready(task) => self.run(at, task),
                Event::Commit(number) => self.journal.requested |= number == self.journal.running.number,
                Event::Expire => {
                    let age = self.spec.cache.expire.0;
                    self.expired = Instant(at.0.saturating_sub(age));
                    self.schedule(at + self.spec.cache.interval, Event::Expire);
                }
            }
            self.settle(at);
        }
    }

    fn next_io(&mut self) -> Option<AppIo> {
        self.disk.out.pop_front()
    }

    fn completed(&mut self, now: Instant, token: u32) {
        self.end_io(now, token);
        self.settle(now);
    }

    fn take_ended(&mut self, out: &mut Vec<Ended>) {
        out.append(&mut self.ended);
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let c = &self.counters;
        vec![
            ("cache_hits", c.hits),
            ("cache_misses", c.misses),
            ("evicted_pages", self.cache.evicted),
            ("commits", c.commits),
            ("commit_blocks", c.commit_blocks),
            ("checkpoint_blocks", c.checkpoint_blocks),
            ("writebacks", c.writebacks),
            ("writeback_blocks", c.writeback_blocks),
            ("fsyncs", c.fsyncs),
            ("trims", c.trims),
            ("waits_for_room", c.waits),
            ("out_of_space", c.no_space),
            ("late_operations", c.late),
            ("operations", c.operations),
            ("service_time_ns", c.service_ns),
        ]
    }
}
