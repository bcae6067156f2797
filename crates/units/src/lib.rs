//! Time, sizes and rates as types, and their text form ("4.16 ms", "900 GB"); Student's t for intervals of their means.
//!
//! No bare number crosses a boundary: everything a person writes has a unit, and a bare number is refused.

mod quantity;
mod student;
mod text;
mod time;

pub use quantity::{Bytes, Lba, Power, Rate, Ratio, Rpm};
pub use student::student;
pub use text::UnitError;
pub use time::{Instant, Span};
