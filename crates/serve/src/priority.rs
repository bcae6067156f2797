//! What a thread needs to wake up in time.

/// Lets timers of the calling thread be exact and, where `first`, lets it go before others: both only where the host lets
/// it (the second needs the right to real-time priority), and without them answers are later.
pub fn prepare(first: bool) {
    // 1 ns: timers are else up to 50 us late on purpose (prctl(2), PR_SET_TIMERSLACK).
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    if first {
        // In the middle of the real-time class: threads of the kernel above it go on.
        let middle = 50_u8.try_into().expect("from 0 to 100");
        let _ = thread_priority::set_thread_priority_and_policy(
            thread_priority::thread_native_id(),
            thread_priority::ThreadPriority::Crossplatform(middle),
            thread_priority::ThreadSchedulePolicy::Realtime(thread_priority::RealtimeThreadSchedulePolicy::Fifo),
        );
    }
}

/// Lets the calling thread run only where nobody else wants to; whether the host lets it.
pub fn yield_to_all() -> bool {
    let idle = thread_priority::ThreadSchedulePolicy::Normal(thread_priority::NormalThreadSchedulePolicy::Idle);
    let lowest = thread_priority::ThreadPriority::Min;
    thread_priority::set_thread_priority_and_policy(thread_priority::thread_native_id(), lowest, idle).is_ok()
}
