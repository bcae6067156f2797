//! End of a phase: it is over when the first of its conditions is met.

mod done;
mod drained;
mod operations;
mod steady;
mod warm;

use hotband_units::Instant;
use hotband_workloads::{Phase, Until};

use crate::drive::Driver;

/// A condition that may be met while nothing happens.
trait Calm {
    /// Nothing happens before `calm`: since when the phase is over, if it is.
    fn over(&mut self, calm: Instant, driver: &mut Driver) -> Option<Instant>;
}

/// A condition that may be met by something that happens.
trait AfterEvent {
    /// Whether it is, after everything that happened so far.
    fn is_met(&self, driver: &mut Driver) -> bool;
    /// Progress and total; nothing if it is not counted.
    fn counted(&self, _: &Driver) -> Option<(u64, u64)> {
        None
    }
}

/// A condition, ready to be examined.
enum Condition {
    At(Instant),
    /// When this many I/Os of the run are done: most phases count these, so it costs no call.
    AtIos(u64),
    /// When a batch of I/Os is over after which the figures are precise, according to their probe.
    Batches,
    Calm(Box<dyn Calm>),
    AfterEvent(Box<dyn AfterEvent>),
}

impl Condition {
    /// A condition a line.
    fn of(until: Until, driver: &Driver) -> Self {
        match until {
            Until::Time(time) => Self::At(driver.now + time),
            Until::Ios(ios) => Self::AtIos(driver.ios + ios),
            Until::Operations(operations) => {
                Self::AfterEvent(Box::new(operations::Operations::new(operations, driver)))
            }
            Until::Steady(_) => Self::Calm(Box::new(steady::Steady)),
            Until::Precise(_) => Self::Batches,
            Until::Warm => Self::Calm(Box::new(warm::Warm::new(driver.now))),
            Until::ScriptsDone => Self::AfterEvent(Box::new(done::ScriptsDone)),
            Until::Drained => Self::AfterEvent(Box::new(drained::Drained)),
        }
    }
}

/// The conditions of a phase.
pub struct Conditions {
    begin: Instant,
    latest: Instant,
    /// I/Os of the run when it began, and when it is over.
    ios: (u64, u64),
    /// I/Os of the run at which it is next looked whether it is over.
    look: u64,
    calm: Vec<Box<dyn Calm>>,
    after_event: Vec<Box<dyn AfterEvent>>,
}

impl Conditions {
    /// Conditions of `phase`, which has just begun; it is over at `cut` in any case.
    pub fn of(phase: &Phase, cut: Instant, driver: &mut Driver) -> Self {
        let mut conditions = Self {
            begin: driver.now,
            latest: cut,
            ios: (driver.ios, u64::MAX),
            look: u64::MAX,
            calm: Vec::new(),
            after_event: Vec::new(),
        };
        for until in &phase.until {
            match Condition::of(*until, driver) {
                Condition::At(at) => conditions.latest = conditions.latest.min(at),
                Condition::AtIos(ios) => conditions.ios.1 = ios,
                Condition::Batches => {
                    let first = driver.probes.begin_batches(phase, driver.now, driver.ios);
                    conditions.look = first.unwrap_or(u64::MAX);
                }
                Condition::Calm(condition) => conditions.calm.push(condition),
                Condition::AfterEvent(condition) => conditions.after_event.push(condition),
            }
        }
        conditions.look = conditions.look.min(conditions.ios.1);
        conditions
    }

    /// The phase is over then at the latest.
    #[inline]
    pub fn latest(&self) -> Instant {
        self.latest
    }

    /// Nothing happens before `calm`: since when the phase is over, if it is before that.
    #[inline]
    pub fn over(&mut self, calm: Instant, driver: &mut Driver) -> Option<Instant> {
        if self.calm.is_empty() { None } else { self.first_over(calm, driver) }
    }

    #[inline(never)]
    fn first_over(&mut self, calm: Instant, driver: &mut Driver) -> Option<Instant> {
        self.calm.iter_mut().filter_map(|condition| condition.over(calm, driver)).min()
    }

    /// Whether the last event met one of the conditions.
    #[inline]
    pub fn are_met(&mut self, driver: &mut Driver) -> bool {
        (driver.ios >= self.look && self.is_enough(driver))
            || (!self.after_event.is_empty() && self.after_event.iter().any(|condition| condition.is_met(driver)))
    }

    /// Whether the I/Os of the phase are done, or those that its figures need.
    #[inline(never)]
    fn is_enough(&mut self, driver: &mut Driver) -> bool {
        let next = driver.probes.end_batch(driver.now, driver.ios);
        self.look = next.unwrap_or(0).min(self.ios.1);
        driver.ios >= self.ios.1 || next.is_none()
    }

    /// Progress and total of the counted quantity.
    pub fn counted(&self, driver: &Driver) -> (u64, u64) {
        let (before, last) = self.ios;
        let ios = (last < u64::MAX).then(|| (driver.ios - before, last - before));
        ios.or_else(|| self.after_event.iter().find_map(|condition| condition.counted(driver))).unwrap_or_default()
    }

    /// Share of the phase that is done.
    pub fn share(&self, driver: &Driver) -> f64 {
        let (done, asked) = self.counted(driver);
        let counted = if asked > 0 { done as f64 / asked as f64 } else { 0.0 };
        if self.latest == Instant::NEVER {
            return counted;
        }
        let passed = driver.now.since(self.begin).as_secs_f64() / self.latest.since(self.begin).as_secs_f64();
        counted.max(passed)
    }
}
