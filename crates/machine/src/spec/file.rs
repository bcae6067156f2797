//! Reading files that a text or a command names: regular ones only, so that no pipe is waited for and no device is read
//! without end.

use std::fmt::Display;
use std::fs::{self, File, FileType, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

/// Opens a regular file for reading, without waiting for anything.
///
/// # Errors
/// It cannot be opened, or is a pipe, a socket or a device.
pub fn open_file(path: &Path) -> io::Result<File> {
    // Opening a device may move it, and opening a pipe lets its writer go on: both are looked at first.
    refuse_special(fs::metadata(path)?.file_type())?;
    let nonblocking = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(nonblocking).open(path)?;
    refuse_special(file.metadata()?.file_type())?;
    Ok(file)
}

/// Reads the UTF-8 text of a regular file of at most `most` bytes.
///
/// # Errors
/// It cannot be opened, is a pipe, a socket or a device, is larger, or is no UTF-8.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    as_text(bytes_of(open_file(path), most)?, most)
}

/// Like [`read_text`], for a path that the user typed: a pipe is read, too, if this process was started with it (a shell
/// writes `/dev/stdin` and `/dev/fd/63`).
///
/// # Errors
/// As of [`read_text`].
pub fn read_typed_text(path: &Path, most: u64) -> io::Result<String> {
    as_text(read_typed_bytes(path, most)?, most)
}

/// Like [`read_typed_text`], for bytes of any kind.
///
/// # Errors
/// As of [`read_text`].
pub fn read_typed_bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let inherited = is_descriptor(path) && fs::metadata(path)?.file_type().is_fifo();
    bytes_of(if inherited { File::open(path) } else { open_file(path) }, most)
}

/// Adds what is accepted to an error that is not the system's.
fn bytes_of(file: io::Result<File>, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match file.and_then(|file| file.take(most + 1).read_to_end(&mut bytes)) {
        Err(error) if error.raw_os_error().is_none() => Err(refused(&error, most)),
        Err(error) => Err(error),
        Ok(_) if bytes.len() as u64 > most => Err(refused(&"is larger", most)),
        Ok(_) => Ok(bytes),
    }
}

fn as_text(bytes: Vec<u8>, most: u64) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|_| refused(&"is not UTF-8", most))
}

fn refused(why: &dyn Display, most: u64) -> io::Error {
    let limit = if most >= 1 << 20 { format!("{} MiB", most >> 20) } else { format!("{} KiB", most >> 10) };
    io::Error::new(ErrorKind::InvalidInput, format!("{why}: expected a text of at most {limit}"))
}

fn refuse_special(kind: FileType) -> io::Result<()> {
    let special = [
        (kind.is_dir(), "a folder"),
        (kind.is_fifo(), "a pipe"),
        (kind.is_socket(), "a socket"),
        (!kind.is_file(), "a device"),
    ];
    let Some((_, what)) = special.into_iter().find(|(is, _)| *is) else { return Ok(()) };
    Err(io::Error::new(ErrorKind::InvalidInput, format!("is {what}, not a regular file")))
}

fn is_descriptor(path: &Path) -> bool {
    path == Path::new("/dev/stdin") || ["/dev/fd", "/proc/self/fd"].iter().any(|folder| path.starts_with(folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::AsRawFd;

    use rustix::fs::{CWD, FileType as Kind, Mode, mknodat};

    #[test]
    fn a_text_is_read_up_to_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        fs::write(&path, "1234").unwrap();
        assert_eq!(read_text(&path, 4).unwrap(), "1234");
        fs::write(&path, vec![b'a'; 2049]).unwrap();
        assert_eq!(read_text(&path, 2048).unwrap_err().to_string(), "is larger: expected a text of at most 2 KiB");
    }

    #[test]
    fn what_is_no_regular_file_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        mknodat(CWD, &pipe, Kind::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        for (path, what) in
            [(pipe.as_path(), "a pipe"), (Path::new("/dev/zero"), "a device"), (folder.path(), "a folder")]
        {
            for read in [read_text, read_typed_text] {
                assert_eq!(
                    read(path, 4096).unwrap_err().to_string(),
                    format!("is {what}, not a regular file: expected a text of at most 4 KiB")
                );
            }
        }
    }

    #[test]
    fn a_pipe_that_the_process_was_given_is_read_where_it_is_typed() {
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(b"1234").unwrap();
        drop(writer);
        let path = format!("/dev/fd/{}", reader.as_raw_fd());
        assert!(read_text(Path::new(&path), 4).is_err());
        assert_eq!(read_typed_text(Path::new(&path), 4).unwrap(), "1234");
    }
}
