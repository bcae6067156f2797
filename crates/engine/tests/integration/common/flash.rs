//! A drive as simple as one that wears can be: every byte written costs two in flash, every command a microsecond.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use hotband_machine::{
    Command, Counter, Done, Drive, Entropy, Machine, MachineParts, MemberRange, NodeRef, Op, Role, Smart, Times,
    UntimedWrite, Versions, Volume,
};
use hotband_units::{Bytes, Instant, Span};

/// Size of the drive.
pub const CAPACITY: u64 = 64 << 20;
/// Time of a command.
pub const COMMAND: Span = Span(1000);

/// What was written to one drive: without timing (and whether before any command), and by commands.
#[derive(Default)]
pub struct Written {
    pub untimed: Vec<UntimedWrite>,
    pub batches: Vec<usize>,
    pub commands: Vec<Command>,
}

pub type Log = Arc<Mutex<Written>>;

pub struct Flash {
    log: Log,
    smart: Smart,
    waiting: VecDeque<(Instant, Instant, Command)>,
}

impl Flash {
    fn write(&mut self, len: u32, entropy: Entropy) {
        self.smart.host_bytes += u64::from(len);
        self.smart.stored_bytes += (f64::from(len) * entropy.share()) as u64;
        self.smart.flash_bytes += 2 * u64::from(len);
        self.smart.erases_mean = self.smart.flash_bytes as f64 / CAPACITY as f64;
        self.smart.percentage_used = self.smart.erases_mean / 10.0;
    }
}

impl Drive for Flash {
    fn kind(&self) -> &'static str {
        "flash"
    }
    fn capacity(&self) -> Bytes {
        Bytes(CAPACITY)
    }
    fn block(&self) -> Bytes {
        Bytes(512)
    }
    fn submit(&mut self, now: Instant, command: Command) {
        let free = self.waiting.back().map_or(now, |(_, at, _)| *at).max(now);
        self.waiting.push_back((now, free + COMMAND, command));
    }
    fn wake(&self) -> Option<Instant> {
        self.waiting.front().map(|(_, at, _)| *at)
    }
    fn advance(&mut self, now: Instant, done: &mut Vec<Done>) {
        while let Some((came, at, command)) = self.waiting.front().copied().filter(|(_, at, _)| *at <= now) {
            self.waiting.pop_front();
            match command.op {
                Op::Write => self.write(command.len, command.entropy),
                Op::Trim => self.smart.trimmed_bytes += u64::from(command.len),
                Op::Read | Op::Flush => {}
            }
            self.log.lock().unwrap().commands.push(command);
            let times = Times { flash: at.since(came), ..Times::default() };
            done.push(Done { token: command.token, at, times, bytes_back: 0, fault: None });
        }
    }
    fn counters(&self) -> Vec<Counter> {
        Vec::new()
    }
    fn write_untimed(&mut self, writes: &[UntimedWrite]) {
        for write in writes {
            if write.trim {
                self.smart.trimmed_bytes += u64::from(write.len);
            } else {
                self.write(write.len, write.entropy);
            }
        }
        let mut log = self.log.lock().unwrap();
        log.untimed.extend_from_slice(writes);
        log.batches.push(writes.len());
    }
    fn smart(&self) -> Option<Smart> {
        Some(self.smart)
    }
    fn keep_account(&mut self) {}
    fn cut_power(&mut self, _: Instant) -> Versions {
        Versions::default()
    }
}

/// A machine of one such drive with these volumes (name, first byte, size), and what is written to it.
pub fn machine(volumes: &[(&str, u64, u64)]) -> (Machine, Log) {
    let log = Log::default();
    let drive = Flash { log: log.clone(), smart: Smart { scale: 1, ..Smart::default() }, waiting: VecDeque::new() };
    let volumes = volumes.iter().map(|&(name, from, size)| Volume {
        name: name.to_owned(),
        node: NodeRef::Drive(0),
        from,
        size,
        queue: None,
    });
    let layouts: Vec<(String, Role, Vec<MemberRange>)> = Vec::new();
    let parts = MachineParts {
        drives: vec![("d0".to_owned(), Box::new(drive))],
        links: Vec::new(),
        link_of: vec![None],
        layouts,
        forces: Vec::new(),
        volumes: volumes.collect(),
        host: None,
    };
    (Machine::new(parts), log)
}

/// The whole drive as one volume.
pub fn whole() -> (Machine, Log) {
    machine(&[("d0", 0, CAPACITY)])
}
