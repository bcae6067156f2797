//! Bytes that came from a client and were not examined yet.

use std::io;

use super::budget::Reserved;

/// Memory of a connection that reads and writes little: dozens of requests, or a write of the size that file systems
/// use, are received at once.
const USUAL: usize = 256 << 10;

/// Received bytes, in order.
pub struct Incoming {
    bytes: Vec<u8>,
    begin: usize,
    end: usize,
    /// Memory beyond the usual.
    reserved: Option<Reserved>,
}

impl Default for Incoming {
    fn default() -> Self {
        Self { bytes: vec![0; USUAL], begin: 0, end: 0, reserved: None }
    }
}

impl Incoming {
    /// Return the bytes that are available.
    pub fn have(&self) -> &[u8] {
        &self.bytes[self.begin..self.end]
    }

    /// Marks the first bytes, up to this number, as examined.
    pub fn consume(&mut self, count: usize) {
        self.begin += count;
        debug_assert!(self.begin <= self.end, "only what there is");
    }

    /// Receives some more of something that is `want` bytes long with `receive`; how many. The memory grows with
    /// received data, not with the announced length.
    ///
    /// # Errors
    /// What `receive` says.
    pub fn fetch(&mut self, want: usize, receive: impl FnOnce(&mut [u8]) -> io::Result<usize>) -> io::Result<usize> {
        if self.begin + want > self.bytes.len() || self.begin == self.end {
            self.bytes.copy_within(self.begin..self.end, 0);
            self.end -= self.begin;
            self.begin = 0;
        }
        if self.end == self.bytes.len() {
            self.bytes.resize(want.min(2 * self.bytes.len()), 0);
        }
        let count = receive(&mut self.bytes[self.end..])?;
        self.end += count;
        Ok(count)
    }

    /// Whether the next bytes of a message of `want` bytes need memory that was not reserved. Data that is only
    /// announced needs none, so a client that sends nothing takes no memory from those that do.
    pub fn needs_memory(&self, want: usize) -> bool {
        want > USUAL && self.reserved.is_none() && self.have().len() == self.bytes.len()
    }

    /// Use memory beyond the usual from now on.
    pub fn reserve(&mut self, reserved: Reserved) {
        self.reserved = Some(reserved);
    }

    /// Releases memory of long writes after a pause.
    pub fn rest(&mut self) {
        if self.begin == self.end {
            self.give_back();
        }
    }

    /// Releases the memory of long writes if the remaining data fits without it.
    pub fn give_back(&mut self) {
        if self.reserved.is_some() && self.have().len() <= USUAL {
            let mut bytes = vec![0; USUAL];
            let end = self.have().len();
            bytes[..end].copy_from_slice(self.have());
            *self = Self { bytes, begin: 0, end, reserved: None };
        }
    }
}
