//! Models of a drive at a fraction of its size, of which it takes over the contents after uniform writes.

use hotband_machine::{Carrier, Drive};

use super::Ssd;
use super::params::SsdParams;
use crate::parts::ftl::{Ftl, PAGE};

impl SsdParams {
    /// Parameters of the largest model of at most `most` bytes, or else of the smallest; none if the drive is not larger,
    /// or has none. Blocks of a model have a pass on each die at least.
    pub fn model(&self, most: u64) -> Option<Self> {
        let stripe = (self.nand.dies - u32::from(self.parity)) * self.ftl.program_units;
        let passes = self.ftl.block_units / stripe;
        let least = self.capacity.div_ceil(most.max(1));
        let divides = |times: &u32| passes.is_multiple_of(*times);
        let times = (2..=passes).filter(divides).find(|times| u64::from(*times) >= least).unwrap_or(passes);
        let ftl = self.ftl.model(times, self.unit_pages).filter(|_| least > 1 && times > 1)?;
        Some(Self { capacity: ftl.pages * PAGE, ftl, ..self.clone() })
    }
}

impl Ssd {
    /// Takes over the contents of a model of this drive.
    pub(super) fn take_enlarged(&mut self, model: &mut dyn Drive) {
        let times = self.params.capacity / model.capacity().0;
        let params = self.params.ftl.model(times as u32, self.params.unit_pages).expect("a drive with a model");
        let (mut contents, mut ftl) = (Vec::new(), Ftl::new(params));
        model.carry_contents(&mut Carrier::Out(&mut contents));
        let mut carrier = Carrier::In(&contents);
        ftl.carry(&mut carrier);
        self.ftl.enlarge(&ftl);
        self.compression.carry(&mut carrier);
        self.counters.carry_contents(&mut carrier);
        self.counters.written_bytes *= times;
        self.counters.trimmed_bytes *= times;
        self.counters.faults *= times;
    }
}
