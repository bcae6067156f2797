//! Events: what happens to a part of a machine at a given time.

use hotband_units::Instant;
use thiserror::Error;

/// Something that happens to a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub at: Instant,
    /// To what.
    pub part: Part,
    /// Action.
    pub what: What,
}

/// Part that an event affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// The whole machine.
    Machine,
    /// A drive, by index.
    Drive(u32),
    /// A daemon of a pool: the layout and the daemon, by index.
    Daemon {
        /// Which layout.
        layout: u32,
        /// Index of the daemon.
        daemon: u32,
    },
}

/// Action of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// The part answers nothing any more.
    Fail,
    /// Power goes off: nothing happens any longer, and drives keep their contents until it comes back.
    PowerOff,
    /// A daemon is marked out: its copies are made again elsewhere.
    Out,
    /// A value changes while the part runs.
    Set {
        /// Name of the value, as in the catalog.
        key: String,
        /// Its new value.
        value: String,
    },
}

impl What {
    /// Its name, as specs write it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Fail => "fail",
            Self::PowerOff => "power-off",
            Self::Out => "osd-out",
            Self::Set { .. } => "set",
        }
    }
}

/// Why an event cannot happen.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum EventError {
    /// The machine has no such part.
    #[error("the machine has no such part")]
    UnknownPart,
    /// The event was not announced to the machine before the first I/O.
    #[error("\"{what}\" was not expected before the first I/O")]
    NotExpected {
        /// Name of the event.
        what: &'static str,
    },
    /// This does not happen to such a part.
    #[error("\"{what}\" does not happen to a {part}")]
    Unsupported {
        /// Name of the event.
        what: &'static str,
        /// Kind of the part.
        part: &'static str,
    },
    /// Daemons that a pool cannot do without, or does not have.
    #[error("{why}")]
    Out {
        /// Reason why it is impossible.
        why: String,
    },
    /// A value that the part does not take while it runs.
    #[error(transparent)]
    Setting(#[from] SetError),
}

/// A value that a part does not take while it runs.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{key} = \"{value}\": {accepted}")]
pub struct SetError {
    /// Name of the value.
    pub key: String,
    /// Rejected value.
    pub value: String,
    /// Accepted values.
    pub accepted: String,
}

impl SetError {
    /// A key that is none of `settings`.
    pub fn unknown(key: &str, value: &str, settings: &[&str]) -> Self {
        let accepted = match settings {
            [] => "no value of this drive changes while it runs".to_owned(),
            known => format!("expected one of {}: no other value changes while it runs", known.join(", ")),
        };
        Self { key: key.to_owned(), value: value.to_owned(), accepted }
    }
}

impl Part {
    /// Kind of the part, for errors.
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Self::Machine => "machine",
            Self::Drive(_) => "drive",
            Self::Daemon { .. } => "daemon",
        }
    }
}
