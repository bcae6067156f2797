//! Thread priority and timer settings for waking up in time.

use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::time::Duration;

use serde::Serialize;

/// A turn on a core: the shorter a thread's turns, the sooner it gets the next (kernel's documentation,
/// scheduler/sched-eevdf.rst; 100 us is the shortest that is taken).
const TURN_NS: u64 = 100_000;
/// Priority before all others that are not real-time.
const FIRST: i32 = -20;
/// The lowest of the real-time class: before every thread that is not in it.
const LOWEST: u32 = 1;
/// A thread takes the real-time class before it sleeps for so long: the machine is so slow that it interrupts its
/// clients less than a thousand times a second.
const LONG: Duration = Duration::from_millis(1);
/// Number of shorter waits in a row after which the thread leaves the class.
const SHORT_WAITS: u32 = 16;

/// Priority of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Priority {
    /// The real-time class while the machine is slow, else as `First`.
    #[serde(rename = "real-time")]
    RealTime,
    /// Short turns, and before all others that are not real-time.
    #[serde(rename = "first")]
    First,
    /// Short turns.
    #[serde(rename = "short turns")]
    ShortTurns,
    /// Default scheduling of a thread.
    #[serde(rename = "usual")]
    Usual,
}

thread_local! {
    /// Whether the thread is in the real-time class, and its short waits since the last long one.
    static CLASS: Cell<(bool, u32)> = const { Cell::new((false, 0)) };
}

/// Makes timers of the calling thread exact and, if `first`, raises its priority: it gets short turns soon and, if
/// the host permits it (as root), more of them. Returns what the host grants.
pub fn prepare(first: bool) -> Priority {
    // 1 ns: timers are else up to 50 us late on purpose (prctl(2), PR_SET_TIMERSLACK).
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    if !first {
        return Priority::Usual;
    }
    let has_real_time = set(Class::RealTime).is_ok();
    if set(Class::ShortTurns { nice: FIRST }).is_ok() {
        return if has_real_time { Priority::RealTime } else { Priority::First };
    }
    if set(Class::ShortTurns { nice: 0 }).is_ok() { Priority::ShortTurns } else { Priority::Usual }
}

/// Enters the real-time class before a long wait, if `first` and the host permits it, and leaves it if the thread is
/// busy; `time` is how long it sleeps, none if it does not.
///
/// A thread of the real-time class wakes up on the core where it was last, and there interrupts the very client that it
/// serves, though another core is idle (measured on two cores: 63,000 reads a second fell to 12,000). A thread that
/// sleeps for a millisecond serves fewer than a thousand, of which it delays none by 5 %; in the normal class another
/// program delays it by the turn of that program, whatever its nice value, where the kernel groups threads by session
/// (sched(7), autogroup; exos with 8 outstanding: p99 of the delay 827 to 4,850 us, in the class 32 to 102 us).
pub fn before_wait(first: bool, time: Option<Duration>) {
    if !first {
        return;
    }
    let (is_real_time, short) = CLASS.get();
    if time.is_some_and(|time| time >= LONG) {
        CLASS.set((is_real_time || set(Class::RealTime).is_ok(), 0));
    } else if is_real_time && short >= SHORT_WAITS {
        let _ = set(Class::ShortTurns { nice: FIRST });
        CLASS.set((false, 0));
    } else if is_real_time {
        CLASS.set((true, short + 1));
    }
}

/// A scheduling class of the kernel.
#[derive(Clone, Copy)]
enum Class {
    RealTime,
    ShortTurns { nice: i32 },
}

/// Puts the calling thread into a class (sched_setattr(2)); older kernels than 6.12 leave turns of the normal class as
/// long as they are. Threads that it starts are in the normal class.
#[allow(unsafe_code, reason = "a system call of which no crate knows for this class")]
fn set(class: Class) -> io::Result<()> {
    let (policy, nice, priority, turn) = match class {
        Class::RealTime => (libc::SCHED_FIFO, 0, LOWEST, 0),
        Class::ShortTurns { nice } => (libc::SCHED_OTHER, nice, 0, TURN_NS),
    };
    let attributes = libc::sched_attr {
        size: size_of::<libc::sched_attr>() as u32,
        sched_policy: policy as u32,
        sched_flags: libc::SCHED_FLAG_RESET_ON_FORK as u64,
        sched_nice: nice,
        sched_priority: priority,
        sched_runtime: turn,
        sched_deadline: 0,
        sched_period: 0,
    };
    // SAFETY: the kernel reads `size` bytes of the structure, which is there until the call returns, and keeps nothing of it.
    let outcome = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    if outcome == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Keeps every core of the host from going to sleep until the file is closed (the kernel's documentation,
/// power/pm_qos_interface.rst: 0 requests a wake-up latency of 0 us); none if the host does not permit it. Needs root.
pub fn keep_awake() -> Option<File> {
    let mut file = OpenOptions::new().write(true).open("/dev/cpu_dma_latency").ok()?;
    file.write_all(&0_i32.to_ne_bytes()).ok()?;
    Some(file)
}
