//! I/Os that are examined as they are read.

use std::io;

use rustc_hash::FxHashMap;
use thiserror::Error;

use super::{Analysis, Asked, Properties};
use crate::sort::{Entry, Window};
use crate::streams::Streams;

/// An I/O comes after others that were examined and are later than it: rows are needed, which are sorted.
#[derive(Debug, Error)]
#[error("an I/O is too far out of order")]
pub(crate) struct Late;

/// Properties of I/Os that arrive nearly in order of issue.
#[derive(Debug)]
pub(crate) struct Straight {
    window: Window,
    seen: Seen,
}

/// Observed I/Os.
#[derive(Debug)]
struct Seen {
    analysis: Analysis,
    /// Numbers of devices by number of the stream, and by name.
    devices: Vec<u32>,
    names: Vec<String>,
    numbers: FxHashMap<String, u32>,
    /// The first line whose answer is beyond the clock.
    beyond: Option<u64>,
}

impl Straight {
    pub(crate) fn new(options: Asked) -> Self {
        let analysis = Analysis::new(options);
        let numbers = FxHashMap::default();
        Self {
            window: Window::new(),
            seen: Seen { analysis, devices: Vec::new(), names: Vec::new(), numbers, beyond: None },
        }
    }

    /// Adds an I/O, with the numbers of these streams.
    #[inline]
    pub(crate) fn push(&mut self, entry: Entry, streams: &Streams) -> io::Result<()> {
        let in_time = self.window.push(entry, |entry| self.seen.io(entry, streams));
        if in_time { Ok(()) } else { Err(io::Error::other(Late)) }
    }

    /// Result, and the first line whose completion time is beyond the clock.
    pub(crate) fn finish(self, streams: &Streams, notes: Vec<String>) -> io::Result<(Properties, Option<u64>)> {
        let Self { window, mut seen } = self;
        if !window.finish(|entry| seen.io(entry, streams)) {
            return Err(io::Error::other(Late));
        }
        Ok((seen.analysis.finish(seen.names, notes), seen.beyond))
    }
}

impl Seen {
    fn io(&mut self, entry: &Entry, streams: &Streams) {
        for names in &streams.names()[self.devices.len().min(streams.names().len())..] {
            let next = self.names.len() as u32;
            let number = *self.numbers.entry(names.device.clone()).or_insert(next);
            if number == next {
                self.names.push(names.device.clone());
            }
            self.devices.push(number);
        }
        let latency = entry.io.latency.map_or(0, |latency| latency.0);
        if entry.io.issue.0.checked_add(latency).is_none_or(|end| end >= u64::MAX - 1) {
            self.beyond = self.beyond.or(Some(entry.io.row));
            return;
        }
        self.analysis.io(&entry.io, self.devices[entry.stream as usize]);
    }
}
