//! When a phase that waits for the machine's caches may end.

use hotband_units::{Instant, Span};
use hotband_workloads::Phase;

/// A phase always lasts this long, so that caches that are empty because nothing was asked yet do not end it.
const LEAST: Span = Span(60_000_000_000);
/// Time between two looks: a look asks every drive.
const EVERY: Span = Span(1_000_000_000);

/// Looks whether the machine is warm, at most once a simulated second.
pub struct WarmWatch {
    /// The next look; `NEVER` for phases of fixed length.
    next: Instant,
}

impl WarmWatch {
    /// For a phase that begins at `begin`.
    pub fn new(phase: &Phase, begin: Instant) -> Self {
        Self { next: if phase.until_warm { begin + LEAST } else { Instant::NEVER } }
    }

    /// The time of the look that is due before `until`, up to which nothing happens, if it finds the machine warm.
    #[inline]
    pub fn over(&mut self, until: Instant, is_warm: impl FnOnce(Instant) -> bool) -> Option<Instant> {
        if self.next >= until {
            return None;
        }
        let look = self.next;
        self.next = (look + EVERY).max(until);
        is_warm(look).then_some(look)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hotband_workloads::Workload;

    const SECOND: u64 = 1_000_000_000;

    fn watch(keys: &str) -> WarmWatch {
        let text = format!(
            "[load]\nclosed = {{ threads = 1 }}\n[[streams]]\nread_pct = 100\nrandom_pct = 100\nsize = \"4 KiB\"\n\
             [[phases]]\nname = \"fill\"\nduration = \"1 h\"\n{keys}\n[[phases]]\nios = 1\nmeasure = true\n"
        );
        WarmWatch::new(&Workload::read("test", &text).unwrap().phases[0], Instant(5 * SECOND))
    }

    #[test]
    fn nobody_looks_in_the_first_minute_nor_twice_a_second() {
        let mut watch = watch("until_warm = true");
        let mut looks = Vec::new();
        // Something happens every 0.3 s, from 5 s to 70 s.
        for tenth in (50..700).step_by(3) {
            let over = watch.over(Instant(tenth * SECOND / 10), |at| {
                looks.push(at);
                false
            });
            assert_eq!(over, None);
        }
        assert_eq!(looks[0], Instant(65 * SECOND));
        assert!(looks.len() >= 4 && looks.windows(2).all(|pair| pair[1].since(pair[0]).0 >= SECOND), "{looks:?}");
    }

    #[test]
    fn the_phase_ends_when_a_look_finds_the_machine_warm() {
        let mut watch = watch("until_warm = true");
        assert_eq!(watch.over(Instant(65 * SECOND), |_| true), None, "not before the minute is over");
        assert_eq!(watch.over(Instant(65 * SECOND + 1), |_| true), Some(Instant(65 * SECOND)));
    }

    #[test]
    fn a_phase_of_fixed_length_never_looks() {
        assert_eq!(watch("").over(Instant(10_000 * SECOND), |_| panic!("a look")), None);
    }
}
