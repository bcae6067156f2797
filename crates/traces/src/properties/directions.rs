//! Counts of I/Os by direction, size and device.

use hotband_machine::Op;
use hotband_workloads::TraceIo;
use rustc_hash::FxHashMap;

use super::figures::{Device, Direction, Quantiles, Size};
use super::quantiles::Values;

/// Names of directions, in the order of their numbers.
pub(super) const DIRECTIONS: [&str; 4] = ["read", "write", "flush", "trim"];
/// Sizes counted one by one: rows of a log rarely have more; others are counted together.
const MOST_SIZES: usize = 1 << 16;
/// Sizes that are stated one by one: a page shows no more.
const SAID_SIZES: usize = 64;

/// The number of a direction.
#[inline]
pub(super) fn number_of(op: Op) -> usize {
    match op {
        Op::Read => 0,
        Op::Write => 1,
        Op::Flush => 2,
        Op::Trim => 3,
    }
}

/// I/Os by direction and device.
#[derive(Debug, Default)]
pub(super) struct Directions {
    by_direction: [OneDirection; 4],
    devices: Vec<OneDevice>,
}

#[derive(Debug, Default)]
struct OneDirection {
    ios: u64,
    bytes: u64,
    fua: u64,
    failed: u64,
    size: Values,
    sizes: FxHashMap<u64, u64>,
}

#[derive(Clone, Copy, Debug, Default)]
struct OneDevice {
    ios: u64,
    bytes: u64,
    end: u64,
}

impl Directions {
    #[inline]
    pub(super) fn io(&mut self, io: &TraceIo, device: u32) {
        let direction = &mut self.by_direction[number_of(io.op)];
        direction.ios += 1;
        direction.bytes = direction.bytes.saturating_add(io.len);
        direction.fua += u64::from(io.fua);
        direction.failed += u64::from(io.failed);
        if io.len > 0 {
            direction.size.add(io.len, 1);
            if direction.sizes.len() < MOST_SIZES {
                *direction.sizes.entry(io.len).or_default() += 1;
            } else if let Some(count) = direction.sizes.get_mut(&io.len) {
                *count += 1;
            }
        }
        let device = device as usize;
        if device >= self.devices.len() {
            self.devices.resize(device + 1, OneDevice::default());
        }
        let device = &mut self.devices[device];
        device.ios += 1;
        if matches!(io.op, Op::Read | Op::Write) {
            device.bytes = device.bytes.saturating_add(io.len);
            device.end = device.end.max(io.offset + io.len);
        }
    }

    pub(super) fn total(&self) -> u64 {
        self.by_direction.iter().map(|direction| direction.ios).sum()
    }

    /// Directions in use, by name.
    pub(super) fn devices(&self, names: Vec<String>) -> Vec<Device> {
        let device = |(name, device_seen): (String, &OneDevice)| Device {
            name,
            ios: device_seen.ios,
            bytes: device_seen.bytes,
            end_bytes: device_seen.end,
        };
        let mut devices: Vec<Device> =
            names.into_iter().zip(&self.devices).filter(|(_, device_seen)| device_seen.ios > 0).map(device).collect();
        devices.sort_by_key(|device| std::cmp::Reverse(device.ios));
        devices
    }

    pub(super) fn finish(self) -> Vec<Direction> {
        let present = self.by_direction.into_iter().zip(DIRECTIONS).filter(|(direction, _)| direction.ios > 0);
        present.map(|(direction, name)| direction.finish(name)).collect()
    }
}

impl OneDirection {
    fn finish(self, direction: &'static str) -> Direction {
        let mut sizes: Vec<Size> = self.sizes.into_iter().map(|(bytes, ios)| Size { bytes, ios }).collect();
        let mut size = self.size.finish();
        if sizes.len() < MOST_SIZES {
            sizes.sort_by_key(|size| size.bytes);
            exactly(&mut size, &sizes);
        }
        sizes.sort_by_key(|size| (std::cmp::Reverse(size.ios), size.bytes));
        sizes.truncate(SAID_SIZES);
        sizes.sort_by_key(|size| size.bytes);
        let of_sizes = |each: fn(&Size) -> u64| sizes.iter().map(each).fold(0, u64::saturating_add);
        Direction {
            direction,
            ios: self.ios,
            bytes: self.bytes,
            fua: self.fua,
            failed: self.failed,
            other_ios: size.count - of_sizes(|size| size.ios),
            other_bytes: self.bytes.saturating_sub(of_sizes(|size| size.bytes.saturating_mul(size.ios))),
            size,
            sizes,
        }
    }
}

/// Quantiles of sizes that were all counted, in their order: 4 KiB is 4 KiB, not a class that ends a little above.
fn exactly(quantiles: &mut Quantiles, sizes: &[Size]) {
    let mut below = 0;
    let ends: Vec<(u64, u64)> = sizes
        .iter()
        .map(|size| {
            below += size.ios;
            (below, size.bytes)
        })
        .collect();
    let at = |share: f64| {
        let rank = (share * below as f64).ceil() as u64;
        ends.iter().find(|(end, _)| *end >= rank).map_or(0, |(_, bytes)| *bytes)
    };
    (quantiles.p10, quantiles.p25, quantiles.p50, quantiles.p75) = (at(0.1), at(0.25), at(0.5), at(0.75));
    (quantiles.p90, quantiles.p99, quantiles.p999) = (at(0.9), at(0.99), at(0.999));
    (quantiles.min, quantiles.max) = (at(0.0), at(1.0));
}
