//! The hashes of CRUSH: Robert Jenkins' 96-bit mix over one to four words, and over the bytes of a name.
//!
//! The mix is Jenkins' of 1996 (<https://burtleburtle.net/bob/hash/evahash.html>, public domain). Ceph calls it
//! `rjenkins1` and starts it from a seed of its own; in which order the words and the two constants go through the mix
//! is part of the placement and must not change.

/// Seed of every hash of words (Ceph, `crush_hash_seed`).
const SEED: u32 = 1_315_423_911;
/// The constants that are mixed in with the words (Ceph, `crush_hash32_rjenkins1_*`).
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
    let mut words = (GOLDEN, GOLDEN, 0);
    let rest = mix_blocks(&mut words, name);
    let (mut a, mut b, mut c) = with_last(words, rest, name.len());
    mix(&mut a, &mut b, &mut c);
    c
}

/// The hash of each name of `prefix` and one of these `endings`: the shared part is mixed once, and the last blocks in
/// the lanes of vector instructions.
pub fn hash_endings(prefix: &[u8], endings: &[[u8; 2]; 256], hashes: &mut [u32; 256]) {
    let mut words = (GOLDEN, GOLDEN, 0);
    let rest = mix_blocks(&mut words, prefix);
    let places = [rest.len(), rest.len() + 1];
    if places[1] + 1 >= BLOCK {
        // An ending fills a block.
        let name = |ending: &[u8; 2]| [prefix, ending].concat();
        return hashes.iter_mut().zip(endings).for_each(|(hash, ending)| *hash = hash_name(&name(ending)));
    }
    let words = with_last(words, rest, prefix.len() + 2);
    // For each byte of the ending and each word: the byte's shift in the word, and a mask that is zero for other words.
    let within = |place: usize| {
        let shift = 8 * (place % 4) as u32 + if place < 8 { 0 } else { 8 };
        (shift, [0, 1, 2].map(|word| if place / 4 == word { u32::MAX } else { 0 }))
    };
    let [(first_shift, first), (second_shift, second)] = places.map(within);
    for (hash, ending) in hashes.iter_mut().zip(endings) {
        let [one, other] = [u32::from(ending[0]) << first_shift, u32::from(ending[1]) << second_shift];
        let in_word = |word: usize| (one & first[word]).wrapping_add(other & second[word]);
        let (mut a, mut b) = (words.0.wrapping_add(in_word(0)), words.1.wrapping_add(in_word(1)));
        *hash = words.2.wrapping_add(in_word(2));
        mix(&mut a, &mut b, hash);
    }
}

/// The words with the remainder of a name of `len` bytes after its whole blocks.
fn with_last((a, b, c): (u32, u32, u32), rest: &[u8], len: usize) -> (u32, u32, u32) {
    let part = |from: usize| word(&rest[rest.len().min(from)..rest.len().min(from + 4)]);
    // The lowest byte of the last word belongs to the length.
    (a.wrapping_add(part(0)), b.wrapping_add(part(4)), c.wrapping_add(len as u32).wrapping_add(part(8) << 8))
}

/// Mixes in all whole blocks of `bytes`; returns the remaining bytes.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_in_their_endings_have_the_hashes_of_whole_names() {
        let endings: [[u8; 2]; 256] = std::array::from_fn(|n| [n as u8, 255 - n as u8]);
        let mut hashes = [0; 256];
        for len in 0..40 {
            let prefix: Vec<u8> = (0..len).map(|n: u8| n.wrapping_mul(67)).collect();
            hash_endings(&prefix, &endings, &mut hashes);
            let whole = endings.map(|ending| hash_name(&[&prefix[..], &ending].concat()));
            assert_eq!(hashes, whole, "behind {len} bytes");
        }
    }
}
