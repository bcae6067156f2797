//! Numbers of the NBD protocol, from its specification (NetworkBlockDevice/nbd, doc/proto.md).

/// "NBDMAGIC": the server's first eight bytes.
pub const MAGIC: u64 = 0x4e42_444d_4147_4943;
/// "IHAVEOPT": what follows is new style, and begins every option of a client.
pub const OPTION_MAGIC: u64 = 0x4948_4156_454f_5054;
/// Begins every answer to an option.
pub const OPTION_REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;
/// Begins a request.
pub const REQUEST_MAGIC: u32 = 0x2560_9513;
/// Begins a simple answer.
pub const SIMPLE_REPLY_MAGIC: u32 = 0x6744_6698;
/// Begins a chunk of a structured answer.
pub const STRUCTURED_REPLY_MAGIC: u32 = 0x668e_33ef;

/// The server speaks fixed newstyle; the client's bit of the same value says that it does.
pub const FIXED_NEWSTYLE: u16 = 1 << 0;
/// No zeros after the answer to `EXPORT_NAME`; the client's bit of the same value accepts that.
pub const NO_ZEROES: u16 = 1 << 1;
/// Those zeros.
pub const EXPORT_NAME_ZEROES: usize = 124;

/// Options.
pub mod option {
    #![allow(missing_docs, reason = "named as in the specification")]
    pub const EXPORT_NAME: u32 = 1;
    pub const ABORT: u32 = 2;
    pub const LIST: u32 = 3;
    pub const STARTTLS: u32 = 5;
    pub const INFO: u32 = 6;
    pub const GO: u32 = 7;
    pub const STRUCTURED_REPLY: u32 = 8;
    pub const LIST_META_CONTEXT: u32 = 9;
    pub const SET_META_CONTEXT: u32 = 10;
}

/// Answers to options.
pub mod option_reply {
    #![allow(missing_docs, reason = "named as in the specification")]
    pub const ACK: u32 = 1;
    pub const SERVER: u32 = 2;
    pub const INFO: u32 = 3;
    pub const META_CONTEXT: u32 = 4;
    pub const ERR_UNSUP: u32 = 1 | 1 << 31;
    pub const ERR_INVALID: u32 = 3 | 1 << 31;
    pub const ERR_TLS_REQD: u32 = 5 | 1 << 31;
    pub const ERR_UNKNOWN: u32 = 6 | 1 << 31;
}

/// Kinds of information about an export.
pub mod info {
    #![allow(missing_docs, reason = "named as in the specification")]
    pub const EXPORT: u16 = 0;
    pub const NAME: u16 = 1;
    pub const BLOCK_SIZE: u16 = 3;
}

/// Transmission flags: the abilities of an export.
pub mod can {
    #![allow(missing_docs, reason = "named as in the specification")]
    pub const HAS_FLAGS: u16 = 1 << 0;
    pub const SEND_FLUSH: u16 = 1 << 2;
    pub const SEND_FUA: u16 = 1 << 3;
    pub const ROTATIONAL: u16 = 1 << 4;
    pub const SEND_TRIM: u16 = 1 << 5;
    pub const SEND_WRITE_ZEROES: u16 = 1 << 6;
    pub const SEND_DF: u16 = 1 << 7;
    pub const CAN_MULTI_CONN: u16 = 1 << 8;
}

/// Commands.
pub mod command {
    #![allow(missing_docs, reason = "named as in the specification")]
    pub const READ: u16 = 0;
    pub const WRITE: u16 = 1;
    pub const DISC: u16 = 2;
    pub const FLUSH: u16 = 3;
    pub const TRIM: u16 = 4;
    pub const WRITE_ZEROES: u16 = 6;
    pub const BLOCK_STATUS: u16 = 7;
}

/// Flags of a command.
pub mod flag {
    #![allow(missing_docs, reason = "named as in the specification")]
    pub const FUA: u16 = 1 << 0;
    pub const NO_HOLE: u16 = 1 << 1;
    pub const DF: u16 = 1 << 2;
    pub const REQ_ONE: u16 = 1 << 3;
}

/// Chunks of a structured answer.
pub mod chunk {
    #![allow(missing_docs, reason = "named as in the specification")]
    pub const FLAG_DONE: u16 = 1;
    pub const NONE: u16 = 0;
    pub const OFFSET_DATA: u16 = 1;
    pub const OFFSET_HOLE: u16 = 2;
    pub const BLOCK_STATUS: u16 = 5;
    pub const ERROR: u16 = 1 << 15 | 1;
}

/// Errors of a command: the numbers of errno on Linux.
pub mod error {
    #![allow(missing_docs, reason = "named as in the specification")]
    pub const EPERM: u32 = 1;
    pub const EIO: u32 = 5;
    pub const EINVAL: u32 = 22;
    pub const ENOSPC: u32 = 28;
}

/// The only meta context: whether a range is stored.
pub const BASE_ALLOCATION: &str = "base:allocation";
/// Its number; any would do.
pub const BASE_ALLOCATION_ID: u32 = 1;
/// Flag of a range in that context: no data, reads as zeros.
pub const STATE_HOLE_ZERO: u32 = 1 << 0 | 1 << 1;

/// Longest name of an export, and longest query of a meta context (specification: strings are 4096 bytes at most).
pub const LONGEST_STRING: usize = 4096;

/// Takes a big-endian number off the front; none if too little is left.
pub fn take_u16(bytes: &mut &[u8]) -> Option<u16> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u16::from_be_bytes(*first))
}

/// Take a number of 32 bits.
pub fn take_u32(bytes: &mut &[u8]) -> Option<u32> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u32::from_be_bytes(*first))
}

/// Take a number of 64 bits.
pub fn take_u64(bytes: &mut &[u8]) -> Option<u64> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u64::from_be_bytes(*first))
}

/// Reads a string with its length before it; none if it exceeds the data or the limit.
pub fn take_string<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = take_u32(bytes)? as usize;
    let (string, rest) = bytes.split_at_checked(len).filter(|_| len <= LONGEST_STRING)?;
    *bytes = rest;
    Some(string)
}
