//! Comparison of any two traces: one is the measurement, the other is compared with it.
//!
//! If both hold the same I/Os in the same order of issue (operation, offset and length; times and names may differ),
//! every I/O is compared with its own; else only the distributions are. Both are read twice, so that memory does not
//! grow with them.
//!
//! Leaves out: I/Os that were issued in another order are not matched, whatever the reason.

use std::path::Path;

use hotband_machine::{Look, Op};
use hotband_units::Span;
use hotband_workloads::{TraceError, TraceFile, TraceIo};
use serde::Serialize;

use crate::sources::trace::comparison::{Compared, Comparison, Distance, Of};

/// I/Os between two checks for a stop: some milliseconds.
const BETWEEN_LOOKS: u64 = 1 << 16;

/// Compares the traces whose rows are at `measured` and `replayed`; `look` may stop it.
///
/// # Errors
/// One of them cannot be read, or it was stopped.
pub fn compare_traces(measured: &Path, replayed: &Path, look: Look<'_>) -> Result<TracesCompared, TraceError> {
    let mut two = (Side::open(measured)?, Side::open(replayed)?);
    let first_difference = first_difference(&mut two, look)?;
    two.0.rewind()?;
    two.1.rewind()?;
    let mut compared = Compared::default();
    if first_difference.is_none() {
        while let (Some((io, distance)), Some((other, _))) = (two.0.next(look)?, two.1.next(look)?) {
            let both = served(&io).zip(served(&other));
            if let Some((measured, replayed)) = both {
                compared.add(io.op, distance, measured, replayed);
            }
            two.0.left_out += u64::from(both.is_none());
            two.1.left_out += u64::from(both.is_none());
        }
    } else {
        for (side, which) in [(&mut two.0, Of::Measured), (&mut two.1, Of::Replayed)] {
            while let Some((io, distance)) = side.next(look)? {
                match served(&io) {
                    Some(latency) => compared.add_alone(which, io.op, distance, latency),
                    None => side.left_out += 1,
                }
            }
        }
    }
    Ok(TracesCompared {
        same_ios: first_difference.is_none(),
        first_difference,
        measured: two.0.told(),
        replayed: two.1.told(),
        comparison: compared.record(),
    })
}

/// The latency of an I/O that was served, where its trace has it.
fn served(io: &TraceIo) -> Option<Span> {
    io.latency.filter(|_| !io.failed)
}

/// The first place where they do not hold the same I/O.
fn first_difference(two: &mut (Side, Side), look: Look<'_>) -> Result<Option<Difference>, TraceError> {
    let mut io = 0;
    loop {
        io += 1;
        let (measured, replayed) = (two.0.next(look)?, two.1.next(look)?);
        let io_of = |nearest: Option<(TraceIo, Distance)>| nearest.map(|(io, _)| IoTold::of_io(&io));
        let (measured, replayed) = (io_of(measured), io_of(replayed));
        if measured != replayed {
            return Ok(Some(Difference { io, measured, replayed }));
        }
        if measured.is_none() {
            return Ok(None);
        }
    }
}

/// One of the two traces while it is read.
struct Side {
    trace: TraceFile,
    /// The volume of each stream, by number, and where the last read or write on each ended.
    volumes: Vec<usize>,
    ends: Vec<u64>,
    read: u64,
    left_out: u64,
}

impl Side {
    fn open(rows: &Path) -> Result<Self, TraceError> {
        let trace = TraceFile::open(rows)?;
        let names: Vec<_> = trace.head().streams.iter().map(|stream| stream.volume.as_deref()).collect();
        let first = |name| names.iter().position(|other| *other == name).expect("it is one of them");
        let volumes: Vec<usize> = names.iter().copied().map(first).collect();
        let ends = vec![0; volumes.len()];
        Ok(Self { trace, volumes, ends, read: 0, left_out: 0 })
    }

    fn rewind(&mut self) -> Result<(), TraceError> {
        self.ends.fill(0);
        self.trace.rewind()
    }

    /// The next I/O, and how far it is from where the read or write before it on its volume ended.
    fn next(&mut self, look: Look<'_>) -> Result<Option<(TraceIo, Distance)>, TraceError> {
        self.read += 1;
        if self.read.is_multiple_of(BETWEEN_LOOKS) {
            look().map_err(std::io::Error::other)?;
        }
        let Some(io) = self.trace.next_io()? else { return Ok(None) };
        if !matches!(io.op, Op::Read | Op::Write) {
            return Ok(Some((io, Distance::Far)));
        }
        let end = &mut self.ends[self.volumes[usize::from(io.stream)]];
        let distance = Distance::between(*end, io.offset);
        *end = io.offset + io.len;
        Ok(Some((io, distance)))
    }

    fn told(&self) -> SideTold {
        let head = self.trace.head();
        SideTold { ios: head.ios, left_out: self.left_out, unmeasured: head.unmeasured, notes: head.notes.clone() }
    }
}

/// Result of the comparison.
#[derive(Clone, Debug, Serialize)]
pub struct TracesCompared {
    /// Whether both hold the same I/Os in the same order.
    same_ios: bool,
    /// First difference, if any.
    first_difference: Option<Difference>,
    measured: SideTold,
    replayed: SideTold,
    /// Comparison; none unless both traces have latencies.
    #[serde(flatten)]
    comparison: Option<Comparison>,
}

/// One of the two traces as a whole.
#[derive(Clone, Debug, Serialize)]
struct SideTold {
    ios: u64,
    /// I/Os left out because one of a pair failed or has no latency.
    left_out: u64,
    /// I/Os completed before the first measured one; they are compared, too.
    unmeasured: u64,
    notes: Vec<String>,
}

/// The first I/O that is not the same, from 1 in order of issue.
#[derive(Clone, Debug, Serialize)]
struct Difference {
    io: u64,
    /// The measured I/O; none if that trace has ended.
    measured: Option<IoTold>,
    replayed: Option<IoTold>,
}

/// Identity of an I/O.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct IoTold {
    op: &'static str,
    offset_bytes: u64,
    size_bytes: u64,
}

impl IoTold {
    fn of_io(io: &TraceIo) -> Self {
        let op = match io.op {
            Op::Read => "read",
            Op::Write => "write",
            Op::Flush => "flush",
            Op::Trim => "trim",
        };
        // A flush is of all that there is.
        let (offset_bytes, size_bytes) = if io.op == Op::Flush { (0, 0) } else { (io.offset, io.len) };
        Self { op, offset_bytes, size_bytes }
    }
}
