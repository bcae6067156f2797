//! Errors of a map; the caller adds file and key.

use thiserror::Error;

/// A mistake in the description of a map. Its text is one line.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum CrushError {
    /// A level that the map does not have.
    #[error("unknown level {name:?}, expected one of {known}")]
    UnknownLevel {
        /// The requested level.
        name: String,
        /// The levels of the map, from the bottom.
        known: String,
    },
    /// A bucket that is not (or not yet) there.
    #[error("unknown bucket {0:?}; a bucket comes after what it holds")]
    UnknownBucket(String),
    /// An OSD that is not there.
    #[error("unknown OSD {0}; OSDs are added before the buckets that hold them")]
    UnknownOsd(u32),
    /// A device class that no OSD has.
    #[error("no OSD has the device class {0:?}")]
    UnknownClass(String),
    /// A name, OSD or id that is used twice.
    #[error("{0} is used twice")]
    Twice(String),
    /// A bucket id that is not below zero, or below the limit of a map.
    #[error("{id} as id of {bucket:?}, expected -1 to -65536")]
    BadId {
        /// The bucket.
        bucket: String,
        /// Its id.
        id: i32,
    },
    /// An OSD number above the limit of a map.
    #[error("OSD {0}, expected 0 to 65535")]
    BadOsd(u32),
    /// An item that is not below the level of the bucket that holds it.
    #[error("{bucket:?} holds {item}, which is not of a lower level")]
    NotBelow {
        /// The bucket.
        bucket: String,
        /// The item it holds.
        item: String,
    },
    /// A bucket of the lowest level, which is that of the OSDs.
    #[error("{bucket:?} is of the level {level:?}, which is that of the OSDs")]
    Lowest {
        /// The bucket.
        bucket: String,
        /// Its level.
        level: String,
    },
    /// Weights that together are more than a weight can say.
    #[error("the items of {0:?} weigh 65536 or more together")]
    TooHeavy(String),
}
