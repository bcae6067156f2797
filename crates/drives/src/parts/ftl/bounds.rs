//! Bounds of contents that were read from a file: the numbers of blocks, places and pages in them.
//!
//! Leaves out: whether contents add up, as `check` counts. The file has a checksum against damage.

use super::Ftl;
use super::blocks::NONE;
use super::map::{DIRTY, UNMAPPED};
use super::params::PAGE_UNITS;

impl Ftl {
    /// Whether everything that the state names is part of the drive.
    pub fn is_within_bounds(&self) -> bool {
        let Self { params, map, blocks, frontiers, buffer, collection, pslc, .. } = self;
        let is_page = |page: u32| u64::from(page) < params.pages;
        let is_block = |block: u32| (block as usize) < blocks.all.len();
        let flash_pages = params.block_units.div_ceil(params.flash_page_units);
        let is_inside = |(page, entry): (u32, u32)| {
            let (block, flash_page) = map.split(entry);
            entry == UNMAPPED
                || if params.in_place { entry == page } else { is_block(block) && flash_page < flash_pages }
        };
        blocks.are_within_bounds(params.pages)
            && (0..map.pages()).map(|page| (page, map.get(page) & !DIRTY)).all(is_inside)
            && frontiers.iter().all(|frontier| {
                frontier.filled <= params.block_units && (frontier.block == NONE || is_block(frontier.block))
            })
            && buffer.iter().all(|(page, units)| is_page(*page) && (1..=PAGE_UNITS).contains(&u32::from(*units)))
            && (collection.victim == NONE
                || is_block(collection.victim) && collection.cursor <= blocks.logs[collection.victim as usize].len())
            && pslc.as_ref().is_none_or(|pslc| pslc.check().is_ok() && pslc.queued().all(is_page))
    }
}
