//! Volumes and sizes that a machine offers, known before any run, for code that writes workloads to fit.

use hotband_machine::{BuildError, Look, MachineSpec};
use hotband_units::Bytes;

use crate::build::assemble::assemble_with_spares;
use crate::build::catalog::Catalog;
use crate::build::means::Means;
use crate::request::Request;
use crate::texts::machine_text;

/// The targets of a machine and its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Text of the machine, as records have it.
    pub text: String,
    /// Name and size of every target.
    pub targets: Vec<(String, Bytes)>,
    /// Unit of the offsets and sizes of I/Os.
    pub block: Bytes,
    /// Product of every drive, in the machine's order.
    pub products: Vec<String>,
}

impl Offer {
    /// Offer of the machine of `request`; its `set` holds values of drives and daemons only, and no workload is read.
    ///
    /// # Errors
    /// The first mistake in the machine or the values; a cancellation.
    pub fn of(catalog: &Catalog, request: &Request, look: Look) -> Result<Self, BuildError> {
        let (file, text) = machine_text(catalog, request)?;
        let spec = MachineSpec::read(&file, &text)?;
        let machine = assemble_with_spares(
            &spec,
            catalog,
            (&request.set, request.seed),
            None,
            &Means { look, ..Means::default() },
        )?
        .machine;
        let targets = machine.volumes().iter().map(|target| (target.name.clone(), Bytes(target.size))).collect();
        let products = spec.drives.iter().map(|drive| drive.product.clone()).collect();
        Ok(Self { text, targets, block: machine.drives().block(), products })
    }
}

#[cfg(test)]
mod tests {
    use hotband_machine::{SpecError, unwatched};

    use super::*;

    fn offer(machine: &str, set: &[(&str, &str)]) -> Result<Offer, BuildError> {
        let catalog = Catalog::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/hotband/data/catalog"));
        let set = set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Offer::of(&catalog, &Request { machine: machine.to_owned(), set, seed: 1, ..Request::default() }, &unwatched)
    }

    fn refused(machine: &str, set: &[(&str, &str)]) -> SpecError {
        match offer(machine, set) {
            Err(BuildError::Spec(error)) => error,
            other => panic!("{machine}: {:?}", other.err()),
        }
    }

    #[test]
    fn a_mirror_offers_one_address_space_of_a_members_size() {
        let mirror = offer("raid1:2xsavvio-10k1", &[]).unwrap();
        let [(_, size)] = &mirror.targets[..] else { panic!("one target: {:?}", mirror.targets) };
        assert_eq!((mirror.block, size.0 / 1_000_000_000), (Bytes(512), 73));
        assert_eq!(mirror.products, ["savvio-10k1", "savvio-10k1"]);
    }

    #[test]
    fn units_of_a_drive_are_targets_and_values_of_the_drive_decide() {
        let units = offer("st14000nm0001", &[]).unwrap();
        assert_eq!(units.targets.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["d0.lun0", "d0.lun1"]);
        assert_eq!(offer("st14000nm0001", &[("exposes", "one")]).unwrap().targets.len(), 1);
        assert_eq!(offer("exos-15e900-512e", &[("sector_format", "4Kn")]).unwrap().block, Bytes(4096));
    }

    #[test]
    fn a_mistake_is_the_users() {
        assert_eq!(refused("savvio", &[]).file, "MACHINE");
        assert_eq!(refused("savvio-10k1", &[("qd", "8")]).file, "set");
    }
}
