//! A pool that loses a drive: its daemons answer nothing any more and go out at once, and others get their copies.
//!
//! Clients and daemons know of it at once. Requests to a daemon that is gone go to the next that has a
//! copy; a write does not wait for a copy that is gone. An object whose copies all are gone is lost.
//!
//! Leaves out: how long others need to notice (`osd_heartbeat_grace`, 20 s), and the time until a daemon that is down
//! is marked out (`mon_osd_down_out_interval`, 600 s): recovery begins when the drive fails.

use hotband_machine::{Fault, Op};
use hotband_units::Instant;

use super::build::over_full;
use super::object_io::Task;
use super::osd::Osd;
use super::place::GONE;
use super::recovery::Recovery;
use super::{Due, Pool, objects_seen};

impl Pool {
    /// Prepares, before the first I/O, for daemons that go out together: they are marked out, or their
    /// drive has `failed`.
    ///
    /// # Errors
    /// Others go out already, or their copies have no room elsewhere.
    pub(super) fn prepare_out(&mut self, outs: Vec<u16>, failed: bool) -> Result<(), String> {
        if let Some(recovery) = &self.recovery {
            let osds: Vec<String> = recovery.outs().iter().map(|osd| format!("osd{osd}")).collect();
            let osds = osds.join(" and ");
            return Err(format!("{osds} of the pool will be out already, and a pool recovers once: leave one out"));
        }
        let after = self.cluster.acting_sets(&outs);
        let replicas = self.spec.replicas;
        if !failed && after.contains(&GONE) {
            return Err(format!("without it CRUSH finds too few daemons for {replicas} replicas of a group"));
        }
        if let Some(full) = over_full(&self.places, &after, replicas, &self.room) {
            return Err(format!("daemon {full} would be too full after the recovery: expected a smaller image"));
        }
        self.recovery = Some(Recovery::new(outs, after.to_vec(), self.osds.len()));
        // Any daemon may get any object, so none knows that the metadata of all of its own fits into its memory.
        let seen = objects_seen(&self.places, self.osds.len(), self.params.shards, true);
        for (number, (osd, seen)) in self.osds.iter_mut().zip(&seen).enumerate() {
            let slice = (osd.slice.size(), self.spec.shard());
            let new = Osd::new(number, slice, (osd.host, osd.disk), seen, &self.params);
            *osd = Osd { flushed: osd.flushed, ..new };
        }
        self.warm_metadata();
        Ok(())
    }

    /// The daemon that is ready for it will be marked out.
    pub(super) fn mark_out_at(&mut self, at: Instant) {
        self.push(at, Due::Out);
    }

    /// Whether a daemon answers nothing any more; none has the copies that are nowhere.
    pub(super) fn is_gone(&self, osd: u16) -> bool {
        !self.dead.is_empty() && self.dead.get(usize::from(osd)).is_none_or(|dead| *dead)
    }

    /// The drive under a daemon has failed: with it go all daemons that are on that drive.
    pub(super) fn lose(&mut self, now: Instant, osd: u16) {
        if self.is_gone(osd) {
            return;
        }
        self.dead.resize(self.osds.len(), false);
        let outs = self.recovery.as_ref().map(|recovery| recovery.outs().to_vec()).unwrap_or_default();
        let is_expected = outs.contains(&osd);
        let lost = if is_expected { outs } else { vec![osd] };
        for osd in &lost {
            self.dead[usize::from(*osd)] = true;
        }
        self.places.lose(&lost);
        for osd in lost {
            for shard in 0..self.params.shards {
                let waiting = std::mem::take(&mut self.osds[usize::from(osd)].shards[shard].waiting);
                for id in waiting {
                    self.turn_away(now, id);
                }
            }
        }
        if is_expected {
            self.recover(now);
        }
    }

    /// An operation meets a daemon that is gone: the client uses the next that has a copy; nothing waits for a replica.
    pub(super) fn turn_away(&mut self, now: Instant, id: u32) {
        let sub = *self.subs.get(id);
        match sub.task {
            Task::Write => return self.copy_committed(now, id),
            Task::Read => return self.read_elsewhere(now, id),
            Task::Client => {}
        }
        let piece = *self.pieces.get(sub.piece);
        let Some(osd) = self.places.primary(self.places.group_of(piece.object)) else {
            self.note_fault(sub.piece, Some(Fault::Gone));
            self.subs.take(id);
            return self.send_answer(now, &sub);
        };
        let copy = self.primary(piece.object).1;
        let slot = self.places.slot(piece.object, copy);
        let data = if piece.op == Op::Write { u64::from(piece.len) } else { 0 };
        let at = self.client_out.send(now, data) + self.spec.client_network.latency;
        let sub = self.subs.get(id);
        (sub.osd, sub.copy, sub.slot, sub.wire) = (osd, copy as u8, slot, sub.wire + at.since(now));
        self.push(at, Due::Arrive(id));
    }

    /// A daemon that is gone causes no fault of a write if another has the data.
    pub(super) fn fault_of_write(&self, osd: u16, object: u32, fault: Option<Fault>) -> Option<Fault> {
        let is_kept = || self.is_gone(osd) && self.places.primary(self.places.group_of(object)).is_some();
        fault.filter(|fault| *fault != Fault::Gone || !is_kept())
    }
}
