//! Seek parameters of a disk: three figures of a data sheet for reads and writes, where the curve bends, or a
//! curve that was measured on the drive.

use hotband_machine::{Section, SpecError};
use hotband_units::{Ratio, Span};

use crate::parts::seek::{KNEE, Knee, MeasuredSeeks, SeekPoints, Seeks};

/// Most cylinders of a disk.
const MOST_CYLINDERS: u64 = 4_000_000;
/// Longest seek.
const MOST: Span = Span(1_000_000_000);

/// Seeks of reads and of writes.
pub(super) fn read_seeks(section: &Section) -> Result<(SeekPoints, SeekPoints, [Seeks; 2]), SpecError> {
    let read = read_points(section, ["seek_read_track", "seek_read_average", "seek_read_full"])?;
    let write = read_points(section, ["seek_write_track", "seek_write_average", "seek_write_full"])?;
    let measured = read_measured(section)?;
    let cylinders = section.count("seek_curve_cylinders", 3..=MOST_CYLINDERS)?;
    let Some(points) = measured else {
        return match cylinders {
            Some(count) => {
                Err(section.error("seek_curve_cylinders", count.to_string(), "expected only with seek_curve"))
            }
            None => Ok((read, write, [Seeks::Points(read), Seeks::Points(write)])),
        };
    };
    let longest = points.last().map_or(0, |(distance, _)| *distance);
    let cylinders = cylinders.map_or(longest + 1, |count| count as u32);
    if cylinders <= longest {
        let accepted = format!("expected more than the longest distance of seek_curve, {longest}");
        return Err(section.error("seek_curve_cylinders", cylinders.to_string(), accepted));
    }
    // The curve is one of reads; a write settles longer, by as much as the averages differ.
    let more = write.average.0 as i64 - read.average.0 as i64;
    let seeks_with = |more| Seeks::Measured(MeasuredSeeks::new(&points, cylinders, more));
    Ok((read, write, [seeks_with(0), seeks_with(more)]))
}

/// Points of a measured curve: distances in cylinders, rising, and times, such as "1: 1.9 ms, 10: 2.6 ms".
fn read_measured(section: &Section) -> Result<Option<Vec<(u32, Span)>>, SpecError> {
    const KEY: &str = "seek_curve";
    let Some(text) = section.text(KEY)? else { return Ok(None) };
    let mut points: Vec<(u32, Span)> = Vec::new();
    for point in text.split(',').map(str::trim) {
        let wrong = |accepted: &str| Err(section.error(KEY, point.to_owned(), accepted));
        let parsed = point.split_once(':').and_then(|(distance, time)| {
            Some((distance.trim().parse::<u32>().ok()?, time.trim().parse::<Span>().ok()?))
        });
        let Some((distance, time)) = parsed else {
            return wrong("expected distances in cylinders with times, such as \"1: 1.9 ms, 10: 2.6 ms\"");
        };
        if distance == 0 || points.last().is_some_and(|(before, _)| *before >= distance) {
            return wrong("expected distances of one cylinder and more, each longer than the one before");
        }
        if time > MOST || u64::from(distance) > MOST_CYLINDERS {
            return wrong("expected at most 1 s, and at most 4 million cylinders");
        }
        points.push((distance, time));
    }
    if points.len() < 2 || points[0].0 != 1 {
        return Err(section.error(KEY, text.to_owned(), "expected two distances or more, the first of 1 cylinder"));
    }
    Ok(Some(points))
}

/// Read the knee of the seek curve.
fn read_knee(section: &Section) -> Result<Knee, SpecError> {
    const KEY: &str = "seek_knee";
    let Some(knee) = section.quantity::<Ratio>(KEY)? else { return Ok(KNEE) };
    let accepted = "expected a share of the full stroke, from 2 % to 90 %";
    let fits = (0.02..=0.9).contains(&knee.0);
    if fits { Ok(Knee::at(knee.0)) } else { Err(section.error(KEY, knee.to_string(), accepted)) }
}

fn read_points(section: &Section, keys: [&'static str; 3]) -> Result<SeekPoints, SpecError> {
    let [track, average, full] = keys;
    let time = |key| section.required::<Span>(key, "a time");
    let points =
        SeekPoints { track: time(track)?, average: time(average)?, full: time(full)?, knee: read_knee(section)? };
    if points.full > MOST {
        return Err(section.error(full, points.full.to_string(), "expected at most 1 s"));
    }
    if points.is_concave() {
        return Ok(points);
    }
    if points.average >= points.full {
        let accepted = format!("impossible: the longest seek, {full}, takes {}", points.full);
        return Err(section.error(average, points.average.to_string(), accepted));
    }
    if points.track >= points.average {
        let accepted = format!("impossible: the shortest seek, {track}, takes {}", points.track);
        return Err(section.error(average, points.average.to_string(), accepted));
    }
    let accepted = "expected more than a third of the way from the single-track to the full-stroke seek, and less than nine tenths";
    Err(section.error(average, points.average.to_string(), accepted))
}
