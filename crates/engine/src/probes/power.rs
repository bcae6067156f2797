//! Watts of every drive over the measured time, and the energy that a record states.
//!
//! Nothing is done per I/O: drives keep sums of the time they were busy, which are read when an interval ends. A
//! command is counted when it is begun, so what does not fit into an interval is carried into the next.

use hotband_machine::{Draw, Levels, Machine};
use hotband_units::{Instant, Power, Span};
use serde::Serialize;

use crate::control::RunError;
use crate::probes::probe::{Findings, Interval, Probe, RunEnd};
use crate::probes::table::{Table, Text, rows};
use crate::record::sections::Sections;

rows! { "power":
    /// Power draw of a drive in an interval.
    pub struct PowerRow {
        /// Start of the interval since the measured time began.
        time_ns: u64,
        /// Its length.
        length_ns: u64,
        /// Name of the drive.
        drive: Text,
        /// Mean power.
        power_w: f64,
        /// The least that it is by the ranges of the drive's values.
        low_w: f64,
        /// The most.
        high_w: f64,
    }
}

/// A drive whose draw is known.
#[derive(Clone, Debug)]
struct Watched {
    name: Text,
    /// Index in the machine.
    index: usize,
    draw: Draw,
    last: [Span; 3],
    /// Busy beyond the interval in which it began.
    carried: [Span; 2],
    duration: Span,
    /// Part of it until the drive failed.
    on: Span,
    busy: [Span; 2],
}

/// Measures the power of a machine's drives during the measured time.
#[derive(Debug)]
pub struct PowerProbe {
    table: Table,
    drives: Vec<Watched>,
    unknown: usize,
    has_begun: bool,
}

impl PowerProbe {
    pub fn new() -> Self {
        Self { table: Table::of::<PowerRow>(), drives: Vec::new(), unknown: 0, has_begun: false }
    }

    /// Section of the record for all drives together, which served `ios`; none if no drive's power is known.
    fn record(&self, ios: u64) -> Option<EnergyRecord> {
        let seconds = self.drives.first()?.duration.as_secs_f64();
        let each = self.drives.iter().map(|drive| Energy::new(&drive.draw, drive.on, drive.busy));
        let sum = each.reduce(|first, second| Energy {
            joules: first.joules + second.joules,
            low: first.low + second.low,
            high: first.high + second.high,
        })?;
        let an_io = |joules: f64| (ios > 0).then(|| joules / ios as f64);
        (seconds > 0.0).then(|| EnergyRecord {
            energy_j: sum.joules,
            energy_low_j: sum.low,
            energy_high_j: sum.high,
            mean_w: sum.joules / seconds,
            idle_w: self.drives.iter().map(|drive| watts(drive.draw.levels.idle) * drive.share_on()).sum(),
            joules_per_io: an_io(sum.joules),
            joules_per_io_low: an_io(sum.low),
            joules_per_io_high: an_io(sum.high),
            drives: self.drives.len(),
            drives_unknown: self.unknown,
        })
    }
}

impl Probe for PowerProbe {
    /// A phase that follows another continues with its state.
    fn begin(&mut self, _: Instant, machine: &Machine) {
        if std::mem::replace(&mut self.has_begun, true) {
            return;
        }
        for (index, (name, draw)) in machine.drives().draws().into_iter().enumerate() {
            let Some(draw) = draw else {
                self.unknown += 1;
                continue;
            };
            let (last, none) = (machine.drives().get(index as u32).drive.activity(), Span::ZERO);
            let (carried, busy) = ([none; 2], [none; 2]);
            self.drives.push(Watched { name: name.into(), index, draw, last, carried, duration: none, on: none, busy });
        }
    }

    /// A drive that has failed draws nothing from then on.
    fn interval(&mut self, interval: &Interval, machine: &Machine) {
        let length = interval.length();
        for drive in &mut self.drives {
            let off = machine
                .drives()
                .get(drive.index as u32)
                .failed_at
                .unwrap_or(interval.end)
                .clamp(interval.begin, interval.end);
            let on = off.since(interval.begin);
            let busy = drive.spend(on, machine.drives().get(drive.index as u32).drive.activity());
            drive.duration += length;
            drive.on += on;
            drive.busy = [0, 1].map(|state| drive.busy[state] + busy[state]);
            let energy = Energy::new(&drive.draw, on, busy);
            let watts = |joules: f64| joules / length.as_secs_f64();
            self.table.push(PowerRow {
                time_ns: interval.time_ns,
                length_ns: length.0,
                drive: drive.name.clone(),
                power_w: watts(energy.joules),
                low_w: watts(energy.low),
                high_w: watts(energy.high),
            });
        }
    }

    fn end(self: Box<Self>, run: &mut RunEnd) -> Result<Findings, RunError> {
        let mut findings = Findings::default();
        if let Some(record) = self.record(run.served) {
            findings = findings.with("energy", record);
        }
        for drive in self.drives.iter().filter(|drive| drive.duration > Span::ZERO) {
            let mut sections = Sections::default();
            sections.add("power", PowerRecord::new(drive));
            findings.of_parts.push((drive.name.to_string(), sections));
        }
        Ok(findings.with_table(self.table))
    }
}

impl Watched {
    /// Share of the time that was watched in which it had not failed.
    fn share_on(&self) -> f64 {
        self.on.as_secs_f64() / self.duration.as_secs_f64()
    }

    /// Busy time of an interval of `length`: carried and new time, as far as it fits; the remainder is carried on.
    fn spend(&mut self, length: Span, activity: [Span; 3]) -> [Span; 2] {
        let came = [0, 1, 2].map(|n| activity[n] - self.last[n]);
        self.last = activity;
        let due = [self.carried[0] + came[0].max(came[1]), self.carried[1] + came[2]];
        let room = Span(length.0 * u64::from(self.draw.actuators));
        let spent = if self.draw.is_parallel {
            due.map(|due| due.min(room))
        } else {
            let all = due[0] + due[1];
            let part = |due: Span| Span((u128::from(due.0) * u128::from(room.0) / u128::from(all.0.max(1))) as u64);
            if all > room { due.map(part) } else { due }
        };
        self.carried = [0, 1].map(|state| due[state] - spent[state]);
        spent
    }
}

/// Joules, and the least and most by the ranges of the drive's values.
#[derive(Clone, Copy, Debug)]
struct Energy {
    joules: f64,
    low: f64,
    high: f64,
}

impl Energy {
    fn new(draw: &Draw, duration: Span, busy: [Span; 2]) -> Self {
        let joules_at = |levels: &Levels| levels.joules(duration, busy, draw.actuators);
        let [low, high] = [draw.low, draw.high].map(|ends| ends.map(|levels| joules_at(&levels)));
        Self { joules: joules_at(&draw.levels), low: low[0].min(low[1]), high: high[0].max(high[1]) }
    }
}

fn watts(power: Power) -> f64 {
    power.0 as f64 / 1e3
}

/// Energy of a drive in the measured time.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PowerRecord {
    energy_j: f64,
    energy_low_j: f64,
    energy_high_j: f64,
    mean_w: f64,
    idle_w: f64,
    active_w: f64,
    states: [StateRecord; 2],
}

/// Time of a drive in a state, and its energy above idle.
#[derive(Clone, Debug, Serialize)]
struct StateRecord {
    state: &'static str,
    power_w: f64,
    /// Time of one actuator.
    time_ns: u64,
    above_idle_j: f64,
}

impl PowerRecord {
    fn new(watched: &Watched) -> Self {
        let (draw, levels) = (&watched.draw, &watched.draw.levels);
        let energy = Energy::new(draw, watched.on, watched.busy);
        let state = |n: usize| StateRecord {
            state: draw.states[n],
            power_w: watts(levels.busy[n]),
            time_ns: watched.busy[n].0 / u64::from(draw.actuators),
            above_idle_j: levels.above_idle(n, watched.busy[n], draw.actuators),
        };
        Self {
            energy_j: energy.joules,
            energy_low_j: energy.low,
            energy_high_j: energy.high,
            mean_w: energy.joules / watched.duration.as_secs_f64(),
            idle_w: watts(levels.idle),
            active_w: watts(draw.active),
            states: [state(0), state(1)],
        }
    }
}

/// Energy of all drives in the measured time.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct EnergyRecord {
    energy_j: f64,
    energy_low_j: f64,
    energy_high_j: f64,
    mean_w: f64,
    idle_w: f64,
    joules_per_io: Option<f64>,
    joules_per_io_low: Option<f64>,
    joules_per_io_high: Option<f64>,
    /// Drives whose draw is known, and those whose is not.
    drives: usize,
    drives_unknown: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Span = Span(1_000_000_000);

    fn watched(is_parallel: bool) -> Watched {
        let levels = Levels { idle: Power(5_000), busy: [Power(9_000), Power(7_000)] };
        let draw = Draw {
            states: ["seek", "track"],
            active: Power(8_000),
            levels,
            low: [levels; 2],
            high: [levels; 2],
            actuators: 1,
            is_parallel,
        };
        let none = Span::ZERO;
        Watched {
            name: "d0".into(),
            index: 0,
            draw,
            last: [none; 3],
            carried: [none; 2],
            duration: none,
            on: none,
            busy: [none; 2],
        }
    }

    #[test]
    fn what_does_not_fit_into_an_interval_is_carried_into_the_next_in_proportion() {
        let mut drive = watched(false);
        // A command of 1.5 s begins in the first second.
        let activity = [Span(500_000_000), Span::ZERO, SECOND];
        let first = drive.spend(SECOND, activity);
        assert_eq!(first, [Span(333_333_333), Span(666_666_666)]);
        let second = drive.spend(SECOND, activity);
        assert_eq!([0, 1].map(|n| first[n] + second[n]), [Span(500_000_000), SECOND]);
        assert_eq!(drive.spend(SECOND, activity), [Span::ZERO; 2]);
    }

    #[test]
    fn states_side_by_side_have_all_the_time_each_and_the_first_counts_its_longer_measure() {
        let mut drive = watched(true);
        let half = Span(500_000_000);
        assert_eq!(drive.spend(SECOND, [half, SECOND, SECOND]), [SECOND, SECOND]);
        assert_eq!(drive.spend(SECOND, [SECOND + half, SECOND, SECOND]), [SECOND, Span::ZERO]);
    }

    #[test]
    fn a_range_is_that_of_the_ends_that_draw_least_and_most() {
        let mut draw = watched(false).draw;
        let levels = |seek| Levels { idle: Power(4_000), busy: [Power(seek), Power(6_000)] };
        (draw.low, draw.high) = ([levels(8_000), levels(7_000)], [levels(9_500), levels(10_000)]);
        let energy = Energy::new(&draw, SECOND, [Span(500_000_000), Span(500_000_000)]);
        let near = |got: f64, expected: f64| assert!((got - expected).abs() < 1e-9, "{got}");
        near(energy.joules, 8.0);
        near(energy.low, 6.5);
        near(energy.high, 8.0);
    }
}
