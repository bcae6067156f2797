//! Does what happens to parts come when it is to come, before or after what else is due, and is the rest refused?

use std::collections::VecDeque;

use hotband_machine::{
    Command, Completion, Counter, Done, Drive, Entropy, Event, EventError, Expected, Fault, Io, Machine, MachineParts,
    NodeRef, Op, Part, RepairSpec, SetError, Times, Versions, Volume, What,
};
use hotband_units::{Bytes, Instant, Span};

const SECOND: u64 = 1_000_000_000;

/// Answers every command after a second; holds what was answered.
#[derive(Default)]
struct Slow {
    under_way: VecDeque<(Instant, Command)>,
    held: Versions,
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

    fn submit(&mut self, now: Instant, command: Command) {
        self.under_way.push_back((now + Span(SECOND), command));
    }

    fn wake(&self) -> Option<Instant> {
        self.under_way.front().map(|(at, _)| *at)
    }

    fn advance(&mut self, now: Instant, done: &mut Vec<Done>) {
        while let Some(&(at, command)) = self.under_way.front().filter(|(at, _)| *at <= now) {
            self.under_way.pop_front();
            self.held.set(command.offset..command.offset + u64::from(command.len), command.version);
            let times = Times { queue: Span(SECOND), ..Times::default() };
            done.push(Done { token: command.token, at, times, bytes_back: 0, fault: None });
        }
    }

    fn counters(&self) -> Vec<Counter> {
        Vec::new()
    }

    fn keep_account(&mut self) {}

    fn cut_power(&mut self, _: Instant) -> Versions {
        std::mem::take(&mut self.held)
    }
}

/// Two such drives, a volume on each.
fn machine(expected: Expected) -> Machine {
    let drive = |name: &str| -> (String, Box<dyn Drive>) { (name.to_owned(), Box::new(Slow::default())) };
    let volume = |index: u32| {
        let (name, node) = (format!("v{index}"), NodeRef::Drive(index));
        Volume { name, node, from: 0, size: 1 << 20, queue: None }
    };
    let mut machine = Machine::new(MachineParts {
        drives: vec![drive("d0"), drive("d1")],
        links: Vec::new(),
        link_of: vec![None, None],
        layouts: Vec::new(),
        forces: Vec::new(),
        volumes: vec![volume(0), volume(1)],
        host: None,
    });
    machine.expect(expected).expect("no daemon goes out");
    machine
}

fn both() -> Expected {
    Expected { repair: Some(RepairSpec::default()), accounts: true, ..Expected::default() }
}

fn schedule(machine: &mut Machine, at: u64, part: Part, what: What) -> Result<(), EventError> {
    machine.events().schedule(Event { at: Instant(at), part, what })
}

fn write(machine: &mut Machine, at: u64, volume: u16) {
    let (op, entropy) = (Op::Write, Entropy::INCOMPRESSIBLE);
    let io = Io { tag: u64::from(volume), op, volume, offset: 0, len: 512, fua: false, version: 1, entropy };
    machine.submit(Instant(at), io);
}

fn run_to(machine: &mut Machine, at: u64) -> Vec<Completion> {
    let mut completions = Vec::new();
    machine.advance(Instant(at), &mut completions);
    completions
}

#[test]
fn a_drive_fails_after_what_it_answers_at_that_time() {
    let mut machine = machine(both());
    schedule(&mut machine, SECOND, Part::Drive(0), What::Fail).unwrap();
    write(&mut machine, 0, 0);
    let answered = run_to(&mut machine, SECOND);
    assert_eq!((answered.len(), answered[0].fault), (1, None));
    assert_eq!(machine.drives().get(0).failed_at, Some(Instant(SECOND)));
    write(&mut machine, SECOND, 0);
    let refused = run_to(&mut machine, 2 * SECOND);
    assert_eq!((refused.len(), refused[0].fault), (1, Some(Fault::Gone)));
    assert!(refused[0].at < Instant(2 * SECOND), "it is told soon");
    assert_eq!(refused[0].times.total(), refused[0].at.since(refused[0].submitted), "the times add up");
}

#[test]
fn power_goes_off_before_what_is_due_at_that_time_and_nothing_is_due_after() {
    let mut machine = machine(both());
    write(&mut machine, 0, 0);
    schedule(&mut machine, SECOND, Part::Machine, What::PowerOff).unwrap();
    assert_eq!(run_to(&mut machine, SECOND), []);
    assert_eq!(machine.wake(), None);
    assert!(machine.drives().iter().all(|drive| drive.left.is_some_and(|left| left.iter().count() == 0)));
}

#[test]
fn what_has_not_happened_can_be_taken_back() {
    let mut machine = machine(both());
    schedule(&mut machine, 3 * SECOND, Part::Machine, What::PowerOff).unwrap();
    schedule(&mut machine, SECOND, Part::Drive(0), What::Fail).unwrap();
    schedule(&mut machine, 2 * SECOND, Part::Drive(1), What::Fail).unwrap();
    assert_eq!(run_to(&mut machine, SECOND), []);
    let left: Vec<_> = machine.events().take_back().into_iter().map(|event| (event.at.0, event.part)).collect();
    assert_eq!(left, [(2 * SECOND, Part::Drive(1)), (3 * SECOND, Part::Machine)]);
    assert_eq!(machine.events().take_back().len(), 0);
    // An I/O is answered, and later no power is lost.
    write(&mut machine, 4 * SECOND, 1);
    assert_eq!(run_to(&mut machine, 5 * SECOND).len(), 1);
    let failed: Vec<bool> = machine.drives().iter().map(|drive| drive.failed_at.is_some()).collect();
    assert_eq!(failed, [true, false]);
}

#[test]
fn a_drive_that_failed_has_nothing_left_when_power_goes_off() {
    let mut machine = machine(both());
    schedule(&mut machine, SECOND, Part::Drive(0), What::Fail).unwrap();
    schedule(&mut machine, 2 * SECOND, Part::Machine, What::PowerOff).unwrap();
    (0..2).for_each(|volume| write(&mut machine, 0, volume));
    assert_eq!(run_to(&mut machine, 2 * SECOND).len(), 2);
    let left: Vec<usize> = machine.drives().iter().map(|drive| drive.left.unwrap().iter().count()).collect();
    assert_eq!(left, [0, 1]);
}

#[test]
fn what_was_not_expected_or_happens_to_no_such_part_is_refused() {
    let mut machine = machine(Expected::default());
    let mut error = |part, what| schedule(&mut machine, 0, part, what).unwrap_err();
    assert_eq!(error(Part::Drive(0), What::Fail), EventError::NotExpected { what: "fail" });
    assert_eq!(error(Part::Machine, What::PowerOff), EventError::NotExpected { what: "power-off" });
    assert_eq!(error(Part::Drive(2), What::Fail), EventError::UnknownPart);
    assert_eq!(error(Part::Daemon { layout: 0, daemon: 0 }, What::Out), EventError::UnknownPart);
    assert_eq!(error(Part::Drive(0), What::PowerOff), EventError::Unsupported { what: "power-off", part: "drive" });
    let set = What::Set { key: "wce".to_owned(), value: "off".to_owned() };
    let EventError::Setting(SetError { key, accepted, .. }) = error(Part::Drive(0), set) else { panic!("not refused") };
    assert_eq!((key.as_str(), accepted.as_str()), ("wce", "no value of this drive changes while it runs"));
}
