//! Host I/Os and member commands that a service has in flight, in one book.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use hotband_machine::{Fault, MemberCommand, Served, ServiceIo, ServiceOut, Slab, Times};
use hotband_units::{Instant, Span};

/// An I/O of a host.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// I/O as it was submitted.
    pub io: ServiceIo,
    /// When.
    pub since: Instant,
    /// Number of commands, rows and reads ahead that it still waits for.
    pub pending: u32,
    /// Times of the last of these.
    pub times: Times,
    /// First fault of any part.
    pub fault: Option<Fault>,
}

impl Asked {
    /// Return its range.
    pub fn range(&self) -> Range<u64> {
        self.io.offset..self.io.offset + u64::from(self.io.len)
    }
}

/// I/Os by number, commands by token with their purposes, and those to send at the next check.
#[derive(Debug)]
pub struct Pending<P> {
    asked: Slab<Asked>,
    commands: BTreeMap<u64, P>,
    next_token: u64,
    /// Answers to come.
    answers: BTreeSet<(Instant, u32)>,
    out: ServiceOut,
    /// Time of the last call.
    now: Instant,
}

impl<P> Default for Pending<P> {
    fn default() -> Self {
        Self {
            asked: Slab::default(),
            commands: BTreeMap::new(),
            next_token: 0,
            answers: BTreeSet::new(),
            out: ServiceOut::default(),
            now: Instant::ZERO,
        }
    }
}

impl<P> Pending<P> {
    /// Advances the time.
    pub fn tick(&mut self, now: Instant) {
        self.now = now;
    }

    /// Takes an I/O at `now`.
    pub fn ask(&mut self, now: Instant, io: ServiceIo) -> u32 {
        self.now = now;
        self.asked.add(Asked { io, since: now, pending: 0, times: Times::default(), fault: None })
    }

    /// An I/O that is not completed.
    pub fn get(&mut self, number: u32) -> &mut Asked {
        self.asked.get(number)
    }

    /// Sends a command to a member, and assigns its token.
    pub fn send(&mut self, purpose: P, command: MemberCommand) {
        let token = self.keep(purpose);
        self.out.commands.push(MemberCommand { token, ..command });
    }

    /// Like the above, to a member of the layout that is the first member.
    pub fn send_below(&mut self, purpose: P, command: MemberCommand) {
        let token = self.keep(purpose);
        self.out.below.push(MemberCommand { token, ..command });
    }

    fn keep(&mut self, purpose: P) -> u64 {
        let token = self.next_token;
        self.next_token += 1;
        self.commands.insert(token, purpose);
        token
    }

    /// A command is completed at `now`; returns its purpose.
    pub fn answered(&mut self, now: Instant, token: u64) -> P {
        self.now = now;
        self.commands.remove(&token).expect("only what was sent is answered")
    }

    /// Return the purposes of the commands in flight, in the order in which they were sent.
    pub fn purposes(&mut self) -> impl Iterator<Item = &mut P> {
        self.commands.values_mut()
    }

    /// An I/O is completed at `at`.
    pub fn answer_at(&mut self, at: Instant, number: u32) {
        self.answers.insert((at, number));
    }

    /// An I/O is completed. Time that its parts do not account for is waiting.
    pub fn answer(&mut self, now: Instant, number: u32) {
        let Asked { io, since, mut times, fault, .. } = self.asked.take(number);
        times.queue += Span(now.since(since).0 - times.total().0);
        self.out.served.push(Served { token: io.token, times, fault });
    }

    /// Completes the requests due at `now`.
    pub fn answer_due(&mut self, now: Instant) {
        while let Some(&(_, number)) = self.answers.first().filter(|(at, _)| *at <= now) {
            self.answers.pop_first();
            self.answer(now, number);
        }
    }

    /// Time of the next command or completion.
    pub fn wake(&self) -> Option<Instant> {
        let ServiceOut { commands, below, served } = &self.out;
        if !commands.is_empty() || !below.is_empty() || !served.is_empty() {
            return Some(self.now);
        }
        self.answers.first().map(|(at, _)| *at)
    }

    /// Moves the pending commands to `out`.
    pub fn hand_over(&mut self, out: &mut ServiceOut) {
        out.commands.append(&mut self.out.commands);
        out.below.append(&mut self.out.below);
        out.served.append(&mut self.out.served);
    }
}
