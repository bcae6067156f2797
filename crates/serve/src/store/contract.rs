//! Contract of a store: places, extents, and the trait that every kind of store implements.

use std::io;

/// A place in an address space that volumes lie on (a layout or a drive): volumes on the same one share its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Index of the address space.
    pub space: u32,
    /// First byte.
    pub offset: u64,
}

/// A range with the same status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Bytes.
    pub len: u64,
    /// Whether the range is not stored, and reads as zeros.
    pub is_hole: bool,
}

/// Contents of a range in a machine without power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// Place of the data.
    pub place: Place,
    /// Bytes.
    pub len: u64,
    /// Number of the write whose data this is; zero for data older than the first write.
    pub version: u64,
}

/// Keeps the bytes. Several threads use it at once; of writes to the same bytes that are under way together any may be
/// the last.
pub trait Store: Send + Sync {
    /// Fills `buffer`; what was never written is zeros, or the base image.
    ///
    /// # Errors
    /// What the file says.
    fn read(&self, address: Place, buffer: &mut [u8]) -> io::Result<()>;

    /// Keeps `data`: it survives this process once the call has returned, where the store is a file. Returns a ticket
    /// for [`Store::number`].
    ///
    /// # Errors
    /// What the file says, such as that it is full: nothing or a part of it was kept, whole sectors each.
    fn write(&self, address: Place, data: &[u8]) -> io::Result<u64>;

    /// Like the above, with zeros, which need not be stored.
    ///
    /// # Errors
    /// What the file says.
    fn zero(&self, address: Place, len: u64) -> io::Result<u64>;

    /// Tells the number that the machine gave the write of this ticket, where power may go off.
    fn number(&self, ticket: u64, version: u64) {
        let _ = (ticket, version);
    }

    /// Stored parts of a range, by address, together as long as the range.
    ///
    /// # Errors
    /// What the file says.
    fn extents(&self, address: Place, len: u64) -> io::Result<Vec<Extent>>;

    /// Return remarks on the stored data for readers of the record.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }

    /// Power went off: of everything that was written the drives hold just this.
    ///
    /// # Errors
    /// What the file says; also of a store without [`WithHistory`].
    fn power_off(&self, left: &[Left]) -> io::Result<()> {
        let _ = left;
        Err(io::Error::new(io::ErrorKind::Unsupported, "a store that keeps no history"))
    }
}

impl<S: Store + ?Sized> Store for Box<S> {
    fn read(&self, address: Place, buffer: &mut [u8]) -> io::Result<()> {
        (**self).read(address, buffer)
    }
    fn write(&self, address: Place, data: &[u8]) -> io::Result<u64> {
        (**self).write(address, data)
    }
    fn zero(&self, address: Place, len: u64) -> io::Result<u64> {
        (**self).zero(address, len)
    }
    fn number(&self, ticket: u64, version: u64) {
        (**self).number(ticket, version);
    }
    fn extents(&self, address: Place, len: u64) -> io::Result<Vec<Extent>> {
        (**self).extents(address, len)
    }
    fn remarks(&self) -> Vec<String> {
        (**self).remarks()
    }
    fn power_off(&self, left: &[Left]) -> io::Result<()> {
        (**self).power_off(left)
    }
}

/// Appends an extent: one with the last if it is of the same kind, and none if it is empty.
pub(super) fn join(all: &mut Vec<Extent>, extent: Extent) {
    match all.last_mut() {
        _ if extent.len == 0 => {}
        Some(last) if last.is_hole == extent.is_hole => last.len += extent.len,
        _ => all.push(extent),
    }
}
