//! Columns of a record on the members of a RAID-Z: OpenZFS `vdev_raidz_map_alloc` and `vdev_raidz_asize`
//! (module/zfs/vdev_raidz.c), without expansion.

/// Geometry of members and parities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Members.
    pub columns: u64,
    /// Sectors of parity a row: 1, 2 or 3.
    pub parities: u64,
    /// Bytes of a sector: two to the `ashift`.
    pub sector: u64,
}

/// A part of a record on one member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Member.
    pub member: u16,
    /// First byte on it.
    pub offset: u64,
    /// Length in bytes.
    pub len: u32,
    /// Parity of the others, and not data.
    pub is_parity: bool,
}

/// "We therefore intentionally switch the parity and data every 1MB" (`vdev_raidz_map_alloc`): with one parity only.
const SWITCH: u64 = 1 << 20;

impl Geometry {
    /// Bytes of the members, all together, that a record of `len` bytes takes: its data, parity for every row of them,
    /// and sectors that nothing is written to, so that no hole is too small for the smallest record.
    pub fn allocated(&self, len: u64) -> u64 {
        let data = len.div_ceil(self.sector);
        let all = data + self.parities * data.div_ceil(self.columns - self.parities);
        all.next_multiple_of(self.parities + 1) * self.sector
    }

    /// The parts of a record of `len` bytes that begins at `offset` of all members together, sector by sector: first
    /// its parities, then its data in order.
    pub fn columns(&self, offset: u64, len: u64) -> Vec<Column> {
        let (first, row) = (offset / self.sector, offset / self.sector / self.columns);
        let data = len.div_ceil(self.sector);
        // Every column has `rows` sectors, and the first `longer` one more.
        let (rows, rest) = (data / (self.columns - self.parities), data % (self.columns - self.parities));
        let longer = if rest == 0 { 0 } else { rest + self.parities };
        let used = if rows == 0 { longer } else { self.columns };
        let column = |number: u64| {
            let at = first % self.columns + number;
            Column {
                member: (at % self.columns) as u16,
                offset: (row + at / self.columns) * self.sector,
                len: ((rows + u64::from(number < longer)) * self.sector) as u32,
                is_parity: number < self.parities,
            }
        };
        let mut columns: Vec<Column> = (0..used).map(column).collect();
        if self.parities == 1 && offset & SWITCH != 0 && columns.len() > 1 {
            let (parity, data) = (columns[0], columns[1]);
            (columns[0].member, columns[0].offset) = (data.member, data.offset);
            (columns[1].member, columns[1].offset) = (parity.member, parity.offset);
        }
        columns
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KIB: u64 = 1024;

    fn geometry(columns: u64, parities: u64, sector: u64) -> Geometry {
        Geometry { columns, parities, sector }
    }

    #[test]
    fn space_is_that_of_the_published_formula() {
        // Members, parities, sector, record, allocated; the first row is the worked example of the OpenZFS
        // documentation on RAID-Z (8 KiB volume blocks on RAID-Z2 of 6 take three times their size).
        let cases = [
            (6, 2, 4 * KIB, 8 * KIB, 24 * KIB),
            (6, 2, 4 * KIB, 128 * KIB, 192 * KIB),
            (5, 1, 4 * KIB, 16 * KIB, 24 * KIB),
            (5, 1, 4 * KIB, 128 * KIB, 160 * KIB),
            (4, 1, 4 * KIB, 128 * KIB, 172 * KIB + 4 * KIB),
            (11, 3, 4 * KIB, 128 * KIB, 176 * KIB),
            (10, 2, 4 * KIB, 128 * KIB, 160 * KIB + 8 * KIB),
            (5, 1, 512, 512, KIB),
        ];
        for (columns, parities, sector, len, allocated) in cases {
            let layout = geometry(columns, parities, sector);
            assert_eq!(layout.allocated(len), allocated, "{layout:?} {len}");
        }
    }

    proptest! {
        #[test]
        fn columns_have_the_data_its_parity_and_no_sector_twice(
            columns in 4_u64..20, parities in 1_u64..4, sectors in 1_u64..64, at in 0_u64..10_000,
        ) {
            let layout = geometry(columns, parities, 4096);
            let begin = at * (parities + 1) * 4096;
            let laid = layout.columns(begin, sectors * 4096);
            let sum = |is_parity| laid.iter().filter(|c| c.is_parity == is_parity).map(|c| u64::from(c.len)).sum::<u64>();
            prop_assert_eq!(sum(false), sectors * 4096);
            prop_assert_eq!(sum(true), parities * sectors.div_ceil(columns - parities) * 4096);
            let padding = layout.allocated(sectors * 4096) - sum(false) - sum(true);
            prop_assert!(padding <= parities * 4096);
            // Every sector lies in the range that is allocated, once.
            let number = |column: &Column, n: u64| (column.offset / 4096 + n) * columns + u64::from(column.member);
            let mut all: Vec<u64> =
                laid.iter().flat_map(|c| (0..u64::from(c.len) / 4096).map(move |n| number(c, n))).collect();
            all.sort_unstable();
            let used = all.len() as u64;
            let first = begin / 4096;
            prop_assert!(all.into_iter().eq(first..first + used));
        }
    }
}
