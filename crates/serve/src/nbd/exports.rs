//! Descriptions of the volumes for clients.

use super::proto::{can, error};
use crate::model::VolumeTold;

/// Longest data of a read or write, told to clients: the specification's advice for one that is told nothing.
pub const LONGEST_PAYLOAD: u32 = 32 << 20;
/// Clients do best with this, or with blocks of the volume where those are larger: a page of their memory.
const PREFERRED_BLOCK: u32 = 4096;

/// A volume as an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// Its name; the first is also known as "".
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// Block size, of which offsets and lengths are multiples.
    pub block: u32,
    /// Whether it can be trimmed.
    pub trims: bool,
    /// Whether its drives are disks.
    pub rotates: bool,
}

impl Export {
    /// Return the export of every volume.
    pub fn of(volumes: &[VolumeTold]) -> Vec<Self> {
        let export = |volume: &VolumeTold| {
            let VolumeTold { ref name, size, block, trims, rotates, .. } = *volume;
            Self { name: name.clone(), size, block, trims, rotates }
        };
        volumes.iter().map(export).collect()
    }

    /// Transmission flags. Several connections see one another's writes: all go to the same machine and store.
    pub fn flags(&self) -> u16 {
        let always = can::HAS_FLAGS
            | can::SEND_FLUSH
            | can::SEND_FUA
            | can::SEND_WRITE_ZEROES
            | can::SEND_DF
            | can::CAN_MULTI_CONN;
        let trims = if self.trims { can::SEND_TRIM } else { 0 };
        always | trims | if self.rotates { can::ROTATIONAL } else { 0 }
    }

    /// Smallest, preferred and largest length of a request.
    pub fn block_sizes(&self) -> [u32; 3] {
        [self.block, self.block.max(PREFERRED_BLOCK), LONGEST_PAYLOAD]
    }

    /// Whether a range is of whole blocks within the export; `beyond` is the error where it ends after it.
    ///
    /// # Errors
    /// The protocol's number.
    pub fn check(&self, offset: u64, len: u32, beyond: u32) -> Result<(), u32> {
        let (block, len) = (u64::from(self.block), u64::from(len));
        if offset.checked_add(len).is_none_or(|end| end > self.size) {
            return Err(beyond);
        }
        let is_whole = len > 0 && offset.is_multiple_of(block) && len.is_multiple_of(block);
        if is_whole { Ok(()) } else { Err(error::EINVAL) }
    }
}

/// The export of a name: the first for none.
pub fn named(exports: &[Export], name: &[u8]) -> Option<u16> {
    if name.is_empty() && !exports.is_empty() {
        return Some(0);
    }
    exports.iter().position(|export| export.name.as_bytes() == name).map(|index| index as u16)
}
