//! Hosts, devices and processes of a trace, by number.

use rustc_hash::FxHashMap;

use crate::error::shown;

/// Source and destination of an I/O; empty if the trace does not state it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts<'a> {
    /// The host.
    pub host: &'a [u8],
    /// The device, as its trace names it.
    pub device: &'a [u8],
    /// The process.
    pub process: &'a [u8],
}

/// The names of one stream, printable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// The host.
    pub host: String,
    /// The device.
    pub device: String,
    /// The process.
    pub process: String,
}

/// All streams of a trace.
#[derive(Debug, Default)]
pub struct Streams {
    names: Vec<Names>,
    of: FxHashMap<Vec<u8>, u32>,
    /// Key and number of the last one: lines that follow one another are often of one stream.
    last: (Vec<u8>, u32),
    key: Vec<u8>,
}

impl Streams {
    /// Its number.
    #[inline]
    pub fn of(&mut self, parts: Parts<'_>) -> u32 {
        self.key.clear();
        for part in [parts.host, parts.device, parts.process] {
            self.key.extend_from_slice(part);
            self.key.push(0);
        }
        if self.last.0 == self.key {
            return self.last.1;
        }
        let number = self.of.get(&self.key).copied().unwrap_or_else(|| {
            let number = self.names.len() as u32;
            let [host, device, process] = [parts.host, parts.device, parts.process].map(shown);
            self.names.push(Names { host, device, process });
            self.of.insert(self.key.clone(), number);
            number
        });
        // A key is never empty, so that none is like that before the first.
        std::mem::swap(&mut self.last.0, &mut self.key);
        self.last.1 = number;
        number
    }

    /// Names of all, by number.
    pub fn names(&self) -> &[Names] {
        &self.names
    }
}
