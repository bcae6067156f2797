//! Limits of drives that can be bought. A question (`--set port_rate="1 MB/s"`) or a test bench may exceed them, so
//! only the files of drives are checked.

use hotband_machine::{Product, Section, SpecError};
use hotband_units::{Bytes, Rate};
use toml::Table;

use crate::{DiskParams, SsdParams};

/// Bytes of one die: 4 Gbit; drives of 2008 had dies of 16 Gbit [Intel X25-M], those of today 512 Gbit and more.
const SMALLEST_DIE: u64 = 1 << 29;

/// Twice the rate of two actuators together [Seagate Exos 2X18: 554 MB/s].
const FASTEST_MEDIA: Rate = Rate(1_108_000_000);
/// A drive may be known behind the bus of a test rig: those of [DiskSim's validation set] give up to three times what
/// theirs carries. Beyond this the unit of one of both is wrong.
const SLOWEST_PORT: u64 = 10;

/// 6 Gbit/s with 10 bits per byte [Serial ATA 3.0].
const SATA: Rate = Rate(600_000_000);
/// Two ports of 2.4 GB/s, as dual-port drives may use at once [SAS-4: 22.5 Gbit/s, 128 bits in 150].
const SAS: Rate = Rate(4_800_000_000);

/// Checks every value of a drive's file, and what they say together.
///
/// # Errors
/// The first value that is missing, malformed or impossible, at its line.
pub fn check_sold(product: &Product) -> Result<(), SpecError> {
    let none = Table::new();
    let parsed = match product.kind.as_str() {
        "disk" => check_disk(product, &DiskParams::read(product, &none, &product.file, "")?),
        "ssd" => check_dies(product)
            .and_then(|()| SsdParams::read(product, &none, &product.file, ""))
            .and_then(|ssd| check_port(product, &ssd)),
        // Whoever builds it says which kinds there are.
        _ => Ok(()),
    };
    product.blame(parsed, &none, "", "")
}

/// Rate of the media, and its part that passes the port.
fn check_disk(product: &Product, disk: &DiskParams) -> Result<(), SpecError> {
    let (outer, port) = (disk.geometry.outer, disk.port_rate);
    let wrong = |accepted| Err(SpecError::new(&product.file, "values.sustained_outer", outer.to_string(), accepted));
    if outer > FASTEST_MEDIA {
        return wrong(format!("expected at most {FASTEST_MEDIA}: no disk's media gives more"));
    }
    if outer.0 > port.0 * SLOWEST_PORT {
        return wrong(format!("expected at most {SLOWEST_PORT} times port_rate, {port}: most of it would wait there"));
    }
    Ok(())
}

/// Data sheets round up by as much.
const ROUNDED_PERCENT: u64 = 101;

/// The port passes the controller's data. SATA queues hold 32 commands [ACS-3, 4.15]; more without PCI Express is SAS.
fn check_port(product: &Product, ssd: &SsdParams) -> Result<(), SpecError> {
    let (port, name) = match ssd.pcie {
        Some(pcie) => (pcie.most_data_rate(), format!("PCI Express {}.0 x{}", pcie.generation, pcie.lanes)),
        None if ssd.tags <= 32 => (SATA, "SATA (queue_tags of at most 32)".to_owned()),
        None => (SAS, "both ports of SAS at 24G".to_owned()),
    };
    let rates = [("values.link_rate", ssd.link_rate), ("values.link_write_rate", ssd.link_write_rate)];
    let Some((key, rate)) = rates.into_iter().find(|(_, rate)| rate.0 > port.0 / 100 * ROUNDED_PERCENT) else {
        return Ok(());
    };
    let accepted = format!("rate above the port's: expected at most {port}, what {name} carries");
    Err(SpecError::new(&product.file, key, rate.to_string(), accepted))
}

/// Check that the capacity consists of dies that exist.
fn check_dies(product: &Product) -> Result<(), SpecError> {
    let values = product.with(&Table::new(), ("", ""), &[])?;
    let section = Section::new(&product.file, "values", &values);
    let (Some(capacity), Some(dies)) = (section.quantity::<Bytes>("capacity")?, section.count("dies", 2..=4096)?)
    else {
        // Whoever reads all values says which are missing.
        return Ok(());
    };
    let of_die = capacity.0 / dies;
    if of_die >= SMALLEST_DIE {
        return Ok(());
    }
    let (of_die, smallest) = (Bytes(of_die), Bytes(SMALLEST_DIE));
    let accepted =
        format!("more dies than capacity holds: {of_die} a die, and the smallest made for drives has {smallest}");
    Err(section.error("dies", dies.to_string(), accepted))
}
