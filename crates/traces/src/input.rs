//! A trace file as it is: plain, or compressed by gzip or zstd; text in UTF-16 as PowerShell redirects it. Its
//! first bytes determine which, whatever its name.

use std::error::Error;
use std::io::{self, BufReader, Chain, Cursor, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use hotband_machine::{Stopped, open_file};

/// RFC 1952, section 2.3.1.
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// RFC 8878, section 3.1.1.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Byte order marks of UTF-16.
const LITTLE: [u8; 2] = [0xff, 0xfe];
const BIG: [u8; 2] = [0xfe, 0xff];
/// Byte order mark of UTF-8, as spreadsheets write it.
const UTF8: [u8; 3] = [0xef, 0xbb, 0xbf];
/// Largest window that is accepted, as `zstd --long=30` writes it: 1 GiB. The decoder takes as much memory as the first
/// bytes of a file say, which may come from anyone: with 31 a file of 76 bytes takes 2 GiB.
const LONGEST_WINDOW: u32 = 30;
/// Error of zstd for a larger one (`ZSTD_error_frameParameter_windowTooLarge`).
const TOO_LONG: &str = "Frame requires too much memory";

/// Default limit of the unpacked size of a compressed file, as a multiple of its size: logs pack to a tenth to a
/// fiftieth, a file made to fill a disk to a thousandth and less.
const UNPACK: u64 = 200;
/// Size to which any file may unpack: it is read within seconds.
const ALWAYS: u64 = 256 << 20;

/// Opens its decompressed contents; a compressed file may unpack to `unpack` times its size.
pub(crate) fn open(path: &Path, unpack: Option<u64>) -> io::Result<Box<dyn Read>> {
    let file = open_file(path)?;
    let packed = file.metadata()?.len();
    let factor = unpack.unwrap_or(UNPACK);
    let most = packed.saturating_mul(factor).max(ALWAYS);
    Ok(Box::new(Bounded { source: decompressed(file)?, left: most, factor }))
}

/// Unpacked data of a file, refused beyond a factor of its size.
struct Bounded<R> {
    source: R,
    left: u64,
    factor: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.left = self.left.checked_sub(count as u64).ok_or_else(|| {
            let factor = self.factor;
            let text = format!(
                "unpacks to more than unpack = {factor} times its size; expected a larger unpack, or an unpacked file"
            );
            io::Error::new(io::ErrorKind::InvalidData, text)
        })?;
        Ok(count)
    }
}

/// Return the decompressed contents of `source`.
pub(crate) fn decompressed(mut source: impl Read + 'static) -> io::Result<Box<dyn Read>> {
    let mut start = Vec::new();
    source.by_ref().take(ZSTD.len() as u64).read_to_end(&mut start)?;
    let (is_gzip, is_zstd) = (start.starts_with(&GZIP), start.starts_with(&ZSTD));
    let (is_little, is_big) = (start.starts_with(&LITTLE), start.starts_with(&BIG));
    let mark = if start.starts_with(&UTF8) { UTF8.len() } else { 0 };
    let whole: Chain<Cursor<Vec<u8>>, _> = Cursor::new(start.split_off(mark)).chain(source);
    Ok(if is_gzip {
        Box::new(MultiGzDecoder::new(whole))
    } else if is_zstd {
        let mut decoder = zstd::Decoder::new(whole)?;
        decoder.window_log_max(LONGEST_WINDOW)?;
        Box::new(Ended { decoder })
    } else if is_little || is_big {
        let mut source = BufReader::new(whole);
        source.read_exact(&mut [0; 2])?;
        Box::new(Utf16 { source, is_big, left: Cursor::new(Vec::new()) })
    } else {
        Box::new(whole)
    })
}

/// UTF-16, read as UTF-8; invalid characters become question marks, as numbers are ASCII.
struct Utf16<R> {
    source: BufReader<R>,
    is_big: bool,
    left: Cursor<Vec<u8>>,
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left.position() == self.left.get_ref().len() as u64 {
            let mut bytes = Vec::new();
            self.source.by_ref().take(1 << 16).read_to_end(&mut bytes)?;
            let unit = |pair: &[u8]| {
                let pair = [pair[0], pair[1]];
                if self.is_big { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) }
            };
            let text = char::decode_utf16(bytes.chunks_exact(2).map(unit)).map(|part| part.unwrap_or('?'));
            self.left = Cursor::new(text.collect::<String>().into_bytes());
        }
        self.left.read(buffer)
    }
}

/// zstd's errors have no kind of their own: they are distinguished from those of the operating system here.
struct Ended<R> {
    decoder: R,
}

impl<R: Read> Read for Ended<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.decoder.read(buffer).map_err(|error| {
            let of_system =
                error.raw_os_error().is_some() || error.get_ref().is_some_and(<dyn Error + Send + Sync>::is::<Stopped>);
            let way =
                if error.to_string().contains(TOO_LONG) { ": decompress it first (zstd -d --long=31)" } else { "" };
            if of_system { error } else { io::Error::new(io::ErrorKind::InvalidData, format!("{error}{way}")) }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_unpacks_beyond_its_factor_is_refused() {
        let read = |left| {
            let mut bounded = Bounded { source: io::repeat(0).take(1 << 20), left, factor: 200 };
            io::copy(&mut bounded, &mut io::sink())
        };
        assert_eq!(read(1 << 20).expect("as much as it may"), 1 << 20);
        let error = read((1 << 20) - 1).expect_err("a byte more").to_string();
        assert!(error.starts_with("unpacks to more than unpack = 200 times its size"), "{error}");
    }
}
