//! Clients: programs outside ask, through a served volume; `clients = {}`.
//!
//! By itself it requests nothing: the server of the machine hands over the I/Os of programs (`crates/serve`).

use std::sync::Arc;

use hotband_machine::{Section, SpecError};
use hotband_units::Instant;

use super::shares::Shares;
use super::source::{Answer, PhaseStart, Source, SourceIo};
use crate::load::{Kind, Load};
use crate::load_kind::{LoadKind, OtherLoad};
use crate::stream::Stream;

/// Key and reader of this kind.
pub(crate) const KIND: Kind = ("clients", "{} (of a served machine)", read);

/// Programs outside.
#[derive(Clone, Copy, Debug)]
struct Clients;

fn read(section: Section) -> Result<Load, SpecError> {
    section.finish()?;
    Ok(Load::Other(OtherLoad(Arc::new(Clients))))
}

impl LoadKind for Clients {
    fn source(&self, _: Shares) -> Box<dyn Source> {
        Box::new(*self)
    }

    fn has_pattern(&self) -> bool {
        false
    }
}

impl Source for Clients {
    fn begin_phase(&mut self, _: &PhaseStart) {}

    fn next_time(&self) -> Option<Instant> {
        None
    }

    fn wake(&mut self, _: Instant) {}

    fn next_io(&mut self, _: Instant, _: &mut [Stream]) -> Option<SourceIo> {
        None
    }

    fn completed(&mut self, _: Instant, _: Answer) {}
}
