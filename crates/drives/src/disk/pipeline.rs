//! Disks that do not do one thing after the other: data crosses the wire while the head reads or the arm seeks
//! (`read_overlap`, `write_overlap`), and a track is read from wherever the head comes down (`zero_latency`).

use hotband_units::{Instant, Span};

use crate::disk::media::MediaAccess;
use crate::disk::{Arrived, Disk};
use crate::parts::geometry::SECTOR;
use crate::parts::pending::Waiting;
use crate::parts::rotation::REVOLUTION;

/// A command that is served so.
pub(super) struct Pipelined {
    pub service: MediaAccess,
    /// Time before its last sector at which the data of a read begins to cross the wire.
    pub early: Span,
    /// The first sector that a read leaves in memory: its own, or one that passes the head before.
    pub from: u64,
}

impl Disk {
    /// Serves a command from `start`.
    #[cold]
    pub(super) fn service_pipelined(&mut self, start: Instant, waiting: &Waiting, arrived: &Arrived) -> Pipelined {
        if waiting.write {
            let earliest = self.data_in_time(start, waiting, arrived);
            let service = self.service_after::<false>(start, earliest, waiting);
            return Pipelined { service, early: Span::ZERO, from: waiting.sector };
        }
        let (service, from) = if self.params.zero_latency {
            let service = self.service_after::<true>(start, 0, waiting);
            (service, self.passed_from(&service, waiting))
        } else {
            (self.service_after::<false>(start, 0, waiting), waiting.sector)
        };
        let early = self.crosses_early(&service, waiting.sector, u64::from(arrived.command.len));
        Pipelined { service, early, from }
    }

    /// Earliest time when a write may begin, in nanoseconds from `start`: from then on its remaining data arrives as
    /// fast as it is written.
    fn data_in_time(&mut self, start: Instant, waiting: &Waiting, arrived: &Arrived) -> u32 {
        if !self.params.write_overlap {
            return 0;
        }
        let data_by = arrived.at + self.shared.port.time_for(u64::from(arrived.command.len));
        let (_, turned) = self.geometry.run(&waiting.place, waiting.sector, u64::from(waiting.count));
        let written = self.params.geometry.rotation.time_for(turned);
        data_by.0.saturating_sub(start.0 + written.0) as u32
    }

    /// First sector of the track that passes the head while it waits for that of a command.
    fn passed_from(&self, service: &MediaAccess, waiting: &Waiting) -> u64 {
        let track = self.geometry.track_of(waiting.sector);
        let waited = self.params.geometry.rotation.turned(service.rotation);
        let sectors = waited / self.geometry.sector_flow(waiting.sector);
        waiting.sector.saturating_sub(sectors).max(track.start)
    }

    /// Time saved for a command on one track by reading sectors in any order: the head that comes down in
    /// the middle of it is done a revolution later, and does not wait for its beginning first.
    pub(super) fn order_saves(&self, wait: u64, turned: u64, waiting: &Waiting) -> u64 {
        let one_track = self.geometry.track_of(waiting.sector).end >= waiting.end();
        if one_track { (wait + turned).saturating_sub(REVOLUTION) } else { 0 }
    }

    /// How long before its last sector the data of a read begins to cross the wire, whose first sector is `first`.
    fn crosses_early(&mut self, service: &MediaAccess, first: u64, bytes: u64) -> Span {
        let sector = self.params.geometry.rotation.time_for(self.geometry.sector_flow(first));
        let ends = service.end();
        let begins = Instant(ends.0 - service.transfer.0 + sector.0.min(service.transfer.0));
        ends.since(self.crosses_from(begins, ends, bytes))
    }

    /// When data begins to cross the wire that comes off the media from `begins` to `ends`: where they overlap, as soon
    /// as the rest comes as fast as it crosses. The last sector crosses when it was read.
    pub(super) fn crosses_from(&mut self, begins: Instant, ends: Instant, bytes: u64) -> Instant {
        if !self.params.read_overlap {
            return ends;
        }
        let ahead = self.shared.port.time_for(bytes - SECTOR.min(bytes));
        begins.max(Instant(ends.0.saturating_sub(ahead.0)))
    }
}
