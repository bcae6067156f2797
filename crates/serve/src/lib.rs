//! A machine on the wall clock, behind front ends that programs use as a block device.
//!
//! ```text
//!  fio, ext4, PostgreSQL ...
//!     |  NBD socket        |  FUSE file, loop device
//!   nbd/                 fuse/            a front end: reads requests, writes answers
//!     \___________________/
//!            Service        what arrived goes to the machine, what it answered goes back: never before its time
//!           /       \
//!        Model      Store   when an I/O is done     what the bytes are
//! ```
//!
//! The model decides when, the store what: nothing in the models changes.

pub mod clock;
pub mod fuse;
mod holders;
pub mod loopdev;
pub mod model;
pub mod nbd;
mod priority;
pub mod service;
pub mod speed;
pub mod store;
pub mod tally;
mod timekeeper;
mod watch;

pub use clock::WallClock;
pub use model::{Answer, Fixed, Model, OfMachine, VolumeTold};
pub use priority::Priority;
pub use service::{Failure, Options, Payload, Reply, Request, Service};
pub use store::{Extent, File, Left, Memory, Nothing, Place, Store, WithHistory};
pub use tally::{ServingTold, Tally};
