//! The codes of the layouts over real numbers of a field: copies, and P + Q over the integers modulo a prime.
//!
//! RAID 5 and 6 use fields of characteristic two; what can be computed from what is the same in any field, and in this one a
//! mistake in sign shows too.

const PRIME: u64 = 2_147_483_647;

/// A linear code of `data` symbols and some parities.
#[derive(Clone, Copy, Debug)]
pub struct Code {
    pub data: usize,
    pub parities: usize,
}

fn times(one: u64, two: u64) -> u64 {
    one * two % PRIME
}

fn minus(one: u64, two: u64) -> u64 {
    (one + PRIME - two) % PRIME
}

fn power(base: u64, exponent: u64) -> u64 {
    let (mut result, mut base, mut exponent) = (1, base, exponent);
    while exponent > 0 {
        if exponent % 2 == 1 {
            result = times(result, base);
        }
        base = times(base, base);
        exponent /= 2;
    }
    result
}

impl Code {
    /// How much data symbol `index` weighs in parity `which`: P is the sum, Q the sum weighted by powers of 3.
    fn weight(which: usize, index: usize) -> u64 {
        if which == 0 { 1 } else { power(3, index as u64) }
    }

    /// Parity `which` of `data`.
    pub fn parity(which: usize, data: &[u64]) -> u64 {
        data.iter().enumerate().fold(0, |sum, (index, value)| (sum + times(Self::weight(which, index), *value)) % PRIME)
    }

    /// `old` parity after data symbol `index` went from `from` to `to`.
    pub fn change(which: usize, old: u64, index: usize, from: u64, to: u64) -> u64 {
        (old + times(Self::weight(which, index), minus(to, from))) % PRIME
    }

    /// All data symbols from some symbols (data by index, then parities), or nothing where they do not determine them.
    pub fn solve(self, known: &[Option<u64>]) -> Option<Vec<u64>> {
        let (data, parity) = known.split_at(self.data);
        let gone: Vec<usize> = (0..self.data).filter(|index| data[*index].is_none()).collect();
        let have: Vec<usize> = (0..self.parities).filter(|which| parity[*which].is_some()).take(gone.len()).collect();
        if have.len() < gone.len() {
            return None;
        }
        let mut all: Vec<u64> = data.iter().map(|value| value.unwrap_or(0)).collect();
        // What the missing symbols have to add to each parity.
        let rest: Vec<u64> =
            have.iter().map(|which| minus(parity[*which].unwrap(), Self::parity(*which, &all))).collect();
        let weight = |row: usize, column: usize| Self::weight(have[row], gone[column]);
        match gone.len() {
            0 => {}
            1 => all[gone[0]] = times(rest[0], power(weight(0, 0), PRIME - 2)),
            2 => {
                let determinant = minus(times(weight(0, 0), weight(1, 1)), times(weight(0, 1), weight(1, 0)));
                let inverse = power(determinant, PRIME - 2);
                all[gone[0]] = times(minus(times(rest[0], weight(1, 1)), times(weight(0, 1), rest[1])), inverse);
                all[gone[1]] = times(minus(times(weight(0, 0), rest[1]), times(weight(1, 0), rest[0])), inverse);
            }
            _ => return None,
        }
        Some(all)
    }
}
