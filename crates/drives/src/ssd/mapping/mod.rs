//! A mapping table that does not fit into memory: what a look-up costs.
//!
//! A read whose entry is with the controller continues at once; one whose entry is in the memory that the host lends
//! continues after a round trip over PCI Express; else the page of the table is read from its die first, and whoever
//! requests the same page meanwhile waits for the same read. Entries change when pages are placed: the page of the
//! table is brought in the background if it is not there, and written when it leaves memory.
//!
//! The table lies in the pseudo-SLC cells where the drive has such cells (sabrent.com/blogs/storage/mapping), its pages
//! dealt out to the dies in turn.
//!
//! Leaves out: trims as changes, look-ups of writes that begin within a page, journals of changes, and the table after
//! a loss of power.

mod look_up;
mod params;
mod table;

pub use params::MappingParams;
pub(super) use params::read_mapping;
pub(super) use table::Mapping;
