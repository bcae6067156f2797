//! The fixed-point logarithm that straws are drawn with.
//!
//! Ceph's `crush_ln(x)` is about 2^44 log2(x + 1), made of two tables so that every machine, kernels without floating
//! point among them, gets the same bits. The tables are made here from their definitions. If the numbers in use
//! differ from the definitions, they are kept unchanged: every placement in the world depends on them.

use std::sync::LazyLock;

/// Fraction bits of the tables.
const SCALE: u32 = 48;
/// Minuend of a straw's logarithm: 2^44 log2(2^16), a little more than any `crush_ln`.
pub const LN_OF_ALL: i64 = 1 << SCALE;

/// 2^48 / (1 + k/128), rounded up.
const RECIPROCAL: [u64; 129] = reciprocals();
/// 2^48 log2(1 + k/128), rounded down; the last is 2^48 - 2^32.
const COARSE: [u64; 129] = coarse();
/// 2^48 log2(1 + k/2^15), rounded down, and displaced.
const FINE: [u64; 256] = fine();

/// Ceph's table of fine logarithms lies this far above its definition for nearly all k from 2 on.
const DISPLACED: u64 = 0x1_4770_0000;
/// Entries of the fine table that are neither displaced by that nor true: (k, entry).
const IRREGULAR: [(usize, u64); 23] = [
    (56, 0xa2_b07f_3458),
    (127, 0x16d_f6ca_19bd),
    (134, 0x182_b07f_3458),
    (181, 0x209_c06e_6212),
    (184, 0x212_b07f_3458),
    (188, 0x21d_6a73_a78f),
    (193, 0x22c_2367_9b4e),
    (198, 0x23a_2c3b_0ea4),
    (199, 0x23d_13ee_805b),
    (200, 0x240_35e9_221f),
    (207, 0x254_9264_4d65),
    (210, 0x25d_13ee_805b),
    (212, 0x262_9645_3882),
    (225, 0x287_bdbf_5255),
    (227, 0x28d_13ee_805b),
    (228, 0x290_35e9_221f),
    (229, 0x292_9645_3882),
    (231, 0x299_02a3_7aab),
    (235, 0x2a4_c760_5d61),
    (236, 0x2a7_bdbf_5255),
    (240, 0x2b2_9645_3882),
    (241, 0x2b5_d022_d80f),
    (247, 0x2c6_1a5e_8f4c),
];
/// Entries of the fine table that agree with the definition, besides 0 and 1.
const TRUE: [usize; 19] =
    [203, 216, 222, 233, 237, 238, 239, 243, 244, 245, 246, 248, 249, 250, 251, 252, 253, 254, 255];

const fn reciprocals() -> [u64; 129] {
    let mut table = [0; 129];
    let mut k = 0;
    while k < table.len() {
        table[k] = (1_u64 << (SCALE + 7)).div_ceil(128 + k as u64);
        k += 1;
    }
    table
}

const fn coarse() -> [u64; 129] {
    let mut table = [0; 129];
    let mut k = 0;
    while k < 128 {
        table[k] = log2(128 + k as u64, 7);
        k += 1;
    }
    table[128] = (1 << SCALE) - (1 << 32);
    table
}

const fn fine() -> [u64; 256] {
    let mut table = [0; 256];
    let mut k = 0;
    while k < table.len() {
        table[k] = log2((1 << 15) + k as u64, 15) + if k < 2 { 0 } else { DISPLACED };
        k += 1;
    }
    let mut i = 0;
    while i < IRREGULAR.len() {
        table[IRREGULAR[i].0] = IRREGULAR[i].1;
        i += 1;
    }
    let mut i = 0;
    while i < TRUE.len() {
        table[TRUE[i]] -= DISPLACED;
        i += 1;
    }
    table
}

/// 2^48 log2(m / 2^bits), rounded down, of an m from 2^bits to below 2^(bits + 1): squaring doubles the logarithm and
/// so brings up one bit of it after the other. 63 fraction bits keep the 48 right: the error made in step i is halved i
/// times.
const fn log2(m: u64, bits: u32) -> u64 {
    let mut m = (m as u128) << (63 - bits);
    let mut log = 0;
    let mut bit = 0;
    while bit < SCALE {
        m = (m * m) >> 63;
        let above = m >> 64;
        log = (log << 1) | above as u64;
        m >>= above;
        bit += 1;
    }
    log
}

/// About 2^44 log2(x + 1) of an `x` up to 65,535.
///
/// x + 1 is brought to 2^15 to 2^16; its upper eight bits choose the coarse logarithm and the reciprocal, and what is
/// left after multiplying by that (a number near 1) chooses the fine one.
pub fn crush_ln(x: u16) -> u64 {
    let x = u32::from(x) + 1;
    // 2^16 itself stays where it is: its logarithm is the last of the coarse table.
    let shift = x.leading_zeros().saturating_sub(16);
    let x = u64::from(x << shift);
    let coarse = (x >> 8) as usize - 128;
    let near_one = x.wrapping_mul(RECIPROCAL[coarse]) >> SCALE;
    let fraction = COARSE[coarse] + FINE[(near_one & 0xff) as usize];
    (u64::from(15 - shift) << 44) + (fraction >> (SCALE - 44))
}

/// For each `x`, the lowest number with a higher [`crush_ln`]: nearly always x + 1, but the fine table falls in places.
static HIGHER_FROM: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let mut highest = 0;
    let rise = |x: u16| {
        highest = crush_ln(x).max(highest);
        highest
    };
    // The highest logarithm up to each number.
    let risen: Vec<u64> = (0..=u16::MAX).map(rise).collect();
    let from = |x: u16| {
        let (mut at, log) = (usize::from(x), crush_ln(x));
        while at > 0 && risen[at - 1] > log {
            at -= 1;
        }
        while risen.get(at).is_some_and(|&highest| highest <= log) {
            at += 1;
        }
        at as u32
    };
    (0..=u16::MAX).map(from).collect()
});

/// The lowest number whose [`crush_ln`] is higher than that of `x`; 65,536 where none is.
pub fn higher_from(x: u16) -> u32 {
    HIGHER_FROM[usize::from(x)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FNV-1a over the bytes of a table, lowest first.
    fn checksum(table: &[u64]) -> u64 {
        let bytes = table.iter().flat_map(|entry| entry.to_le_bytes());
        bytes.fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
    }

    /// The sums were taken from the tables in `libceph-common.so.2` of ceph 16.2.15 (Debian 12).
    #[test]
    fn the_tables_are_those_of_ceph() {
        assert_eq!(checksum(&RECIPROCAL), 0x08c9_7ee5_ee29_db00);
        assert_eq!(checksum(&COARSE), 0xdfbb_a0af_4bb2_54b2);
        assert_eq!(checksum(&FINE), 0x4fb0_4805_92de_8de5);
    }

    /// The fine table has steps of log2(1 + 1/2^15) = 4.4e-5 octaves, rounded down, and lies up to 2^-15.6 = 2.0e-5 too
    /// high.
    #[test]
    fn the_logarithm_is_right_to_a_step_of_its_table() {
        for x in 0..=u16::MAX {
            let octaves = crush_ln(x) as f64 / 2_f64.powi(44);
            let off = octaves - (f64::from(x) + 1.0).log2();
            assert!((-4.5e-5..=2.0e-5).contains(&off), "crush_ln({x}) is off by {off} octaves");
        }
        assert_eq!(crush_ln(0), 0);
    }

    #[test]
    fn no_number_below_the_lowest_with_a_higher_logarithm_has_one() {
        let mut falls = 0;
        for x in 0..=u16::MAX {
            let from = higher_from(x);
            falls += u32::from(from != u32::from(x) + 1);
            assert!(
                u16::try_from(from).is_ok_and(|from| crush_ln(from) > crush_ln(x)) || from == 1 << 16,
                "{x}: {from}"
            );
        }
        assert!(falls > 0, "the fine table falls nowhere");
        let (mut highest, mut at) = (Vec::new(), 0);
        for x in 0..=u16::MAX {
            at = crush_ln(x).max(at);
            highest.push(at);
        }
        // Just below it nothing is higher.
        let none_below = |x: u16| match higher_from(x) {
            0 => true,
            from => highest[from as usize - 1] <= crush_ln(x),
        };
        assert!((0..=u16::MAX).all(none_below));
    }
}
