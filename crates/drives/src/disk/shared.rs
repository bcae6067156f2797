//! Parts that the actuators of a disk share: the link to the host, and its memory.

use hotband_units::Instant;

use crate::disk::params::DiskParams;
use crate::disk::{Arm, Disk, Work};
use crate::parts::port::Port;
use crate::parts::segments::Segments;

/// Link and memory. A disk with one actuator has them to itself; with several they are lent to the actuator whose turn
/// it is.
pub(super) struct Shared {
    pub port: Port,
    pub segments: Segments,
    pub others: Others,
}

/// Write-cache contents of the other actuators.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Others {
    /// Cache entries in use, including those on their way to the media.
    pub extents: usize,
    /// Sectors held.
    pub sectors: u64,
    /// Time when the first write came that waits for room.
    pub waits_since: Option<Instant>,
    /// Until when one of them, having moved for it, writes.
    pub writes_until: Option<Instant>,
    /// Since when one of them holds its writes back.
    pub held_since: Option<Instant>,
}

impl Others {
    /// Adds the cache use of a disk, and what its arm does.
    pub fn add(&mut self, disk: &Disk) {
        let (extents, sectors) = disk.dirty.held();
        self.extents += extents;
        self.sectors += sectors;
        self.waits_since = self.waits_since.into_iter().chain(disk.waits_since()).min();
        match disk.arm {
            Arm::Busy { until, work: Work::Write { .. } | Work::Destage } if disk.moved_to_write => {
                self.writes_until = self.writes_until.max(Some(until));
            }
            Arm::Held { since, .. } => self.held_since = self.held_since.into_iter().chain([since]).min(),
            _ => {}
        }
    }
}

impl Shared {
    /// Return the shared parts for the only actuator of a disk.
    pub fn of_one(params: &DiskParams) -> Self {
        Self { port: Port::new(params.port_rate), ..Self::of_several(params) }
    }

    /// Return the shared parts for several actuators of a disk.
    pub fn of_several(params: &DiskParams) -> Self {
        let segments = Segments::new(params.segments, params.segment_sectors);
        Self { port: Port::shared(params.port_rate), segments, others: Others::default() }
    }

    /// Return the placeholder of an actuator whose turn it is not.
    pub fn absent(params: &DiskParams) -> Self {
        Self { port: Port::shared(params.port_rate), segments: Segments::new(0, 0), others: Others::default() }
    }
}
