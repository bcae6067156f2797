//! Time of flash page reads: what kind of page it is, whether it has to be read again, and whether the drive
//! is reading there itself.
//!
//! A cell holds a bit of several pages, and each kind is told by another number of reference voltages: sense times lie
//! around the mean. Undecodable data is read again at shifted voltages, one sense each time; in the end several
//! senses together say how sure each bit is (soft decoding). The probability of a first retry grows by a factor over
//! the life of the flash, and by the same factor over the time that worn flash has to keep data. A scan in the
//! background reads every die now and then, and a read waits for the sense under way.
//!
//! Most reads take the time of their page: the number of reads until the next that takes longer is drawn, not every
//! read, so that what is rare costs nothing.
//!
//! Leaves out: layers and blocks that are worse than others, reads that disturb, temperature, and the rewriting of what
//! was read with difficulty.

use hotband_machine::Random;
use hotband_units::Span;

/// Months that worn flash of an enterprise drive keeps data without power: three [JEDEC JESD218].
const KEPT: Span = Span(90 * 86_400 * 1_000_000_000);

/// Effects on the duration of reads.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SenseParams {
    /// Additional time of the slowest kind of page over the mean, as a share; the fastest takes as much less.
    pub spread: f64,
    /// Reading again.
    pub retries: Option<RetryParams>,
    /// Share of its time that a die reads for the drive's own scan.
    pub scan_share: f64,
}

/// Parameters of read retries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetryParams {
    /// Share of the pages read of new flash and fresh data that need a second sense.
    pub share: f64,
    /// Share of the retries that need another.
    pub again: f64,
    /// How many times more pages of worn-out flash need a second sense, or of data as old as it keeps it.
    pub growth: f64,
    /// Retries before soft decoding.
    pub steps: u32,
    /// Time of soft decoding.
    pub soft: Span,
    /// Share of its life that the flash had behind it when the run began.
    pub wear: f64,
    /// Age of the data.
    pub age: Span,
}

impl RetryParams {
    /// Share of reads that need a second sense on flash with so much of its life behind it, at most one in two.
    fn share_at(&self, wear: f64) -> f64 {
        let stress = wear + self.wear + self.age.0 as f64 / KEPT.0 as f64;
        (self.share * libm::pow(self.growth, stress)).min(0.5)
    }
}

/// Times of reads of one drive's flash.
#[derive(Clone, Debug)]
pub struct Senses {
    params: SenseParams,
    mean: Span,
    planes: u32,
    /// Sense time of each page of a pass.
    of_page: Vec<Span>,
    /// Number of pages up to and including the next that takes longer.
    until: u64,
    random: Random,
    /// Pages that were read again.
    pub retried: u64,
}

impl Senses {
    /// Sense times of passes of `pages` pages over `planes` planes that take `mean` to read: the pages of
    /// a plane are the kinds.
    pub fn new(params: SenseParams, (pages, planes): (u32, u32), mean: Span, random: Random) -> Self {
        let kinds = pages.div_ceil(planes);
        let of_kind = |kind: u32| {
            // From the fastest to the slowest in equal steps: their mean is that of the flash.
            let fraction = if kinds > 1 { 2.0 * f64::from(kind) / f64::from(kinds - 1) - 1.0 } else { 0.0 };
            Span((mean.0 as f64 * (1.0 + params.spread * fraction)).round() as u64)
        };
        let of_page = (0..pages.max(1)).map(|page| of_kind(page / planes)).collect();
        let mut senses = Self { params, mean, planes, of_page, until: u64::MAX, random, retried: 0 };
        senses.until = senses.gap(0.0);
        senses
    }

    /// Time to read `pages` pages of a pass, or one that is its page number `page`. `wear` is the share of its life
    /// that the flash has lived in this run.
    #[inline]
    pub fn time(&mut self, pages: u32, page: u32, wear: impl FnOnce() -> f64) -> Span {
        let time = if pages == 1 {
            self.of_page[page as usize]
        } else {
            Span(self.mean.0 * u64::from(pages.div_ceil(self.planes)))
        };
        let pages = u64::from(pages);
        if self.until > pages {
            self.until -= pages;
            return time;
        }
        time + self.longer(pages, wear())
    }

    /// Additional time of a read with one or more retried pages, and the distance to the next.
    #[cold]
    fn longer(&mut self, mut pages: u64, wear: f64) -> Span {
        let retried = self.retried_share(wear);
        let mut longer = Span::ZERO;
        while self.until <= pages {
            pages -= self.until;
            self.until = self.gap(wear);
            longer += match self.params.retries {
                Some(retries) if self.random.unit() * (retried + self.params.scan_share) < retried => {
                    self.retried += 1;
                    self.again(retries, self.mean)
                }
                // The rest of the sense that the scan has begun.
                _ => Span(self.random.below(self.mean.0)),
            };
        }
        self.until -= pages;
        longer
    }

    fn retried_share(&self, wear: f64) -> f64 {
        self.params.retries.map_or(0.0, |retries| retries.share_at(wear))
    }

    /// Senses until the data can be decoded.
    fn again(&mut self, retries: RetryParams, sense: Span) -> Span {
        let mut steps = 1;
        while self.random.unit() < retries.again {
            if steps == retries.steps {
                return Span(sense.0 * u64::from(steps)) + retries.soft;
            }
            steps += 1;
        }
        Span(sense.0 * u64::from(steps))
    }

    /// Number of pages until the next that takes longer: geometric, by inversion.
    fn gap(&mut self, wear: f64) -> u64 {
        let share = self.retried_share(wear) + self.params.scan_share;
        if share <= 0.0 {
            return u64::MAX;
        }
        1 + (self.random.exponential() / -libm::log1p(-share.min(0.99))) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEAN: Span = Span(50_000);
    const RETRIES: RetryParams =
        RetryParams { share: 0.01, again: 0.3, growth: 10.0, steps: 3, soft: Span(500_000), wear: 0.0, age: Span(0) };

    fn senses(params: SenseParams, pass: (u32, u32)) -> Senses {
        Senses::new(params, pass, MEAN, Random::new(1, "test"))
    }

    #[test]
    fn kinds_of_pages_lie_around_the_mean() {
        let spread = SenseParams { spread: 0.2, ..SenseParams::default() };
        let times = |pass: (u32, u32)| {
            let mut senses = senses(spread, pass);
            (0..pass.0).map(|page| senses.time(1, page, || 0.0).0).collect::<Vec<u64>>()
        };
        assert_eq!(times((6, 2)), [40_000, 40_000, 50_000, 50_000, 60_000, 60_000]);
        assert_eq!(times((4, 1)), [40_000, 46_667, 53_333, 60_000]);
        assert_eq!(times((1, 1)), [50_000], "a cell of one bit has one kind");
        // Several pages of a pass: of each kind as many, or nearly so.
        assert_eq!(senses(spread, (6, 2)).time(6, 0, || 0.0), Span(150_000));
    }

    /// Extra times of many reads.
    fn extras(params: SenseParams, wear: f64, reads: u32) -> Vec<u64> {
        let mut senses = senses(params, (1, 1));
        let all = (0..reads).map(|_| senses.time(1, 0, || wear).0 - MEAN.0);
        all.filter(|extra| *extra > 0).collect()
    }

    #[test]
    fn each_page_of_a_read_may_be_read_again() {
        let again = |pages: u32| {
            let mut senses = senses(SenseParams { retries: Some(RETRIES), ..SenseParams::default() }, (8, 1));
            for _ in 0..800_000 / pages {
                senses.time(pages, 0, || 0.0);
            }
            senses.retried as f64
        };
        for pages in [1, 2, 8] {
            assert!((again(pages) - 8_000.0).abs() < 4.0 * f64::sqrt(8_000.0), "{} of {pages} a read", again(pages));
        }
    }

    #[test]
    fn retries_are_as_many_as_said_and_take_a_sense_each() {
        let extra_times = extras(SenseParams { retries: Some(RETRIES), ..SenseParams::default() }, 0.0, 1_000_000);
        let count = |extra: u64| extra_times.iter().filter(|time| **time == extra).count() as f64;
        // 10,000 of a million; 70 % need one sense, 21 % two, 6.3 % three, and 2.7 % soft decoding after three.
        for (extra, expected) in [(50_000, 7_000.0), (100_000, 2_100.0), (150_000, 630.0), (650_000, 270.0)] {
            let error = (count(extra) - expected).abs();
            assert!(error < 4.0 * f64::sqrt(expected), "{extra} ns: {} where {expected} were expected", count(extra));
        }
        let known = [50_000.0, 100_000.0, 150_000.0, 650_000.0].map(|extra| count(extra as u64)).iter().sum::<f64>();
        assert_eq!(known, extra_times.len() as f64);
    }

    #[test]
    fn wear_and_age_make_them_more_and_never_more_than_one_in_two() {
        let share = |wear: f64, wear_before: f64, age: Span| {
            let retries = Some(RetryParams { wear: wear_before, age, ..RETRIES });
            extras(SenseParams { retries, ..SenseParams::default() }, wear, 200_000).len() as f64 / 200_000.0
        };
        let near = |actual: f64, expected: f64| assert!((actual / expected - 1.0).abs() < 0.07, "{actual}, {expected}");
        near(share(0.0, 0.5, Span(0)), 0.01 * 10_f64.sqrt());
        near(share(0.0, 1.0, Span(0)), 0.1);
        near(share(0.0, 0.0, KEPT), 0.1);
        near(share(0.5, 0.5, Span(0)), 0.1);
        near(share(0.0, 1.0, KEPT), 0.5);
    }

    #[test]
    fn a_scan_makes_reads_wait_for_less_than_its_sense() {
        let extra_times = extras(SenseParams { scan_share: 0.01, ..SenseParams::default() }, 0.0, 1_000_000);
        assert!((extra_times.len() as f64 / 10_000.0 - 1.0).abs() < 0.05, "{}", extra_times.len());
        let mean = extra_times.iter().sum::<u64>() as f64 / extra_times.len() as f64;
        assert!(extra_times.iter().all(|extra| *extra < MEAN.0) && (mean / 25_000.0 - 1.0).abs() < 0.03, "{mean}");
    }

    #[test]
    fn retries_and_the_scan_come_side_by_side_as_often_as_each_alone() {
        let both = SenseParams { retries: Some(RETRIES), scan_share: 0.02, ..SenseParams::default() };
        let mut senses = senses(both, (1, 1));
        let longer = (0..1_000_000).filter(|_| senses.time(1, 0, || 0.0) > MEAN).count();
        for (actual, expected) in [(senses.retried as f64, 10_000.0), (longer as f64, 30_000.0)] {
            assert!((actual - expected).abs() < 4.0 * f64::sqrt(expected), "{actual} where {expected} were expected");
        }
    }
}
