//! Sequential readers of a controller, distinguished by where each would continue.

use std::ops::Range;

/// Readers that it tells apart. Our estimate, range 8 to 128: makers do not say.
const STREAMS: usize = 32;

#[derive(Clone, Copy, Debug)]
struct Stream {
    /// Place where the reader would continue.
    next: u64,
    /// End of the data that was read ahead for the stream.
    ahead: u64,
}

/// The most recent readers, the last first.
#[derive(Debug, Default)]
pub struct Streams {
    all: Vec<Stream>,
}

impl Streams {
    /// A host reads `range`; what is to be read ahead, so far as `window` bytes beyond it, is returned. Reading ahead
    /// begins with the second of two reads that follow each other (PERC H710 user's guide: "adaptive read-ahead"),
    /// and continues when half of the window is used up.
    pub fn read(&mut self, range: &Range<u64>, window: u64, capacity: u64) -> Option<Range<u64>> {
        let Some(found) = self.all.iter().position(|stream| stream.next == range.start) else {
            self.all.truncate(STREAMS - 1);
            self.all.insert(0, Stream { next: range.end, ahead: range.end });
            return None;
        };
        let mut stream = self.all.remove(found);
        stream.next = range.end;
        stream.ahead = stream.ahead.max(range.end);
        let from = stream.ahead;
        let ahead = (from - range.end <= window / 2).then(|| from..(range.end + window).min(capacity));
        let ahead = ahead.filter(|ahead| ahead.start < ahead.end);
        if let Some(ahead) = &ahead {
            stream.ahead = ahead.end;
        }
        self.all.insert(0, stream);
        ahead
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_read_in_a_row_is_read_ahead_of_and_then_every_half_window() {
        let mut streams = Streams::default();
        assert_eq!(streams.read(&(0..10), 40, 1000), None);
        assert_eq!(streams.read(&(500..510), 40, 1000), None, "another reader");
        assert_eq!(streams.read(&(10..20), 40, 1000), Some(20..60));
        assert_eq!(streams.read(&(20..30), 40, 1000), None, "30 are left of 40");
        assert_eq!(streams.read(&(30..40), 40, 1000), Some(60..80));
        assert_eq!(streams.read(&(510..1000), 40, 1000), None, "nothing is beyond the end");
    }
}
