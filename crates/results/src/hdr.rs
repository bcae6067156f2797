//! HdrHistogram interval logs (`.hlog`), encodings V1 and V2, with and without tags.
//!
//! Lines are parsed and histograms decoded by the `hdrhistogram` crate. It knows only V2: a V1 histogram has the same
//! header and plain counts, so it is written again as V2 first. Before anything is decoded, what a header claims is
//! held against what is there, and decompression is bounded: a log from elsewhere cannot ask for memory.
//! Leaves out: V0, histograms of doubles and with a shifted index (refused).

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::Read;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

use crate::error::{LogError, shown};
use crate::lines::LATEST_MS;

const ACCEPTED: &str = "an HdrHistogram log, `[Tag=NAME,]start,length,max,histogram` with histograms of V1 or V2";
/// Cookies of the Java implementation (EncodableHistogram.java), without the word size.
const V1: u32 = 0x1c84_9301;
const V1_COMPRESSED: u32 = 0x1c84_9302;
const V2: u32 = 0x1c84_9303;
const V2_COMPRESSED: u32 = 0x1c84_9304;
/// V2's cookie as its writers store it, with the word size.
const V2_WRITTEN: u32 = 0x1c84_9313;
/// Cookie, length, shifted index, digits, lowest, highest, ratio.
const HEADER: usize = 40;
/// Counts of the largest histogram (5 digits, 64 bits: 48 x 131,072) in eight bytes each.
const MOST_BYTES: u64 = 64 << 20;
const MOST_TAGS: usize = 1000;
const MOST_INTERVALS: usize = 1 << 20;

/// One interval of one tag. Values are in the log's own unit.
#[derive(Debug, Clone, PartialEq)]
pub struct HdrInterval {
    /// Time as in the log: since its base time, or of the calendar.
    pub start_s: f64,
    /// Length in seconds.
    pub length_s: f64,
    /// Number of values.
    pub count: u64,
    /// Mean, as accurate as the histogram.
    pub mean: Option<f64>,
    /// 99th percentile, in the log's own unit.
    pub p99: Option<u64>,
}

/// Everything of one tag.
#[derive(Debug, Clone, PartialEq)]
pub struct HdrTag {
    /// Tag; none for lines without one.
    pub tag: Option<String>,
    /// Intervals in the order of the log.
    pub intervals: Vec<HdrInterval>,
    /// [highest value of the bucket, count].
    pub buckets: Vec<(u64, u64)>,
    /// Sum of the values at the middles of their buckets.
    pub sum: f64,
    /// Smallest and largest value, as accurate as the histogram.
    pub extent: Option<(u64, u64)>,
    /// The fewest significant digits of its histograms.
    pub digits: u8,
}

/// Contents of a log.
#[derive(Debug, Clone, PartialEq)]
pub struct HdrLog {
    /// Seconds since 1970, if the log states them.
    pub start_s: Option<f64>,
    /// Reference of the intervals' times.
    pub base_s: Option<f64>,
    /// Tags in the order of their names; lines without a tag first.
    pub tags: Vec<HdrTag>,
}

struct Sum {
    whole: Histogram<u64>,
    intervals: Vec<HdrInterval>,
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn without_size(cookie: u32) -> u32 {
    cookie & !0xf0
}

/// Contents of a compressed histogram.
fn unwrapped(bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    let cookie = without_size(word(&bytes, 0).ok_or("a histogram that is too short")?);
    if cookie == V1 || cookie == V2 {
        return Ok(bytes);
    }
    if cookie != V1_COMPRESSED && cookie != V2_COMPRESSED {
        return Err(format!("a histogram of an unknown kind ({cookie:#x})"));
    }
    let mut plain = Vec::new();
    let reader = ZlibDecoder::new(&bytes[8.min(bytes.len())..]);
    reader
        .take(MOST_BYTES + 1)
        .read_to_end(&mut plain)
        .map_err(|error| format!("its histogram is broken ({error})"))?;
    if plain.len() as u64 > MOST_BYTES {
        return Err("a histogram larger than any".to_owned());
    }
    Ok(plain)
}

/// The histogram as V2, its length that of the counts that are there.
fn as_v2(mut bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    let broken = || "a histogram whose header does not fit it".to_owned();
    let cookie = word(&bytes, 0).ok_or_else(broken)?;
    let length = word(&bytes, 4).ok_or_else(broken)? as usize;
    let digits = word(&bytes, 12).ok_or_else(broken)?;
    if bytes.len() < HEADER || bytes.len() - HEADER < length || digits > 5 {
        return Err(broken());
    }
    bytes.truncate(HEADER + length);
    if without_size(cookie) == V2 {
        return Ok(bytes);
    }
    let size = ((cookie & 0xe0) >> 4) as usize;
    if without_size(cookie) != V1 || ![2, 4, 8].contains(&size) || !length.is_multiple_of(size) {
        return Err(broken());
    }
    let counts: Vec<u64> =
        bytes[HEADER..].chunks(size).map(|number| number.iter().fold(0, |n, b| n << 8 | u64::from(*b))).collect();
    bytes.truncate(HEADER);
    for count in counts {
        put_zig_zag(&mut bytes, count).ok_or_else(broken)?;
    }
    let length = (bytes.len() - HEADER) as u32;
    bytes[0..4].copy_from_slice(&V2_WRITTEN.to_be_bytes());
    bytes[4..8].copy_from_slice(&length.to_be_bytes());
    Ok(bytes)
}

/// LEB128 of the number times two, in nine bytes at most, as V2 has its counts. None for counts that are no counts.
fn put_zig_zag(bytes: &mut Vec<u8>, count: u64) -> Option<()> {
    let mut left = count.checked_mul(2).filter(|twice| *twice < 1 << 62)?;
    while left >= 0x80 {
        bytes.push(left as u8 | 0x80);
        left >>= 7;
    }
    bytes.push(left as u8);
    Some(())
}

/// Whether the counts of a V2 payload fit into the lengths the library computes with.
fn is_tame(payload: &[u8]) -> bool {
    let mut at = 0;
    while at < payload.len() {
        let mut value: u64 = 0;
        for index in 0..9 {
            let Some(next) = payload.get(at) else { return false };
            at += 1;
            let byte = *next;
            let bits = if index == 8 { u64::from(byte) } else { u64::from(byte & 0x7f) };
            value |= bits << (7 * index);
            if byte & 0x80 == 0 {
                break;
            }
        }
        if value >= 1 << 62 {
            return false;
        }
    }
    true
}

fn decode(text: &str) -> Result<Histogram<u64>, String> {
    let bytes = STANDARD.decode(text.trim()).map_err(|error| format!("its histogram is not base64 ({error})"))?;
    let plain = as_v2(unwrapped(bytes)?)?;
    if !is_tame(&plain[HEADER..]) {
        return Err("a histogram with impossible counts".to_owned());
    }
    Deserializer::new().deserialize(&mut &plain[..]).map_err(|error| format!("its histogram is broken ({error})"))
}

fn interval(histogram: &Histogram<u64>, start_s: f64, length_s: f64) -> HdrInterval {
    let some = !histogram.is_empty();
    HdrInterval {
        start_s,
        length_s,
        count: histogram.len(),
        mean: some.then(|| histogram.mean()),
        p99: some.then(|| histogram.value_at_percentile(99.0)),
    }
}

fn tag_of(tag: Option<String>, sum: &Sum) -> HdrTag {
    let Sum { whole, intervals } = sum;
    let buckets: Vec<(u64, u64)> =
        whole.iter_recorded().map(|step| (step.value_iterated_to(), step.count_since_last_iteration())).collect();
    HdrTag {
        tag,
        intervals: intervals.clone(),
        sum: whole.mean() * whole.len() as f64,
        extent: (!whole.is_empty()).then(|| (whole.min(), whole.max())),
        digits: whole.sigfig(),
        buckets,
    }
}

fn sum_of<'a>(
    sums: &'a mut BTreeMap<Option<String>, Sum>,
    tag: Option<String>,
    histogram: &Histogram<u64>,
) -> Result<&'a mut Sum, String> {
    let tags = sums.len();
    match sums.entry(tag) {
        Entry::Occupied(known) => Ok(known.into_mut()),
        Entry::Vacant(_) if tags == MOST_TAGS => Err(format!("more than {MOST_TAGS} tags")),
        Entry::Vacant(new) => Ok(new.insert(Sum { whole: empty(histogram.sigfig())?, intervals: Vec::new() })),
    }
}

fn empty(digits: u8) -> Result<Histogram<u64>, String> {
    let mut whole = Histogram::new(digits).map_err(|error| error.to_string())?;
    whole.auto(true);
    Ok(whole)
}

fn add(sum: &mut Sum, histogram: &Histogram<u64>) -> Result<(), String> {
    if histogram.sigfig() < sum.whole.sigfig() {
        let mut coarser = empty(histogram.sigfig())?;
        coarser.add(&sum.whole).map_err(|error| error.to_string())?;
        sum.whole = coarser;
    }
    sum.whole.add(histogram).map_err(|error| error.to_string())
}

/// Reads a whole log.
///
/// # Errors
/// The line that is not an interval or whose histogram is not sound; a log without any.
pub fn read_hdr_log(log: &[u8]) -> Result<HdrLog, LogError> {
    let mut parsed = HdrLog { start_s: None, base_s: None, tags: Vec::new() };
    let mut sums: BTreeMap<Option<String>, Sum> = BTreeMap::new();
    let mut seen = 0;
    for (number, line) in log.split(|byte| *byte == b'\n').enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let refuse = |found: String| LogError::Line { line: number as u64 + 1, found, accepted: ACCEPTED };
        // The library takes a line by its end.
        let whole: Vec<u8> = [line, b"\n"].concat();
        for entry in IntervalLogIterator::new(&whole) {
            match entry {
                Err(_) => return Err(refuse(format!("{:?} is not an interval", shown(line)))),
                Ok(LogEntry::StartTime(time)) => parsed.start_s = Some(time.as_secs_f64()),
                Ok(LogEntry::BaseTime(time)) => parsed.base_s = Some(time.as_secs_f64()),
                Ok(LogEntry::Interval(one)) => {
                    seen += 1;
                    if seen > MOST_INTERVALS {
                        return Err(refuse(format!("more than {MOST_INTERVALS} intervals")));
                    }
                    if one.start_timestamp().max(one.duration()) > Duration::from_millis(LATEST_MS) {
                        return Err(refuse("an interval beyond the calendar".to_owned()));
                    }
                    let histogram = decode(one.encoded_histogram()).map_err(refuse)?;
                    let tag = one.tag().map(|tag| tag.as_str().to_owned());
                    let sum = sum_of(&mut sums, tag, &histogram).map_err(refuse)?;
                    add(sum, &histogram).map_err(refuse)?;
                    let (start, length) = (one.start_timestamp().as_secs_f64(), one.duration().as_secs_f64());
                    sum.intervals.push(interval(&histogram, start, length));
                }
            }
        }
    }
    if sums.is_empty() {
        return Err(LogError::Empty(ACCEPTED));
    }
    parsed.tags = sums.into_iter().map(|(tag, sum)| tag_of(tag, &sum)).collect();
    Ok(parsed)
}
