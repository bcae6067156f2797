//! Trait of a kind of load that has a file of its own.

use std::fmt::Debug;
use std::sync::Arc;

use crate::sources::shares::Shares;
use crate::sources::source::Source;

/// A kind of load that is neither of the two loops: as its text states it.
pub trait LoadKind: Debug + Send + Sync {
    /// Source of this kind, for streams by their shares.
    fn source(&self, shares: Shares) -> Box<dyn Source>;
    /// Whether its streams define the I/Os; otherwise, the outside does.
    fn has_pattern(&self) -> bool {
        true
    }
}

/// A load of another kind; two are the same if they say the same.
#[derive(Clone, Debug)]
pub struct OtherLoad(pub Arc<dyn LoadKind>);

impl PartialEq for OtherLoad {
    fn eq(&self, other: &Self) -> bool {
        format!("{:?}", self.0) == format!("{:?}", other.0)
    }
}
