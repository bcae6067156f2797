//! Zones, tracks and skew: where a sector is, and when it passes the head.
//!
//! LBA 0 is outside. Within a zone LBAs run down a cylinder over all heads and then on to the next cylinder, the
//! heads in the opposite order there (serpentine), so that a cylinder is changed on the same surface. Every zone
//! has the same number of cylinders and a constant number of sectors a track; the sustained rate falls in equal
//! steps from the outer to the inner zone, as it does at constant linear density.
//!
//! Skew makes a sequential stream flow: it loses the head skew at each track and the track skew at each cylinder,
//! and never a revolution. A sector's *flow* (the angle turned by a stream from LBA 0 to it) also fixes its
//! angle on the platter, and the time between two sectors of one stream is the difference of their flows.
//!
//! Leaves out: spare sectors and defect slips, servo wedges, shingling.

use hotband_units::{Bytes, Rate, Span};

use super::divisor::Divisor;
use super::rotation::{REVOLUTION, Rotation};

/// Bytes in the sector that addresses count.
pub const SECTOR: u64 = 512;

/// Input of a geometry.
#[derive(Clone, Copy, Debug)]
pub struct GeometryParams {
    /// Addressable bytes.
    pub capacity: Bytes,
    /// Recording surfaces.
    pub heads: u32,
    /// Zones from outer to inner edge.
    pub zones: u32,
    /// Sustained rate in the outermost zone, switches included.
    pub outer: Rate,
    /// Sustained rate in the innermost zone, switches included.
    pub inner: Rate,
    /// Time lost when the stream continues to the next head.
    pub head_skew: Span,
    /// Time lost when the stream continues to the next cylinder.
    pub track_skew: Span,
    /// The spindle.
    pub rotation: Rotation,
}

#[derive(Clone, Copy, Debug)]
struct Zone {
    first_sector: u64,
    first_cylinder: u32,
    /// Sectors a track.
    track_sectors: Divisor,
    /// Angle of one sector.
    sector_flow: u64,
    /// Flow at the first sector.
    flow: u64,
}

impl Zone {
    /// Angle turned from the begin of a track to that of its sector number `sector`.
    #[inline]
    fn angle(&self, sector: u64) -> u64 {
        self.track_sectors.divide(sector * REVOLUTION)
    }
}

/// Place where a sector is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Cylinder, 0 outside.
    pub cylinder: u32,
    /// Track within the cylinder, in order of the stream.
    pub track: u32,
    /// Zone, counted from the outermost.
    pub zone: u32,
    /// Sector within the track.
    pub sector: u32,
    /// Angle turned by a stream from LBA 0 to here, in units of [`REVOLUTION`].
    pub flow: u64,
}

impl Place {
    /// Angle of the platter at which the sector begins.
    #[inline]
    pub fn angle(&self) -> u64 {
        self.flow % REVOLUTION
    }
}

/// Maps sectors to places and back.
#[derive(Clone, Debug)]
pub struct Geometry {
    zones: Vec<Zone>,
    /// Zone in which a slice of the address space begins.
    guess: Vec<u8>,
    guess_shift: u32,
    heads: Divisor,
    /// The first addressable sector, and the first beyond the last.
    first: u64,
    end: u64,
    cylinders: u32,
    /// Flow of one track, including the switch after it.
    track_flow: u64,
    /// Flow of one cylinder, including the switch after it.
    cylinder_flow: u64,
}

/// Slices of the address space in the table of first guesses.
const GUESSES: u64 = 1024;

impl Geometry {
    /// Lays out zones for `params`, sectors numbered from zero.
    pub fn new(params: &GeometryParams) -> Self {
        Self::from_sector(params, 0)
    }

    /// Lays out zones for surfaces whose outermost sector is number `first`: those of one actuator of several, which
    /// share one numbering of the drive's sectors.
    pub fn from_sector(params: &GeometryParams, first: u64) -> Self {
        let heads = u64::from(params.heads);
        let head_skew = params.rotation.turned(params.head_skew);
        let track_flow = REVOLUTION + head_skew;
        let cylinder_flow = heads * track_flow - head_skew + params.rotation.turned(params.track_skew);
        let cylinder_time = params.rotation.time_for(cylinder_flow).as_secs_f64();
        let zones = params.zones.max(1);
        let track_sectors = |zone: u32| {
            let share = if zones == 1 { 0.0 } else { f64::from(zone) / f64::from(zones - 1) };
            let rate = params.outer.0 as f64 + share * (params.inner.0 as f64 - params.outer.0 as f64);
            ((rate * cylinder_time / (heads * SECTOR) as f64).round() as u64).max(1)
        };
        let sectors = params.capacity.0 / SECTOR;
        let per_cylinder_of_each: u64 = (0..zones).map(|zone| heads * track_sectors(zone)).sum();
        let zone_cylinders = sectors.div_ceil(per_cylinder_of_each).max(1);
        let mut geometry = Self {
            zones: Vec::new(),
            guess: Vec::new(),
            guess_shift: 0,
            heads: Divisor::new(heads),
            first,
            end: first + sectors,
            cylinders: (zone_cylinders * u64::from(zones)) as u32,
            track_flow,
            cylinder_flow,
        };
        let (mut first_sector, mut flow) = (0, 0);
        for zone in 0..zones {
            let first_cylinder = zone * zone_cylinders as u32;
            let track_sectors = track_sectors(zone);
            geometry.zones.push(Zone {
                first_sector,
                first_cylinder,
                track_sectors: Divisor::new(track_sectors),
                sector_flow: REVOLUTION / track_sectors,
                flow,
            });
            first_sector += zone_cylinders * heads * track_sectors;
            flow += zone_cylinders * cylinder_flow;
        }
        geometry.make_guesses();
        geometry
    }

    fn make_guesses(&mut self) {
        let sectors = self.end - self.first;
        self.guess_shift = (sectors / GUESSES).max(1).ilog2();
        let slices = (sectors >> self.guess_shift) + 1;
        let zone_of = |slice: u64| {
            let sector = slice << self.guess_shift;
            (self.zones.partition_point(|zone| zone.first_sector <= sector) - 1) as u8
        };
        self.guess = (0..slices).map(zone_of).collect();
    }

    /// Cylinders, over all zones.
    pub fn cylinders(&self) -> u32 {
        self.cylinders
    }

    /// The first addressable sector.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// First sector beyond the last addressable one.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Bytes on one track of the zone that holds `sector`.
    pub fn track_bytes(&self, sector: u64) -> u64 {
        self.zones[self.zone(sector - self.first)].track_sectors.value() * SECTOR
    }

    /// The sectors of the track that holds `sector`.
    pub fn track_of(&self, sector: u64) -> std::ops::Range<u64> {
        let within = sector - self.first;
        let zone = &self.zones[self.zone(within)];
        let track = zone.track_sectors.divide(within - zone.first_sector);
        let start = self.first + zone.first_sector + track * zone.track_sectors.value();
        start..(start + zone.track_sectors.value()).min(self.end)
    }

    /// Angle of one sector where `sector` lies.
    pub fn sector_flow(&self, sector: u64) -> u64 {
        self.zones[self.zone(sector - self.first)].sector_flow
    }

    /// The zone of a sector, counted from the outermost.
    #[inline]
    fn zone(&self, sector: u64) -> usize {
        let mut zone = usize::from(self.guess[(sector >> self.guess_shift) as usize]);
        while zone + 1 < self.zones.len() && self.zones[zone + 1].first_sector <= sector {
            zone += 1;
        }
        zone
    }

    /// Place where `sector` is. It must be one of [`Geometry::first`] to [`Geometry::end`].
    #[inline]
    pub fn place(&self, sector: u64) -> Place {
        let sector = sector - self.first;
        let number = self.zone(sector);
        let zone = &self.zones[number];
        let within = sector - zone.first_sector;
        let track = zone.track_sectors.divide(within);
        let cylinder = self.heads.divide(track);
        let (sector, track) = (within - track * zone.track_sectors.value(), track - cylinder * self.heads.value());
        let flow = zone.flow + cylinder * self.cylinder_flow + track * self.track_flow + zone.angle(sector);
        let cylinder = zone.first_cylinder + cylinder as u32;
        Place { cylinder, track: track as u32, zone: number as u32, sector: sector as u32, flow }
    }

    /// Flow at the end of the sector before `end`.
    pub fn flow_to(&self, end: u64) -> u64 {
        let last = self.place(end - 1);
        last.flow + self.zones[last.zone as usize].sector_flow
    }

    /// Place of the last of `count` sectors from `first`, which is `sector`, and the angle turned from the start of the
    /// first to the end of the last.
    #[inline]
    pub fn run(&self, first: &Place, sector: u64, count: u64) -> (Place, u64) {
        let zone = &self.zones[first.zone as usize];
        let last = u64::from(first.sector) + count - 1;
        if last < zone.track_sectors.value() {
            // On one track, as most commands are.
            let turned = zone.angle(last) - zone.angle(u64::from(first.sector));
            let position = Place { sector: last as u32, flow: first.flow + turned, ..*first };
            return (position, turned + zone.sector_flow);
        }
        let position = self.place(sector + count - 1);
        (position, position.flow + self.zones[position.zone as usize].sector_flow - first.flow)
    }

    /// The sector that a stream at `flow` is about to read: all sectors before it have passed the head.
    pub fn sector_at(&self, flow: u64) -> u64 {
        let zone = &self.zones[self.zones.partition_point(|zone| zone.flow <= flow) - 1];
        let within = flow - zone.flow;
        let cylinder = within / self.cylinder_flow;
        let within = within - cylinder * self.cylinder_flow;
        let track = (within / self.track_flow).min(self.heads.value() - 1);
        let turned = (within - track * self.track_flow).min(REVOLUTION);
        let sector = zone.first_sector
            + (cylinder * self.heads.value() + track) * zone.track_sectors.value()
            + turned * zone.track_sectors.value() / REVOLUTION;
        (self.first + sector).min(self.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hotband_units::Rpm;
    use proptest::prelude::*;

    fn params() -> GeometryParams {
        GeometryParams {
            capacity: Bytes(73_400_000_000),
            heads: 4,
            zones: 16,
            outer: Rate(62_000_000),
            inner: Rate(42_000_000),
            head_skew: Span(900_000),
            track_skew: Span(900_000),
            rotation: Rotation::new(Rpm(10_000)),
        }
    }

    #[test]
    fn a_real_drive_comes_out_with_its_number_of_tracks() {
        // Savvio 10K.1: 51,052 tracks a surface, 360,000 bytes a track on average (facts/drives.yaml, savSAS).
        let geometry = Geometry::new(&params());
        assert!((f64::from(geometry.cylinders()) / 51_052.0 - 1.0).abs() < 0.03, "{}", geometry.cylinders());
        let mean = u64::midpoint(geometry.track_bytes(0), geometry.track_bytes(geometry.end() - 1));
        assert!((mean as f64 / 360_000.0 - 1.0).abs() < 0.03, "{mean}");
    }

    #[test]
    fn a_stream_runs_at_the_rate_of_its_zone() {
        let (params, geometry) = (params(), Geometry::new(&params()));
        let count = 200_000;
        for (first, rate) in [(0, 62e6), (geometry.end() - count, 42e6)] {
            let (_, turned) = geometry.run(&geometry.place(first), first, count);
            let seconds = params.rotation.time_for(turned).as_secs_f64();
            let measured = (count * SECTOR) as f64 / seconds;
            assert!((measured / rate - 1.0).abs() < 0.005, "{measured} {rate}");
        }
    }

    #[test]
    fn the_outer_edge_is_sector_zero() {
        let geometry = Geometry::new(&params());
        assert_eq!(geometry.place(0), Place::default());
        assert!(geometry.place(geometry.end() - 1).cylinder < geometry.cylinders());
    }

    #[test]
    fn tracks_follow_each_other_from_the_first_sector_of_an_actuator_to_its_last() {
        for first in [0, 1_000_000] {
            let geometry = Geometry::from_sector(&params(), first);
            let outer = geometry.track_bytes(first) / SECTOR;
            let (inner_track, outer_track) = (geometry.track_of(first), geometry.track_of(first + outer));
            assert_eq!((inner_track, outer_track), (first..first + outer, first + outer..first + 2 * outer));
            let last = geometry.track_of(geometry.end() - 1);
            assert!(last.contains(&(geometry.end() - 1)) && last.end == geometry.end(), "{last:?}");
            // In a zone further in, too.
            let middle = geometry.track_of(u64::midpoint(first, geometry.end()));
            assert_eq!(geometry.track_of(middle.end).start, middle.end);
            assert_eq!(geometry.place(middle.start).cylinder, geometry.place(middle.end - 1).cylinder);
        }
    }

    proptest! {
        #[test]
        fn a_run_ends_where_its_last_sector_ends(sector in 0_u64..143_000_000, count in 1_u64..3_000) {
            let geometry = Geometry::new(&params());
            let first = geometry.place(sector);
            let (last, turned) = geometry.run(&first, sector, count);
            prop_assert_eq!(last, geometry.place(sector + count - 1));
            prop_assert_eq!(first.flow + turned, geometry.flow_to(sector + count));
        }

        #[test]
        fn flow_orders_sectors_and_leads_back(sector in 0_u64..143_359_000) {
            let geometry = Geometry::new(&params());
            let (here, next) = (geometry.place(sector), geometry.place(sector + 1));
            prop_assert!(here.flow < next.flow);
            prop_assert!((here.cylinder, here.track) <= (next.cylinder, next.track));
            prop_assert!(geometry.sector_at(here.flow + 1).abs_diff(sector) <= 1);
        }
    }
}
