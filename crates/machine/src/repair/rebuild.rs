//! A rebuild: a spare is given what the member that failed had, from the first byte to the last.

use std::collections::VecDeque;
use std::ops::Range;

use hotband_units::{Instant, Rate, Span};

/// Steps of a rebuild under way at once: so many that neither those that are read nor those that are written run out
/// (measured: docs/models/repair.md).
pub(crate) const STEPS: usize = 16;

/// Steps under way while hosts use the drives: the rebuild gives way, as Linux md does above its lowest speed, where
/// it waits for its requests before it issues more (`md_do_sync`).
const STEPS_UNDER_LOAD: usize = 1;

/// Bytes of a step, before it is made a multiple of the layout's unit. Our choice: 20 ms of a slow disk's media, so
/// that the seeks there and back cost a third of the time under load.
const STEP: u64 = 1 << 20;

/// Steps that a rebuild may be behind its limit and still catch up with, so that the time that one takes does not slow
/// it down. A larger lag is not made up for: the limit holds.
const STEPS_BEHIND: u64 = 4;

/// Longest time of a step that a limit may ask for, in nanoseconds: 73 years.
const LONGEST_NS: u128 = 1 << 61;

/// State of a rebuild.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    /// Another rebuild on the same drives goes first.
    Waiting,
    /// Under way.
    Running,
    /// The member is whole again.
    Done,
    /// Too few members are left to continue; the rebuilt part remains.
    Stopped,
    /// The spare failed.
    SpareFailed,
}

/// A rebuild in the report.
#[derive(Clone, Debug, PartialEq)]
pub struct JobReport {
    /// The layout, by index.
    pub layout: u32,
    /// Member.
    pub member: u16,
    /// The drive that failed.
    pub drive: u32,
    /// The spare that replaces the drive.
    pub spare: u32,
    /// State.
    pub state: JobState,
    /// Time when it began; none while it waits.
    pub began: Option<Instant>,
    /// When it ended, one way or another.
    pub ended: Option<Instant>,
    /// Bytes rebuilt.
    pub bytes: u64,
    /// Bytes to rebuild in all.
    pub of_bytes: u64,
    /// Sectors of other members that could not be read.
    pub sector_errors: u64,
    /// Part of them whose data was computed from further members.
    pub repaired: u64,
}

impl JobReport {
    /// A rebuild of `of_bytes` that has not begun: a member of a layout, and the drive that takes the place of another.
    pub(crate) fn waiting((layout, member): (u32, u16), (drive, spare): (u32, u32), of_bytes: u64) -> Self {
        Self {
            layout,
            member,
            drive,
            spare,
            state: JobState::Waiting,
            began: None,
            ended: None,
            bytes: 0,
            of_bytes,
            sector_errors: 0,
            repaired: 0,
        }
    }
}

/// A part of the member that is being rebuilt; its columns are held until everything before it is rebuilt too.
#[derive(Clone, Debug)]
struct Step {
    number: u64,
    range: Range<u64>,
    lock: u64,
    done: bool,
}

/// A rebuild at work.
#[derive(Debug)]
pub(crate) struct Job {
    pub report: JobReport,
    unit: u64,
    limit: Option<Rate>,
    /// Time when the limit lets the next step begin.
    allowed: Instant,
    steps: VecDeque<Step>,
    /// First byte that no step has taken.
    next: u64,
    numbers: u64,
    /// A wake-up is on the agenda.
    pub paused: bool,
    /// Commands of hosts to its drives, when it last looked.
    host_commands: u64,
    /// Steps that it may have under way.
    room: usize,
}

impl Job {
    pub fn new(report: JobReport, unit: u64, limit: Option<Rate>) -> Self {
        let unit = if unit >= STEP { unit } else { STEP / unit * unit };
        Self {
            report,
            unit,
            limit,
            allowed: Instant::ZERO,
            steps: VecDeque::new(),
            next: 0,
            numbers: 0,
            paused: false,
            host_commands: 0,
            room: STEPS,
        }
    }

    pub fn is_running(&self) -> bool {
        self.report.state == JobState::Running
    }

    pub fn begin(&mut self, now: Instant) {
        (self.report.state, self.report.began) = (JobState::Running, Some(now));
        self.allowed = now;
    }

    /// Ends it as `state` unless it is over already.
    pub fn end(&mut self, now: Instant, state: JobState) {
        if matches!(self.report.state, JobState::Waiting | JobState::Running) {
            (self.report.state, self.report.ended) = (state, Some(now));
        }
    }

    /// Checks how many commands hosts have sent to its drives by now, and whether they wait for one: if they do, or if
    /// any command came since the last check, the rebuild gives way.
    pub fn look(&mut self, (host_commands, is_waited_for): (u64, bool)) {
        let is_busy = is_waited_for || host_commands != self.host_commands;
        self.room = if is_busy { STEPS_UNDER_LOAD } else { STEPS };
        self.host_commands = host_commands;
    }

    /// Whether there is room for one more step.
    pub fn has_room(&self) -> bool {
        self.is_running() && self.steps.len() < self.room && self.next < self.report.of_bytes
    }

    /// Time when the rate limit lets the next step begin.
    pub fn may_go_on(&self) -> Instant {
        self.allowed
    }

    /// Return the time that the limit allows a step of `bytes`.
    fn time_for(&self, bytes: u64) -> Span {
        let time = |limit: Rate| (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(limit.0.max(1)));
        Span(self.limit.map_or(0, time).min(LONGEST_NS) as u64)
    }

    /// Takes the next step at `now`, whose columns are held under `lock`: its number and its range.
    pub fn take_step(&mut self, now: Instant, lock: u64) -> (u64, Range<u64>) {
        let range = self.next..self.report.of_bytes.min(self.next + self.unit);
        self.next = range.end;
        let behind = STEPS_BEHIND.saturating_mul(self.time_for(self.unit).0);
        let counts_from = self.allowed.max(Instant(now.0.saturating_sub(behind)));
        self.allowed = counts_from + self.time_for(range.end - range.start);
        let number = self.numbers;
        self.numbers += 1;
        self.steps.push_back(Step { number, range: range.clone(), lock, done: false });
        (number, range)
    }

    /// A step is over, well or not. Returns the columns to give back; `report.bytes` has moved on if it could.
    pub fn step_over(&mut self, now: Instant, number: u64, is_well: bool) -> Vec<u64> {
        let at = self.steps.iter().position(|step| step.number == number).expect("a step ends once");
        if !is_well {
            self.end(now, JobState::Stopped);
        }
        if !self.is_running() {
            return self.steps.remove(at).map(|step| step.lock).into_iter().collect();
        }
        self.steps[at].done = true;
        let mut free = Vec::new();
        while self.steps.front().is_some_and(|step| step.done) {
            let step = self.steps.pop_front().expect("there is a first");
            self.report.bytes = step.range.end;
            free.push(step.lock);
        }
        if self.report.bytes == self.report.of_bytes {
            self.end(now, JobState::Done);
        }
        free
    }

    /// Columns of steps that are done and wait for others that will not come any more.
    pub fn leftovers(&mut self) -> Vec<u64> {
        let (done, going): (VecDeque<Step>, VecDeque<Step>) = self.steps.drain(..).partition(|step| step.done);
        self.steps = going;
        done.into_iter().map(|step| step.lock).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(of_bytes: u64, limit: Option<Rate>) -> Job {
        let mut job = Job::new(JobReport::waiting((0, 1), (1, 2), of_bytes), 384 * 1024, limit);
        job.begin(Instant(1000));
        job
    }

    #[test]
    fn what_is_rebuilt_grows_without_gaps() {
        let step = 2 * 384 * 1024;
        let mut job = job(2 * step + 512, None);
        let ranges: Vec<_> = (0..3).map(|lock| job.take_step(Instant(1000), lock).1).collect();
        assert_eq!(ranges, [0..step, step..2 * step, 2 * step..2 * step + 512]);
        assert!(!job.has_room(), "nothing is left to take");
        assert_eq!(job.step_over(Instant(2000), 1, true), [0_u64; 0], "the first is not done");
        assert_eq!(job.step_over(Instant(2000), 0, true), [0, 1]);
        assert_eq!((job.report.bytes, job.report.state), (2 * step, JobState::Running));
        assert_eq!(job.step_over(Instant(3000), 2, true), [2]);
        assert_eq!((job.report.state, job.report.ended), (JobState::Done, Some(Instant(3000))));
    }

    #[test]
    fn it_gives_way_while_hosts_send_commands() {
        let mut job = job(1 << 30, None);
        let taken = |job: &mut Job| {
            let before = job.steps.len();
            while job.has_room() {
                job.take_step(Instant(1000), 0);
            }
            job.steps.len() - before
        };
        job.look((7, false));
        assert_eq!(taken(&mut job), 1, "some came since it began");
        job.look((7, true));
        assert_eq!(taken(&mut job), 0, "one is waited for");
        job.look((7, false));
        assert_eq!(taken(&mut job), STEPS - 1, "none came since");
    }

    #[test]
    fn a_limit_spreads_the_steps() {
        let mut job = job(1 << 30, Some(Rate(1_000_000)));
        assert_eq!(job.may_go_on(), Instant(1000));
        job.take_step(Instant(1000), 0);
        let step = 2 * 384 * 1024;
        assert_eq!(job.may_go_on(), Instant(1000) + Rate(1_000_000).time_for(step));
        job.take_step(job.may_go_on() + Span(5), 0);
        assert_eq!(job.may_go_on(), Instant(1000) + Rate(1_000_000).time_for(2 * step), "late by less than a step");
        job.limit = Some(Rate(1));
        job.take_step(job.may_go_on(), 0);
        assert!(job.may_go_on() > Instant(1000) + Rate(1).time_for(step), "the longest step");
    }

    /// When steps begin, of a rebuild at 20 MB/s whose steps take 200 ms each, one at a time, for `busy` seconds, and
    /// 2 ms afterwards.
    fn begun(busy: u64) -> Vec<Instant> {
        let mut job = job(4_000_000_000, Some(Rate(20_000_000)));
        let (mut now, mut begun) = (Instant(1000), Vec::new());
        while job.is_running() {
            now = now.max(job.may_go_on());
            begun.push(now);
            let (number, _) = job.take_step(now, 0);
            now = now + Span(if now < Instant(busy * 1_000_000_000) { 200_000_000 } else { 2_000_000 });
            job.step_over(now, number, true);
        }
        begun
    }

    #[test]
    fn what_a_busy_spell_left_undone_is_not_caught_up_with_beyond_the_limit() {
        for busy in [0, 1, 60] {
            let begun = begun(busy);
            let step = 2.0 * 384.0 * 1024.0;
            for (first, start) in begun.iter().enumerate() {
                let within = |seconds: u64| {
                    let end = *start + Span(seconds * 1_000_000_000);
                    begun[first..].iter().take_while(|at| **at < end).count() as f64 * step
                };
                // A step that begins now, and as many as it may be behind.
                assert!(within(1) <= 20e6 + 5.0 * step, "{busy} s busy: {} B in a second", within(1));
                assert!(within(10) <= 20e6 * 10.0 + 5.0 * step, "{busy} s busy: {} B in ten", within(10));
            }
            let quiet = begun.iter().filter(|at| at.0 >= (busy + 10) * 1_000_000_000).count() as f64 * step;
            let seconds = begun.last().unwrap().0 as f64 / 1e9 - (busy + 10) as f64;
            assert!((quiet / seconds / 20e6 - 1.0).abs() < 0.001, "all of the limit while nobody else asks");
        }
    }

    #[test]
    fn a_rebuild_that_stopped_gives_back_what_it_holds() {
        let mut job = job(1 << 30, None);
        for lock in 0..3 {
            job.take_step(Instant(1000), lock);
        }
        job.step_over(Instant(2000), 1, true);
        assert_eq!(job.step_over(Instant(3000), 0, false), [0]);
        assert_eq!((job.report.state, job.report.bytes), (JobState::Stopped, 0));
        assert_eq!(job.leftovers(), [1]);
        assert_eq!(job.step_over(Instant(4000), 2, true), [2]);
    }
}
