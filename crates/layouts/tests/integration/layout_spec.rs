//! A layout as a machine file says it.

use hotband_machine::{LayoutSpec, NodeRef};
use hotband_units::Bytes;

/// A layout of `members` drives with options in TOML.
pub fn spec(kind: &str, members: usize, options: &str) -> LayoutSpec {
    LayoutSpec {
        name: "data".into(),
        kind: kind.into(),
        members: (0..members as u32).map(|drive| NodeRef::Drive(drive).into()).collect(),
        from: Bytes(0),
        size: None,
        force_writes: false,
        options: options.parse().expect("test options are TOML"),
        key: "layouts.data".into(),
    }
}
