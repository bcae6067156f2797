//! Counters and SMART attributes of a solid-state drive.

use hotband_machine::{Counter, Smart};
use hotband_units::Span;

use crate::parts::ftl::{PAGE, UNIT};
use crate::power::time_at;
use crate::ssd::Ssd;

impl Ssd {
    pub(super) fn all_counters(&self) -> Vec<Counter> {
        let (c, f, n) = (&self.counters, self.ftl.counters(), &self.nand.counters);
        let (smart, owed) = (self.smart_attributes(), self.owed());
        let of_table = self.work.mapping.as_ref().map_or(0, |mapping| mapping.background_reads());
        let mut counters = vec![
            ("reads", c.reads),
            ("writes", c.writes),
            ("flushes", c.flushes),
            ("trims", c.trims),
            ("read_bytes", c.read_bytes),
            ("written_bytes", c.written_bytes),
            ("trimmed_bytes", c.trimmed_bytes),
            ("stored_bytes", smart.stored_bytes),
            ("flash_bytes", smart.flash_bytes),
            ("relocated_bytes", smart.relocated_bytes),
            ("metadata_bytes", smart.metadata_bytes),
            ("coalesced_bytes", f.coalesced_pages * PAGE),
            ("buffer_hits", c.buffer_hits + owed.buffer_hits),
            ("unmapped_reads", c.unmapped_reads + owed.unmapped_reads),
            ("flash_page_reads", n.host_page_reads + owed.page_reads),
            ("relocation_page_reads", n.relocation_page_reads - of_table),
            ("erases", f.erases),
            ("wear_levelled_blocks", f.levelled),
            ("suspends", n.suspends),
            ("write_stalls", c.stalls),
            ("faults", c.faults),
            ("command_ns", c.command.0),
            ("busy_ns", (n.die_busy + owed.die_busy).0 / u64::from(self.params.nand.dies)),
        ];
        if let Some(mapping) = &self.work.mapping {
            counters.extend(mapping.counters());
        }
        if self.params.read_ahead.is_some() {
            counters.extend([("read_ahead_hits", c.read_ahead_hits), ("read_ahead_bytes", c.read_ahead_bytes)]);
        }
        if self.params.senses.retries.is_some() {
            counters.push(("retried_reads", self.senses.retried + owed.retried));
        }
        if self.params.ftl.pslc.is_some() {
            counters.extend([("pslc_bytes", f.cached * UNIT), ("folded_bytes", f.folded * UNIT)]);
        }
        counters
    }

    /// Reads: as long as the controller decodes their commands, or the link carries their data; writes: as long as all
    /// that was programmed takes at the drive's program rate.
    pub(super) fn all_activity(&self) -> [Span; 3] {
        let (c, p) = (&self.counters, &self.params);
        let decoded = Span(c.reads * p.command_interval.0);
        let programmed = self.smart_attributes().flash_bytes;
        [decoded, time_at(c.read_bytes, p.link_rate.0), time_at(programmed, p.nand.program_rate.0)]
    }

    pub(super) fn all_levels(&self) -> Vec<Counter> {
        let (mean, most, bad) = self.ftl.wear();
        let mut levels = vec![
            ("free_blocks", u64::from(self.ftl.free_blocks())),
            ("used_bytes", self.ftl.used_pages() * PAGE),
            ("write_buffer_bytes", self.ftl.buffered() as u64 * PAGE),
            ("erases_mean", mean.round() as u64),
            ("erases_max", most),
            ("bad_blocks", bad),
            ("write_protected", u64::from(self.ftl.is_write_protected())),
        ];
        if let Some(mapping) = &self.work.mapping {
            levels.extend(mapping.levels());
        }
        if self.params.ftl.pslc.is_some() {
            levels.extend([("pslc_bytes", self.ftl.cached() * PAGE), ("pslc_size", self.ftl.cache_pages() * PAGE)]);
        }
        levels
    }

    pub(super) fn smart_attributes(&self) -> Smart {
        let f = self.ftl.counters();
        let pass_bytes = self.params.nand.program_bytes;
        let dies = u64::from(self.params.nand.dies);
        let parity = if self.params.parity { f.passes * pass_bytes / (dies - 1) } else { 0 };
        let data = f.passes * pass_bytes + f.cached * UNIT;
        let table = self.work.mapping.as_ref().map_or(0, |mapping| mapping.programmed_bytes());
        let mapping = ((data + parity) as f64 * self.params.mapping_overhead) as u64 + table;
        let (mean, most, bad) = self.ftl.wear();
        Smart {
            host_bytes: self.counters.written_bytes,
            stored_bytes: f.host * UNIT,
            flash_bytes: data + parity + mapping,
            relocated_bytes: f.relocated * UNIT,
            metadata_bytes: f.padding * UNIT + parity + mapping,
            trimmed_bytes: self.counters.trimmed_bytes,
            erases_mean: mean,
            erases_max: most,
            percentage_used: mean / self.params.rated_cycles * 100.0,
            bad_blocks: bad,
            scale: self.params.scale,
        }
    }
}
