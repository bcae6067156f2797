//! Distance from the end of an I/O to the beginning of the next on its device.

use super::figures::{JumpClass, Jumps as Found};
use super::quantiles::{Values, share};

/// As in the record's comparison of measured and modelled: at most this is near.
const NEAR: u64 = 1 << 20;

/// Distances.
#[derive(Debug)]
pub(super) struct Jumps {
    /// End of the last I/O of each device.
    ends: Vec<Option<u64>>,
    count: u64,
    none: u64,
    near: u64,
    distances: Values,
    /// Forward and backward by power of two.
    classes: [(u64, u64); 64],
}

impl Default for Jumps {
    fn default() -> Self {
        let classes = [(0, 0); 64];
        Self { ends: Vec::new(), count: 0, none: 0, near: 0, distances: Values::default(), classes }
    }
}

impl Jumps {
    pub(super) fn io(&mut self, device: u32, offset: u64, len: u64, is_continuing: bool) {
        let device = device as usize;
        if device >= self.ends.len() {
            self.ends.resize(device + 1, None);
        }
        let Some(end) = self.ends[device].replace(offset + len) else { return };
        self.count += 1;
        if is_continuing {
            self.none += 1;
            return;
        }
        let distance = offset.abs_diff(end);
        self.near += u64::from(distance <= NEAR);
        self.distances.add(distance, 1);
        let class = &mut self.classes[distance.ilog2() as usize];
        if offset > end {
            class.0 += 1;
        } else {
            class.1 += 1;
        }
    }

    pub(super) fn finish(self) -> Found {
        let backward = self.classes.iter().map(|class| class.1).sum();
        let classes = self.classes.iter().enumerate().filter(|(_, class)| class.0 + class.1 > 0);
        let class = |(power, (forward, backward)): (usize, &(u64, u64))| JumpClass {
            from: 1 << power,
            forward: *forward,
            backward: *backward,
        };
        Found {
            count: self.count,
            none: share(self.none, self.count),
            near: share(self.near, self.count),
            backward: share(backward, self.count),
            distance: self.distances.finish(),
            classes: classes.map(class).collect(),
        }
    }
}
