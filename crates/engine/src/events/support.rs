//! Supported events: which event on which layout, on which kind of drive, together with what: one table, which is
//! checked before every run and can be printed.
//!
//! A machine is checked as a whole: an event is refused where any of its layouts does not go with it.

use std::fmt;

/// Layout or drive kind of a row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// A kind of layout; a drive without one counts as `single`.
    Layout(&'static str),
    /// A kind of drive.
    Drive(&'static str),
    /// Something else that the run does.
    With(&'static str),
}

/// Events, and two in one run that only go together where each copy is whole.
pub const EVENTS: [&str; 5] = ["fail", "power-off", BOTH, "osd-out", "set"];
pub(super) const BOTH: &str = "fail+power-off";
pub(super) const SPARES: On = On::With("spares");
/// Streams, files or drives that are trimmed.
pub(crate) const TRIMS: On = On::With("trims");
/// A run on the machine that another left, or that another continues with.
pub(crate) const SEQUENCE: On = On::With("a sequence");
/// A disk with shingled tracks.
pub(super) const SMR: On = On::Drive("smr");

fn is_pool(on: On) -> bool {
    matches!(on, On::Layout("replicated" | "erasure"))
}

/// Rows of the table.
pub const ROWS: [On; 22] = [
    On::Layout("single"),
    On::Layout("concat"),
    On::Layout("raid0"),
    On::Layout("raid1"),
    On::Layout("raid10"),
    On::Layout("raid5"),
    On::Layout("raid6"),
    On::Layout("raid50"),
    On::Layout("raid60"),
    On::Layout("raidz1"),
    On::Layout("raidz2"),
    On::Layout("raidz3"),
    On::Layout("replicated"),
    On::Layout("erasure"),
    On::Layout("controller"),
    On::Layout("md"),
    On::Drive("disk"),
    SMR,
    On::Drive("ssd"),
    SPARES,
    TRIMS,
    SEQUENCE,
];

/// Cells that are not supported, and why; all others are.
struct Refused {
    events: &'static [&'static str],
    on: fn(On) -> bool,
    why: &'static str,
}

const REFUSED: [Refused; 11] = [
    Refused { events: &["power-off", BOTH], on: is_pool, why: "pools are modelled without power loss" },
    Refused {
        events: &["power-off", BOTH],
        on: |on| on == SMR,
        why: "how shingled disks recover their map and a half-rewritten band after a power loss is not published",
    },
    Refused {
        events: &["set"],
        on: |on| on == SMR,
        why: "no value of a disk with shingled tracks changes while it runs",
    },
    Refused {
        events: &["power-off", BOTH],
        on: |on| matches!(on, On::Layout("raidz1" | "raidz2" | "raidz3")),
        why: "RAID-Z is modelled without the transaction groups and the log replay that decide what survives a power loss",
    },
    Refused {
        events: &["osd-out"],
        on: |on| matches!(on, On::Layout(_)) && !is_pool(on),
        why: "only a replicated or erasure-coded pool has daemons",
    },
    Refused {
        events: &[BOTH],
        on: |on| matches!(on, On::Layout("raid5" | "raid6" | "raid50" | "raid60")),
        why: "data written to a failed member exists only as parity, which the account of lost writes does not decode",
    },
    Refused {
        events: &[BOTH],
        on: |on| on == SPARES,
        why: "the account of lost writes does not follow what a rebuild copies",
    },
    Refused { events: &["power-off", "osd-out"], on: |on| on == SPARES, why: "spares replace failed drives" },
    Refused {
        events: &["power-off", BOTH],
        on: |on| on == TRIMS,
        why: "trimmed data cannot be distinguished from lost data: remove the power loss",
    },
    Refused {
        events: &["set"],
        on: |on| matches!(on, On::Drive("ssd")),
        why: "no value of a solid-state drive changes while it runs",
    },
    Refused {
        events: &["power-off", BOTH],
        on: |on| on == SEQUENCE,
        why: "the account of lost writes covers a single run, in which power does not return",
    },
];

/// A cell that is not supported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    /// The event.
    pub event: &'static str,
    /// The part on which the event happens.
    pub on: On,
    /// Why not.
    pub why: &'static str,
}

/// Whether `event` is supported on `on`.
///
/// # Errors
/// It is not.
pub fn supported(event: &'static str, on: On) -> Result<(), Why> {
    let refused = REFUSED.iter().find(|cells| cells.events.contains(&event) && (cells.on)(on));
    refused.map_or(Ok(()), |cells| Err(Why { event, on, why: cells.why }))
}

impl On {
    /// Its name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Layout(name) | Self::Drive(name) | Self::With(name) => name,
        }
    }

    /// Return the name of its group.
    pub fn group(self) -> &'static str {
        match self {
            Self::Layout(_) => "layout",
            Self::Drive(_) => "drive",
            Self::With(_) => "with",
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let events: Vec<&str> = EVENTS.into_iter().filter(|event| supported(event, self.on).is_ok()).collect();
        let events = if events.is_empty() { "nothing".to_owned() } else { events.join(", ") };
        let part = match self.on {
            On::Layout("single") => "a single drive".to_owned(),
            On::Layout(name) => format!("layout {name}"),
            On::Drive(name) => format!("drive kind {name}"),
            On::With(name) => name.to_owned(),
        };
        write!(out, "{} is not supported with {part} ({}); supported there: {events}", self.event, self.why)
    }
}
