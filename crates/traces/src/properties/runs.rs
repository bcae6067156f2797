//! I/Os that begin where another ended.

use hotband_machine::Op;

use super::figures::{RunClass, RunLengths, Runs as Found};
use super::quantiles::{Values, share};

/// Runs of a device that are open at once: no drive of the catalog follows more streams with its cache.
const HEADS: usize = 64;

/// Runs on all devices.
#[derive(Debug, Default)]
pub(super) struct Runs {
    devices: Vec<Option<Box<Device>>>,
    strict: Lengths,
    streams: Lengths,
    /// Reads and writes: all, those that continue the previous one, those that continue a stream.
    ios: [u64; 2],
    continuing: [u64; 2],
    in_streams: [u64; 2],
}

/// Open runs of one device.
#[derive(Debug)]
struct Device {
    /// The run that the last I/O belongs to.
    last: Run,
    /// Where runs end, the one that continued last in front, and which of `streams` each is: the last makes room.
    ends: [u64; HEADS],
    places: [u8; HEADS],
    streams: [Run; HEADS],
}

impl Device {
    /// The run at this place of `ends` comes to the front, where it ends here now.
    #[inline]
    fn goes_first(&mut self, at: usize, end: u64) -> &mut Run {
        let slot = self.places[at];
        self.ends.copy_within(..at, 1);
        self.places.copy_within(..at, 1);
        (self.ends[0], self.places[0]) = (end, slot);
        &mut self.streams[usize::from(slot)]
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Run {
    ios: u64,
    bytes: u64,
    end: u64,
}

impl Run {
    fn goes_on(&mut self, end: u64, len: u64) {
        (self.ios, self.bytes, self.end) = (self.ios + 1, self.bytes + len, end);
    }
}

/// Runs that are over.
#[derive(Debug, Default)]
struct Lengths {
    ios: Values,
    bytes: Values,
    /// Runs, and their I/Os, by power of two.
    classes: Vec<(u64, u64)>,
}

impl Lengths {
    fn add(&mut self, run: Run) {
        if run.ios == 0 {
            return;
        }
        self.ios.add(run.ios, 1);
        self.bytes.add(run.bytes, 1);
        let class = run.ios.ilog2() as usize;
        if class >= self.classes.len() {
            self.classes.resize(class + 1, (0, 0));
        }
        self.classes[class].0 += 1;
        self.classes[class].1 += run.ios;
    }

    fn finish(self) -> RunLengths {
        let class =
            |(power, (runs, ios)): (usize, (u64, u64))| RunClass { from: 1 << power, to: (2 << power) - 1, runs, ios };
        RunLengths {
            ios: self.ios.finish(),
            bytes: self.bytes.finish(),
            lengths: self.classes.into_iter().enumerate().map(class).collect(),
        }
    }
}

impl Runs {
    /// A read or write; whether it continues the previous one on its device.
    pub(super) fn io(&mut self, device: u32, op: Op, offset: u64, len: u64) -> bool {
        let (device, direction, end) = (device as usize, usize::from(op == Op::Write), offset + len);
        if device >= self.devices.len() {
            self.devices.resize_with(device + 1, || None);
        }
        self.ios[direction] += 1;
        let device = self.devices[device].get_or_insert_with(|| {
            // An end of nothing is no end: address 0 does not continue a run that never was.
            let streams = [Run::default(); HEADS];
            Box::new(Device {
                last: Run::default(),
                ends: [u64::MAX; HEADS],
                places: std::array::from_fn(|slot| slot as u8),
                streams,
            })
        });
        let is_continuing = device.last.ios > 0 && device.last.end == offset;
        if !is_continuing {
            self.strict.add(std::mem::take(&mut device.last));
        }
        device.last.goes_on(end, len);
        self.continuing[direction] += u64::from(is_continuing);
        let continued = device.ends.iter().position(|end| *end == offset);
        self.in_streams[direction] += u64::from(continued.is_some());
        let run = device.goes_first(continued.unwrap_or(HEADS - 1), end);
        if continued.is_none() {
            self.streams.add(std::mem::take(run));
        }
        run.goes_on(end, len);
        is_continuing
    }

    pub(super) fn finish(mut self) -> Found {
        for device in self.devices.iter_mut().flatten() {
            self.strict.add(device.last);
            device.streams.iter().for_each(|run| self.streams.add(*run));
        }
        let both = |counts: [u64; 2]| share(counts.iter().sum(), self.ios.iter().sum());
        let share_of = |counts: [u64; 2], direction: usize| share(counts[direction], self.ios[direction]);
        Found {
            ios: self.ios.iter().sum(),
            continuing: both(self.continuing),
            reads_continuing: share_of(self.continuing, 0),
            writes_continuing: share_of(self.continuing, 1),
            in_streams: both(self.in_streams),
            reads_in_streams: share_of(self.in_streams, 0),
            writes_in_streams: share_of(self.in_streams, 1),
            heads: HEADS as u64,
            strict: self.strict.finish(),
            streams: self.streams.finish(),
        }
    }
}
