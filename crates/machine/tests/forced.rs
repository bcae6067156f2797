//! How is a write forced on a drive that gets no FUA, and does the host wait for both of its commands?

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use hotband_machine::{
    Command, Completion, Counter, Done, Drive, Entropy, Event, Expected, Fault, Io, Machine, MachineParts, NodeRef, Op,
    Part, RepairSpec, Times, Versions, Volume, What,
};
use hotband_units::{Bytes, Instant, Span};

const SECOND: u64 = 1_000_000_000;

/// What a drive was sent: operation, offset, whether with FUA.
type Sent = Arc<Mutex<Vec<(Op, u64, bool)>>>;

/// Answers every command after a second.
struct Slow {
    under_way: VecDeque<(Instant, Command)>,
    sent: Sent,
    volatile: bool,
    forces_by_flush: bool,
}

impl Drive for Slow {
    fn kind(&self) -> &'static str {
        "slow"
    }

    fn capacity(&self) -> Bytes {
        Bytes(1 << 20)
    }

    fn block(&self) -> Bytes {
        Bytes(512)
    }

    fn volatile(&self) -> bool {
        self.volatile
    }

    fn forces_by_flush(&self) -> bool {
        self.forces_by_flush
    }

    fn submit(&mut self, now: Instant, command: Command) {
        self.sent.lock().expect("no test panics in a drive").push((command.op, command.offset, command.fua));
        self.under_way.push_back((now + Span(SECOND), command));
    }

    fn wake(&self) -> Option<Instant> {
        self.under_way.front().map(|(at, _)| *at)
    }

    fn advance(&mut self, now: Instant, done: &mut Vec<Done>) {
        while let Some(&(at, command)) = self.under_way.front().filter(|(at, _)| *at <= now) {
            self.under_way.pop_front();
            let times = if command.op == Op::Flush {
                Times { overhead: Span(SECOND), ..Times::default() }
            } else {
                Times { transfer: Span(SECOND), ..Times::default() }
            };
            done.push(Done { token: command.token, at, times, bytes_back: 0, fault: None });
        }
    }

    fn counters(&self) -> Vec<Counter> {
        Vec::new()
    }

    fn keep_account(&mut self) {}

    fn cut_power(&mut self, _: Instant) -> Versions {
        Versions::default()
    }
}

/// A machine of one such drive, and what it is sent.
fn machine(volatile: bool, forces_by_flush: bool) -> (Machine, Sent) {
    let sent = Sent::default();
    let drive = Slow { under_way: VecDeque::new(), sent: Arc::clone(&sent), volatile, forces_by_flush };
    let mut machine = Machine::new(MachineParts {
        drives: vec![("d0".to_owned(), Box::new(drive))],
        links: Vec::new(),
        link_of: vec![None],
        layouts: Vec::new(),
        forces: Vec::new(),
        volumes: vec![Volume { name: "v0".to_owned(), node: NodeRef::Drive(0), from: 0, size: 1 << 20, queue: None }],
        host: None,
    });
    let expected = Expected { repair: Some(RepairSpec::default()), ..Expected::default() };
    machine.expect(expected).expect("no daemon goes out");
    (machine, sent)
}

fn force(machine: &mut Machine, at: u64, offset: u64) {
    let (op, entropy) = (Op::Write, Entropy::INCOMPRESSIBLE);
    machine.submit(Instant(at), Io { tag: offset, op, volume: 0, offset, len: 512, fua: true, version: 0, entropy });
}

fn run_to(machine: &mut Machine, at: u64) -> Vec<Completion> {
    let mut completions = Vec::new();
    machine.advance(Instant(at), &mut completions);
    completions
}

#[test]
fn a_drive_that_takes_fua_gets_it() {
    let (mut machine, sent) = machine(true, false);
    force(&mut machine, 0, 512);
    assert_eq!(run_to(&mut machine, SECOND).len(), 1);
    assert_eq!(*sent.lock().unwrap(), [(Op::Write, 512, true)]);
}

#[test]
fn one_that_takes_none_gets_a_flush_once_the_write_is_acknowledged() {
    let (mut machine, sent) = machine(true, true);
    force(&mut machine, 0, 512);
    assert_eq!(run_to(&mut machine, SECOND - 1), []);
    assert_eq!(*sent.lock().unwrap(), [(Op::Write, 512, false)]);
    assert_eq!(run_to(&mut machine, 2 * SECOND - 1), []);
    assert_eq!(*sent.lock().unwrap(), [(Op::Write, 512, false), (Op::Flush, 512, false)]);
    let done = run_to(&mut machine, 2 * SECOND);
    assert_eq!((done.len(), done[0].tag, done[0].at, done[0].fault), (1, 512, Instant(2 * SECOND), None));
    let times = Times { transfer: Span(SECOND), overhead: Span(SECOND), ..Times::default() };
    assert_eq!(done[0].times, times, "of the write and of the flush");
}

#[test]
fn without_a_volatile_cache_there_is_nothing_to_flush() {
    let (mut machine, sent) = machine(false, true);
    force(&mut machine, 0, 512);
    assert_eq!(run_to(&mut machine, SECOND).len(), 1);
    assert_eq!(*sent.lock().unwrap(), [(Op::Write, 512, false)]);
}

#[test]
fn several_at_once_each_wait_for_their_own_flush() {
    let (mut machine, sent) = machine(true, true);
    for (at, offset) in [(0, 0), (SECOND / 2, 512), (SECOND / 2, 1024)] {
        force(&mut machine, at, offset);
    }
    let done = run_to(&mut machine, 10 * SECOND);
    let ends: Vec<(u64, u64)> = done.iter().map(|done| (done.tag, done.at.0)).collect();
    assert_eq!(ends, [(0, 2 * SECOND), (512, 5 * SECOND / 2), (1024, 5 * SECOND / 2)]);
    assert_eq!(sent.lock().unwrap().len(), 6);
}

#[test]
fn a_drive_that_fails_meanwhile_ends_it_with_a_fault_and_gets_no_flush() {
    for (fails, commands) in [(SECOND / 2, 1), (3 * SECOND / 2, 2)] {
        let (mut machine, sent) = machine(true, true);
        machine.events().schedule(Event { at: Instant(fails), part: Part::Drive(0), what: What::Fail }).unwrap();
        force(&mut machine, 0, 512);
        let done = run_to(&mut machine, 10 * SECOND);
        assert_eq!((done.len(), done[0].at, done[0].fault), (1, Instant(fails), Some(Fault::Gone)));
        assert_eq!(sent.lock().unwrap().len(), commands);
    }
}
