//! Requests of a client that has chosen an export: what is asked, and whether it may be. Pure.

use hotband_machine::Op;

use super::exports::{Export, LONGEST_PAYLOAD};
use super::proto::{REQUEST_MAGIC, command, error, flag, take_u16, take_u32, take_u64};

/// Bytes of a request without its data.
pub const HEADER: usize = 28;

/// A request as it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Flags of the command.
    pub flags: u16,
    /// The command.
    pub command: u16,
    /// The client's number for it; comes back with the answer.
    pub cookie: u64,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub len: u32,
}

impl Header {
    /// Reads the first bytes of a request; none if they are not a request.
    pub fn of(mut bytes: &[u8]) -> Option<Self> {
        let bytes = &mut bytes;
        take_u32(bytes).filter(|magic| *magic == REQUEST_MAGIC)?;
        Some(Self {
            flags: take_u16(bytes)?,
            command: take_u16(bytes)?,
            cookie: take_u64(bytes)?,
            offset: take_u64(bytes)?,
            len: take_u32(bytes)?,
        })
    }

    /// Bytes of data that follow; none if that is more than the announced limit, after which the client's
    /// stream cannot be parsed.
    pub fn payload(&self) -> Option<usize> {
        match self.command {
            command::WRITE => (self.len <= LONGEST_PAYLOAD).then_some(self.len as usize),
            _ => Some(0),
        }
    }
}

/// Operation that a request wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Bytes; in one piece where `is_whole`.
    Read {
        /// All in one chunk.
        is_whole: bool,
    },
    /// A command of the machine without bytes in its answer.
    Act {
        /// Operation of the machine.
        op: Op,
        /// The reply waits until it is durable.
        fua: bool,
    },
    /// Stored parts of a range; only its beginning if `is_one`.
    Status {
        /// Whether only one extent is requested.
        is_one: bool,
    },
    /// The client leaves.
    Disconnect,
}

/// Operation of a request, if it is allowed.
///
/// # Errors
/// The protocol's error number, for the reply.
pub fn wanted(header: &Header, export: &Export, has_allocation: bool) -> Result<Wanted, u32> {
    let Header { flags, command, offset, len, .. } = *header;
    let has = |bit: u16| flags & bit != 0;
    let allowed = match command {
        command::READ => flag::FUA | flag::DF,
        command::WRITE_ZEROES => flag::FUA | flag::NO_HOLE,
        command::BLOCK_STATUS => flag::FUA | flag::REQ_ONE,
        _ => flag::FUA,
    };
    if command == command::DISC {
        return Ok(Wanted::Disconnect);
    }
    if flags & !allowed != 0 {
        return Err(error::EINVAL);
    }
    let fua = has(flag::FUA);
    // Only a write is told that the export is too small for it.
    let beyond = match command {
        command::WRITE | command::WRITE_ZEROES => error::ENOSPC,
        _ => error::EINVAL,
    };
    match command {
        command::READ if len > LONGEST_PAYLOAD => return Err(error::EINVAL),
        command::FLUSH if offset != 0 || len != 0 => return Err(error::EINVAL),
        command::FLUSH => {}
        _ => export.check(offset, len, beyond)?,
    }
    match command {
        command::READ => Ok(Wanted::Read { is_whole: has(flag::DF) }),
        command::FLUSH => Ok(Wanted::Act { op: Op::Flush, fua: false }),
        command::TRIM if export.trims => Ok(Wanted::Act { op: Op::Trim, fua }),
        // What is trimmed reads as zeros, so a client that does not mind a hole gets one.
        command::WRITE_ZEROES if export.trims && !has(flag::NO_HOLE) => Ok(Wanted::Act { op: Op::Trim, fua }),
        command::WRITE | command::WRITE_ZEROES => Ok(Wanted::Act { op: Op::Write, fua }),
        command::BLOCK_STATUS if has_allocation => Ok(Wanted::Status { is_one: has(flag::REQ_ONE) }),
        _ => Err(error::EINVAL),
    }
}
