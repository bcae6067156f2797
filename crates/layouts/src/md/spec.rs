//! Parameters of an md array: the options of its layout.

use hotband_machine::{LayoutSpec, Section, SpecError};

/// `NR_STRIPES` of `raid5.h`.
const STRIPES: u64 = 256;

/// Role of the second member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JournalMode {
    /// There is none.
    None,
    /// Every write goes to the journal before it goes to the array (`R5C_JOURNAL_MODE_WRITE_THROUGH`).
    WriteThrough,
    /// Writes are completed when they are there (`R5C_JOURNAL_MODE_WRITE_BACK`).
    WriteBack,
}

/// Options of an `md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MdSpec {
    /// Stripe heads: rows of a page of every member.
    pub stripes: u64,
    /// Mode of its journal.
    pub journal: JournalMode,
    /// Writes come from the page cache, and not from who waits for them (`REQ_SYNC`): rows in part are delayed.
    pub is_buffered: bool,
}

impl MdSpec {
    /// Reads the options of an `md`.
    ///
    /// # Errors
    /// The first option that is malformed or impossible.
    pub fn read(file: &str, spec: &LayoutSpec) -> Result<Self, SpecError> {
        use JournalMode::{None, WriteBack, WriteThrough};
        let options = Section::new(file, &spec.key, &spec.options);
        let stripes = options.count("stripe_cache", 17..=32_768)?.unwrap_or(STRIPES);
        let modes = [("none", None), ("write-through", WriteThrough), ("write-back", WriteBack)];
        let journal = options.choice("journal", &modes)?.unwrap_or(None);
        let is_buffered = options.choice("writes", &[("direct", false), ("buffered", true)])?.unwrap_or(false);
        let members = spec.members.len();
        if members != 1 + usize::from(journal != None) {
            let accepted = if journal == None {
                "expected 1 member, a raid5 or raid6; a journal drive needs journal = \"write-through\" or \"write-back\""
            } else {
                "expected 2 members: a raid5 or raid6, and the drive of the journal"
            };
            return Err(options.error("members", members.to_string(), accepted));
        }
        if spec.force_writes {
            let accepted = "set it on the layout below";
            return Err(options.error("force_writes", "true", accepted));
        }
        options.finish()?;
        Ok(Self { stripes, journal, is_buffered })
    }

    /// Whether it has a journal.
    pub fn has_journal(&self) -> bool {
        self.journal != JournalMode::None
    }
}
