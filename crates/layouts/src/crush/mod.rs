//! CRUSH: which OSDs hold a placement group, decided by hash from the map of a cluster alone.
//!
//! Written from the paper (Weil, Brandt, Miller, Maltzahn: *CRUSH: Controlled, Scalable, Decentralized Placement of
//! Replicated Data*, SC 2006) and from what Ceph documents of its map, its tunables and straw2; the choices are those of
//! Ceph, bit for bit (checked against `crushtool`, see `docs/models/pool.md`), with the tunables of the profiles
//! "jewel" and "optimal".
//!
//! ```text
//! object name --hash--> placement group --hash with pool id--> x --rule on the map--> OSDs, the first is primary
//! ```
//!
//! **Left out:** bucket kinds other than straw2, `indep` (erasure coding), weight sets (`choose_args`), rules of more
//! than one choice, older tunables, primary affinity.

mod balance;
mod build;
mod error;
mod hash;
mod ln;
mod map;
mod place;
mod placement;
mod shadow;
mod weight;

pub use balance::Move;
pub use build::{Builder, Host, Item, Osd};
pub use error::CrushError;
pub use hash::{hash_endings, hash_name, hash32_2, hash32_3};
pub use ln::crush_ln;
pub use map::{CrushMap, Rule};
pub use placement::{Placement, Pool, object_pg, stable_mod};
pub use weight::Weight;

#[cfg(test)]
mod tests;
