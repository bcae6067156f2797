//! `[app] kind = "btree"` as its text states it. docs/models/btree.md has the sources of the defaults.

use hotband_machine::{Section, SpecError};
use hotband_units::{Bytes, Ratio, Span};

use crate::app::AppStream;
use crate::data::DataSpec;

/// Choice of records.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Requests {
    /// Popular ones scattered over all (YCSB's scrambled Zipfian), with this exponent.
    Zipfian(f64),
    /// The newest most often, with this exponent.
    Latest(f64),
    /// All alike.
    Uniform,
}

/// Kinds of operation, in the order of YCSB's reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Read a record.
    Read,
    /// Change a field of a record, or all.
    Update,
    /// Add a record.
    Insert,
    /// Read records that follow one another by key.
    Scan,
    /// Read a record, then change it.
    ReadModifyWrite,
}

impl Operation {
    /// All, in the order of their shares.
    pub const ALL: [Self; 5] = [Self::Read, Self::Update, Self::Insert, Self::Scan, Self::ReadModifyWrite];

    /// Name in files and records.
    pub fn name(self) -> &'static str {
        ["read", "update", "insert", "scan", "read_modify_write"][self as usize]
    }
}

/// YCSB above a B-tree engine, checked but not yet bound to volumes.
#[derive(Clone, Debug, PartialEq)]
pub struct BTreeSpec {
    /// The file, for errors.
    pub(crate) file: String,
    pub(crate) records: u64,
    pub(crate) fields: u64,
    pub(crate) field_length: u64,
    /// Shares of [`Operation::ALL`].
    pub(crate) shares: [f64; 5],
    pub(crate) requests: Requests,
    pub(crate) scan_most: u64,
    pub(crate) write_all_fields: bool,
    pub(crate) hashed: bool,
    pub(crate) clients: u32,
    pub(crate) processors: u32,
    pub(crate) cpu: Span,
    pub(crate) cpu_per_mib: Span,
    pub(crate) cache: u64,
    pub(crate) warm_cache: bool,
    pub(crate) leaf_page: u64,
    pub(crate) index_page: u64,
    pub(crate) stored: f64,
    pub(crate) largest_io: u64,
    pub(crate) write_depth: u32,
    pub(crate) eviction_threads: u32,
    pub(crate) dirty_target: f64,
    pub(crate) dirty_trigger: f64,
    pub(crate) checkpoint_every: Span,
    pub(crate) checkpoint_journal: u64,
    pub(crate) commit_every: Span,
    pub(crate) wait_for_journal: bool,
    pub(crate) journal_whole: bool,
    pub(crate) trim: bool,
    pub(crate) data: Option<DataSpec>,
    pub(crate) volume: Option<String>,
    pub(crate) journal_volume: Option<String>,
}

impl BTreeSpec {
    /// Reads the keys of this kind.
    ///
    /// # Errors
    /// The first mistake.
    pub(crate) fn read(section: Section) -> Result<Self, SpecError> {
        let count = |key, most: u64, usual: u64| Ok::<u64, SpecError>(section.count(key, 1..=most)?.unwrap_or(usual));
        let span = |key, usual: u64| Ok::<Span, SpecError>(section.quantity::<Span>(key)?.unwrap_or(Span(usual)));
        let records = section.count("records", 1..=MOST_RECORDS)?;
        let records = records.ok_or_else(|| section.error("records", "", "missing: expected the number of records"))?;
        let acknowledge = section.choice("acknowledge", &[("memory", false), ("journal", true)])?.unwrap_or(false);
        let spec = Self {
            file: section.file().to_owned(),
            records,
            fields: count("fields", 1_000_000, 10)?,
            field_length: size(&section, "field_length", 1, 1..=64 << 20, 100)?,
            shares: read_shares(&section)?,
            requests: read_requests(&section)?,
            scan_most: count("scan_most", 1_000_000, 100)?,
            write_all_fields: section.flag("write_all_fields")?.unwrap_or(false),
            hashed: section.choice("insert_order", &[("hashed", true), ("ordered", false)])?.unwrap_or(true),
            clients: count("clients", 65_536, 1)? as u32,
            processors: count("processors", 65_536, 16)? as u32,
            cpu: span("cpu", 100_000)?,
            cpu_per_mib: span("cpu_per_mib", 0)?,
            cache: section.required::<Bytes>("cache", "a size such as \"8 GB\"")?.0,
            warm_cache: section.flag("warm_cache")?.unwrap_or(false),
            leaf_page: size(&section, "leaf_page", 4096, 4096..=16 << 20, 32 << 10)?,
            index_page: size(&section, "index_page", 4096, 4096..=16 << 20, 16 << 10)?,
            stored: share(&section, "stored", 1.0)?,
            largest_io: size(&section, "largest_io", 4096, 4096..=64 << 20, 512 << 10)?,
            write_depth: count("write_depth", 4096, 32)? as u32,
            eviction_threads: count("eviction_threads", 4096, 4)? as u32,
            dirty_target: share(&section, "dirty_target", 0.05)?,
            dirty_trigger: share(&section, "dirty_trigger", 0.20)?,
            checkpoint_every: span("checkpoint_every", 60_000_000_000)?,
            checkpoint_journal: size(&section, "checkpoint_journal", 4096, 1 << 20..=1 << 40, 2 << 30)?,
            commit_every: span("commit_every", 100_000_000)?,
            wait_for_journal: acknowledge,
            journal_whole: section.choice("journal_records", &[("change", false), ("record", true)])?.unwrap_or(false),
            trim: section.flag("trim")?.unwrap_or(false),
            data: DataSpec::read(&section, "data")?,
            volume: section.text("volume")?.map(str::to_owned),
            journal_volume: section.text("journal_volume")?.map(str::to_owned),
        };
        spec.check(&section)?;
        section.finish()?;
        Ok(spec)
    }

    fn check(&self, section: &Section) -> Result<(), SpecError> {
        if self.dirty_target >= self.dirty_trigger || self.dirty_trigger >= 1.0 {
            let value = format!("{} %", self.dirty_trigger * 100.0);
            return Err(section.error("dirty_trigger", value, "expected a share above dirty_target and below 100 %"));
        }
        for (key, span) in
            [("cpu", self.cpu), ("checkpoint_every", self.checkpoint_every), ("commit_every", self.commit_every)]
        {
            // An operation that took no time at all would let the clock stand still.
            if !(1_000..=HOUR).contains(&span.0) {
                return Err(section.error(key, span.to_string(), "expected a time from 1 us to an hour"));
            }
        }
        if self.cpu_per_mib.0 > HOUR {
            return Err(section.error(
                "cpu_per_mib",
                self.cpu_per_mib.to_string(),
                "expected a time of at most an hour",
            ));
        }
        if self.fields * self.field_length > MOST_RECORD {
            let value = format!("{} x {} B", self.fields, self.field_length);
            return Err(section.error("fields", value, "fields x field_length may be at most 64 MiB"));
        }
        Ok(())
    }

    pub(crate) fn streams(&self) -> Vec<AppStream> {
        let journal = self.journal_volume.clone().or_else(|| self.volume.clone());
        vec![
            AppStream { name: "data".to_owned(), volume: self.volume.clone() },
            AppStream { name: "journal".to_owned(), volume: journal },
        ]
    }

    /// A mistake in `key`.
    pub(crate) fn error(&self, key: &str, value: String, accepted: String) -> SpecError {
        SpecError::new(&self.file, &format!("app.{key}"), value, accepted)
    }
}

/// Most records: numbers up to this are exact in the arithmetic of distributions.
const MOST_RECORDS: u64 = 1 << 40;
/// Longest record, which a leaf page of such an engine can hold (`leaf_value_max=64MB`).
const MOST_RECORD: u64 = 64 << 20;
const HOUR: u64 = 3_600_000_000_000;

fn size(
    section: &Section,
    key: &'static str,
    grain: u64,
    range: std::ops::RangeInclusive<u64>,
    usual: u64,
) -> Result<u64, SpecError> {
    let Some(size) = section.quantity::<Bytes>(key)? else { return Ok(usual) };
    if range.contains(&size.0) && size.0.is_multiple_of(grain) {
        return Ok(size.0);
    }
    let accepted = format!("expected a multiple of {grain} B from {} B to {} B", range.start(), range.end());
    Err(section.error(key, size.to_string(), accepted))
}

fn share(section: &Section, key: &'static str, usual: f64) -> Result<f64, SpecError> {
    let share = section.quantity::<Ratio>(key)?.map_or(usual, |share| share.0);
    if share > 0.0 && share <= 1.0 {
        return Ok(share);
    }
    Err(section.error(key, format!("{} %", share * 100.0), "expected a share above 0 % and of at most 100 %"))
}

fn read_shares(section: &Section) -> Result<[f64; 5], SpecError> {
    let missing = || section.error("operations", "", "missing: expected shares such as { read = 50, update = 50 }");
    let inner = section.section("operations")?.ok_or_else(missing)?;
    let mut shares = [0.0; 5];
    for (operation, share) in Operation::ALL.into_iter().zip(&mut shares) {
        *share = inner.number(operation.name(), 0.0..=1e9)?.unwrap_or(0.0);
    }
    inner.finish()?;
    if shares.iter().sum::<f64>() <= 0.0 {
        return Err(section.error("operations", "", "the shares add up to zero"));
    }
    Ok(shares)
}

fn read_requests(section: &Section) -> Result<Requests, SpecError> {
    let exponent = section.number("zipf_exponent", 0.01..=5.0)?;
    let usual = exponent.unwrap_or(0.99);
    let kinds =
        [("zipfian", Requests::Zipfian(usual)), ("latest", Requests::Latest(usual)), ("uniform", Requests::Uniform)];
    let requests = section.choice("requests", &kinds)?.unwrap_or(Requests::Zipfian(usual));
    if let (Requests::Uniform, Some(exponent)) = (requests, exponent) {
        return Err(section.error(
            "zipf_exponent",
            exponent.to_string(),
            "applies only to Zipfian requests, not to requests = \"uniform\"",
        ));
    }
    Ok(requests)
}
