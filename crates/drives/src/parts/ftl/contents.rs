//! State of a translation layer that writes change, copied from one layer to another with equal parameters.

use hotband_machine::Carrier;

use super::Ftl;
use super::FtlCounters;
use super::frontier::Frontier;
use super::victim::Collection;

impl Ftl {
    /// Carries everything but the parameters.
    pub fn carry(&mut self, carrier: &mut Carrier) {
        let Self {
            params: _,
            map,
            blocks,
            frontiers,
            buffer,
            collection,
            pslc,
            counters,
            clock,
            used_pages,
            write_protected,
        } = self;
        map.carry(carrier);
        blocks.carry(carrier);
        for frontier in frontiers.iter_mut() {
            frontier.carry(carrier);
        }
        let buffered = carrier.pairs(buffer.iter().map(|(page, units)| (*page, u32::from(*units))));
        buffer.clear();
        buffer.extend(buffered.into_iter().map(|(page, units)| (page, units as u16)));
        collection.carry(carrier);
        if let Some(pslc) = pslc {
            pslc.carry(carrier);
        }
        counters.carry(carrier);
        carrier.number(clock);
        carrier.number(used_pages);
        carrier.flag(write_protected);
    }
}

impl Frontier {
    fn carry(&mut self, carrier: &mut Carrier) {
        let Self { block, filled, flash_page, page_end, pass, pass_end, born } = self;
        for field in [block, filled, flash_page, page_end, pass, pass_end] {
            carrier.word(field);
        }
        carrier.float(born);
    }
}

impl Collection {
    fn carry(&mut self, carrier: &mut Carrier) {
        let Self { victim, cursor, last_page, ratio, due, victims } = self;
        carrier.word(victim);
        carrier.index(cursor);
        carrier.word(last_page);
        carrier.float(ratio);
        carrier.float(due);
        carrier.number(victims);
    }
}

impl FtlCounters {
    fn carry(&mut self, carrier: &mut Carrier) {
        let Self { host, relocated, padding, cached, folded, passes, erases, coalesced_pages, trimmed_pages, levelled } =
            self;
        let fields =
            [host, relocated, padding, cached, folded, passes, erases, coalesced_pages, trimmed_pages, levelled];
        for field in fields {
            carrier.number(field);
        }
    }
}
