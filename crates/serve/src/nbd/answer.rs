//! Waiting request of a client, until the machine completes it.

use std::cell::RefCell;
use std::io;
use std::sync::Arc;

use hotband_machine::{Fault, Op};

use super::connection::{Connection, Task};
use super::exports::LONGEST_PAYLOAD;
use super::proto::error;
use crate::service::{Failure, Reply};

/// A read.
#[derive(Clone, Copy, Debug)]
pub struct Read {
    /// The client's number of the request.
    pub cookie: u64,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub len: u32,
    /// Whether the data is sent in one chunk, including holes.
    pub is_whole: bool,
}

/// Remaining part of a range to trim or to fill with zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The client's number of the request.
    pub cookie: u64,
    /// A trim, or a write of zeros.
    pub op: Op,
    /// Force unit access.
    pub fua: bool,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub left: u32,
}

impl Piece {
    /// Bytes at its start to request from the machine at once, as many as a write may have, and the remaining piece.
    /// The pieces follow one another, so that other requests get their turn during a long range.
    pub fn split(self) -> (u32, Option<Self>) {
        let len = self.left.min(LONGEST_PAYLOAD);
        let rest = Self { offset: self.offset + u64::from(len), left: self.left - len, ..self };
        (len, (rest.left > 0).then_some(rest))
    }
}

/// Work to do once the machine has completed the I/O.
pub enum Kind {
    /// The request is done; the client receives a reply.
    Done,
    /// The client receives the bytes.
    Read(Read),
    /// The rest of the range follows.
    Piece(Piece),
}

/// A request of a client.
pub struct Answer {
    /// The client.
    pub connection: Arc<Connection>,
    /// The client's number of the request.
    pub cookie: u64,
    /// Bytes that count as under way.
    pub counted: u64,
    /// Work to do.
    pub kind: Kind,
}

thread_local! {
    /// Short replies are put together here: no memory is allocated per I/O.
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

impl Reply for Answer {
    fn done(self: Box<Self>, outcome: Result<(), Failure>) {
        let Self { connection, cookie, counted, kind } = *self;
        let number = match (outcome, kind) {
            (Ok(()), Kind::Read(read)) => {
                return SCRATCH.with_borrow_mut(|scratch| connection.answer_read(read, scratch));
            }
            (Ok(()), Kind::Piece(piece)) => return connection.queue(Task::Next(piece)),
            (Ok(()), Kind::Done) => 0,
            (Err(Failure::Gone), _) => return connection.close(),
            (Err(failure), _) => number_of(&failure),
        };
        connection.answer_short(counted, |out| connection.put_done(out, cookie, number));
    }
}

/// The protocol's number of a failure.
fn number_of(failure: &Failure) -> u32 {
    match failure {
        Failure::OutOfRange => error::EINVAL,
        Failure::Drive(Fault::WriteProtected) => error::EPERM,
        Failure::Store(failed) if failed.kind() == io::ErrorKind::StorageFull => error::ENOSPC,
        Failure::Drive(_) | Failure::Store(_) | Failure::Gone => error::EIO,
    }
}
