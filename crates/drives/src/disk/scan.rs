//! Interaction of the background media scan with commands; the scan itself is `parts::media_scan`.

use hotband_units::{Instant, Span};

use crate::disk::{Arm, Disk, Work};

impl Disk {
    /// A command comes: a scan that has begun since the last one ends, and leaves the arm where it was.
    pub(super) fn interrupt_scan(&mut self, now: Instant) {
        let Some(mut scan) = self.scan else { return };
        let Some(rested) = self.rests_since(now) else { return };
        let Some((scanned, goes_on)) = scan.params.scanned(now.since(rested)) else { return };
        if let Arm::Ahead(ahead) = self.arm {
            self.end_ahead(now, &ahead);
        }
        let (rotation, last) = (self.params.geometry.rotation, self.geometry.place(self.geometry.end() - 1));
        // Round and round: a rest may last longer than the whole media takes.
        let scanned = Span(scanned.0 % rotation.time_for(last.flow).0.max(1));
        scan.flow = (scan.flow + rotation.turned(scanned)) % last.flow.max(1);
        let sector = self.geometry.sector_at(scan.flow).min(self.geometry.end() - 1);
        let position = self.geometry.place(sector);
        (self.cylinder, self.track, self.reached) = (position.cylinder, position.track, sector);
        if goes_on {
            scan.interrupted += 1;
            self.arm = Arm::Busy { until: now + scan.params.delay, work: Work::Scan };
        }
        self.scan = Some(scan);
    }

    /// Since when nothing was asked of the drive and nothing was left to do; none while there is something.
    fn rests_since(&self, now: Instant) -> Option<Instant> {
        let worked = match self.arm {
            Arm::Idle => self.worked,
            Arm::Ahead(ahead) => self.passes(&ahead, ahead.limit),
            Arm::Busy { .. } | Arm::Held { .. } => return None,
        };
        let rests = self.in_drive == 0 && self.nothing_waits() && worked <= now;
        rests.then(|| worked.max(self.answered))
    }
}
