//! A volume of which no mechanism is known: a cloud's, an array's, a file behind layers. Values are fitted to what it
//! did (`hotband calibrate --like black-box`); docs/models/data-sheets.md.
//!
//! A command waits in order of arrival for tokens of two buckets (I/Os and bytes) and for one of `slots` places; its
//! service is lognormal around a time of its direction plus its data at a rate, longer by a share for each other that
//! is served then.
//!
//! Leaves out: location and history of data, caches that fill, a command that overtakes another before it
//! is begun, burst credits that are shared by volumes.

mod bucket;
pub mod params;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use hotband_machine::{Command, Counter, Done, Drive, Fault, Op, Random, Times, Versions};
use hotband_units::{Bytes, Instant, Span};

use self::bucket::Bucket;
use self::params::{BLOCK, BlackBoxParams};

/// A command that is served: when it is done, its number, itself and where its time goes.
type Served = Reverse<(Instant, u64, Job)>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Job {
    command: Command,
    times: Times,
    fault: Option<Fault>,
}

impl PartialOrd for Job {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Job {
    fn cmp(&self, _: &Self) -> std::cmp::Ordering {
        // Time and number have told them apart.
        std::cmp::Ordering::Equal
    }
}

/// The drive.
pub struct BlackBox {
    params: BlackBoxParams,
    waiting: VecDeque<(Instant, Command)>,
    served: BinaryHeap<Served>,
    ios: Bucket,
    bytes: Bucket,
    random: Random,
    /// Number of commands begun so far; completions at the same time are in this order.
    begun: u64,
    counts: Counts,
    held: Option<Versions>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    commands: [u64; 2],
    bytes: [u64; 2],
    limited: Span,
}

impl BlackBox {
    /// A volume with its own generator under `seed`.
    pub fn new(params: BlackBoxParams, seed: u64, name: &str) -> Self {
        Self {
            waiting: VecDeque::new(),
            served: BinaryHeap::new(),
            // The one that is let through is of the burst.
            ios: Bucket::new(params.ios.0, params.ios.1 - 1),
            bytes: Bucket::new(params.bytes.0, params.bytes.1),
            random: Random::new(seed, &format!("drives.{name}.service")),
            begun: 0,
            counts: Counts::default(),
            held: None,
            params,
        }
    }

    /// Time when the first waiting command may begin; none if nothing waits or no place is free.
    fn next_begin(&self) -> Option<Instant> {
        let (arrived, command) = self.waiting.front()?;
        if !is_io(command.op) {
            return Some(*arrived);
        }
        let is_full = self.served.len() as u64 >= self.params.slots;
        (!is_full).then(|| self.ios.open_at().max(self.bytes.open_at()).max(*arrived))
    }

    /// Begins the first that waits.
    fn begin(&mut self, now: Instant) {
        let Some((arrived, command)) = self.waiting.pop_front() else { return };
        let queue = now.since(arrived);
        let (mut times, mut fault) = (Times { queue, ..Times::default() }, None);
        if command.offset + u64::from(command.len) > self.params.capacity {
            fault = Some(Fault::OutOfRange);
        } else if is_io(command.op) {
            self.counts.limited += self.limited(arrived, now);
            self.ios.take(now, 1);
            self.bytes.take(now, u64::from(command.len));
            let (overhead, transfer) = self.service(&command);
            times = Times { overhead, transfer, ..times };
        }
        let at = now + (times.total() - queue);
        self.begun += 1;
        self.served.push(Reverse((at, self.begun, Job { command, times, fault })));
    }

    /// Return the part of a command's waiting time in which the buckets were empty.
    fn limited(&self, arrived: Instant, now: Instant) -> Span {
        let open = self.ios.open_at().max(self.bytes.open_at()).min(now);
        if open > arrived { open.since(arrived) } else { Span::ZERO }
    }

    /// Time of the command itself and of its data, both by the same draw.
    fn service(&mut self, command: &Command) -> (Span, Span) {
        let serving = self.params.service[side(command.op)];
        let drawn = if serving.spread > 0.0 { libm::exp(serving.spread * self.random.normal()) } else { 1.0 };
        let factor = drawn * (1.0 + self.params.contention * self.served.len() as f64);
        let data = u64::from(command.len) as f64 / serving.rate.0 as f64 * 1e9;
        (Span((serving.time.0 as f64 * factor) as u64), Span((data * factor) as u64))
    }

    fn end(&mut self, at: Instant, job: Job, done: &mut Vec<Done>) {
        let Job { command, times, fault } = job;
        if fault.is_none() && is_io(command.op) {
            let side = side(command.op);
            self.counts.commands[side] += 1;
            self.counts.bytes[side] += u64::from(command.len);
            if let (Op::Write, Some(held)) = (command.op, &mut self.held) {
                held.set(command.offset..command.offset + u64::from(command.len), command.version);
            }
        }
        let bytes_back = if command.op == Op::Read && fault.is_none() { command.len } else { 0 };
        done.push(Done { token: command.token, at, times, bytes_back, fault });
    }
}

/// Whether tokens and places are taken: a flush and a trim are completed at once.
fn is_io(op: Op) -> bool {
    matches!(op, Op::Read | Op::Write)
}

fn side(op: Op) -> usize {
    usize::from(op == Op::Write)
}

impl Drive for BlackBox {
    fn kind(&self) -> &'static str {
        "black-box"
    }

    fn capacity(&self) -> Bytes {
        Bytes(self.params.capacity)
    }

    fn block(&self) -> Bytes {
        Bytes(BLOCK)
    }

    fn waiting(&self) -> Option<u64> {
        Some((self.waiting.len() + self.served.len()) as u64)
    }

    /// Return false: the server of such a volume does not lose acknowledged writes.
    fn volatile(&self) -> bool {
        false
    }

    fn submit(&mut self, now: Instant, command: Command) {
        self.waiting.push_back((now, command));
    }

    fn wake(&self) -> Option<Instant> {
        let end = self.served.peek().map(|Reverse((at, _, _))| *at);
        [end, self.next_begin()].into_iter().flatten().min()
    }

    fn advance(&mut self, now: Instant, done: &mut Vec<Done>) {
        // What became possible is done at the time at which it did, whenever somebody looks: a command is begun where a
        // place becomes free, in the same order.
        let mut free_at = Instant::ZERO;
        loop {
            let end = self.served.peek().map(|Reverse((at, _, _))| *at);
            let begin = self.next_begin().map(|at| at.max(free_at));
            match (begin, end) {
                (Some(begin), end) if begin <= now && end.is_none_or(|end| begin < end) => self.begin(begin),
                (_, Some(end)) if end <= now => {
                    let Some(Reverse((at, _, job))) = self.served.pop() else { return };
                    free_at = at;
                    self.end(at, job, done);
                }
                _ => return,
            }
        }
    }

    fn counters(&self) -> Vec<Counter> {
        let Counts { commands, bytes, limited } = self.counts;
        vec![
            ("reads", commands[0]),
            ("writes", commands[1]),
            ("read_bytes", bytes[0]),
            ("write_bytes", bytes[1]),
            ("limited_ns", limited.0),
        ]
    }

    fn keep_account(&mut self) {
        self.held = Some(Versions::default());
    }

    fn cut_power(&mut self, now: Instant) -> Versions {
        self.advance(now, &mut Vec::new());
        self.held.take().unwrap_or_default()
    }
}
