//! The measurement: a census, then threads that take turns in reading and compress side by side.
//!
//! Memory does not grow with the tree: a thread holds one item, the walk a bounded number of names.

use std::num::NonZero;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::ask::{Ask, AskError};
use crate::compress::Press;
use crate::control::Control;
use crate::sample::{Choice, Plan};
use crate::source::{Census, Item, Source, Unreadable};
use crate::tally::Tally;
use crate::walk::{Limits, Walk};

/// Cost of the measurement. It is not part of the report, which is the same every time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Effort {
    /// Threads.
    pub jobs: usize,
    /// Time from the census to the end.
    pub measuring: Duration,
    /// Time in which threads compressed, added up.
    pub compressing: Duration,
    /// The most bytes of names that were held at a time.
    pub names_held: usize,
}

/// Result of the measurement.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Census of the files.
    pub census: Census,
    /// Planned amount to read.
    pub plan: Plan,
    /// Its result.
    pub tally: Tally,
    /// Folders and files that cannot be read.
    pub unreadable: Unreadable,
    /// Files that were shorter than when they were counted.
    pub changed: u64,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
    /// Its cost.
    pub effort: Effort,
}

/// Measures what `ask` requests. None if it was stopped before anything was measured.
///
/// # Errors
/// A mistake in the request; what cannot be read is counted.
pub fn measure(ask: &Ask, control: &Control) -> Result<Option<Measured>, AskError> {
    measure_within(ask, control, Limits::default())
}

/// Like [`measure`], with other limits for the walk.
///
/// # Errors
/// As [`measure`].
pub fn measure_within(ask: &Ask, control: &Control, limits: Limits) -> Result<Option<Measured>, AskError> {
    ask.check()?;
    let walk = || Walk::new(ask.roots(), ask.one_file_system, limits);
    let Some(census) = Census::take(walk(), control) else { return Ok(None) };
    let plan = Plan::new(census.items, census.bytes, ask.sample);
    let wanted = u128::from(census.bytes) * u128::from(plan.chosen) / u128::from(plan.items.max(1));
    control.wanted(wanted as u64);
    let source = Mutex::new(Source::new(walk(), Choice::new(plan, ask.seed), ask.archive()));
    let jobs = ask.jobs.unwrap_or_else(|| thread::available_parallelism().map_or(1, NonZero::get)).max(1);
    let begun = Instant::now();
    let (tally, compressing) = work(ask, &source, jobs, control);
    let measuring = begun.elapsed();
    let source = source.into_inner().unwrap_or_else(PoisonError::into_inner);
    if control.stopped() && tally.items == 0 {
        return Ok(None);
    }
    let effort = Effort { jobs, measuring, compressing, names_held: census.names_held.max(source.names_held()) };
    let mut unreadable = census.unreadable.clone();
    unreadable.join(source.unreadable);
    // A stop that came after the last item changed nothing.
    let interrupted = control.stopped() && tally.items < plan.chosen;
    Ok(Some(Measured { census, plan, tally, unreadable, changed: source.changed, interrupted, effort }))
}

/// Runs the threads; returns their results and the time that they compressed.
fn work(ask: &Ask, source: &Mutex<Source>, jobs: usize, control: &Control) -> (Tally, Duration) {
    thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs).map(|_| scope.spawn(|| compress_items(ask, source, control))).collect();
        let (mut tally, mut compressing) = (Tally::new(ask), Duration::ZERO);
        for thread in threads {
            let (of_thread, took) = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            tally.join(&of_thread);
            compressing += took;
        }
        (tally, compressing)
    })
}

/// One thread: takes its turn to read an item, then compresses it while others read.
fn compress_items(ask: &Ask, source: &Mutex<Source>, control: &Control) -> (Tally, Duration) {
    let (mut tally, mut press, mut item) = (Tally::new(ask), Press::default(), Item::default());
    let mut compressing = Duration::ZERO;
    loop {
        let more = source.lock().unwrap_or_else(PoisonError::into_inner).next_item(&mut item, control);
        if !more {
            return (tally, compressing);
        }
        let begun = Instant::now();
        tally.add(&mut press, &item);
        compressing += begun.elapsed();
        control.measured(item.data().len() as u64);
    }
}
