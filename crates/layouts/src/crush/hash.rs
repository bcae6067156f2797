//! The hashes of CRUSH: Robert Jenkins' 96-bit mix over one to four words, and over the bytes of a name.
//!
//! The mix is Jenkins' of 1996 (<https://burtleburtle.net/bob/hash/evahash.html>, public domain). Ceph calls it
//! `rjenkins1` and starts it from a seed of its own; in which order the words and the two constants go through the mix
//! is part of the placement and must not change.

/// Seed of every hash of words (Ceph, `crush_hash_seed`).
const SEED: u32 = 1_315_423_911;
/// The constants that are mixed in next to the words (Ceph, `crush_hash32_rjenkins1_*`).
const PAD: (u32, u32) = (231_232, 1_232);
/// The golden ratio, which Jenkins' hash of bytes starts from.
const GOLDEN: u32 = 0x9e37_79b9;
/// Bytes that one round of the hash of bytes takes: three words.
const BLOCK: usize = 12;

/// One round of the mix: nine steps, each a subtraction of the other two and a shift of the last.
fn mix(a: &mut u32, b: &mut u32, c: &mut u32) {
    fn left(x: &mut u32, y: u32, z: u32, shift: u32) {
        *x = x.wrapping_sub(y).wrapping_sub(z) ^ (z << shift);
    }
    fn right(x: &mut u32, y: u32, z: u32, shift: u32) {
        *x = x.wrapping_sub(y).wrapping_sub(z) ^ (z >> shift);
    }
    right(a, *b, *c, 13);
    left(b, *c, *a, 8);
    right(c, *a, *b, 13);
    right(a, *b, *c, 12);
    left(b, *c, *a, 16);
    right(c, *a, *b, 5);
    right(a, *b, *c, 3);
    left(b, *c, *a, 10);
    right(c, *a, *b, 15);
}

/// `crush_hash32_2`: of two words. Seeds a placement group's placement and decides who is out.
pub fn hash32_2(mut a: u32, mut b: u32) -> u32 {
    let mut hash = SEED ^ a ^ b;
    let (mut pad, mut end) = PAD;
    mix(&mut a, &mut b, &mut hash);
    mix(&mut pad, &mut a, &mut hash);
    mix(&mut b, &mut end, &mut hash);
    hash
}

/// `crush_hash32_3`: of three words. Draws the straws.
pub fn hash32_3(mut a: u32, mut b: u32, mut c: u32) -> u32 {
    let mut hash = SEED ^ a ^ b ^ c;
    let (mut pad, mut end) = PAD;
    mix(&mut a, &mut b, &mut hash);
    mix(&mut c, &mut pad, &mut hash);
    mix(&mut end, &mut a, &mut hash);
    mix(&mut b, &mut pad, &mut hash);
    mix(&mut end, &mut c, &mut hash);
    hash
}

/// `ceph_str_hash_rjenkins`: of the bytes of an object's name, with its length in the last block.
pub fn hash_name(name: &[u8]) -> u32 {
    NameHash::after(&[]).of(name)
}

/// The hash of names that begin alike: the blocks that they share are mixed once.
#[derive(Clone, Copy, Debug)]
pub struct NameHash {
    words: (u32, u32, u32),
    /// Bytes that are mixed in already.
    mixed: usize,
}

impl NameHash {
    /// Hash of names that begin with `prefix`.
    pub fn after(prefix: &[u8]) -> Self {
        let mut words = (GOLDEN, GOLDEN, 0);
        mix_blocks(&mut words, prefix);
        Self { words, mixed: prefix.len() / BLOCK * BLOCK }
    }

    /// The hash of the whole `name`, which begins with the prefix.
    pub fn of(&self, name: &[u8]) -> u32 {
        let mut words = self.words;
        let rest = mix_blocks(&mut words, &name[self.mixed..]);
        let (mut a, mut b, mut c) = words;
        a = a.wrapping_add(word(&rest[..rest.len().min(4)]));
        b = b.wrapping_add(word(&rest[rest.len().min(4)..rest.len().min(8)]));
        // The lowest byte of the last word belongs to the length.
        c = c.wrapping_add(name.len() as u32).wrapping_add(word(&rest[rest.len().min(8)..]) << 8);
        mix(&mut a, &mut b, &mut c);
        c
    }
}

/// Mixes in all whole blocks of `bytes`; returns what is left of them.
fn mix_blocks<'a>((a, b, c): &mut (u32, u32, u32), bytes: &'a [u8]) -> &'a [u8] {
    let mut blocks = bytes.chunks_exact(BLOCK);
    for block in &mut blocks {
        *a = a.wrapping_add(word(&block[..4]));
        *b = b.wrapping_add(word(&block[4..8]));
        *c = c.wrapping_add(word(&block[8..]));
        mix(a, b, c);
    }
    blocks.remainder()
}

/// Up to four bytes as a word, the first lowest.
fn word(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |word, &byte| (word << 8) | u32::from(byte))
}
