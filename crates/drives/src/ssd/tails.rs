//! Values of the causes of slow commands: kinds of pages, retries, scans, stalls of the controller, and saving what
//! has changed in the map. A drive without them completes every command in the mean time.

use hotband_machine::{Section, SpecError};
use hotband_units::Span;

use crate::parts::admission::{AdmissionParams, Stripe};
use crate::parts::forced_writes::read_forced_writes;
use crate::parts::nand::NandParams;
use crate::parts::senses::{RetryParams, SenseParams};
use crate::parts::stalls::StallParams;
use crate::ssd::reading::{need, share};

/// Changes of the map are gathered in a page of memory, and saved when it is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JournalParams {
    /// Number of writes that fill the page; none if no write waits for it.
    pub entries: Option<u64>,
    /// Time until it is on flash.
    pub time: Span,
}

/// A time, and how it is written.
type Most = (Span, &'static str);
/// Longest accepted time of a single command.
const LONGEST: Most = (Span(1_000_000_000), "1 s");
/// Data that was written longer ago is on no drive that anybody sells: ten years.
const OLDEST: Most = (Span(3_650 * 86_400 * 1_000_000_000), "3650 d");

fn time(section: &Section, key: &'static str, (most, written): Most) -> Result<Option<Span>, SpecError> {
    let span = section.quantity::<Span>(key)?;
    match span.filter(|time| *time > most) {
        None => Ok(span),
        Some(time) => Err(section.error(key, time.to_string(), format!("expected at most {written}"))),
    }
}

fn optional_share(section: &Section, key: &'static str, most: f64) -> Result<f64, SpecError> {
    if section.value(key).is_none() { Ok(0.0) } else { share(section, key, most) }
}

/// Kinds of pages, retries and the drive's own scan.
pub(super) fn read_senses(section: &Section) -> Result<SenseParams, SpecError> {
    Ok(SenseParams {
        spread: optional_share(section, "page_time_spread", 0.9)?,
        retries: read_retries(section)?,
        scan_share: optional_share(section, "scan_share", 0.5)?,
    })
}

fn read_retries(section: &Section) -> Result<Option<RetryParams>, SpecError> {
    if section.value("retry_share").is_none() {
        return Ok(None);
    }
    let retries = RetryParams {
        share: share(section, "retry_share", 0.5)?,
        again: share(section, "retry_again", 0.9)?,
        growth: need(section, "retry_growth", section.count("retry_growth", 1..=1_000_000)?)? as f64,
        steps: need(section, "retry_steps", section.count("retry_steps", 1..=100)?)? as u32,
        soft: need(section, "soft_decode_time", time(section, "soft_decode_time", LONGEST)?)?,
        wear: optional_share(section, "prior_wear", 1.0)?,
        age: time(section, "data_age", OLDEST)?.unwrap_or_default(),
    };
    Ok(Some(retries).filter(|retries| retries.share > 0.0))
}

/// Stalls of the controller: both values, or none.
pub(super) fn read_stalls(section: &Section) -> Result<Option<StallParams>, SpecError> {
    let Some(lasts) = time(section, "stall_time", LONGEST)? else { return Ok(None) };
    let interval: Span = section.required("stall_interval", "a time")?;
    if interval.0 < 10 * lasts.0 {
        let accepted = format!("expected at least ten times stall_time, {}", Span(10 * lasts.0));
        return Err(section.error("stall_interval", interval.to_string(), accepted));
    }
    Ok(Some(StallParams { time: lasts, interval }).filter(|stalls| stalls.time > Span::ZERO))
}

/// Times of single writes, and the stripe that becomes free at once when writes come at more than their long rate:
/// one in `interval`, and bytes as fast as flash programs them, in pseudo-SLC where it has that.
pub(super) fn read_admission(
    section: &Section,
    interval: Span,
    nand: &NandParams,
) -> Result<AdmissionParams, SpecError> {
    let release = time(section, "buffer_release", LONGEST)?.filter(|release| *release > Span::ZERO);
    let rate = nand.quick.map_or(nand.program_rate, |quick| quick.rate.max(nand.program_rate));
    Ok(AdmissionParams {
        spread: optional_share(section, "write_spread", 1.0)?,
        stripe: release.map(|time| Stripe { time, interval, rate }),
    })
}

/// Saving changes of the map.
pub(super) fn read_journal(section: &Section) -> Result<JournalParams, SpecError> {
    let Some(time) = time(section, "journal_time", LONGEST)? else { return Ok(JournalParams::default()) };
    let entries = need(section, "journal_entries", section.count("journal_entries", 1..=1_000_000_000)?)?;
    Ok(JournalParams { entries: Some(entries).filter(|_| time > Span::ZERO), time })
}

/// Acknowledgement of writes, and the effect of a flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheParams {
    /// Whether the write buffer survives a loss of power.
    pub protected: bool,
    /// Whether the drive says that it has a volatile cache, so that hosts send it FLUSH (`hdparm -W1`).
    pub volatile: bool,
    /// Whether a flush writes the buffer to flash.
    pub flush_writes: bool,
    /// Whether hosts force a write with a FLUSH after it, and not with FUA.
    pub forces_by_flush: bool,
    /// Whether a write, and a forced one, is on flash before it is acknowledged.
    pub waits: [bool; 2],
}

/// `plp`, `wce` and `flush`.
pub(super) fn read_cache(section: &Section) -> Result<CacheParams, SpecError> {
    let protected = need(section, "plp", section.switch("plp")?)?;
    // A drive that does not say calls its buffer what it is.
    let volatile = section.switch("wce")?.unwrap_or(!protected);
    let choices = [("durable", false), ("write-out", true)];
    let writes_out = section.choice("flush", &choices)?.unwrap_or(false);
    let waits = [!protected && !volatile, !protected];
    let forces_by_flush = read_forced_writes(section)?;
    Ok(CacheParams { protected, volatile, flush_writes: writes_out || !protected, forces_by_flush, waits })
}
