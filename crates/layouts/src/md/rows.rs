//! Pages of a row: one of 4 KiB of every member, at the same place on each.

use hotband_machine::StripeShape;

use crate::parity::Parity;

/// Bytes of every member in a stripe head (`STRIPE_SIZE`, `raid5.h`), and size of a journal's block.
pub const PAGE: u64 = 4096;
/// Most members of an array: a row's pages are bits.
pub const MOST: u64 = u128::BITS as u64;

/// Rows of an array. The pages of one are numbered: data in the order of their addresses, then parities.
pub struct Rows {
    parity: Parity,
    /// Rows before the first: the array may begin further on in its members.
    before: u64,
}

impl Rows {
    /// Rows of an array of such stripes, which begins `from` bytes of data after its layout does.
    pub fn new(shape: StripeShape, from: u64) -> Self {
        let parity = Parity::new("md", shape.data + shape.parities, shape.parities, 0, shape.chunk);
        Self { before: from / shape.bytes() * (shape.chunk / PAGE), parity }
    }

    /// Chunks of data in a stripe.
    pub fn data(&self) -> u64 {
        self.parity.data_chunks()
    }

    /// Parities of a row.
    pub fn parities(&self) -> u64 {
        self.parity.parities
    }

    /// All pages of data of a row.
    pub fn all_data(&self) -> u128 {
        bits(0..self.data())
    }

    /// All parities of a row.
    pub fn all_parities(&self) -> u128 {
        bits(self.data()..self.data() + self.parities())
    }

    /// Stripe of a row, by number.
    pub fn stripe_of(&self, row: u64) -> u64 {
        row / (self.parity.chunk / PAGE)
    }

    /// Stripe of an address.
    pub fn stripe_at(&self, offset: u64) -> u64 {
        offset / (self.parity.chunk * self.data())
    }

    /// Row and page of an address.
    pub fn page_at(&self, offset: u64) -> (u64, u64) {
        let (chunk, within) = (offset / self.parity.chunk, offset % self.parity.chunk);
        (chunk / self.data() * (self.parity.chunk / PAGE) + within / PAGE, chunk % self.data())
    }

    /// Address of a page of data.
    pub fn address(&self, row: u64, page: u64) -> u64 {
        let rows = self.parity.chunk / PAGE;
        (row / rows * self.data() + page) * self.parity.chunk + row % rows * PAGE
    }

    /// Member of the layout below on which a page lies.
    pub fn member_of(&self, row: u64, page: u64) -> u16 {
        let stripe = self.stripe_of(self.before + row);
        match page.checked_sub(self.data()) {
            None => self.parity.data_member(stripe, page),
            Some(which) => self.parity.parity_member(stripe, which) as u16,
        }
    }

    /// The page of a row that lies on a member.
    pub fn page_on(&self, row: u64, member: u16) -> u64 {
        let stripe = self.stripe_of(self.before + row);
        let after =
            (u64::from(member) + self.parity.members - self.parity.parity_member(stripe, 0)) % self.parity.members;
        if after < self.parities() { self.data() + after } else { after - self.parities() }
    }

    /// Return the offset of a row on every member.
    pub fn on_members(&self, row: u64) -> u64 {
        (self.before + row) * PAGE
    }
}

/// A bit of each of these pages.
pub fn bits(pages: impl Iterator<Item = u64>) -> u128 {
    pages.fold(0, |mask, page| mask | 1 << page)
}

/// The pages whose bits are set.
pub fn pages(mut mask: u128) -> impl Iterator<Item = u64> {
    std::iter::from_fn(move || {
        let page = mask.trailing_zeros();
        mask &= mask.checked_sub(1)?;
        Some(u64::from(page))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hotband_machine::{Extent, Layout, Op};

    #[test]
    fn pages_lie_where_the_layout_below_has_them() {
        for (data, parities) in [(4, 1), (3, 2), (2, 1)] {
            let shape = StripeShape { chunk: 16 << 10, data, parities };
            let below = Parity::new("raid5", data + parities, parities, 1 << 24, shape.chunk);
            let from = 2 * shape.bytes();
            let rows = Rows::new(shape, from);
            for offset in (0..20 * shape.bytes()).step_by(PAGE as usize) {
                let (row, page) = rows.page_at(offset);
                assert_eq!(rows.address(row, page), offset);
                let mut placed = Vec::new();
                below.place(Extent { op: Op::Read, offset: from + offset, len: PAGE as u32 }, &mut placed);
                assert_eq!((placed[0].member, placed[0].offset), (rows.member_of(row, page), rows.on_members(row)));
                let all = 0..data + parities;
                assert!(all.clone().all(|page| rows.page_on(row, rows.member_of(row, page)) == page));
                let members: std::collections::BTreeSet<u16> = all.map(|page| rows.member_of(row, page)).collect();
                assert_eq!(members.len() as u64, data + parities);
            }
        }
        assert_eq!(pages(0b1_0110).collect::<Vec<_>>(), [1, 2, 4]);
    }
}
