//! Highest rate of a drive, in bytes per second: the limits of its port and media.
//!
//! Leaves out: everything that a drive does besides the I/Os of its host (parity, relocation, misaligned writes,
//! packets that are not full), which only leaves less for the host; and its memory: after
//! a warm-up has filled it, it is no faster than the media, unless the same data is read again.

use crate::disk::params::DiskParams;
use crate::ssd::params::SsdParams;

/// Reads and writes.
pub type Both = [f64; 2];

/// The ceilings of one drive. Parts that do not limit it are infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ceiling {
    /// The drive's own path to its link.
    pub path: Both,
    /// The link, with full packets.
    pub link: Both,
    /// Whether data goes both ways at once.
    pub is_duplex: bool,
    /// The outer zone of a disk, all dies of a solid-state drive.
    pub media: Both,
    /// Whether reads and writes of the media do not take turns.
    pub media_at_once: bool,
}

impl Ceiling {
    /// Path and link together.
    pub fn port(&self) -> Both {
        [self.path[0].min(self.link[0]), self.path[1].min(self.link[1])]
    }

    /// All parts of the ceiling, for comparisons.
    pub fn parts(&self) -> [f64; 6] {
        [self.path[0], self.path[1], self.link[0], self.link[1], self.media[0], self.media[1]]
    }
}

/// Rates of a drive without a limit.
const NO_LIMIT: Both = [f64::INFINITY; 2];

impl DiskParams {
    /// The most that it can move. The sustained rate of an actuator is that of its outer zone, track switches included.
    pub fn ceiling(&self) -> Ceiling {
        let outer = self.geometry.outer.0 as f64 * f64::from(self.actuators);
        Ceiling {
            path: [self.port_rate.0 as f64; 2],
            link: NO_LIMIT,
            // A SAS port has a pair of wires each way; the one arm is what decides.
            is_duplex: true,
            // Flash before the platters answers and takes data as well.
            media: if self.flash.is_some() { NO_LIMIT } else { [outer; 2] },
            media_at_once: false,
        }
    }
}

impl SsdParams {
    /// The most that it can move. Data that is compressed is not bound by the flash.
    pub fn ceiling(&self) -> Ceiling {
        let link = self.pcie.map_or(f64::INFINITY, |lanes| lanes.data_rate().0 as f64);
        Ceiling {
            path: [self.link_rate.0 as f64, self.link_write_rate.0 as f64],
            link: [link; 2],
            is_duplex: self.link_duplex,
            media: if self.compression.is_some() { NO_LIMIT } else { self.flash_rates() },
            media_at_once: true,
        }
    }

    /// Return the rates at which all dies read and program, in pseudo-SLC passes where those are faster.
    fn flash_rates(&self) -> Both {
        let nand = &self.nand;
        let dies = f64::from(nand.dies);
        let of_dies = |bytes: u64, seconds: f64| dies * bytes as f64 / seconds;
        let channels = f64::from(nand.channels) * nand.channel_rate.0 as f64;
        let read = of_dies(nand.page_bytes * u64::from(nand.planes), nand.read.as_secs_f64());
        let program = of_dies(nand.program_bytes, nand.program.as_secs_f64()).min(nand.program_rate.0 as f64);
        let (quick_read, quick_program) = nand.quick.map_or((0.0, 0.0), |quick| {
            let program = of_dies(quick.bytes, quick.program.as_secs_f64()).min(quick.rate.0 as f64);
            (of_dies(quick.bytes, quick.read.as_secs_f64()), program)
        });
        [read.max(quick_read).min(channels), program.max(quick_program).min(channels)]
    }
}
