//! The host's way to its drives: what submitting an I/O and taking its answer cost a core.
//!
//! A core does one thing at a time, first come, first served; an I/O is answered on the core that submitted it, as with
//! a queue pair and an interrupt vector for each core (NVMe). Leaves out: the application's own time, context
//! switches, answers taken several at once (coalescing), interrupts that go before what waits, memory of another
//! socket, and polling, which keeps a core busy when there is nothing to do. docs/models/host.md.

use std::collections::VecDeque;

use hotband_units::{Instant, Span};

use crate::drive::PartReport;
use crate::graph::Machine;
use crate::graph::executor::End;
use crate::graph::host_queue::HostQueue;
use crate::graph::origin::{Access, Origin};
use crate::graph::queue::Class;
use crate::graph::slab::Slab;
use crate::io::{Completion, Fault, Io, Times};
use crate::repair::agenda::Due;
use crate::spec::error::SpecError;
use crate::spec::reader::Section;

/// How I/Os are dealt to cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// One after the other: as many jobs as cores, all alike.
    InTurn,
    /// All I/Os of a volume on one core: a job a volume, each kept on a core. Volumes take cores in turn.
    ByVolume,
}

/// `[host]` of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostSpec {
    /// Cores that submit I/Os and take answers.
    pub cores: u32,
    /// Time of a core to submit an I/O: system call, block layer, driver, doorbell.
    pub submit: Span,
    /// Time of a core to take an answer: interrupt or poll, block layer, waking up whoever waits.
    pub complete: Span,
    /// How I/Os are dealt to cores.
    pub spread: Spread,
}

/// Times of a core for an I/O, by the path that it takes: submit, complete. Sums of a core are from published rates of
/// one core, recalled and not read again (docs/models/host.md has the ranges); how a sum divides is our estimate.
const PATHS: [(&str, (Span, Span)); 4] = [
    // 1.0 to 1.7 us: fio's libaio engine with interrupts, J. Axboe's figures of one core, 2019 to 2022.
    ("libaio", (Span(600), Span(800))),
    // 0.8 to 1.2 us: io_uring with interrupts, the same.
    ("io_uring", (Span(400), Span(600))),
    // 0.075 to 0.3 us: io_uring, polled, fixed buffers, in batches: 3.5 to 13 M IOPS a core, the same.
    ("polled", (Span(100), Span(100))),
    // 0.08 to 0.12 us: SPDK's performance reports, some 10 M IOPS a core.
    ("spdk", (Span(50), Span(50))),
];

/// Longest time that is taken for one of a core: a second would be a drive's.
const LONGEST: Span = Span(10_000_000);

/// Reads `[host]`, if there is one.
///
/// # Errors
/// No cores, neither a path nor both times, a value out of range.
pub(crate) fn read_host(top: &Section) -> Result<Option<HostSpec>, SpecError> {
    let Some(section) = top.section("host")? else { return Ok(None) };
    let cores = section.count("cores", 1..=1024)?;
    let cores = cores.ok_or_else(|| section.error("cores", "", "missing: expected a whole number from 1 to 1024"))?;
    let path = section.choice("path", &PATHS)?;
    let (submit, complete) = (section.quantity::<Span>("submit")?, section.quantity::<Span>("complete")?);
    let of_path = |own: Option<Span>, key: &str, part: Option<Span>| {
        let time = own.or(part).ok_or_else(|| {
            let paths: Vec<&str> = PATHS.iter().map(|(name, _)| *name).collect();
            section.error(key, "", format!("missing: expected a time, or path = one of {}", paths.join(", ")))
        })?;
        if time > LONGEST {
            return Err(section.error(key, time.to_string(), format!("expected at most {LONGEST}")));
        }
        Ok(time)
    };
    let submit = of_path(submit, "submit", path.map(|(submit, _)| submit))?;
    let complete = of_path(complete, "complete", path.map(|(_, complete)| complete))?;
    let spreads = [("in-turn", Spread::InTurn), ("by-volume", Spread::ByVolume)];
    let spread = section.choice("spread", &spreads)?.unwrap_or(Spread::InTurn);
    section.finish()?;
    Ok(Some(HostSpec { cores: cores as u32, submit, complete, spread }))
}

/// What a core does for one I/O.
#[derive(Clone, Copy, Debug)]
struct Work {
    io: Io,
    core: u32,
    /// When the I/O came to the host.
    submitted: Instant,
    /// Since when it waits for its core, or has it.
    since: Instant,
    /// How it was answered, once it was; before that, where the time in the host went.
    times: Times,
    fault: Option<Fault>,
    is_answered: bool,
}

/// One core: the work that waits for it, the first of which it does.
#[derive(Clone, Debug, Default)]
struct Core {
    waiting: VecDeque<u32>,
    busy: Span,
    ios: u64,
}

/// The cores of a machine's host.
pub(crate) struct Host {
    spec: HostSpec,
    cores: Vec<Core>,
    /// I/Os so far.
    turn: u64,
    work: Slab<Work>,
}

impl Host {
    pub fn new(spec: HostSpec) -> Self {
        Self { spec, cores: vec![Core::default(); spec.cores as usize], turn: 0, work: Slab::default() }
    }

    fn core_of(&mut self, io: &Io) -> u32 {
        let turn = match self.spec.spread {
            Spread::InTurn => self.turn,
            Spread::ByVolume => u64::from(io.volume),
        };
        self.turn += 1;
        (turn % u64::from(self.spec.cores)) as u32
    }

    fn cost(&self, work: &Work) -> Span {
        if work.is_answered { self.spec.complete } else { self.spec.submit }
    }

    /// Work for its core; when it will be done, where the core has nothing else to do.
    fn ask(&mut self, now: Instant, number: u32) -> Option<Instant> {
        let work = *self.work.get(number);
        let core = &mut self.cores[work.core as usize];
        core.waiting.push_back(number);
        let is_free = core.waiting.len() == 1;
        is_free.then(|| now + self.cost(&work))
    }

    /// The core has done its first work: which that was, and what it does next, until when.
    fn done(&mut self, now: Instant, core: u32) -> (u32, Option<Instant>) {
        let number = self.cores[core as usize].waiting.pop_front().expect("a core ends what it has begun");
        let mut work = *self.work.get(number);
        let cost = self.cost(&work);
        work.times.overhead += cost;
        work.times.queue += Span(now.since(work.since).0 - cost.0);
        *self.work.get(number) = work;
        let core = &mut self.cores[core as usize];
        core.busy += cost;
        core.ios += u64::from(work.is_answered);
        let next = core.waiting.front().copied();
        let next = next.map(|next| *self.work.get(next));
        (number, next.map(|next| now + self.cost(&next)))
    }

    /// Counters of the cores.
    pub fn report(&self) -> impl Iterator<Item = PartReport> {
        self.cores.iter().enumerate().map(|(number, core)| PartReport {
            id: format!("core{number}"),
            kind: "core",
            counters: vec![("busy_ns", core.busy.0), ("ios", core.ios)],
            at_end: Vec::new(),
        })
    }

    /// The host's own tag of an I/O.
    pub fn tag(&mut self, number: u32) -> u64 {
        self.work.get(number).io.tag
    }
}

impl Machine {
    /// Takes an I/O where the host has cores or limits what is outstanding. Out of line: others do not pay for it.
    #[inline(never)]
    pub(crate) fn submit_by_host(&mut self, now: Instant, io: Io) {
        let Some(host) = &mut self.host else {
            if self.admits(now, io) {
                self.leave_host(now, io, now);
            }
            return;
        };
        let core = host.core_of(&io);
        let (times, fault) = (Times::default(), None);
        let work = Work { io, core, submitted: now, since: now, times, fault, is_answered: false };
        let number = host.work.add(work);
        self.ask_core(now, number);
    }

    fn admits(&mut self, now: Instant, io: Io) -> bool {
        self.host_queues[usize::from(io.volume)].as_mut().is_none_or(|queue| queue.admits(now, io))
    }

    fn cores(&mut self) -> &mut Host {
        self.host.as_mut().expect("only a host with cores has work for them")
    }

    fn ask_core(&mut self, now: Instant, number: u32) {
        let host = self.cores();
        let core = host.work.get(number).core;
        if let Some(at) = host.ask(now, number) {
            self.post(Class::Usual, at, Due::Core(core));
        }
    }

    /// A core has done what it did: the I/O goes to the drives, or to who asked for it.
    pub(crate) fn run_core(&mut self, at: Instant, core: u32, completions: &mut Vec<Completion>) {
        let host = self.cores();
        let (number, next) = host.done(at, core);
        let work = *host.work.get(number);
        if work.is_answered {
            host.work.take(number);
        }
        if let Some(next) = next {
            self.post(Class::Usual, next, Due::Core(core));
        }
        let Work { io, submitted, times, fault, .. } = work;
        if work.is_answered {
            return completions.push(Completion { tag: io.tag, submitted, at, times, fault });
        }
        let io = Io { tag: u64::from(number), ..io };
        if self.admits(at, io) {
            self.leave_core(at, io, at);
        }
    }

    /// Starts an I/O that a core has submitted, and which has waited for the volume's queue since `since`.
    fn leave_core(&mut self, now: Instant, io: Io, since: Instant) {
        let Io { tag, op, volume, offset, len, fua, version, entropy } = io;
        let on = &self.volumes[usize::from(volume)];
        let (node, offset) = (on.node, on.from + offset);
        self.cores().work.get(tag as u32).times.queue += now.since(since);
        let id = self.requests.take(Origin::Core { work: tag as u32 });
        self.route(now, id, node, Access { op, offset, len, fua, version, entropy });
    }

    /// The drives have answered an I/O: its core takes the answer, and the next one that waits for the volume's queue
    /// goes on.
    #[inline(never)]
    pub(crate) fn answer_core(&mut self, at: Instant, number: u32, (times, fault): End) {
        let work = self.cores().work.get(number);
        work.times = work.times.then(&times);
        (work.fault, work.since, work.is_answered) = (fault, at, true);
        let volume = work.io.volume;
        self.ask_core(at, number);
        let queue = self.host_queues[usize::from(volume)].as_mut();
        if let Some((since, io)) = queue.and_then(HostQueue::answered) {
            self.leave_core(at, io, since);
        }
    }
}
