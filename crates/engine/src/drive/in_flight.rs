//! I/Os that a workload has outstanding.

use hotband_machine::Op;

/// I/O in flight, as the driver remembers it until it completes.
#[derive(Clone, Copy, Debug)]
pub struct Outstanding {
    pub stream: u16,
    pub op: Op,
    pub offset: u64,
    pub len: u32,
    /// Source that issued it, and its token.
    pub source: u32,
    pub token: u32,
}

/// A slab of outstanding I/Os; the tag of an I/O is its index.
#[derive(Debug, Default)]
pub struct InFlight {
    all: Vec<Outstanding>,
    free: Vec<u32>,
}

impl InFlight {
    #[inline]
    pub fn add(&mut self, io: Outstanding) -> u64 {
        if let Some(index) = self.free.pop() {
            self.all[index as usize] = io;
            return u64::from(index);
        }
        self.all.push(io);
        self.all.len() as u64 - 1
    }

    /// I/Os outstanding.
    pub fn len(&self) -> u64 {
        (self.all.len() - self.free.len()) as u64
    }

    /// Whether nothing is outstanding.
    pub fn is_empty(&self) -> bool {
        self.free.len() == self.all.len()
    }

    #[inline]
    pub fn take(&mut self, tag: u64) -> Outstanding {
        self.free.push(tag as u32);
        self.all[tag as usize]
    }
}
