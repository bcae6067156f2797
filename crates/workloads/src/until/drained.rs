//! `until = "drained"`: nothing is outstanding, and nobody asks any more.

use super::{Reader, Until};

pub(super) const READER: Reader = Reader {
    of_key: |_| Ok(None),
    of_text: |_, text| Ok((text == "drained").then_some(Until::Drained)),
    looks: "\"drained\"",
};
