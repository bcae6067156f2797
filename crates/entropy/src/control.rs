//! Channel between a measurement and the thread that watches it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// View of a measurement for another thread, which can stop it.
#[derive(Debug, Default)]
pub struct Control {
    stop: AtomicBool,
    files: AtomicU64,
    bytes: AtomicU64,
    /// Bytes to measure; none before the census is over.
    wanted: AtomicU64,
    measured: AtomicU64,
}

impl Control {
    /// Requests the end of the measurement; its results so far remain.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether the measurement was cancelled.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Files and bytes counted, bytes to measure (zero while it still counts), bytes measured.
    pub fn progress(&self) -> [u64; 4] {
        [&self.files, &self.bytes, &self.wanted, &self.measured].map(|sum| sum.load(Ordering::Relaxed))
    }

    /// Files and bytes counted so far.
    pub(crate) fn counted(&self, files: u64, bytes: u64) {
        self.files.store(files, Ordering::Relaxed);
        self.bytes.store(bytes, Ordering::Relaxed);
    }

    /// The census is over: this many bytes are to be measured.
    pub(crate) fn wanted(&self, bytes: u64) {
        self.wanted.store(bytes, Ordering::Relaxed);
    }

    /// Adds measured bytes.
    pub(crate) fn measured(&self, bytes: u64) {
        self.measured.fetch_add(bytes, Ordering::Relaxed);
    }
}
