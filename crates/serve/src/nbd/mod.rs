//! The volumes of a service for clients of NBD (NetworkBlockDevice/nbd, doc/proto.md): fixed newstyle, structured answers.
//!
//! ```text
//!  listener -> handshake (options) -> connection: requests -> Service -> answer -> replies
//!                 |                        |                               |
//!              wire (tls)               incoming                    long_read, by the second thread
//! ```
//!
//! Leaves out: extended headers (ranges of 4 GiB and more at once), resizing, and caching.
//! Memory is bounded: see [`Limits`]; a connection uses 256 KiB, and what its longest write needs (32 MiB at most) while
//! that arrives, for which all connections share one budget.

mod answer;
mod budget;
mod connection;
mod exports;
pub mod fuzzing;
mod handshake;
mod incoming;
mod listener;
mod long_read;
pub mod options;
pub mod proto;
mod replies;
pub mod requests;
mod tls;
mod wire;

pub use exports::Export;
pub use listener::{Limits, Listen, Server, serve};
pub use tls::TlsFiles;
