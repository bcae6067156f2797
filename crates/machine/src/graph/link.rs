//! A wire or controller shared by drives: bandwidth, a cost per command, a number of lanes; or a parallel SCSI bus.
//!
//! Leaves out: frames, arbitration fairness and full duplex. A transfer takes one lane from its start to its
//! end, first come first served; with several lanes the one free soonest is taken. On a bus all phases of a command are
//! charged in one piece, when its data crosses: a read is not delayed by the bus before the drive sees it, commands
//! without data (flushes) do not use it, and long transfers are not interleaved.

use crate::drive::{Command, Done};
use hotband_units::{Instant, Rate, Ratio, Span};

use crate::spec::error::SpecError;
use crate::spec::reader::Section;

/// A link as a spec requests it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkSpec {
    /// Name in the spec.
    pub name: String,
    /// Transfers that can be under way at once.
    pub lanes: usize,
    /// Bandwidth of one lane.
    pub rate: Rate,
    /// Time a command occupies its lane in addition to its data.
    pub per_command: Span,
    /// Indices of the drives behind it.
    pub carries: Vec<usize>,
    /// Whether it is a parallel bus, which is the port of all its drives: their own `port_rate` does not count.
    pub is_bus: bool,
}

/// Ultra320, 16 bits at 160 megatransfers a second: T10 SPI-4 (T10/1365-D).
const ULTRA320: Rate = Rate(320_000_000);
/// Bus free, arbitration, selection: bus settle 0.4 + bus free 0.8 + arbitration 2.4 + bus clear 0.8 + bus settle 0.4
/// us (SPI-4, timing values) and a response to the selection below 1 us.
const ARBITRATION: Span = Span(5_000);
/// A drive that disconnects is arbitrated for three times per command: command, data, status.
const ARBITRATIONS: u64 = 3;
/// Command, message and status bytes, which are not sent at the data's rate: 10 + 3 + 2 bytes, some 0.5 us each. Our
/// estimate, range 5 to 20 us.
const COMMAND_PHASES: Span = Span(10_000);
/// Share of the data phase that carries data (headers, checks, the adapter's memory). Inferred from the 210 to 240 MB/s
/// that were measured of an Ultra320 bus (iXBT, Savvio 10K.1 in RAID), with commands of 64 KiB: range 71 to 83 %.
const EFFICIENCY: f64 = 0.77;

/// Bandwidth of a lane, time a command occupies it in addition to its data, and whether the link is
/// a bus, as a spec says.
///
/// # Errors
/// An unknown kind, a key of another kind, a value out of range.
pub(crate) fn read_kind(section: &Section) -> Result<(Rate, Span, bool), SpecError> {
    let is_bus = section.choice("kind", &[("lanes", false), ("scsi", true)])?.unwrap_or(false);
    let per_command = section.quantity::<Span>("per_command")?;
    if !is_bus {
        let rate = section.required::<Rate>("rate", "a rate, such as \"1.2 GB/s\"")?;
        return Ok((rate, per_command.unwrap_or_default(), false));
    }
    let nominal = section.quantity::<Rate>("rate")?.unwrap_or(ULTRA320);
    let efficiency = section.quantity::<Ratio>("efficiency")?.map_or(EFFICIENCY, |ratio| ratio.0);
    if !(0.01..=1.0).contains(&efficiency) {
        return Err(section.error("efficiency", format!("{} %", efficiency * 100.0), "expected 1 % to 100 %"));
    }
    let arbitration = section.quantity::<Span>("arbitration")?.unwrap_or(ARBITRATION);
    let per_command = per_command.unwrap_or(COMMAND_PHASES);
    for (key, time) in [("arbitration", arbitration), ("per_command", per_command)] {
        if time.0 > 1_000_000_000 {
            return Err(section.error(key, time.to_string(), "expected at most 1 s"));
        }
    }
    let rate = Rate((nominal.0 as f64 * efficiency).round() as u64);
    Ok((rate, Span(ARBITRATIONS * arbitration.0) + per_command, true))
}

/// A link in a running machine.
#[derive(Clone, Debug)]
pub struct Link {
    /// Name in the spec.
    pub name: String,
    rate: Rate,
    per_command: Span,
    free_at: Vec<Instant>,
    /// Time lanes were occupied, summed over lanes.
    pub busy: Span,
    /// Bytes carried.
    pub bytes: u64,
}

impl Link {
    /// An idle link.
    pub fn new(spec: &LinkSpec) -> Self {
        let free_at = vec![Instant::ZERO; spec.lanes.max(1)];
        Self {
            name: spec.name.clone(),
            rate: spec.rate,
            per_command: spec.per_command,
            free_at,
            busy: Span::ZERO,
            bytes: 0,
        }
    }

    /// Takes the lane free soonest for `bytes` from `now`; returns when the transfer ends.
    pub fn transfer(&mut self, now: Instant, bytes: u64) -> Instant {
        let lane = self.free_at.iter_mut().min().expect("a link has at least one lane");
        let occupied = self.per_command + self.rate.time_for(bytes);
        *lane = now.max(*lane) + occupied;
        self.busy += occupied;
        self.bytes += bytes;
        *lane
    }
}

/// A transfer on a shared link: towards the drive, or back from it.
#[derive(Clone, Copy)]
pub(crate) enum Transfer {
    Inbound { drive: u32, command: Command },
    Outbound { done: Done, ready: Instant },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(lanes: usize) -> Link {
        let rate = Rate(1_000_000_000);
        let (name, per_command, carries) = ("sas".into(), Span(100), vec![]);
        Link::new(&LinkSpec { name, lanes, rate, per_command, carries, is_bus: false })
    }

    #[test]
    fn one_lane_serves_one_after_the_other() {
        let mut bus = link(1);
        assert_eq!(bus.transfer(Instant(0), 4096), Instant(4196));
        assert_eq!(bus.transfer(Instant(0), 4096), Instant(8392));
        assert_eq!(bus.transfer(Instant(10_000), 4096), Instant(14_196));
    }

    #[test]
    fn a_bus_is_ultra320_where_nothing_else_is_said() {
        let read = |text: &str| {
            let table = text.parse().expect("this is TOML");
            read_kind(&Section::new("m.toml", "links.u", &table))
        };
        // 77 % of 320 MB/s, three arbitrations and the bytes that are not data: 64 KiB in 291 us are 225 MB/s.
        let (rate, per_command, is_bus) = read("kind = \"scsi\"").expect("nothing is missing");
        assert_eq!((rate, per_command, is_bus), (Rate(246_400_000), Span(25_000), true));
        let measured = 65_536.0 / (per_command + rate.time_for(65_536)).as_secs_f64() / 1e6;
        assert!((210.0..240.0).contains(&measured), "{measured}");
        let (_, slow, _) = read("kind = \"scsi\"\narbitration = \"8 us\"\nper_command = \"1 us\"").expect("good");
        assert_eq!(slow, Span(25_000));
        assert!(read("kind = \"scsi\"\nefficiency = \"0 %\"").unwrap_err().to_string().contains("1 % to 100 %"));
        assert!(read("kind = \"sci\"").unwrap_err().to_string().contains("scsi"));
        assert!(read("kind = \"lanes\"").unwrap_err().to_string().contains("rate"));
    }

    #[test]
    fn two_lanes_serve_two_at_once() {
        let mut bus = link(2);
        assert_eq!(bus.transfer(Instant(0), 4096), Instant(4196));
        assert_eq!(bus.transfer(Instant(0), 4096), Instant(4196));
        assert_eq!(bus.transfer(Instant(0), 4096), Instant(8392));
    }
}
