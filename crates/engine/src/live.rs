//! A run whose I/Os come from outside: programs issue them, and the server supplies the time.
//!
//! It is made of a [`Run`] whose load is `clients`, and leaves the same record. The caller says when each I/O was
//! requested and how late it is; nothing here looks at a clock, so the same calls leave the same record.

use hotband_machine::{Completion, Entropy, Io, Machine, Op, Volume};
use hotband_units::Instant;

use crate::control::RunError;
use crate::drive::in_flight::{InFlight, Outstanding};
use crate::events::{missed_note, take_back};
use crate::outcome::Outcome;
use crate::probes::power_loss::{Held, HeldSink};
use crate::probes::steps::StepEnd;
use crate::probes::{Answered, Findings, Probes, RunEnd};
use crate::record::closing::Closing;
use crate::record::sections::Sections;

/// An I/O that a program requests.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// Index of the volume.
    pub volume: u16,
    /// Requested operation.
    pub op: Op,
    /// First byte, relative to the volume.
    pub offset: u64,
    /// Length in bytes; zero for a flush.
    pub len: u32,
    /// Force unit access.
    pub fua: bool,
    /// Compressibility of the data of a write.
    pub entropy: Entropy,
}

/// A machine that completes I/Os of callers, who also supply the time.
pub struct Live {
    machine: Machine,
    probes: Probes,
    names: Vec<String>,
    /// The stream of each volume.
    streams: Vec<u16>,
    in_flight: InFlight,
    /// Tokens of the I/Os, by tag.
    tokens: Vec<u64>,
    completions: Vec<Completion>,
    now: Instant,
    ios: u64,
    /// Time when power goes off.
    cut: Instant,
    held: Option<HeldSink>,
    closing: Closing,
}

impl Live {
    /// Create a live machine whose measured time begins at `now`, and whose power goes off at `cut`.
    pub(crate) fn new(
        machine: Machine,
        probes: Probes,
        (now, cut): (Instant, Instant),
        (names, streams): (Vec<String>, Vec<u16>),
        (closing, held): (Closing, Option<HeldSink>),
    ) -> Self {
        Self {
            machine,
            probes,
            names,
            streams,
            in_flight: InFlight::default(),
            tokens: Vec::new(),
            completions: Vec::new(),
            now,
            ios: 0,
            cut,
            held,
            closing,
        }
    }

    /// Return the volumes that programs may address.
    pub fn volumes(&self) -> &[Volume] {
        self.machine.volumes()
    }

    /// Return the name under which the machine was requested.
    pub fn name(&self) -> &str {
        &self.closing.request.machine
    }

    /// The machine, to look at.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Return its current time.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Reads, writes, flushes and trims that were completed.
    pub fn ios(&self) -> u64 {
        self.ios
    }

    /// Time when it next has something to do.
    pub fn wake(&self) -> Option<Instant> {
        let next = self.machine.wake();
        if self.cut == Instant::NEVER { next } else { Some(next.map_or(self.cut, |next| next.min(self.cut))) }
    }

    /// Whether its power is to go off.
    pub fn may_be_cut(&self) -> bool {
        self.cut < Instant::NEVER
    }

    /// Whether its power went off: nothing completes any more.
    pub fn is_cut(&self) -> bool {
        self.now >= self.cut
    }

    /// Takes an I/O that was requested at `at`, or now if the machine is past that time; `token` comes back with its
    /// completion. Returns the number of a write if power may go off, else zero.
    ///
    /// # Panics
    /// If the range ends beyond the volume: the server checks that.
    pub fn submit(&mut self, at: Instant, request: &Asked, token: u64) -> u64 {
        self.now = self.now.max(at);
        self.probes.tick(self.now, &self.machine);
        let Asked { volume, op, offset, len, fua, entropy } = *request;
        let (source, number, stream) = (0, 0, self.streams[usize::from(volume)]);
        let tag = self.in_flight.add(Outstanding { stream, op, offset, len, source, token: number });
        if self.tokens.len() <= tag as usize {
            self.tokens.resize(tag as usize + 1, 0);
        }
        self.tokens[tag as usize] = token;
        let mut io = Io { tag, op, volume, offset, len, fua, version: 0, entropy };
        self.probes.submitted(self.now, stream, op);
        if self.probes.want_ios() {
            self.probes.tell_submitted(&self.machine, stream, &mut io);
        }
        self.machine.submit(self.now, io);
        io.version
    }

    /// Does everything that is due up to `now`; appends the completions, with token and operation.
    pub fn advance(&mut self, now: Instant, answered: &mut Vec<(u64, Op, Completion)>) {
        while let Some(next) = self.machine.wake().filter(|next| *next <= now && *next < self.cut) {
            self.now = self.now.max(next);
            self.probes.tick(self.now, &self.machine);
            self.machine.advance(next, &mut self.completions);
            self.probes.advanced(next, &self.machine);
            for done in std::mem::take(&mut self.completions) {
                let io = self.in_flight.take(done.tag);
                let Outstanding { stream, op, offset, len, .. } = io;
                self.probes.completed(&Answered { stream, op, offset, len, done: &done });
                self.ios += 1;
                answered.push((self.tokens[done.tag as usize], op, done));
            }
        }
        self.now = self.now.max(now.min(self.cut));
        self.probes.tick(self.now, &self.machine);
    }

    /// Check the probes for an error so far, such as an I/O log that cannot be written.
    ///
    /// # Errors
    /// That.
    pub fn check(&mut self) -> Result<(), RunError> {
        self.probes.check()
    }

    /// Ends the run: returns the record, with the caller's own findings. I/Os that are outstanding are left out
    /// of it. If power went off, `held` returns what the drives hold of every written range.
    ///
    /// # Errors
    /// What went wrong with what watches it.
    pub fn finish(mut self, served: Findings) -> Result<(Outcome, Vec<Held>), RunError> {
        let name = self.closing.workload.phases.iter().find(|phase| phase.measure);
        let name = name.map(|phase| phase.name.clone()).unwrap_or_default();
        let step = StepEnd { name, threads: None, clients: None, sections: Sections::default() };
        let duration = self.probes.end(step, self.now, &self.machine, Vec::new());
        let Self { mut machine, probes, names, now, ios, closing, held, .. } = self;
        let missed = take_back(&mut machine, now);
        let served = served.with_notes(missed_note(&missed, &machine));
        let watched =
            probes.finish(&mut RunEnd { machine: &mut machine, now, duration, streams: &names, served: 0 })?;
        let (record, tables) = closing.record(duration, served, watched, &|| Ok(()))?;
        let held = held.map(|held| std::mem::take(&mut *held.lock().expect("nobody panics with it")));
        Ok((Outcome { record, tables, ios }, held.unwrap_or_default()))
    }
}
