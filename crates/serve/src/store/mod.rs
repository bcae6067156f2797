//! Stores, which hold the bytes of a served machine. The model knows nothing of them.

mod contract;
mod file;
mod history;
mod image;
mod memory;
mod nothing;
mod overlay;
mod pieces;
mod sidecar;

pub use contract::{Extent, Left, Place, Store};
pub use file::File;
pub use history::WithHistory;
pub use memory::Memory;
pub use nothing::Nothing;
