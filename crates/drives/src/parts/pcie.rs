//! PCI Express: what a command's data takes on the wire, in each direction.
//!
//! Generation 2 encodes 8 bits in 10: 5 GT/s a lane leave 500 MB/s. Generations 3 to 5 encode 128 bits in 130 (PCI
//! Express Base Specification 3.0, 4.2.2): 8, 16 and 32 GT/s leave 984.6, 1,969.2 and 3,938.5 MB/s. Generation 6 sends
//! flits of 256 bytes, 236 of them packets (PCI Express Base Specification 6.0, 4.2.3): 64 GT/s leave 7,375 MB/s.
//!
//! Data travels in packets of a payload that both ends agree on; a packet costs 20 to 28 bytes more: framing and
//! sequence number 6, header of three or four double words 12 or 16, LCRC 4 (Intel AN 708, "Understanding PCI Express
//! throughput"). 24 is their middle. In flits a packet has no framing, sequence number and LCRC of its own; 24 stays,
//! as the upper bound of its header.
//!
//! Leaves out: data-link packets (acknowledgements, credits: 1 to 3 % of the rate), the requests that the drive sends
//! for the data of writes (24 bytes every 512, against the direction of the data), switches, and
//! lanes shared with others.

use hotband_units::Rate;

/// Bytes of a packet in addition to its payload.
const PACKET: u64 = 24;
/// Submission and completion entries (NVMe Base Specification 2.0, 3.3.3), and a doorbell or
/// interrupt: one double word.
const SUBMISSION: u64 = 64;
const COMPLETION: u64 = 16;
const DOORBELL: u64 = 4;

/// Most data in a packet that hosts of drives agree to; the specification allows 4,096.
const LARGEST_PAYLOAD: u64 = 512;

/// A link to one drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pcie {
    /// 2 to 6.
    pub generation: u32,
    /// Lanes.
    pub lanes: u32,
    /// Most data in a packet, in bytes.
    pub payload: u64,
}

/// Direction of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Data of reads: with the request for the command, its completion and the interrupt.
    ToHost,
    /// Data of writes: with the doorbell and the command.
    FromHost,
}

impl Pcie {
    /// Rate of all lanes in one direction, packets included.
    pub fn rate(self) -> Rate {
        let lanes = u64::from(self.lanes);
        Rate(match self.generation {
            2 => 5_000_000_000 * lanes / 10,
            6 => 64_000_000_000 * lanes / 8 * 236 / 256,
            generation => (8_000_000_000 << (generation - 3)) * lanes * 128 / 130 / 8,
        })
    }

    /// Share of data in full packets.
    pub fn data_rate(self) -> Rate {
        Rate((u128::from(self.rate().0) * u128::from(self.payload) / u128::from(self.payload + PACKET)) as u64)
    }

    /// The highest data rate: in packets of the largest payload of any platform. Published rates were measured on one
    /// that suits the drive.
    pub fn most_data_rate(self) -> Rate {
        Self { payload: LARGEST_PAYLOAD, ..self }.data_rate()
    }

    /// Bytes on the wire in the direction of the data of a command of `bytes`.
    pub fn wire_bytes(self, direction: Direction, bytes: u64) -> u64 {
        let data = bytes + bytes.div_ceil(self.payload) * PACKET;
        data + match direction {
            Direction::ToHost => PACKET + (COMPLETION + PACKET) + (DOORBELL + PACKET),
            Direction::FromHost => (DOORBELL + PACKET) + (SUBMISSION + PACKET),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_carry_what_is_left_after_encoding() {
        let lane = |generation| Pcie { generation, lanes: 1, payload: 256 }.rate().0 / 100_000;
        assert_eq!([2, 3, 4, 5, 6].map(lane), [5_000, 9_846, 19_692, 39_384, 73_750]);
    }

    #[test]
    fn the_fastest_drives_on_the_market_pass_four_lanes() {
        // 990 PRO 7,450 MB/s; SN8100 14,900 MB/s; Micron 9650 28,000 MB/s.
        let most = |generation| Pcie { generation, lanes: 4, payload: 256 }.most_data_rate().0 / 1_000_000;
        assert_eq!([4, 5, 6].map(most), [7_524, 15_048, 28_179]);
    }

    #[test]
    fn full_packets_of_256_bytes_leave_nine_tenths() {
        // notes on mechanisms, section 2: 3,601, 7,202 and 14,404 MB/s on four lanes.
        let four = |generation| Pcie { generation, lanes: 4, payload: 256 }.data_rate().0 / 1_000_000;
        assert_eq!([3, 4, 5].map(four), [3_600, 7_201, 14_403]);
    }

    #[test]
    fn a_read_of_4_kib_takes_16_packets_a_request_a_completion_and_an_interrupt() {
        let link = Pcie { generation: 5, lanes: 4, payload: 256 };
        assert_eq!(link.wire_bytes(Direction::ToHost, 4096), 16 * 280 + 24 + 40 + 28);
        assert_eq!(link.wire_bytes(Direction::FromHost, 4096), 16 * 280 + 28 + 88);
        let most = link.rate().0 / link.wire_bytes(Direction::ToHost, 4096);
        assert!((3_440_000..3_450_000).contains(&most), "{most} reads a second");
    }
}
