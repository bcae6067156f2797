//! Randomness: xoshiro256++ with sampling code of our own, so that results survive upgrades of libraries.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A generator with a name: seeded from the root seed and its path in the spec, so that adding a part never shifts
/// another part's numbers.
#[derive(Clone, Debug)]
pub struct Random(Xoshiro256PlusPlus);

/// FNV-1a, 64 bit (Fowler, Noll, Vo): offset basis and prime.
const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

impl Random {
    /// The generator `path` under the root seed.
    pub fn new(seed: u64, path: &str) -> Self {
        let bytes = seed.to_le_bytes().into_iter().chain(path.bytes());
        let hash = bytes.fold(FNV_BASIS, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME));
        Self(Xoshiro256PlusPlus::seed_from_u64(hash))
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in `0..bound`; zero for a bound of zero. The bias is below bound / 2^64.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// Uniform in [0, 1), in steps of 2^-53.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Exponential with mean 1 (inversion).
    pub fn exponential(&mut self) -> f64 {
        -libm::log(1.0 - self.unit())
    }

    /// Normal, of mean 0 and deviation 1 (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(2.0 * self.exponential());
        radius * libm::cos(std::f64::consts::TAU * self.unit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_seeds_give_different_numbers_and_the_same_ones_again() {
        let first = |seed, path| Random::new(seed, path).bits();
        assert_eq!(first(1, "a"), first(1, "a"));
        assert_ne!(first(1, "a"), first(1, "b"));
        assert_ne!(first(1, "a"), first(2, "a"));
    }

    #[test]
    fn the_exponential_has_mean_one() {
        let mut random = Random::new(1, "test");
        let mean = (0..100_000).map(|_| random.exponential()).sum::<f64>() / 1e5;
        assert!((mean - 1.0).abs() < 0.015, "{mean}: beyond 4.7 standard errors");
    }

    #[test]
    fn below_reaches_every_value_about_equally() {
        let mut random = Random::new(1, "test");
        let mut counts = [0_u32; 7];
        (0..70_000).for_each(|_| counts[random.below(7) as usize] += 1);
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 500), "{counts:?}: beyond 5 standard errors");
    }

    /// `SplitMix64` of a seed, and xoshiro256++ on its first four numbers, as published (prng.di.unimi.it).
    fn published(seed: u64) -> impl FnMut() -> u64 {
        let mut at = seed;
        let mut state = [0_u64; 4].map(|_| {
            at = at.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (at ^ (at >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        });
        move || {
            let [s0, s1, s2, s3] = state;
            let (c, d) = (s2 ^ s0, s3 ^ s1);
            state = [s0 ^ d, s1 ^ c, c ^ (s1 << 17), d.rotate_left(45)];
            s0.wrapping_add(s3).rotate_left(23).wrapping_add(s0)
        }
    }

    #[test]
    fn numbers_are_those_of_the_published_generator_seeded_with_the_hash_of_seed_and_path() {
        // FNV-1a of "a" is published with the function; the seed is eight bytes before the path.
        let fnv =
            |bytes: &[u8]| bytes.iter().fold(FNV_BASIS, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME));
        assert_eq!(fnv(b"a"), 0xaf63_dc4c_8601_ec8c);
        let mut expected = published(fnv(b"\x07\0\0\0\0\0\0\0drives.d0"));
        let mut random = Random::new(7, "drives.d0");
        for _ in 0..100 {
            assert_eq!(random.bits(), expected());
        }
    }

    #[test]
    fn shares_and_bounds_are_cut_from_the_same_bits() {
        let mut random = Random::new(7, "drives.d0");
        for _ in 0..1_000 {
            let bits = random.clone().bits();
            let unit = random.clone().unit();
            assert!((unit - bits as f64 / 18_446_744_073_709_551_616.0).abs() < 1e-15 && unit < 1.0);
            assert!((random.clone().exponential() + (1.0 - unit).ln()).abs() < 1e-12);
            assert_eq!(random.below(1 << 20), bits >> 44);
        }
        assert_eq!((random.below(0), random.below(1)), (0, 0));
    }
}
