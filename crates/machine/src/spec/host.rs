//! `[host]` of a machine: its cores and what an I/O costs them. docs/models/layouts.md.

use hotband_units::Span;

use crate::spec::error::SpecError;
use crate::spec::reader::Section;

/// Distribution of I/Os over cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Cores in turn: as many equal jobs as cores.
    InTurn,
    /// All I/Os of a volume on one core: a job a volume, each kept on a core. Volumes take cores in turn.
    ByVolume,
}

/// `[host]` of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostSpec {
    /// Cores that submit I/Os and take answers.
    pub cores: u32,
    /// Time of a core to submit an I/O: system call, block layer, driver, doorbell.
    pub submit: Span,
    /// Core time of a completion: interrupt or poll, block layer, and waking the waiting thread.
    pub complete: Span,
    /// Distribution of I/Os over cores.
    pub spread: Spread,
}

/// Times of a core for an I/O, by the path that it takes: submit, complete. Sums of a core are from published rates of
/// one core, recalled and not read again (docs/models/layouts.md has the ranges); how a sum divides is our estimate.
const PATHS: [(&str, (Span, Span)); 4] = [
    // 1.0 to 1.7 us: fio's libaio engine with interrupts, J. Axboe's figures of one core, 2019 to 2022.
    ("libaio", (Span(600), Span(800))),
    // 0.8 to 1.2 us: io_uring with interrupts, the same.
    ("io_uring", (Span(400), Span(600))),
    // 0.075 to 0.3 us: io_uring, polled, fixed buffers, in batches: 3.5 to 13 M IOPS a core, the same.
    ("polled", (Span(100), Span(100))),
    // 0.08 to 0.12 us: SPDK's performance reports, some 10 M IOPS a core.
    ("spdk", (Span(50), Span(50))),
];

/// Longest accepted time of a core: longer ones are those of drives.
const LONGEST: Span = Span(10_000_000);

/// Reads `[host]`, if there is one.
///
/// # Errors
/// No cores, neither a path nor both times, a value out of range.
pub(crate) fn read_host(top: &Section) -> Result<Option<HostSpec>, SpecError> {
    let Some(section) = top.section("host")? else { return Ok(None) };
    let cores = section.count("cores", 1..=1024)?;
    let cores = cores.ok_or_else(|| section.error("cores", "", "missing: expected a whole number from 1 to 1024"))?;
    let path = section.choice("path", &PATHS)?;
    let (submit, complete) = (section.quantity::<Span>("submit")?, section.quantity::<Span>("complete")?);
    if path.is_some() && submit.is_some() && complete.is_some() {
        return Err(section.error("path", "", "sets the times that submit and complete set too: remove one of them"));
    }
    let of_path = |of_host: Option<Span>, key: &str, part: Option<Span>| {
        let time = of_host.or(part).ok_or_else(|| {
            let paths: Vec<&str> = PATHS.iter().map(|(name, _)| *name).collect();
            section.error(key, "", format!("missing: expected a time, or path = one of {}", paths.join(", ")))
        })?;
        if time > LONGEST {
            return Err(section.error(key, time.to_string(), format!("expected at most {LONGEST}")));
        }
        Ok(time)
    };
    let submit = of_path(submit, "submit", path.map(|(submit, _)| submit))?;
    let complete = of_path(complete, "complete", path.map(|(_, complete)| complete))?;
    let spreads = [("in-turn", Spread::InTurn), ("by-volume", Spread::ByVolume)];
    let spread = section.choice("spread", &spreads)?.unwrap_or(Spread::InTurn);
    section.finish()?;
    Ok(Some(HostSpec { cores: cores as u32, submit, complete, spread }))
}
