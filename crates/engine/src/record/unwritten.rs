//! Reads that found flash never written: new flash answers them from memory, many times faster than a drive in use.

use hotband_drives::parts::ftl::PAGE;
use hotband_machine::PartReport;

/// Share of a drive's reads from which on it is stated: they take next to no time, so below it the mean latency of
/// reads is what it would be within 1 %, as close as rates and latencies of a record agree (`short`).
const TOLD: f64 = 0.01;

/// Share of a drive's reads between the two reports that found nothing on flash; none if it read nothing.
///
/// Reads of unwritten data are counted in pages of the map. Pages that were read are not counted, but estimated: as
/// many as the bytes fill, and at least one per read. Unaligned reads touch more pages, so the true share
/// is then smaller.
fn share(before: &PartReport, after: &PartReport) -> Option<f64> {
    let count = |name| Some(after.counter(name)? - before.counter(name)?);
    let (unmapped, pages) = (count("unmapped_reads")?, count("reads")?.max(count("read_bytes")? / PAGE));
    (pages > 0).then(|| (unmapped as f64 / pages as f64).min(1.0))
}

/// `d0`, `d0 and d1`, `d0 to d15` if all drives are meant, `d0 and 3 more`.
fn names(drives: &[&str], all: usize) -> String {
    match drives {
        [one] => (*one).to_owned(),
        [one, two] => format!("{one} and {two}"),
        [first, .., last] if drives.len() == all => format!("{first} to {last}"),
        [first, others @ ..] => format!("{first} and {} more", others.len()),
        [] => unreachable!("only drives that are named are told of"),
    }
}

/// A percentage of three digits at most: whole from 10 on.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent < 10.0 { format!("{percent:.1}") } else { format!("{percent:.0}") }
}

/// Drives with reads of never-written flash, their share, and the remedy.
pub(super) fn unwritten_note(
    (before, after): (&[PartReport], &[PartReport]),
    is_preconditioned: bool,
) -> Option<String> {
    let drives = after.iter().zip(before).filter(|(part, _)| part.counter("unmapped_reads").is_some());
    let shares: Vec<(&str, Option<f64>)> =
        drives.map(|(after, before)| (after.id.as_str(), share(before, after))).collect();
    let noted = shares.iter().filter_map(|(id, share)| share.filter(|share| *share >= TOLD).map(|share| (*id, share)));
    let (noted_drives, noted): (Vec<&str>, Vec<f64>) = noted.unzip();
    if noted_drives.is_empty() {
        return None;
    }
    let (low, high) = noted.iter().fold((1.0, 0.0), |(low, high), share| (share.min(low), share.max(high)));
    let (low, high) = (percent(low), percent(high));
    let range = if low == high { high } else { format!("{low} to {high}") };
    let names = names(&noted_drives, shares.len());
    Some(if is_preconditioned {
        format!(
            "{names}: {range} % of reads hit flash that was never written, or trimmed, and completed without a flash read"
        )
    } else {
        format!(
            "{names}: {range} % of reads hit flash that was never written and completed without a flash read, faster than on \
             a drive in use (state=preconditioned preconditions the drives first)"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ssd(id: &str, reads: u64, read_bytes: u64, unmapped: u64) -> PartReport {
        let counters = vec![("reads", reads), ("read_bytes", read_bytes), ("unmapped_reads", unmapped)];
        PartReport { id: id.to_owned(), kind: "ssd", counters, at_end: Vec::new() }
    }

    fn disk(id: &str) -> PartReport {
        let counters = vec![("reads", 100), ("read_bytes", 409_600)];
        PartReport { id: id.to_owned(), kind: "disk", counters, at_end: Vec::new() }
    }

    /// The note on drives of which each did this since they were new.
    fn note(after: &[PartReport]) -> String {
        let zero = |part: &PartReport| {
            let counters = part.counters.iter().map(|(name, _)| (*name, 0)).collect();
            PartReport { counters, ..part.clone() }
        };
        unwritten_note((&after.iter().map(zero).collect::<Vec<_>>(), after), false).unwrap_or_default()
    }

    #[test]
    fn the_share_is_of_pages_of_the_measured_time() {
        let (before, after) = (ssd("d0", 100, 409_600, 100), ssd("d0", 200, 819_200, 125));
        assert_eq!(share(&before, &after), Some(0.25));
        assert_eq!(share(&before, &before), None, "nothing was read");
        let new = ssd("d0", 0, 0, 0);
        assert_eq!(share(&new, &ssd("d0", 10, 10 * 65_536, 80)), Some(0.5), "80 of 160 pages");
        assert_eq!(share(&new, &ssd("d0", 10, 5120, 10)), Some(1.0), "reads of a sector touch a page each");
        assert_eq!(
            share(&new, &ssd("d0", 10, 81_920, 30)),
            Some(1.0),
            "unaligned reads touch more pages than they fill"
        );
        assert_eq!(share(&disk("d0"), &disk("d0")), None);
    }

    #[test]
    fn a_hundredth_of_the_reads_is_told_and_less_is_not() {
        assert_eq!(note(&[ssd("d0", 1000, 4_096_000, 9)]), "");
        let text = note(&[ssd("d0", 1000, 4_096_000, 10)]);
        let expected = "d0: 1.0 % of reads hit flash that was never written and completed without a flash read, faster than on a \
                        drive in use (state=preconditioned preconditions the drives first)";
        assert_eq!(text, expected);
    }

    #[test]
    fn drives_are_named_together() {
        let ssds = |count: u64, unmapped: &dyn Fn(u64) -> u64| {
            (0..count).map(|n| ssd(&format!("d{n}"), 1000, 4_096_000, unmapped(n))).collect::<Vec<_>>()
        };
        for (parts, begin) in [
            (ssds(2, &|_| 1000), "d0 and d1: 100 % of reads"),
            (ssds(16, &|n| 900 + n), "d0 to d15: 90 to 92 % of reads"),
            (ssds(16, &|n| if n == 3 { 0 } else { 500 }), "d0 and 14 more: 50 % of reads"),
            ([ssds(2, &|_| 1000), vec![disk("log")]].concat(), "d0 and d1: 100 % of reads"),
            ([vec![disk("log")], ssds(3, &|_| 1000)].concat(), "d0 to d2: 100 % of reads"),
        ] {
            assert!(note(&parts).starts_with(begin), "{}", note(&parts));
        }
        assert_eq!(note(&[disk("d0")]), "");
    }

    #[test]
    fn one_that_was_written_over_is_not_told_to_be() {
        let text = unwritten_note((&[ssd("d0", 0, 0, 0)], &[ssd("d0", 10, 40_960, 5)]), true).expect("half is told");
        assert_eq!(
            text,
            "d0: 50 % of reads hit flash that was never written, or trimmed, and completed without a flash read"
        );
    }
}
