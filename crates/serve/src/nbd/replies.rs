//! Answers as bytes. Pure.

use super::proto::{BASE_ALLOCATION_ID, SIMPLE_REPLY_MAGIC, STATE_HOLE_ZERO, STRUCTURED_REPLY_MAGIC, chunk};
use crate::store::Extent;

/// Most bytes before the data of a read: header of a chunk and the offset.
pub const LONGEST_HEADER: usize = 28;
/// Most extents in one answer; the client asks again for the rest. 16 KiB of them fit any socket.
const MOST_EXTENTS: usize = 2048;

/// A simple answer; the data of a read follows it.
pub fn simple(out: &mut Vec<u8>, cookie: u64, error: u32) {
    out.extend_from_slice(&SIMPLE_REPLY_MAGIC.to_be_bytes());
    out.extend_from_slice(&error.to_be_bytes());
    out.extend_from_slice(&cookie.to_be_bytes());
}

/// Header of a chunk of `len` bytes.
fn chunk_header(out: &mut Vec<u8>, cookie: u64, kind: u16, is_last: bool, len: u32) {
    out.extend_from_slice(&STRUCTURED_REPLY_MAGIC.to_be_bytes());
    out.extend_from_slice(&(if is_last { chunk::FLAG_DONE } else { 0 }).to_be_bytes());
    out.extend_from_slice(&kind.to_be_bytes());
    out.extend_from_slice(&cookie.to_be_bytes());
    out.extend_from_slice(&len.to_be_bytes());
}

/// That a request without bytes in its answer is done; or that it failed, where `error` is not zero.
pub fn done(out: &mut Vec<u8>, cookie: u64, is_structured: bool, error: u32) {
    if !is_structured {
        return simple(out, cookie, error);
    }
    if error == 0 {
        return chunk_header(out, cookie, chunk::NONE, true, 0);
    }
    chunk_header(out, cookie, chunk::ERROR, true, 6);
    out.extend_from_slice(&error.to_be_bytes());
    // No words: the number says it all.
    out.extend_from_slice(&0_u16.to_be_bytes());
}

/// Header of `len` bytes that were read at `offset`; they follow.
pub fn data(out: &mut Vec<u8>, cookie: u64, offset: u64, len: u32, is_last: bool) {
    chunk_header(out, cookie, chunk::OFFSET_DATA, is_last, len + 8);
    out.extend_from_slice(&offset.to_be_bytes());
}

/// `len` bytes at `offset` are zeros.
pub fn hole(out: &mut Vec<u8>, cookie: u64, offset: u64, len: u32, is_last: bool) {
    chunk_header(out, cookie, chunk::OFFSET_HOLE, is_last, 12);
    out.extend_from_slice(&offset.to_be_bytes());
    out.extend_from_slice(&len.to_be_bytes());
}

/// Stored parts of a range, in whole blocks.
pub fn status(out: &mut Vec<u8>, cookie: u64, extents: &[Extent]) {
    chunk_header(out, cookie, chunk::BLOCK_STATUS, true, 4 + 8 * extents.len() as u32);
    out.extend_from_slice(&BASE_ALLOCATION_ID.to_be_bytes());
    for extent in extents {
        out.extend_from_slice(&(extent.len as u32).to_be_bytes());
        out.extend_from_slice(&(if extent.is_hole { STATE_HOLE_ZERO } else { 0 }).to_be_bytes());
    }
}

/// Extents in whole blocks that cover `len` bytes at most: a block with any stored part counts as stored. Parts that
/// the store does not report count as stored.
pub fn whole_blocks(extents: &[Extent], block: u32, len: u64, is_one: bool) -> Vec<Extent> {
    let block = u64::from(block);
    let mut all: Vec<Extent> = Vec::new();
    let mut add = |upto: u64, from: u64, is_hole: bool| {
        let here = upto - from;
        match all.last_mut().filter(|last| last.is_hole == is_hole) {
            _ if here == 0 => {}
            Some(last) => last.len += here,
            None => all.push(Extent { len: here, is_hole }),
        }
    };
    // Where the extent at hand begins, and up to where the whole blocks before it were added.
    let (mut at, mut done) = (0, 0);
    for extent in extents {
        let end = at.max(len.min(at + extent.len));
        if extent.is_hole {
            let (first, last) = (at.next_multiple_of(block).max(done), end - end % block);
            if first < last {
                add(first, done, false);
                add(last, first, true);
                done = last;
            }
        }
        at = end;
    }
    add(len, done, false);
    all.truncate(if is_one { 1 } else { MOST_EXTENTS });
    all
}
