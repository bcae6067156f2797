//! From I/Os in any order to rows in order of issue: which are taken, what their streams are called, when time begins.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use hotband_machine::Op;
use hotband_units::{Instant, Span};
use hotband_workloads::{Selection, TraceHead, TraceIo, TraceRows, TraceStream};

use crate::error::TraceFileError;
use crate::io::Io;
use crate::properties::{Asked, Properties, Straight};
use crate::sort::{Entry, Sorter};
use crate::streams::{Names, Streams};

/// Streams that rows can number, with room for those of the workload itself.
const MOST_STREAMS: usize = 60_000;
/// I/Os this much out of order are worth a word: CPUs and disks that log at the answer are not.
const FAR_BACK: u64 = 60_000_000_000;

/// I/Os of one trace on their way to rows.
#[derive(Debug)]
pub struct Making {
    selection: Selection,
    order: Order,
    /// Whether a stream is taken, by number.
    taken: Vec<bool>,
    /// When its first I/O was requested, taken or not; zero if times count from the beginning of the run.
    first: Option<u64>,
    counts_from_zero: bool,
    /// I/Os that were read, used, and not used before the first that was measured.
    told: u64,
    kept: u64,
    last: u64,
    furthest_back: u64,
    measured_from: Option<u64>,
    notes: Vec<String>,
}

impl Making {
    /// Rows that are made with a temporary file in `folder`.
    pub fn new(selection: &Selection, folder: &Path) -> Self {
        Self::with(selection, Order::Sorted(Sorter::new(folder)))
    }

    /// I/Os that are examined as they come: no file holds them. None if that takes the time of the first I/O of all,
    /// which is known at the end.
    pub fn straight(selection: &Selection, options: Asked) -> Option<Self> {
        let takes_all_times = selection.from.0 == 0 && selection.length.is_none();
        takes_all_times.then(|| Self::with(selection, Order::Straight(Box::new(Straight::new(options)))))
    }

    fn with(selection: &Selection, order: Order) -> Self {
        Self {
            selection: selection.clone(),
            order,
            taken: Vec::new(),
            first: None,
            counts_from_zero: false,
            told: 0,
            kept: 0,
            last: 0,
            furthest_back: 0,
            measured_from: None,
            notes: Vec::new(),
        }
    }

    /// Leaves times unchanged, because they count from the beginning of the recorded run.
    pub fn count_from_zero(&mut self) {
        self.counts_from_zero = true;
    }

    /// I/Os from this row on were measured.
    pub fn measured_from(&mut self, row: u64) {
        self.measured_from = Some(row);
    }

    /// Something that the record is to say.
    pub fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// One more I/O, of these streams.
    ///
    /// # Errors
    /// The temporary file cannot be written.
    #[inline]
    pub fn push(&mut self, io: &Io, order: u64, streams: &Streams) -> io::Result<()> {
        self.told += 1;
        self.first = Some(self.first.map_or(io.issue, |first| first.min(io.issue)));
        if io.issue < self.last {
            self.furthest_back = self.furthest_back.max(self.last - io.issue);
        } else {
            self.last = io.issue;
        }
        if !self.takes(io, streams) {
            return Ok(());
        }
        self.kept += 1;
        let row = TraceIo {
            issue: Instant(io.issue),
            latency: io.latency.map(Span),
            op: io.op,
            fua: io.fua,
            failed: io.failed,
            stream: 0,
            offset: io.offset,
            len: io.len,
            row: io.row,
        };
        let entry = Entry { io: row, order, stream: io.stream };
        match &mut self.order {
            Order::Sorted(sorter) => sorter.push(entry),
            Order::Straight(straight) => straight.push(entry, streams),
        }
    }

    fn takes(&mut self, io: &Io, streams: &Streams) -> bool {
        let names = streams.names();
        for names in &names[self.taken.len().min(names.len())..] {
            let Selection { devices, hosts, processes, .. } = &self.selection;
            let among = |list: &Vec<String>, name: &String| list.is_empty() || list.contains(name);
            let taken = among(devices, &names.device) && among(hosts, &names.host) && among(processes, &names.process);
            self.taken.push(taken);
        }
        let Selection { directions, range, .. } = &self.selection;
        self.taken[io.stream as usize]
            && (directions.is_empty() || directions.contains(&io.op))
            && range.as_ref().is_none_or(|range| {
                io.op == Op::Flush || (io.offset >= range.start && io.offset.saturating_add(io.len) <= range.end)
            })
    }

    /// Writes the rows to `out`; errors call the trace `name`.
    ///
    /// # Errors
    /// No I/O is left, more streams than rows can number, a time beyond the clock; a file that cannot be written.
    pub fn finish(mut self, name: &str, streams: &Streams, out: &Path) -> Result<(), TraceFileError> {
        let whole = |text: String| Err(TraceFileError::Whole(text));
        let first = self.first_of(streams)?;
        self.say(first);
        let Order::Sorted(sorter) = self.order else { unreachable!("rows are made of what is sorted") };
        let begin = first.saturating_add(self.selection.from.0);
        let end = self.selection.length.map_or(u64::MAX, |length| begin.saturating_add(length.0));
        let mut rows = Rows { file: TraceRows::create(out)?, numbers: Numbers::default(), unmeasured: 0, beyond: None };
        if self.counts_from_zero && !self.selection.leaves_out() {
            rows.numbers.all(streams.names().len());
        }
        let measured_from = self.measured_from;
        sorter.finish(|entry| {
            let issue = entry.io.issue.0;
            if issue < begin || issue >= end {
                return Ok(());
            }
            rows.push(entry, begin, measured_from)
        })?;
        let Rows { file, numbers, unmeasured, beyond } = rows;
        if let Some(row) = beyond {
            return Err(beyond_clock(row));
        }
        if numbers.taken.len() > MOST_STREAMS {
            let count = numbers.taken.len();
            return whole(format!(
                "has {count} devices and processes; expected at most {MOST_STREAMS}: select some with device"
            ));
        }
        if file.ios() == 0 {
            return whole("none of its I/Os lies in the time that from and for select".to_owned());
        }
        let (ios, streams) = (file.ios(), numbers.streams(streams.names()));
        let head = TraceHead { file: name.to_owned(), streams, ios, unmeasured, notes: self.notes };
        file.finish(&head)?;
        Ok(())
    }

    /// Properties of the trace, if it was examined as it came.
    ///
    /// # Errors
    /// No I/O is left, a time beyond the clock; an I/O that came too late.
    pub fn finish_straight(mut self, streams: &Streams) -> Result<Properties, TraceFileError> {
        let first = self.first_of(streams)?;
        self.say(first);
        let Order::Straight(straight) = self.order else { unreachable!("it was begun so") };
        let (properties, beyond) = straight.finish(streams, self.notes)?;
        beyond.map_or(Ok(properties), |row| Err(beyond_clock(row)))
    }

    /// Time that counts as zero.
    fn first_of(&self, streams: &Streams) -> Result<u64, TraceFileError> {
        let whole = |text: String| Err(TraceFileError::Whole(text));
        let Some(first) = self.first.map(|first| if self.counts_from_zero { 0 } else { first }) else {
            return whole("contains no I/O".to_owned());
        };
        if self.kept == 0 {
            return whole(format!("none of its {} I/Os is selected: {}", self.told, self.offered(streams)));
        }
        Ok(first)
    }

    /// Notes for the record about all I/Os.
    fn say(&mut self, first: u64) {
        if self.selection.leaves_out() {
            self.notes
                .push(format!("{} of {} I/Os of the trace are selected, before from and for", self.kept, self.told));
        }
        if self.furthest_back >= FAR_BACK && self.last > first {
            let back = Span(self.furthest_back);
            self.notes.push(format!("I/Os of the trace are up to {back} out of order; they were sorted by time"));
        }
    }

    /// The existing devices, hosts and processes, if none of the requested ones is among them.
    fn offered(&self, streams: &Streams) -> String {
        let Selection { devices, hosts, processes, .. } = &self.selection;
        let offers: [Offer; 3] = [
            ("devices", !devices.is_empty(), |names| &names.device),
            ("hosts", !hosts.is_empty(), |names| &names.host),
            ("processes", !processes.is_empty(), |names| &names.process),
        ];
        let Some((what, _, of)) = offers.into_iter().find(|(_, asked, _)| *asked) else {
            return "expected other directions, or another range".to_owned();
        };
        let names: BTreeSet<&String> = streams.names().iter().map(of).collect();
        let some: Vec<&str> = names.iter().take(10).map(|name| name.as_str()).collect();
        let more = if names.len() > 10 { format!(" and {} more", names.len() - 10) } else { String::new() };
        format!("expected some of its {what} {}{more}", some.join(", "))
    }
}

/// Destination of selected I/Os.
#[derive(Debug)]
enum Order {
    /// I/Os are sorted into rows.
    Sorted(Sorter),
    /// I/Os are examined at once.
    Straight(Box<Straight>),
}

fn beyond_clock(row: u64) -> TraceFileError {
    TraceFileError::Whole(format!("line {row}: its completion is beyond the clock of 2^64 ns"))
}

/// A key that distinguishes streams: its word, whether the selection names some of its values, and
/// the value of a stream.
type Offer = (&'static str, bool, fn(&Names) -> &String);

/// Rows while they are written.
struct Rows {
    file: TraceRows,
    numbers: Numbers,
    unmeasured: u64,
    /// The first line whose answer is beyond the clock.
    beyond: Option<u64>,
}

impl Rows {
    fn push(&mut self, entry: &Entry, begin: u64, measured_from: Option<u64>) -> io::Result<()> {
        let mut io = entry.io;
        io.stream = self.numbers.of(entry.stream);
        io.issue = Instant(io.issue.0 - begin);
        if io.issue.0.checked_add(io.latency.map_or(0, |latency| latency.0)).is_none_or(|end| end >= u64::MAX - 1) {
            self.beyond = self.beyond.or(Some(io.row));
        }
        self.unmeasured += u64::from(measured_from.is_some_and(|first| io.row < first));
        self.file.push(&io)
    }
}

/// Streams of the trace as those of the rows: of those that are taken, in the order of their first I/O.
#[derive(Default)]
struct Numbers {
    of: Vec<Option<u32>>,
    taken: Vec<u32>,
}

impl Numbers {
    /// Moves all of them on, in their order.
    fn all(&mut self, count: usize) {
        self.taken = (0..count as u32).collect();
        self.of = self.taken.iter().map(|number| Some(*number)).collect();
    }

    #[inline]
    fn of(&mut self, stream: u32) -> u16 {
        let index = stream as usize;
        if self.of.len() <= index {
            self.of.resize(index + 1, None);
        }
        let number = self.of[index].unwrap_or_else(|| {
            self.taken.push(stream);
            let number = self.taken.len() as u32 - 1;
            self.of[index] = Some(number);
            number
        });
        number.min(u32::from(u16::MAX)) as u16
    }

    /// Their names, which no two have: of one process on several devices, with the device.
    fn streams(&self, names: &[Names]) -> Vec<TraceStream> {
        let name = |names: &Names| {
            [&names.process, &names.device]
                .into_iter()
                .find(|name| !name.is_empty())
                .map_or("main", |name| name)
                .to_owned()
        };
        let taken: Vec<&Names> = self.taken.iter().map(|number| &names[*number as usize]).collect();
        let mut counts = std::collections::BTreeMap::new();
        for names in &taken {
            *counts.entry(name(names)).or_insert(0) += 1;
        }
        let stream = |names: &&Names| {
            let (named, device) = (name(names), &names.device);
            let name = if counts[&named] > 1 && !device.is_empty() { format!("{named} on {device}") } else { named };
            TraceStream { name, volume: Some(device.clone()).filter(|device| !device.is_empty()) }
        };
        taken.iter().map(stream).collect()
    }
}
