//! Properties that hold for any bytes, for the fuzz target and the test that replays its corpus.

use crate::{read_fio_log, read_hdr_log, read_histogram_log};

/// Reads `data` as every kind of log: sums that agree with each other or an error of one line. Panics where not.
pub fn logs(data: &[u8]) {
    match read_fio_log(data, None) {
        Ok(log) => {
            assert_eq!(log.lines, log.directions.iter().map(|samples| samples.count).sum::<u64>());
            for samples in log.directions.iter().filter(|_| !log.averaged) {
                assert_eq!(samples.count, samples.buckets.iter().map(|(_, count)| count).sum::<u64>());
                assert_eq!(samples.count, samples.rows.iter().map(|row| row.count).sum::<u64>());
                assert_eq!(samples.sum, samples.rows.iter().map(|row| row.sum).sum::<u128>());
            }
        }
        Err(error) => assert_one_line(&error.to_string()),
    }
    if let Err(error) = read_histogram_log(data) {
        assert_one_line(&error.to_string());
    }
    match read_hdr_log(data) {
        Ok(log) => {
            for tag in log.tags {
                let counted: u64 = tag.intervals.iter().map(|interval| interval.count).sum();
                assert_eq!(counted, tag.buckets.iter().map(|(_, count)| count).sum::<u64>());
            }
        }
        Err(error) => assert_one_line(&error.to_string()),
    }
}

fn assert_one_line(text: &str) {
    assert!(!text.contains(['\n', '\r']), "{text:?}");
}
