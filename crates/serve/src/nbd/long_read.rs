//! Answers to reads that are not sent by whoever has them: piece by piece, so that little memory is used.

use std::io;

use super::answer::Read;
use super::connection::{Connection, SHORT};
use super::proto::error;
use super::replies;
use super::wire::send_all;
use crate::store::Extent;

/// Bytes that are read and sent at a time, about the size of a socket's buffer.
const PIECE: u64 = 256 << 10;

/// Reads and sends.
///
/// # Errors
/// The client is gone; or the store failed in the middle of an answer that cannot say so.
pub fn send(connection: &Connection, read: &Read, buffer: &mut Vec<u8>) -> io::Result<()> {
    if connection.chosen.is_structured && !read.is_whole {
        send_chunks(connection, read, buffer)
    } else {
        send_whole(connection, read, buffer)
    }
}

/// Appends a range of the volume.
fn append(connection: &Connection, buffer: &mut Vec<u8>, offset: u64, len: u64) -> io::Result<()> {
    let begin = buffer.len();
    buffer.resize(begin + len as usize, 0);
    connection.service.read(connection.chosen.export, offset, &mut buffer[begin..])
}

/// Sends the data in one chunk.
fn send_whole(connection: &Connection, read: &Read, buffer: &mut Vec<u8>) -> io::Result<()> {
    let Read { cookie, offset, len, .. } = *read;
    buffer.clear();
    if connection.chosen.is_structured {
        replies::data(buffer, cookie, offset, len, true);
    } else {
        replies::simple(buffer, cookie, 0);
    }
    let (mut at, end) = (offset, offset + u64::from(len));
    while at < end {
        let here = PIECE.min(end - at);
        if let Err(failed) = append(connection, buffer, at, here) {
            if at > offset {
                return Err(failed);
            }
            buffer.clear();
            connection.put_done(buffer, cookie, error::EIO);
            return send_all(&*connection.wire, buffer);
        }
        send_all(&*connection.wire, buffer)?;
        buffer.clear();
        at += here;
    }
    Ok(())
}

/// In several; those that read as zeros without their bytes, in reads long enough that looking for them is worth it.
fn send_chunks(connection: &Connection, read: &Read, buffer: &mut Vec<u8>) -> io::Result<()> {
    let Read { cookie, offset, len, .. } = *read;
    let mut extents = vec![Extent { len: u64::from(len), is_hole: false }];
    if len as usize > SHORT
        && let Ok(found) = connection.service.extents(connection.chosen.export, offset, u64::from(len))
        && found.iter().map(|extent| extent.len).sum::<u64>() == u64::from(len)
    {
        extents = found;
    }
    let (mut at, end) = (offset, offset + u64::from(len));
    for mut extent in extents.into_iter().filter(|extent| extent.len > 0) {
        while extent.len > 0 {
            let here = if extent.is_hole { extent.len } else { extent.len.min(PIECE) };
            let is_last = at + here == end;
            buffer.clear();
            if extent.is_hole {
                replies::hole(buffer, cookie, at, here as u32, is_last);
            } else {
                replies::data(buffer, cookie, at, here as u32, is_last);
                if append(connection, buffer, at, here).is_err() {
                    buffer.clear();
                    connection.put_done(buffer, cookie, error::EIO);
                    return send_all(&*connection.wire, buffer);
                }
            }
            send_all(&*connection.wire, buffer)?;
            (at, extent.len) = (at + here, extent.len - here);
        }
    }
    Ok(())
}
