//! Limits: what a run must keep to pass.

use hotband_machine::{Section, SpecError};
use hotband_units::{Rate, Span};

/// I/Os that a limit covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitOp {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Both together.
    All,
}

impl LimitOp {
    /// Its name in workloads and records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::All => "all",
        }
    }
}

/// A value that must not be exceeded, or must be reached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// Mean latency at most.
    LatencyMean(Span),
    /// 99th percentile of the latency at most.
    LatencyP99(Span),
    /// Longest latency at most.
    LatencyMax(Span),
    /// Mean latency of every interval of the series at most.
    LatencyIntervalMax(Span),
    /// I/Os a second at least.
    IopsAtLeast(f64),
    /// Bytes a second at least.
    BandwidthAtLeast(Rate),
}

/// Bounds on the activity of streams in the measured time.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitSpec {
    /// Names of the streams; all where empty.
    pub streams: Vec<String>,
    /// Covered directions.
    pub op: LimitOp,
    /// Bounds that they must meet.
    pub bounds: Vec<Bound>,
    /// Key of the streams in the file, for errors.
    pub key: String,
}

impl LimitSpec {
    /// Checks that the streams are among `known`.
    ///
    /// # Errors
    /// A stream of another name, with the nearest match.
    pub fn check(&self, file: &str, known: &[&str]) -> Result<(), SpecError> {
        let unknown = self.streams.iter().find(|name| !known.contains(&name.as_str()));
        unknown.map_or(Ok(()), |name| Err(SpecError::unknown(file, &self.key, name, known)))
    }
}

/// Reads `[[limits]]`.
pub(crate) fn read_limits(top: &Section) -> Result<Vec<LimitSpec>, SpecError> {
    top.list("limits")?.into_iter().map(read_limit).collect()
}

fn read_limit(section: Section) -> Result<LimitSpec, SpecError> {
    let op = section.choice("op", &[("read", LimitOp::Read), ("write", LimitOp::Write), ("all", LimitOp::All)])?;
    let latency = |key, bound: fn(Span) -> Bound| -> Result<Option<Bound>, SpecError> {
        let Some(most) = section.quantity::<Span>(key)? else { return Ok(None) };
        if most == Span::ZERO {
            return Err(section.error(key, most.to_string(), "expected a time above zero"));
        }
        Ok(Some(bound(most)))
    };
    let bounds = [
        latency("latency_mean", Bound::LatencyMean)?,
        latency("latency_p99", Bound::LatencyP99)?,
        latency("latency_max", Bound::LatencyMax)?,
        latency("latency_interval_max", Bound::LatencyIntervalMax)?,
        section.number("iops_at_least", 1e-9..=1e12)?.map(Bound::IopsAtLeast),
        section.quantity::<Rate>("bandwidth_at_least")?.map(Bound::BandwidthAtLeast),
    ];
    let bounds: Vec<Bound> = bounds.into_iter().flatten().collect();
    if bounds.is_empty() {
        let accepted = "a limit has at least one of latency_mean, latency_p99, latency_max, latency_interval_max, \
                        iops_at_least, bandwidth_at_least";
        return Err(section.error("", "", accepted));
    }
    let (key, streams) = read_streams(&section)?;
    let key = section.key(key);
    section.finish()?;
    Ok(LimitSpec { streams, op: op.unwrap_or(LimitOp::All), bounds, key })
}

/// `stream = "db"` or `streams = ["db1", "db2"]`, which then count together.
fn read_streams(section: &Section) -> Result<(&'static str, Vec<String>), SpecError> {
    let single = section.text("stream")?;
    let Some(many) = section.value("streams") else {
        return Ok(("stream", single.map(str::to_owned).into_iter().collect()));
    };
    if single.is_some() {
        return Err(section.error("streams", "", "expected either stream = \"name\" or streams = [\"name\", …]"));
    }
    let names = many.as_array().into_iter().flatten().map(|name| name.as_str().map(str::to_owned));
    let names = names.collect::<Option<Vec<String>>>().filter(|names| !names.is_empty());
    let names =
        names.ok_or_else(|| section.error("streams", many.to_string(), "expected a list of names of streams"))?;
    Ok(("streams", names))
}
