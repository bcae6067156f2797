//! Options of a measurement, and their text form.

use std::path::{Path, PathBuf};

use hotband_units::Bytes;
use thiserror::Error;

use crate::compress::Compressor;

/// Sizes of chunks that are measured: 4 KiB is the sector of a drive's mapping table, 64 KiB the longest that a drive
/// is known to compress at a time.
pub const CHUNKS: [u64; 5] = [4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10];

/// Default amount to read of a larger tree: some minutes on two cores, thousands of extents.
pub const DEFAULT_SAMPLE: Bytes = Bytes(1_000_000_000);

/// Amount of a tree to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// Everything.
    All,
    /// About this many bytes, at random; everything where there is not more.
    Of(Bytes),
}

/// The request.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Files and folders.
    pub paths: Vec<PathBuf>,
    /// Each once.
    pub compressors: Vec<Compressor>,
    /// Sizes of chunks, each once; none for the archive alone.
    pub chunks: Vec<u64>,
    /// Amount to read.
    pub sample: Sample,
    /// Root of the randomness of a sample.
    pub seed: u64,
    /// Threads; all cores by default.
    pub jobs: Option<usize>,
    /// Whether other file systems that are mounted in the tree are left out.
    pub one_file_system: bool,
}

/// The user's mistake.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{field} = {value:?}: {accepted}")]
pub struct AskError {
    /// Part of the request.
    pub field: String,
    /// The given text.
    pub value: String,
    /// Accepted values.
    pub accepted: String,
}

impl AskError {
    fn new(field: &str, value: &str, accepted: impl Into<String>) -> Self {
        Self { field: field.to_owned(), value: value.to_owned(), accepted: accepted.into() }
    }
}

impl Ask {
    /// Everything of `paths`, with every compressor and chunk.
    pub fn of(paths: Vec<PathBuf>) -> Self {
        Self {
            paths,
            compressors: Compressor::ALL.to_vec(),
            chunks: CHUNKS.to_vec(),
            sample: Sample::Of(DEFAULT_SAMPLE),
            seed: 1,
            jobs: None,
            one_file_system: false,
        }
    }

    /// Only these compressors; all if none is named.
    ///
    /// # Errors
    /// A name that is none.
    pub fn compressors(mut self, names: &[String]) -> Result<Self, AskError> {
        if names.is_empty() {
            return Ok(self);
        }
        for name in names {
            if !Compressor::ALL.iter().any(|compressor| compressor.name() == name) {
                return Err(AskError::new("compressors", name, "expected lz4, deflate or zstd"));
            }
        }
        self.compressors.retain(|compressor| names.iter().any(|name| name == compressor.name()));
        Ok(self)
    }

    /// Only these sizes of chunks; all if none is named, none if that is "none".
    ///
    /// # Errors
    /// A size that is not measured.
    pub fn chunks(mut self, sizes: &[String]) -> Result<Self, AskError> {
        if sizes.is_empty() {
            return Ok(self);
        }
        let accepted = "expected 4 KiB, 8 KiB, 16 KiB, 32 KiB or 64 KiB, or none for the archive alone";
        let mut chunk_sizes = Vec::new();
        for text in sizes {
            match text.parse::<Bytes>() {
                _ if text == "none" && sizes.len() == 1 => {}
                Ok(Bytes(size)) if CHUNKS.contains(&size) => chunk_sizes.push(size),
                _ => return Err(AskError::new("chunks", text, accepted)),
            }
        }
        self.chunks.retain(|size| chunk_sizes.contains(size));
        Ok(self)
    }

    /// Amount to read: a size or "all".
    ///
    /// # Errors
    /// What is neither.
    pub fn sample(mut self, text: Option<&str>) -> Result<Self, AskError> {
        self.sample = match text {
            None => return Ok(self),
            Some("all") => Sample::All,
            Some(text) => match text.parse::<Bytes>() {
                Ok(size) if size.0 > 0 => Sample::Of(size),
                _ => {
                    let accepted = "expected a size above zero with its unit, such as \"1 GB\", or all";
                    return Err(AskError::new("sample", text, accepted));
                }
            },
        };
        Ok(self)
    }

    /// Checks that there is something to do and that every path exists.
    ///
    /// # Errors
    /// A path that does not exist or cannot be examined; nothing to measure with.
    pub fn check(&self) -> Result<(), AskError> {
        if self.paths.is_empty() {
            return Err(AskError::new("PATH", "", "expected at least one file or folder"));
        }
        if self.chunks.is_empty() && !self.archive() {
            let accepted = "the archive alone is measured with deflate; expected a chunk size, too";
            return Err(AskError::new("chunks", "none", accepted));
        }
        for path in &self.paths {
            if let Err(error) = std::fs::metadata(path) {
                let accepted = match error.kind() {
                    std::io::ErrorKind::NotFound => "there is no such file or folder".to_owned(),
                    _ => format!("cannot be inspected: {error}"),
                };
                return Err(AskError::new("PATH", &path.to_string_lossy(), accepted));
            }
        }
        Ok(())
    }

    /// Whether the archive ratio is requested: it is deflate's.
    pub fn archive(&self) -> bool {
        self.compressors.contains(&Compressor::Deflate)
    }

    /// The paths as they are, symbolic links followed, but none that lies within another or is named again: its data
    /// would count twice.
    pub fn roots(&self) -> Vec<PathBuf> {
        let real: Vec<PathBuf> =
            self.paths.iter().map(|path| path.canonicalize().unwrap_or_else(|_| path.clone())).collect();
        let within = |index: usize, path: &Path| {
            real.iter().enumerate().any(|(other, root)| {
                let first = root.as_path() == path && other < index;
                first || (root.as_path() != path && path.starts_with(root))
            })
        };
        let outermost = real.iter().enumerate().filter(|(index, path)| !within(*index, path));
        outermost.map(|(_, path)| path.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(words: &[&str]) -> Vec<String> {
        words.iter().map(|&text| text.to_owned()).collect()
    }

    #[test]
    fn chunks_are_sorted_and_each_once() {
        let ask = Ask::of(Vec::new()).chunks(&texts(&["64k", "4 KiB", "4096 B"])).unwrap();
        assert_eq!(ask.chunks, [4096, 65_536]);
        assert!(Ask::of(Vec::new()).chunks(&texts(&["none"])).unwrap().chunks.is_empty());
    }

    #[test]
    fn what_is_not_accepted_is_named() {
        let ask = || Ask::of(Vec::new());
        for wrong in ["4096", "5 KiB", "128 KiB", "", "0 B"] {
            let error = ask().chunks(&texts(&[wrong])).unwrap_err();
            assert_eq!((error.field.as_str(), error.value.as_str()), ("chunks", wrong));
        }
        assert!(ask().chunks(&texts(&["none", "4k"])).is_err());
        assert_eq!(ask().compressors(&texts(&["gzip"])).unwrap_err().value, "gzip");
        for wrong in ["0 B", "1", "-1 GB", "some"] {
            assert_eq!(ask().sample(Some(wrong)).unwrap_err().field, "sample");
        }
        let nothing = Ask::of(vec![".".into()]).compressors(&texts(&["lz4"])).unwrap();
        assert!(nothing.chunks(&texts(&["none"])).unwrap().check().is_err());
    }

    #[test]
    fn a_path_within_another_counts_once() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let (a, b) = (top.join("a"), top.join("a/b"));
        std::fs::create_dir_all(&b).unwrap();
        let ab = top.join("ab");
        std::fs::create_dir(&ab).unwrap();
        let ask = Ask::of(vec![b.clone(), ab.clone(), a.clone(), b.join(".."), ab.clone()]);
        assert_eq!(ask.roots(), [ab, a]);
    }
}
