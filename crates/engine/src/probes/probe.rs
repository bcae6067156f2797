//! Trait of a probe: it receives what happens, and leaves sections of the record, tables and notes.

use hotband_machine::{Completion, Io, Machine, Op};
use hotband_units::{Instant, Span};

use crate::control::RunError;
use crate::probes::table::{Table, Tables};
use crate::record::sections::{Section, Sections};

/// An I/O that was completed.
pub struct Answered<'a> {
    pub stream: u16,
    pub op: Op,
    pub offset: u64,
    pub len: u32,
    /// When, and how.
    pub done: &'a Completion,
}

impl Answered<'_> {
    /// Whether it is a read or a write that did not fail.
    pub fn is_served(&self) -> bool {
        self.done.fault.is_none() && matches!(self.op, Op::Read | Op::Write)
    }
}

/// An interval of the measured time.
#[derive(Clone, Copy, Debug)]
pub struct Interval {
    /// Its beginning, since the measured time began.
    pub time_ns: u64,
    pub begin: Instant,
    pub end: Instant,
}

impl Interval {
    pub fn length(&self) -> Span {
        self.end.since(self.begin)
    }
}

/// State of a run when it ends.
pub struct RunEnd<'a> {
    pub machine: &'a mut Machine,
    pub now: Instant,
    /// The measured time, in all.
    pub duration: Span,
    /// Names of the streams.
    pub streams: &'a [String],
    /// Reads and writes served in the measured time.
    pub served: u64,
}

/// Findings of a probe or a source.
#[derive(Debug, Default)]
pub struct Findings {
    /// Keys of the record.
    pub sections: Sections,
    /// Keys of single parts of the record: by id of the part.
    pub of_parts: Vec<(String, Sections)>,
    /// Tables in addition to the record.
    pub tables: Tables,
    /// Notes for readers of the record.
    pub notes: Vec<String>,
}

impl Findings {
    /// Adds a section.
    #[must_use]
    pub fn with(mut self, key: &'static str, section: impl Section) -> Self {
        self.sections.add(key, section);
        self
    }

    /// Adds a table unless it is empty.
    #[must_use]
    pub fn with_table(mut self, table: Table) -> Self {
        if !table.is_empty() {
            self.tables.add(table);
        }
        self
    }

    /// Adds notes.
    #[must_use]
    pub fn with_notes(mut self, notes: impl IntoIterator<Item = String>) -> Self {
        self.notes.extend(notes);
        self
    }

    /// Adds the findings of another probe.
    pub fn extend(&mut self, other: Self) {
        let Self { sections, of_parts, tables, notes } = other;
        self.sections.extend(sections);
        self.of_parts.extend(of_parts);
        self.tables.extend(tables);
        self.notes.extend(notes);
    }
}

/// An observer of a run. Every call has a default that does nothing: a probe overrides those it needs.
pub trait Probe: Send {
    /// Whether `submitted`, `advanced` and `io` are called. Runs in which no probe wants them pay one test an I/O.
    fn wants_ios(&self) -> bool {
        false
    }

    /// The run begins: all drives are new.
    fn start(&mut self, machine: &Machine) {
        let _ = machine;
    }

    /// Something was done to the drives in no time: they were filled, or files laid out.
    fn untimed(&mut self, now: Instant, machine: &Machine) {
        let _ = (now, machine);
    }

    /// A measured phase begins.
    fn begin(&mut self, now: Instant, machine: &Machine) {
        let _ = (now, machine);
    }

    /// An I/O of `stream` is about to be submitted.
    fn submitted(&mut self, machine: &Machine, stream: u16, io: &mut Io) {
        let _ = (machine, stream, io);
    }

    /// The machine has advanced to `now`; its completions follow as calls of `io`.
    fn advanced(&mut self, now: Instant, machine: &Machine) {
        let _ = (now, machine);
    }

    /// An I/O was completed.
    fn io(&mut self, io: &Answered) {
        let _ = io;
    }

    /// An interval of a measured phase is over; nothing happened since its end.
    fn interval(&mut self, interval: &Interval, machine: &Machine) {
        let _ = (interval, machine);
    }

    /// When it wants to read the machine by a clock of its own, measured or not.
    fn next_reading(&self) -> Instant {
        Instant::NEVER
    }

    /// That time has come; nothing happened since.
    fn read(&mut self, machine: &Machine) {
        let _ = machine;
    }

    /// A measured phase ends, after its last interval.
    fn end_step(&mut self, now: Instant, machine: &Machine) {
        let _ = (now, machine);
    }

    /// Check for an error so far; called now and then, not per I/O.
    ///
    /// # Errors
    /// What went wrong.
    fn check(&mut self) -> Result<(), RunError> {
        Ok(())
    }

    /// The run is over: what it leaves.
    ///
    /// # Errors
    /// What went wrong.
    fn end(self: Box<Self>, run: &mut RunEnd) -> Result<Findings, RunError>;
}
