//! Memory for long writes, which all connections share.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Interval at which a connection that waits for memory checks whether it was closed.
const LOOKS: Duration = Duration::from_secs(1);

/// Memory that connections reserve before a long write arrives, so that their sum is bounded.
#[derive(Debug)]
pub struct Budget {
    all: u64,
    /// Bytes that are left.
    left: Mutex<u64>,
    /// Connections that wait for some: read after each write, and therefore without the lock.
    waiting: AtomicUsize,
    returned: Condvar,
}

/// A part of the budget, returned when it is dropped.
#[derive(Debug)]
pub struct Reserved {
    budget: Arc<Budget>,
    bytes: u64,
}

impl Budget {
    /// Create a budget of this many bytes.
    pub fn new(bytes: u64) -> Arc<Self> {
        let (left, waiting) = (Mutex::new(bytes), AtomicUsize::new(0));
        Arc::new(Self { all: bytes, left, waiting, returned: Condvar::new() })
    }

    fn lock(&self) -> MutexGuard<'_, u64> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a connection waits for memory, so that others return unused memory.
    pub fn is_wanted(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// Reserve `bytes`, at most the whole budget, waiting until others have returned enough; none once `is_closed`.
    /// A connection reserves once for its longest write, so that whoever holds memory needs no more to return it.
    pub fn reserve(self: &Arc<Self>, bytes: u64, is_closed: impl Fn() -> bool) -> Option<Reserved> {
        let bytes = bytes.min(self.all);
        let mut left = self.lock();
        self.waiting.fetch_add(1, Ordering::Relaxed);
        while *left < bytes && !is_closed() {
            left = self.returned.wait_timeout(left, LOOKS).unwrap_or_else(PoisonError::into_inner).0;
        }
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        let is_enough = *left >= bytes;
        if is_enough {
            *left -= bytes;
        }
        is_enough.then(|| Reserved { budget: Arc::clone(self), bytes })
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        *self.budget.lock() += self.bytes;
        self.budget.returned.notify_all();
    }
}
