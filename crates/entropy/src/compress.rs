//! The compressors, each a library, and what one thread keeps of them.

use flate2::{Compress, Compression, FlushCompress, Status};
use serde::Serialize;

/// A compressor that can be requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Compressor {
    /// LZ4 blocks without a header (lz4_flex).
    Lz4,
    /// Raw deflate (the zlib of zlib.net, so that sizes are those of tgz and zip).
    Deflate,
    /// Zstandard frames (libzstd).
    Zstd,
}

/// Default of gzip, zip and zlib.
const DEFLATE_LEVEL: u32 = 6;

/// Default of the zstd command.
const ZSTD_LEVEL: i32 = 3;

/// Window of deflate (RFC 1951, section 2): this many bytes before a piece of a stream matter.
pub const DEFLATE_WINDOW: usize = 32 * 1024;

/// Room for one compressed chunk of 64 KiB, whichever compressor (all need less than 1 % more than the chunk), and for
/// a part of a longer stream.
const OUTPUT: usize = 128 * 1024;

impl Compressor {
    /// All, from the fastest to the slowest.
    pub const ALL: [Self; 3] = [Self::Lz4, Self::Zstd, Self::Deflate];

    /// Its name in text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lz4 => "lz4",
            Self::Deflate => "deflate",
            Self::Zstd => "zstd",
        }
    }

    /// Library and settings.
    pub const fn settings(self) -> &'static str {
        match self {
            Self::Lz4 => "lz4_flex, block format",
            Self::Deflate => "zlib, level 6, raw deflate",
            Self::Zstd => "libzstd, level 3, one frame a chunk",
        }
    }
}

/// Compressor of one thread: the state of every library is made once.
pub struct Press {
    deflate: Compress,
    zstd: zstd::bulk::Compressor<'static>,
    output: Vec<u8>,
}

impl Default for Press {
    fn default() -> Self {
        Self {
            deflate: Compress::new(Compression::new(DEFLATE_LEVEL), false),
            zstd: zstd::bulk::Compressor::new(ZSTD_LEVEL).expect("the level is one that libzstd has"),
            output: vec![0; OUTPUT],
        }
    }
}

impl Press {
    /// Size of `data` as a part of a longer deflate stream, of which `lead` came before it.
    pub fn archive(&mut self, lead: &[u8], data: &[u8]) -> u64 {
        self.deflate.reset();
        if !lead.is_empty() {
            self.deflate.set_dictionary(lead).expect("a raw stream takes a dictionary at its beginning");
        }
        loop {
            let done = self.deflate.total_in() as usize;
            let status = self.deflate.compress(&data[done..], &mut self.output, FlushCompress::Finish);
            if status.expect("the stream is in order and there is room") == Status::StreamEnd {
                return self.deflate.total_out();
            }
        }
    }

    /// Size of `chunk` compressed alone; a chunk that would grow is stored uncompressed.
    pub fn chunk(&mut self, compressor: Compressor, chunk: &[u8]) -> u64 {
        let size = match compressor {
            Compressor::Deflate => self.archive(&[], chunk),
            Compressor::Lz4 => {
                let size = lz4_flex::block::compress_into(chunk, &mut self.output);
                size.expect("the output has room for the longest chunk") as u64
            }
            Compressor::Zstd => {
                let size = self.zstd.compress_to_buffer(chunk, &mut self.output[..]);
                size.expect("the output has room for the longest chunk") as u64
            }
        };
        size.min(chunk.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::generator;
    use rand_xoshiro::rand_core::Rng;

    fn noise(len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        generator(7).fill_bytes(&mut bytes);
        bytes
    }

    #[test]
    fn zeros_are_almost_nothing() {
        let mut press = Press::default();
        for compressor in Compressor::ALL {
            let size = press.chunk(compressor, &[0; 4096]);
            assert!((1..64).contains(&size), "{compressor:?} {size}");
        }
    }

    #[test]
    fn noise_is_kept_as_it_was() {
        let (mut press, noise) = (Press::default(), noise(65_536));
        for compressor in Compressor::ALL {
            assert_eq!(press.chunk(compressor, &noise), 65_536);
        }
    }

    #[test]
    fn a_stream_in_parts_is_as_short_as_in_one() {
        // Words in random order: matches reach back over the ends of parts, and literals remain.
        let words: Vec<Vec<u8>> = noise(6 * 512).chunks(6).map(<[u8]>::to_vec).collect();
        let mut generator = generator(8);
        let text: Vec<u8> =
            (0..200_000).flat_map(|_| words[(generator.next_u64() % 512) as usize].iter().copied()).collect();
        let mut press = Press::default();
        let whole = press.archive(&[], &text);
        let part = 256 * 1024;
        let parts = |press: &mut Press, lead: usize| -> u64 {
            let starts = (0..text.len()).step_by(part);
            starts
                .map(|at| press.archive(&text[at.saturating_sub(lead)..at], &text[at..text.len().min(at + part)]))
                .sum()
        };
        let (with, without) = (parts(&mut press, DEFLATE_WINDOW), parts(&mut press, 0));
        assert!(with.abs_diff(whole) * 1000 < whole, "{with} {whole}");
        assert!(without > with, "{without} {with}");
    }

    #[test]
    fn one_chunk_leaves_nothing_for_the_next() {
        let (mut press, noise) = (Press::default(), noise(8192));
        for compressor in Compressor::ALL {
            let mixed: Vec<u8> = noise[..2048].iter().chain(&[0; 2048]).copied().collect();
            let first = press.chunk(compressor, &mixed);
            press.chunk(compressor, &noise);
            assert_eq!(press.chunk(compressor, &mixed), first);
        }
    }
}
