//! The volumes that a workload names, on a machine with a single unnamed address space: equal parts of it, in the order
//! of the streams.
//!
//! Leaves out: parts of different sizes. A log has as much room as the data.

use hotband_workloads::Workload;

use crate::build::assemble::Assembled;

/// Parts begin at multiples of this, so that the alignment of I/Os and chunks survives.
const GRAIN: u64 = 1 << 20;

/// Volumes of a workload as parts of the only volume of a machine.
pub(crate) struct Parts<'w> {
    names: Vec<&'w str>,
    size: u64,
}

impl<'w> Parts<'w> {
    /// Returns the parts; none if the machine has named or several volumes, or the workload names none. Phases that
    /// fill volumes need real ones.
    pub(crate) fn of(workload: &'w Workload, assembled: &Assembled) -> Option<Self> {
        let [only] = assembled.machine.volumes() else { return None };
        let mut names: Vec<&str> = Vec::new();
        for name in workload.streams.iter().filter_map(|stream| stream.volume.as_deref()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let is_known = assembled.has_named_volumes || names.contains(&only.name.as_str());
        let fills = workload.phases.iter().any(|phase| phase.untimed.is_some());
        if names.is_empty() || is_known || fills || workload.app.is_some() || !workload.traces.is_empty() {
            return None;
        }
        let size = if names.len() == 1 { only.size } else { only.size / names.len() as u64 / GRAIN * GRAIN };
        Some(Self { names, size })
    }

    /// Returns the first byte of a volume, and its size.
    pub(crate) fn extent(&self, volume: &str) -> Option<(u64, u64)> {
        let at = self.names.iter().position(|name| *name == volume)?;
        Some((at as u64 * self.size, self.size))
    }

    /// Returns the note of a record; none if the only volume is one part.
    pub(crate) fn remark(&self) -> Option<String> {
        let (last, others) = self.names.split_last().filter(|(_, others)| !others.is_empty())?;
        Some(format!("the volumes {} and {last} are equal parts of the machine", others.join(", ")))
    }
}
