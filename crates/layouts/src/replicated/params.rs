//! Parameters of an object storage daemon: the values of its catalog file.

use hotband_machine::{Product, Section, SpecError};
use hotband_units::{Bytes, Rate, Ratio, Span};
use toml::Table;

use super::memory::Policy;

/// Bytes in which a daemon caches, checks and aligns: a block of BlueStore.
pub const BLOCK: u64 = 4096;

/// Every value of a daemon.
#[derive(Clone, Debug)]
pub struct OsdParams {
    /// Clock of the core that the processor times are stated for, in MHz.
    pub reference_mhz: u64,
    /// Queues of operations; one of a placement group always goes to the same.
    pub shards: usize,
    /// Processor time of a client's library for an operation, one after the other.
    pub cpu_client: Span,
    /// Processor time of the primary for a read.
    pub cpu_read: Span,
    /// Processor time of the primary for a write, until it is handed to the replicas and the log.
    pub cpu_write: Span,
    /// Processor time of a replica for a write.
    pub cpu_replica: Span,
    /// Processor time of the primary for the answer of a replica.
    pub cpu_answer: Span,
    /// Processor time of the committing thread per transaction.
    pub cpu_commit: Span,
    /// Processor time for every 4 KiB of data: checksums and copies.
    pub cpu_block: Span,
    /// Share of every processor time that varies, exponentially.
    pub cpu_spread: f64,
    /// Memory for data that was read, in blocks.
    pub data_blocks: usize,
    /// Eviction policy of that memory.
    pub policy: Policy,
    /// Memory for the metadata of objects, in objects.
    pub onodes: usize,
    /// Log bytes of a transaction without the data that it defers.
    pub wal_bytes: u64,
    /// Whether log files are written again in place, so that their sizes need no second log.
    pub recycle: bool,
    /// Bytes of the log of file sizes for one commit.
    pub bluefs_bytes: u64,
    /// Writes shorter than this go into the log first and to their place later.
    pub defer_below: u32,
    /// Deferred writes that are put in their place together.
    pub deferred_batch: usize,
    /// Share of the member, in its middle, that holds log and database.
    pub db_share: f64,
    /// Part of it that the log goes round in.
    pub wal_region: u64,
    /// Bytes of the log after which the database writes a table.
    pub write_buffer: u64,
    /// Size of the table, as a share of them.
    pub table_share: f64,
    /// Size of the database that tables are merged into.
    pub database: u64,
    /// Rate at which its thread processes tables.
    pub table_rate: Rate,
    /// Whether the host's I/O scheduler anticipates the next step of a commit before it turns to another daemon.
    pub anticipate: bool,
    /// Objects that a daemon recovers at once.
    pub recovery_active: usize,
    /// Pause of a daemon after each recovered object.
    pub recovery_sleep: Span,
}

impl OsdParams {
    /// Reads the values of `product` with those of `set` in their place; mistakes in `set` are reported at `set_key` of
    /// `set_file`.
    ///
    /// # Errors
    /// The first value that is missing, malformed or impossible.
    pub fn read(product: &Product, set: &Table, set_file: &str, set_key: &str) -> Result<Self, SpecError> {
        let values = product.with(set, (set_file, set_key), &[])?;
        product.blame(Self::from_values(&product.file, &values), set, set_file, set_key)
    }

    fn from_values(file: &str, values: &Table) -> Result<Self, SpecError> {
        let section = Section::new(file, "values", values);
        let params = Self {
            reference_mhz: count(&section, "cpu_clock_mhz", 100, 10_000)?,
            shards: count(&section, "op_shards", 1, 64)? as usize,
            cpu_client: time(&section, "cpu_client")?,
            cpu_read: time(&section, "cpu_read")?,
            cpu_write: time(&section, "cpu_write")?,
            cpu_replica: time(&section, "cpu_replica")?,
            cpu_answer: time(&section, "cpu_answer")?,
            cpu_commit: time(&section, "cpu_commit")?,
            cpu_block: time(&section, "cpu_block")?,
            cpu_spread: share(&section, "cpu_spread", 0.0, 1.0)?,
            data_blocks: (size(&section, "data_cache", 0, 1 << 40)? / BLOCK) as usize,
            policy: section
                .choice("data_cache_policy", &Policy::NAMES)?
                .ok_or_else(|| section.error("data_cache_policy", "", "missing: expected lru or 2q"))?,
            onodes: (size(&section, "metadata_cache", 0, 1 << 40)? / size(&section, "onode_size", 64, 1 << 20)?)
                as usize,
            wal_bytes: size(&section, "wal_bytes", 1, 1 << 20)?,
            recycle: section
                .switch("log_recycling")?
                .ok_or_else(|| section.error("log_recycling", "", "missing: expected on or off"))?,
            bluefs_bytes: size(&section, "bluefs_log_bytes", 1, 1 << 20)?,
            defer_below: size(&section, "prefer_deferred_size", 0, 1 << 24)? as u32,
            deferred_batch: count(&section, "deferred_batch_ops", 1, 65_536)? as usize,
            db_share: share(&section, "db_share", 0.001, 0.5)?,
            wal_region: size(&section, "wal_region", 32 << 20, 1 << 40)?,
            write_buffer: size(&section, "write_buffer", 1 << 20, 1 << 40)?,
            table_share: share(&section, "table_share", 0.01, 1.0)?,
            database: size(&section, "database", 1 << 20, 1 << 40)?,
            table_rate: section.required("table_rate", "a rate, such as \"60 MB/s\"")?,
            anticipate: section
                .choice("io_scheduler", &[("none", false), ("anticipatory", true)])?
                .ok_or_else(|| section.error("io_scheduler", "", "missing: expected none or anticipatory"))?,
            recovery_active: count(&section, "recovery_active", 1, 32)? as usize,
            recovery_sleep: time(&section, "recovery_sleep")?,
        };
        section.finish()?;
        Ok(params)
    }
}

fn count(section: &Section, key: &'static str, least: u64, most: u64) -> Result<u64, SpecError> {
    section.count(key, least..=most)?.ok_or_else(|| section.error(key, "", "missing: expected a whole number"))
}

fn time(section: &Section, key: &'static str) -> Result<Span, SpecError> {
    let time: Span = section.required(key, "a time")?;
    if time.0 > 10_000_000_000 {
        return Err(section.error(key, time.to_string(), "expected at most 10 s"));
    }
    Ok(time)
}

fn size(section: &Section, key: &'static str, least: u64, most: u64) -> Result<u64, SpecError> {
    let size: Bytes = section.required(key, "a size")?;
    if !(least..=most).contains(&size.0) {
        let accepted = format!("expected from {} to {}", Bytes(least), Bytes(most));
        return Err(section.error(key, size.to_string(), accepted));
    }
    Ok(size.0)
}

fn share(section: &Section, key: &'static str, least: f64, most: f64) -> Result<f64, SpecError> {
    let share: Ratio = section.required(key, "a share, such as \"4 %\"")?;
    if !(least..=most).contains(&share.0) {
        let accepted = format!("expected from {} % to {} %", least * 100.0, most * 100.0);
        return Err(section.error(key, format!("{} %", share.0 * 100.0), accepted));
    }
    Ok(share.0)
}
