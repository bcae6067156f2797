//! What the bytes of a served machine are. The model knows nothing of them.

mod memory;

use std::io;

pub use memory::Memory;

/// A place in an address space that volumes lie on (a layout or a drive): volumes on the same one share its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Index of the address space.
    pub space: u32,
    /// First byte.
    pub offset: u64,
}

/// A range of which the same can be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Bytes.
    pub len: u64,
    /// Nothing is kept of it, and it reads as zeros.
    pub is_hole: bool,
}

/// What a machine without power holds of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// Where.
    pub place: Place,
    /// Bytes.
    pub len: u64,
    /// Number of the write whose data it holds; zero for what was there before the first.
    pub version: u64,
}

/// Keeps the bytes. Several threads use it at once; of writes to the same bytes that are under way together any may be
/// the last.
pub trait Store: Send + Sync {
    /// Fills `buffer`; what was never written is zeros, or the base image.
    ///
    /// # Errors
    /// What the file says.
    fn read(&self, place: Place, buffer: &mut [u8]) -> io::Result<()>;

    /// Keeps `data`: it survives this process once the call has returned, where the store is a file. Returns a ticket for
    /// [`Store::number`].
    ///
    /// # Errors
    /// What the file says, such as that it is full: nothing or a part of it was kept, whole sectors each.
    fn write(&self, place: Place, data: &[u8]) -> io::Result<u64>;

    /// The same with zeros; nothing need be kept of them.
    ///
    /// # Errors
    /// What the file says.
    fn zero(&self, place: Place, len: u64) -> io::Result<u64>;

    /// Tells the number that the machine gave the write of this ticket, where power may go off.
    fn number(&self, ticket: u64, version: u64) {
        let _ = (ticket, version);
    }

    /// What is kept of a range, by address, together as long as it is.
    ///
    /// # Errors
    /// What the file says.
    fn extents(&self, place: Place, len: u64) -> io::Result<Vec<Extent>>;

    /// Power went off: of everything that was written the drives hold just this.
    ///
    /// # Errors
    /// What the file says.
    fn power_off(&self, left: &[Left]) -> io::Result<()>;
}
