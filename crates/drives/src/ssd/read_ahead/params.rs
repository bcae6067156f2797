//! Values of reading ahead: all three, or none.

use hotband_machine::{Section, SpecError};
use hotband_units::{Bytes, Span};

use crate::parts::ftl::PAGE;
use crate::ssd::reading::need;

/// Most that is read ahead of a stream.
const LARGEST: u64 = 16 << 20;

/// Treatment of sequential reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadAheadParams {
    /// Maximum bytes read ahead of the last request.
    pub bytes: u64,
    /// Streams that are distinguished.
    pub streams: usize,
    /// Time in the controller of a read that finds its data in memory, besides the link.
    pub overhead: Span,
}

/// Reading ahead; none if the drive does not state it, or states `0 B` or, as disks do, `off`.
pub fn read_read_ahead(section: &Section) -> Result<Option<ReadAheadParams>, SpecError> {
    let is_off = section.value("read_ahead").and_then(toml::Value::as_str) == Some("off");
    let requested = if is_off { Some(Bytes(0)) } else { section.quantity::<Bytes>("read_ahead")? };
    let Some(Bytes(bytes)) = requested else { return Ok(None) };
    if bytes > LARGEST || !bytes.is_multiple_of(PAGE) {
        let accepted = "expected off, 0 B, or a multiple of 4 KiB up to 16 MiB";
        return Err(section.error("read_ahead", Bytes(bytes).to_string(), accepted));
    }
    let streams = need(section, "read_ahead_streams", section.count("read_ahead_streams", 1..=256)?)? as usize;
    let overhead: Span = section.required("read_ahead_overhead", "a time")?;
    if overhead.0 > 1_000_000_000 {
        return Err(section.error("read_ahead_overhead", overhead.to_string(), "expected at most 1 s"));
    }
    Ok(Some(ReadAheadParams { bytes, streams, overhead }).filter(|params| params.bytes > 0))
}
