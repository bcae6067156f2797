//! Spec of a file system and its operations: the keys of `[app]` with `kind = "filesystem"`.

use hotband_machine::{Entropy, Section, SpecError};
use hotband_units::{Bytes, Ratio, Span};

use crate::app::AppStream;
use crate::data::DataSpec;
use crate::most::{self, WEIGHT_ACCEPTED};
use crate::sizes::Sizes;
use crate::sources::arrival::Arrival;

/// An operation of a client. The order is the order of the sets of files that they use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// Read where the last read of this process ended.
    Read,
    /// Read at a random offset.
    RandRead,
    /// Write where the last write of this process ended.
    Write,
    /// Write at a random offset.
    RandWrite,
    /// Read a whole file.
    ReadFile,
    /// Write a whole file.
    WriteFile,
    /// Ask for the attributes of a file.
    Stat,
    /// Ask whether a file may be used.
    Access,
    /// Change the mode of a file.
    Chmod,
    /// Delete a file.
    Unlink,
    /// Create an empty file.
    Create,
    /// List a directory.
    Readdir,
    /// Make a directory.
    Mkdir,
}

/// Names of the streams.
const STREAMS: [&str; 3] = ["data", "journal", "metadata"];

/// Every operation with its name in workload files and records.
pub const OPERATIONS: [(&str, Operation); 13] = [
    ("read", Operation::Read),
    ("rand_read", Operation::RandRead),
    ("write", Operation::Write),
    ("rand_write", Operation::RandWrite),
    ("read_file", Operation::ReadFile),
    ("write_file", Operation::WriteFile),
    ("stat", Operation::Stat),
    ("access", Operation::Access),
    ("chmod", Operation::Chmod),
    ("unlink", Operation::Unlink),
    ("create", Operation::Create),
    ("readdir", Operation::Readdir),
    ("mkdir", Operation::Mkdir),
];

/// A block of the file system in bytes: the default of mke2fs above 512 MB (mke2fs.conf), and the size of a page.
pub const BLOCK: u32 = 4096;

/// Treatment of the old blocks of a rewritten file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rewrite {
    /// Blocks are freed and others allocated (O_TRUNC).
    Truncate,
    /// Blocks are overwritten.
    InPlace,
}

/// The files of a process: `sets` times `dirs` directories of `files_per_dir` files.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PopulationSpec {
    /// Sets of files, one per kind of operation, in turn if there are fewer.
    pub sets: u32,
    /// Directories of a set.
    pub dirs: u32,
    /// Files of a directory.
    pub files_per_dir: u32,
    /// Mean size of a file in bytes.
    pub file_size: u32,
    /// Standard deviation of the size as a share of the mean.
    pub spread: f64,
}

/// Page cache and write-back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CacheSpec {
    /// Bytes that it holds.
    pub size: u64,
    /// Share of dirty pages from which they are written back in the background.
    pub background: f64,
    /// Share of dirty pages from which writers wait.
    pub limit: f64,
    /// Age from which a dirty page is written back.
    pub expire: Span,
    /// Interval between checks of the age of pages.
    pub interval: Span,
    /// Writes of the background that are under way at once.
    pub depth: u32,
    /// Bytes read at once in sequential reads of a file.
    pub read_ahead: u32,
    /// The largest I/O in bytes.
    pub max_io: u32,
}

/// A file system, its files, and the operations of processes on them.
#[derive(Clone, Debug, PartialEq)]
pub struct FileSystemSpec {
    /// File it was read from.
    pub file: String,
    /// Volume; the only one by default.
    pub volume: Option<String>,
    /// Processes.
    pub processes: u32,
    /// Operations a second of a process.
    pub rate: f64,
    /// Spacing of the operations of a process.
    pub arrival: Arrival,
    /// Operations of a process under way at once.
    pub outstanding: u32,
    /// Weight of each operation, as in [`OPERATIONS`].
    pub mix: [f64; 13],
    /// Their files.
    pub population: PopulationSpec,
    /// Sizes of read and rand_read.
    pub read_sizes: Option<Sizes>,
    /// Sizes of write and rand_write.
    pub write_sizes: Option<Sizes>,
    /// Random offsets are multiples of this.
    pub align: u32,
    /// Share of the writes that are stable before they are completed (O_SYNC).
    pub sync: f64,
    /// Share of the writes that are followed by an fsync of the file.
    pub commit: f64,
    /// Treatment of the old blocks by a whole write.
    pub rewrite: Rewrite,
    /// Page cache.
    pub cache: CacheSpec,
    /// Size of the journal in bytes; by the size of the file system by default.
    pub journal: Option<u64>,
    /// The longest time that a transaction stays open.
    pub commit_interval: Span,
    /// Commits are ordered by a flush and a record written through.
    pub barrier: bool,
    /// Freed blocks are trimmed.
    pub trim: bool,
    /// Bytes of the volume for each inode.
    pub bytes_per_inode: u32,
    /// Processor time of an operation.
    pub cpu: Span,
    /// Processor time of each page that is copied.
    pub cpu_per_page: Span,
    /// Compressibility of file data; default: that of the workload.
    pub data: Option<DataSpec>,
    /// Compressibility of metadata and the journal.
    pub metadata: Entropy,
}

/// Bounds that limit the memory of a spec: files of all processes, and processes.
const MOST_FILES: u64 = 100_000_000;
const MOST_PROCESSES: u64 = 1 << 16;

impl FileSystemSpec {
    /// Reads the keys of this kind.
    ///
    /// # Errors
    /// The first mistake.
    pub(crate) fn read(section: Section) -> Result<Self, SpecError> {
        let count = |key, range, missing: Option<u64>| -> Result<u32, SpecError> {
            let count = section.count(key, range)?.or(missing);
            count.map(|n| n as u32).ok_or_else(|| section.error(key, "", "missing: expected a whole number"))
        };
        let metrics = count("metrics", 1..=MOST_PROCESSES, None)?;
        let per_metric = count("processes_per_metric", 1..=MOST_PROCESSES, Some(1))?;
        if u64::from(metrics) * u64::from(per_metric) > MOST_PROCESSES {
            let value = format!("{metrics} x {per_metric}");
            return Err(section.error("metrics", value, "expected at most 65,536 processes in all"));
        }
        let ops = section.number("ops_per_metric", 0.001..=1e7)?;
        let ops = ops.ok_or_else(|| section.error("ops_per_metric", "", "missing: expected operations per second"))?;
        let arrival = section.choice("arrival", &[("paced", Arrival::Fixed), ("poisson", Arrival::Poisson)])?;
        let mix = read_mix(&section)?;
        let population = read_population(&section, metrics * per_metric)?;
        let uses = |some: &[Operation]| some.iter().any(|operation| mix[*operation as usize] > 0.0);
        let reads = uses(&[Operation::Read, Operation::RandRead]);
        let writes = uses(&[Operation::Write, Operation::RandWrite]);
        let spec = Self {
            file: section.file().to_owned(),
            volume: section.text("volume")?.map(str::to_owned),
            processes: metrics * per_metric,
            rate: ops / f64::from(per_metric),
            arrival: arrival.unwrap_or(Arrival::Fixed),
            outstanding: count("outstanding", 1..=1024, Some(1))?,
            mix,
            population,
            read_sizes: read_sizes(&section, "read_sizes", reads, population.file_size)?,
            write_sizes: read_sizes(&section, "write_sizes", writes, population.file_size)?,
            align: bytes(&section, "align", Some(u64::from(BLOCK)), 1..=1 << 20)? as u32,
            sync: share(&section, "sync_pct")?,
            commit: share(&section, "commit_pct")?,
            rewrite: section
                .choice("rewrite", &[("truncate", Rewrite::Truncate), ("in-place", Rewrite::InPlace)])?
                .unwrap_or(Rewrite::Truncate),
            cache: read_cache(&section, u64::from(metrics))?,
            journal: section
                .value("journal")
                .map(|_| bytes(&section, "journal", None, 1 << 20..=1 << 30))
                .transpose()?,
            commit_interval: span(&section, "commit_interval", 5_000_000_000)?,
            barrier: section.flag("barrier")?.unwrap_or(true),
            trim: section.flag("trim")?.unwrap_or(false),
            bytes_per_inode: bytes(&section, "bytes_per_inode", Some(16_384), 4096..=1 << 26)? as u32,
            cpu: section.quantity("cpu")?.unwrap_or(Span(5_000)),
            cpu_per_page: section.quantity("cpu_per_page")?.unwrap_or(Span(500)),
            data: DataSpec::read(&section, "data")?,
            metadata: Entropy::of(section.number("metadata_data", 0.0..=1.0)?.unwrap_or(0.2)),
        };
        section.finish()?;
        Ok(spec)
    }

    /// Its kinds of block I/O, all on one volume.
    pub(crate) fn streams(&self) -> Vec<AppStream> {
        let stream = |name: &&str| AppStream { name: (*name).to_owned(), volume: self.volume.clone() };
        STREAMS.iter().map(stream).collect()
    }
}

/// A size within `range`.
fn bytes(
    section: &Section,
    key: &'static str,
    missing: Option<u64>,
    range: std::ops::RangeInclusive<u64>,
) -> Result<u64, SpecError> {
    let given = section.quantity::<Bytes>(key)?.map(|size| size.0).or(missing);
    let accepted = || format!("expected a size from {} to {}", Bytes(*range.start()), Bytes(*range.end()));
    let size = given.ok_or_else(|| section.error(key, "", format!("missing: {}", accepted())))?;
    if range.contains(&size) { Ok(size) } else { Err(section.error(key, Bytes(size).to_string(), accepted())) }
}

/// A percentage as a share; none if not stated.
fn share(section: &Section, key: &'static str) -> Result<f64, SpecError> {
    Ok(section.percent(key)?.unwrap_or(0.0) / 100.0)
}

/// A time of at least 1 ms.
fn span(section: &Section, key: &'static str, missing: u64) -> Result<Span, SpecError> {
    let span = section.quantity(key)?.unwrap_or(Span(missing));
    if span.0 < 1_000_000 { Err(section.error(key, span.to_string(), "expected at least 1 ms")) } else { Ok(span) }
}

fn read_mix(section: &Section) -> Result<[f64; 13], SpecError> {
    let missing = || section.error("mix", "", "missing: expected weights, such as { rand_read = 20, rand_write = 80 }");
    let inner = section.section("mix")?.ok_or_else(missing)?;
    let mut mix = [0.0; 13];
    for (name, operation) in OPERATIONS {
        mix[operation as usize] = inner.number(name, 0.0..=1e9)?.unwrap_or(0.0);
    }
    inner.finish()?;
    if mix.iter().sum::<f64>() <= 0.0 {
        return Err(section.error("mix", "", "the weights add up to zero"));
    }
    Ok(mix)
}

fn read_population(section: &Section, processes: u32) -> Result<PopulationSpec, SpecError> {
    let count = |key, most, missing| Ok::<_, SpecError>(section.count(key, 1..=most)?.unwrap_or(missing) as u32);
    let spread = section.quantity::<Ratio>("file_spread")?.unwrap_or(Ratio(0.0));
    if spread.0 > 1.0 {
        return Err(section.error("file_spread", spread.to_string(), "expected a share of the mean up to 100 %"));
    }
    let spec = PopulationSpec {
        sets: count("sets", 12, 1)?,
        dirs: count("dirs", 1 << 20, 1)?,
        files_per_dir: count("files_per_dir", 1 << 20, 1)?,
        file_size: bytes(section, "file_size", None, 1..=1 << 31)? as u32,
        spread: spread.0,
    };
    let files = [spec.sets, spec.dirs, spec.files_per_dir]
        .iter()
        .fold(u64::from(processes), |product, factor| product.saturating_mul(u64::from(*factor)));
    if files > MOST_FILES {
        return Err(section.error("files_per_dir", files.to_string(), "expected at most 100 million files in all"));
    }
    Ok(spec)
}

/// Sizes and weights of requests; must be there where an operation uses them.
fn read_sizes(section: &Section, key: &'static str, used: bool, file: u32) -> Result<Option<Sizes>, SpecError> {
    let accepted = "a table of sizes and weights, such as { \"4 KiB\" = 60, \"8 KiB\" = 40 }";
    let Some(value) = section.value(key) else {
        let missing = || section.error(key, "", format!("missing: expected {accepted}"));
        return if used { Err(missing()) } else { Ok(None) };
    };
    let table = value.as_table().filter(|table| !table.is_empty());
    let table = table.ok_or_else(|| section.error(key, value.to_string(), format!("expected {accepted}")))?;
    let mut weights = Vec::new();
    for (name, weight) in table {
        let size = name.parse::<Bytes>().ok().filter(|size| (1..=1 << 26).contains(&size.0));
        let size = size.ok_or_else(|| section.error(key, name.as_str(), "expected a size from 1 B to 64 MiB"))?;
        if size.0 > u64::from(file) {
            return Err(section.error(key, name.as_str(), "larger than a file (file_size)"));
        }
        let number = most::weight(weight).ok_or_else(|| section.error(key, weight.to_string(), WEIGHT_ACCEPTED))?;
        weights.push((size.0 as u32, number));
    }
    Ok(Some(Sizes::new(&weights)))
}

fn read_cache(section: &Section, metrics: u64) -> Result<CacheSpec, SpecError> {
    let ratio = |key, missing| {
        let ratio = section.quantity::<Ratio>(key)?.unwrap_or(Ratio(missing)).0;
        let accepted = "expected a share above 0 % up to 90 %";
        if ratio > 0.0 && ratio <= 0.9 {
            Ok(ratio)
        } else {
            Err(section.error(key, Ratio(ratio).to_string(), accepted))
        }
    };
    // vm.dirty_background_ratio, vm.dirty_ratio, vm.dirty_expire_centisecs, vm.dirty_writeback_centisecs: defaults of
    // Documentation/sysctl/vm.txt (10, 20, 3000, 500).
    let (background, limit) = (ratio("dirty_background", 0.10)?, ratio("dirty_limit", 0.20)?);
    if background >= limit {
        let accepted = "expected less than dirty_limit";
        return Err(section.error("dirty_background", Ratio(background).to_string(), accepted));
    }
    let blocks = |key, missing: u64| {
        let size = bytes(section, key, Some(missing), u64::from(BLOCK)..=1 << 26)?;
        let accepted = "expected a multiple of 4 KiB";
        let whole = size.is_multiple_of(u64::from(BLOCK));
        if whole { Ok(size as u32) } else { Err(section.error(key, Bytes(size).to_string(), accepted)) }
    };
    Ok(CacheSpec {
        size: bytes(section, "cache_per_metric", None, 1 << 16..=1 << 44)?.saturating_mul(metrics),
        background,
        limit,
        expire: span(section, "dirty_expire", 30_000_000_000)?,
        interval: span(section, "dirty_interval", 5_000_000_000)?,
        depth: section.count("writeback_depth", 1..=4096)?.unwrap_or(32) as u32,
        read_ahead: blocks("read_ahead", 131_072)?,
        max_io: blocks("max_io", 524_288)?,
    })
}
