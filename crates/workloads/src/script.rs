//! Scripts: clients that run programs of dependent steps.
//!
//! A run of a script is a pass through its steps. A step begins when the steps it comes after are done and its CPU
//! time before them is over; it is done when all of its I/Os are. Leaves out: processors are not shared (every
//! client computes at once), a client has no memory (nothing is served from a page cache).

use hotband_units::{Rate, Ratio, Span};

use crate::Random;
use crate::sources::arrival::Arrival;

/// A program and the clients that run it.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptSpec {
    /// Name in records.
    pub name: String,
    /// Name of a run: "page", "transaction", "boot".
    pub unit: String,
    /// Number of clients that run it at once.
    pub clients: u32,
    /// Whether a client begins again after the end.
    pub repeat: bool,
    /// Client n begins n times this after the script.
    pub start_every: Span,
    /// Pause between two runs of a client.
    pub think: Span,
    /// Runs that arrive per second, and how; none if a client begins the next run by itself.
    pub arrivals: Option<(f64, Arrival)>,
    /// Steps of a run.
    pub steps: Vec<StepSpec>,
    /// Key in the file, for errors.
    pub key: String,
}

/// A step of a script.
#[derive(Clone, Debug, PartialEq)]
pub struct StepSpec {
    /// Name, for `after`.
    pub name: String,
    /// Streams its I/Os come from (indices in the workload).
    pub streams: Vec<usize>,
    /// Work of the step.
    pub work: Work,
    /// I/Os that each client has outstanding in the step.
    pub depth: u32,
    /// CPU time before every I/O.
    pub cpu: Cpu,
    /// CPU time before the first I/O.
    pub before: Span,
    /// Steps that must be done first (indices in the script).
    pub after: Vec<usize>,
    /// Whether a run ends without waiting for its I/Os.
    pub detached: bool,
}

/// Work of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// I/Os, drawn uniformly for every run.
    Ios {
        /// Fewest.
        least: u32,
        /// Most.
        most: u32,
    },
    /// Whole files, one after the other.
    Files(u32),
}

/// CPU time before an I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cpu {
    /// Always the same.
    Fixed(Span),
    /// Exponential with this mean.
    Exponential(Span),
}

impl Cpu {
    /// The time before the next I/O.
    #[inline]
    pub fn draw(self, random: &mut Random) -> Span {
        match self {
            Self::Fixed(time) => time,
            Self::Exponential(mean) => Span::from_secs_f64(mean.as_secs_f64() * random.exponential()),
        }
    }
}

impl Work {
    /// I/Os of the next run; none if it is counted in files.
    pub fn ios(self, random: &mut Random) -> u32 {
        match self {
            Self::Ios { least, most } if least == most => least,
            Self::Ios { least, most } => least + random.below(u64::from(most - least) + 1) as u32,
            Self::Files(_) => 0,
        }
    }

    /// Files of a run.
    pub fn files(self) -> u32 {
        if let Self::Files(count) = self { count } else { 0 }
    }
}

/// A link that users share, between the server and them.
///
/// Leaves out: frames and their loss, flow control, requests (only data is carried), full duplex.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkSpec {
    /// Rate on the wire.
    pub rate: Rate,
    /// Share of it that carries data.
    pub efficiency: Ratio,
    /// Scripts whose read data crosses it (indices in the workload).
    pub carries: Vec<usize>,
}

/// Steps that wait for each other in a circle, in order, if there are any; `after[n]` is what step n comes after.
pub(crate) fn cycle(after: &[Vec<usize>]) -> Option<Vec<usize>> {
    let mut open: Vec<bool> = vec![true; after.len()];
    // A step whose predecessors are all closed can be closed; what stays open lies on or behind a circle.
    while let Some(step) = (0..after.len()).find(|&n| open[n] && after[n].iter().all(|&before| !open[before])) {
        open[step] = false;
    }
    let first = open.iter().position(|&is_open| is_open)?;
    let mut path = vec![first];
    loop {
        let last = path[path.len() - 1];
        let next = *after[last].iter().find(|&&before| open[before]).expect("an open step waits for an open one");
        if let Some(begin) = path.iter().position(|&step| step == next) {
            path.drain(..begin);
            path.reverse();
            let first = (0..path.len()).min_by_key(|&at| path[at]).expect("a circle has a step");
            path.rotate_left(first);
            return Some(path);
        }
        path.push(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_is_found_and_a_diamond_is_none() {
        assert_eq!(cycle(&[vec![], vec![0], vec![0], vec![1, 2]]), None);
        assert_eq!(cycle(&[vec![0]]), Some(vec![0]));
        let scripts = cycle(&[vec![], vec![3, 0], vec![1], vec![2], vec![3]]).expect("1, 2 and 3 wait for each other");
        let mut sorted = scripts.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [1, 2, 3], "step 4 waits but is not part of it");
        assert!(scripts.windows(2).all(|pair| [(1, 2), (2, 3), (3, 1)].contains(&(pair[0], pair[1]))), "{scripts:?}");
    }

    #[test]
    fn counts_of_a_range_are_all_drawn_alike() {
        let (work, mut random) = (Work::Ios { least: 20, most: 24 }, Random::new(1, "test"));
        let mut counts = [0_u32; 5];
        (0..50_000).for_each(|_| counts[work.ios(&mut random) as usize - 20] += 1);
        // Five standard errors of 10,000.
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 450), "{counts:?}");
    }

    #[test]
    fn exponential_cpu_time_has_its_mean() {
        let (cpu, mut random) = (Cpu::Exponential(Span(200_000)), Random::new(1, "test"));
        let mean = (0..100_000).map(|_| cpu.draw(&mut random).0 as f64).sum::<f64>() / 1e5;
        assert!((mean / 200_000.0 - 1.0).abs() < 0.015, "{mean}: beyond 4.7 standard errors");
        assert_eq!(Cpu::Fixed(Span(7)).draw(&mut random), Span(7));
    }
}
