//! Weights as CRUSH counts them.

/// A weight in units of 1/65,536 (16.16 fixed point).
///
/// In a map it is by convention the capacity in TiB; outside of a map it is the part of the PGs that an OSD keeps
/// (`ceph osd reweight`): [`Weight::ONE`] is in, [`Weight::ZERO`] is out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Weight(pub u32);

impl Weight {
    /// 1.0: one TiB in a map, "in" beside it.
    pub const ONE: Self = Self(0x1_0000);
    /// 0.0: takes nothing.
    pub const ZERO: Self = Self(0);

    /// The weight that Ceph's tools make of a number: single precision, rounded down. Negative numbers give zero,
    /// numbers from 65,536 on the largest weight.
    pub fn of(value: f64) -> Self {
        Self((value as f32 * 65_536.0) as u32)
    }

    /// This weight as a number.
    pub fn value(self) -> f64 {
        f64::from(self.0) / 65_536.0
    }
}
