//! Pages of rows become I/Os to members: those that lie side by side on a member and go the same way at the same time
//! are one, as the block layer makes of them while md's thread holds its plug (`blk_start_plug` in `raid5d`).

use std::ops::Range;

use hotband_machine::Op;

use crate::md::rows::PAGE;

/// Most pages of an I/O: one per segment, `BLK_MAX_SEGMENTS` of `blkdev.h`.
pub const MOST: u64 = 128;

/// A page of a row that is to be read from, or written to, its member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PageIo {
    /// Read or write.
    pub op: Op,
    /// On which member.
    pub member: u16,
    /// Row.
    pub row: u64,
    /// With force unit access.
    pub fua: bool,
    /// Newest of the writes that it has.
    pub version: u64,
}

/// An I/O to a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberIo {
    /// Read or write.
    pub op: Op,
    /// Destination member.
    pub member: u16,
    /// Rows whose pages it has.
    pub rows: Range<u64>,
    /// With force unit access.
    pub fua: bool,
    /// Newest of the writes that it has.
    pub version: u64,
}

impl MemberIo {
    /// Number of bytes.
    pub fn bytes(&self) -> u64 {
        (self.rows.end - self.rows.start) * PAGE
    }
}

/// These pages as I/Os, reads first, in order of address; `pages` is empty afterwards.
pub fn merged(pages: &mut Vec<PageIo>) -> Vec<MemberIo> {
    pages.sort_unstable();
    let mut ios: Vec<MemberIo> = Vec::new();
    for PageIo { op, member, row, fua, version } in pages.drain(..) {
        let joins = |io: &&mut MemberIo| {
            (io.op, io.member, io.fua, io.rows.end) == (op, member, fua, row) && io.rows.end - io.rows.start < MOST
        };
        match ios.last_mut().filter(joins) {
            Some(io) => (io.rows.end, io.version) = (row + 1, io.version.max(version)),
            None => ios.push(MemberIo { op, member, rows: row..row + 1, fua, version }),
        }
    }
    ios
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_one_io_up_to_its_limit() {
        let page = |op, member, row| PageIo { op, member, row, fua: false, version: row };
        let mut pages: Vec<PageIo> = (0..130).rev().map(|row| page(Op::Write, 1, row)).collect();
        pages.extend([page(Op::Read, 1, 130), page(Op::Write, 0, 131), page(Op::Write, 0, 133)]);
        pages.push(PageIo { fua: true, ..page(Op::Write, 0, 134) });
        let ios: Vec<_> = merged(&mut pages).into_iter().map(|io| (io.op, io.member, io.rows, io.version)).collect();
        let expected = [
            (Op::Read, 1, 130..131, 130),
            (Op::Write, 0, 131..132, 131),
            (Op::Write, 0, 133..134, 133),
            (Op::Write, 0, 134..135, 134),
            (Op::Write, 1, 0..128, 127),
            (Op::Write, 1, 128..130, 129),
        ];
        assert_eq!(ios, expected);
        assert!(pages.is_empty());
    }
}
