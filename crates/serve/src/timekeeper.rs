//! Thread that waits until the machine next has something to do.
//!
//! It is a separate thread, the clock, if no other waits. A thread that waits for a client may do both at once: then
//! one thread handles the request, waits for its completion and replies, and no core has to be woken in between
//! (which takes 5 to 50 us, and longer on virtual machines).

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar};
use std::time::Duration;

use hotband_units::{Instant, Span};
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fs::Timespec;

use crate::priority;
use crate::service::Service;
use crate::watch::Watch;

/// Longest wait of a thread for a client until it checks for other work.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// Interval at which the clock checks whether it was stopped.
const CLOCK_LOOKS: Duration = Duration::from_millis(100);
/// A client's thread that was so often woken for requests of others gives its place up: one of theirs is nearer to it.
const OFTEN: u32 = 16;

/// Stands for no time: later than every other, so that the earlier of two is the smaller number.
const NOTHING: u64 = u64::MAX;

/// Waiting threads, and the times until which they wait.
#[derive(Debug)]
pub struct Timekeeper {
    /// A client's thread does; else the clock.
    by_client: AtomicBool,
    /// Time of its next check; lowered by requests that are due earlier.
    planned: AtomicU64,
    /// The clock waits here.
    clock: Condvar,
    /// A client's thread waits for this, too.
    alarm: OwnedFd,
}

impl Timekeeper {
    pub(crate) fn new() -> io::Result<Self> {
        let alarm = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        Ok(Self { by_client: AtomicBool::new(false), planned: AtomicU64::new(0), clock: Condvar::new(), alarm })
    }

    /// Something is due at `next`: the waiting thread is woken if that is before its next check.
    pub(crate) fn tell(&self, next: Instant) {
        if next.0 < self.planned.fetch_min(next.0, Ordering::AcqRel) {
            self.wake();
        }
    }

    /// Sets the time of its next check; called with the machine locked, so that nothing comes in between.
    pub(crate) fn plan(&self, next: Option<Instant>) {
        self.planned.store(next.map_or(NOTHING, |next| next.0), Ordering::Release);
    }

    /// Records that the thread is awake and checks before it waits, so that no wake-up is needed.
    fn is_awake(&self) {
        self.planned.store(0, Ordering::Release);
    }

    fn planned(&self) -> Option<Instant> {
        Some(self.planned.load(Ordering::Acquire)).filter(|next| *next != NOTHING).map(Instant)
    }

    fn wake(&self) {
        if self.by_client.load(Ordering::Acquire) {
            // Fails only where it was told 2^64 times and did not look.
            let _ = rustix::io::write(&self.alarm, &1_u64.to_ne_bytes());
        } else {
            self.clock.notify_one();
        }
    }

    /// Waiting threads must notice that it was stopped.
    pub(crate) fn wake_all(&self) {
        let _ = rustix::io::write(&self.alarm, &1_u64.to_ne_bytes());
        self.clock.notify_all();
    }
}

/// The place of who waits for the machine, held by a client's thread; the clock has it again once it is dropped.
pub struct Timekeeping {
    service: Arc<Service>,
    /// Times in a row that it was woken for others.
    for_others: u32,
}

impl Drop for Timekeeping {
    fn drop(&mut self) {
        let timekeeper = &self.service.timekeeper;
        timekeeper.by_client.store(false, Ordering::Release);
        // The clock looks who waits while it holds the machine: it sees this, or is woken.
        drop(self.service.lock());
        timekeeper.clock.notify_all();
    }
}

impl Timekeeping {
    /// Takes the place, where no other client's thread has it.
    pub fn take(service: &Arc<Service>) -> Option<Self> {
        let by_client = &service.timekeeper.by_client;
        by_client.compare_exchange(false, true, Ordering::AcqRel, Ordering::Relaxed).ok()?;
        Some(Self { service: Arc::clone(service), for_others: 0 })
    }

    /// Whether it was woken again and again, and never for its own client.
    pub fn is_for_others(&self) -> bool {
        self.for_others > OFTEN
    }

    /// Waits until `receive`, which does not, has got something from the client behind `fd`, and lets the machine
    /// continue meanwhile.
    ///
    /// # Errors
    /// What `receive` says; `WouldBlock` after a second, and where others should wait in its place.
    pub fn wait(
        &mut self,
        fd: BorrowedFd<'_>,
        watch: &mut Watch,
        receive: &mut dyn FnMut() -> io::Result<usize>,
    ) -> io::Result<usize> {
        let outcome = self.wait_for(fd, watch, receive);
        self.service.timekeeper.is_awake();
        outcome
    }

    fn wait_for(
        &mut self,
        fd: BorrowedFd<'_>,
        watch: &mut Watch,
        receive: &mut dyn FnMut() -> io::Result<usize>,
    ) -> io::Result<usize> {
        let Self { service, for_others } = self;
        priority::before_wait(service.options.priority, None);
        let until = service.clock.now() + Span(LONGEST_WAIT.as_nanos() as u64);
        loop {
            if let Some(outcome) = received(receive()) {
                *for_others = 0;
                return outcome;
            }
            if service.is_stopped() || *for_others > OFTEN || service.clock.now() >= until {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let (next, any) = service.go_on(service.lock());
            if any {
                continue;
            }
            if next.is_none()
                && let Some(outcome) = watch.look(receive)
            {
                return outcome;
            }
            if let Some(time) = service.sleep_before(next) {
                priority::before_wait(service.options.priority, Some(time));
                *for_others += u32::from(sleep(fd, &service.timekeeper.alarm, time.min(LONGEST_WAIT))?);
            } else if let Some(outcome) = service.spin(|| received(receive())) {
                return outcome;
            }
        }
    }
}

/// Return the outcome of a receive, if any.
pub fn received(outcome: io::Result<usize>) -> Option<io::Result<usize>> {
    match outcome {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
        outcome => Some(outcome),
    }
}

/// Sleeps until data comes, a notification arrives, or the time is over; returns whether it was notified.
fn sleep(fd: BorrowedFd<'_>, alarm: &OwnedFd, time: Duration) -> io::Result<bool> {
    let mut both = [PollFd::from_borrowed_fd(fd, PollFlags::IN), PollFd::new(alarm, PollFlags::IN)];
    let time = Timespec { tv_sec: time.as_secs() as i64, tv_nsec: i64::from(time.subsec_nanos()) };
    match poll(&mut both, Some(&time)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let is_told = !both[1].revents().is_empty();
    if is_told {
        let _ = rustix::io::read(alarm, &mut [0; 8]);
    }
    Ok(is_told)
}

impl Service {
    /// The clock: lets the machine continue whenever it has something to do, unless a client's thread does so.
    pub(crate) fn run_clock(&self) {
        let had = self.prepare_thread();
        self.change_tally(|tally| tally.set_priority(had));
        let timekeeper = &self.timekeeper;
        while !self.is_stopped() {
            let core = self.lock();
            if timekeeper.by_client.load(Ordering::Acquire) {
                drop(timekeeper.clock.wait_timeout(core, CLOCK_LOOKS));
                continue;
            }
            let (next, any) = self.go_on(core);
            if any {
                continue;
            }
            let time = self.sleep_before(next);
            priority::before_wait(self.options.priority, time);
            if let Some(time) = time {
                self.wait(next, time);
            }
            self.spin(|| {
                std::hint::spin_loop();
                None::<()>
            });
        }
    }

    /// Return the time to sleep until shortly before `next`, or the longest wait if nothing is due;
    /// none if `next` has passed.
    fn sleep_before(&self, next: Option<Instant>) -> Option<Duration> {
        let Some(next) = next else { return Some(LONGEST_WAIT) };
        self.clock.until(next)?.checked_sub(Duration::from_nanos(self.options.spin.0))
    }

    /// The clock sleeps for `time`, which is until shortly before `next`, or until something is due earlier.
    fn wait(&self, next: Option<Instant>, time: Duration) {
        let core = self.lock();
        // What came since is due earlier, and nobody tells it twice; or a client's thread waits now.
        let is_same = self.timekeeper.planned() == next && !self.timekeeper.by_client.load(Ordering::Acquire);
        if is_same && !self.is_stopped() {
            drop(self.timekeeper.clock.wait_timeout(core, time.min(CLOCK_LOOKS)));
        }
    }

    /// Polls the time until the next event, if that is soon, and meanwhile whether `look` has something.
    fn spin<T>(&self, mut look: impl FnMut() -> Option<T>) -> Option<T> {
        loop {
            let now = self.clock.now();
            let next = self.timekeeper.planned()?;
            if next <= now || next.since(now) > self.options.spin || self.is_stopped() {
                return None;
            }
            if let result @ Some(_) = look() {
                return result;
            }
        }
    }
}
