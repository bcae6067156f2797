//! Contents of drives, as bytes: copied from one machine to another that was built the same.

/// Carries state out of parts or into them. Both ways walk the same fields, so that none is forgotten on one of them.
pub enum Carrier<'a> {
    /// Out of the parts.
    Out(&'a mut Vec<u8>),
    /// Into the parts.
    In(&'a [u8]),
    /// Into the parts, after they rejected the bytes.
    Refused,
}

impl<'a> Carrier<'a> {
    /// Whether parts took all of the bytes.
    pub fn is_taken(&self) -> bool {
        matches!(self, Self::In([]))
    }

    /// Stops, because bytes do not come from parts that were built the same.
    pub fn refuse(&mut self) {
        *self = Self::Refused;
    }

    /// The next bytes that are carried in; none if there are too few, which refuses all that follow.
    fn next(&mut self, count: usize) -> Option<&'a [u8]> {
        let Self::In(rest) = self else { return None };
        let Some((here, later)) = rest.split_at_checked(count) else {
            self.refuse();
            return None;
        };
        *rest = later;
        Some(here)
    }

    /// Bytes of a length that is the same on both sides.
    pub fn bytes(&mut self, field: &mut [u8]) {
        if let Self::Out(out) = self {
            out.extend_from_slice(field);
        } else if let Some(here) = self.next(field.len()) {
            field.copy_from_slice(here);
        }
    }

    /// A number.
    pub fn number(&mut self, field: &mut u64) {
        let mut bytes = field.to_le_bytes();
        self.bytes(&mut bytes);
        *field = u64::from_le_bytes(bytes);
    }

    /// A number of 32 bits.
    pub fn word(&mut self, field: &mut u32) {
        let mut bytes = field.to_le_bytes();
        self.bytes(&mut bytes);
        *field = u32::from_le_bytes(bytes);
    }

    /// A number that counts places in memory.
    pub fn index(&mut self, field: &mut usize) {
        let mut number = *field as u64;
        self.number(&mut number);
        *field = number as usize;
    }

    /// A floating-point number, bit for bit.
    pub fn float(&mut self, field: &mut f64) {
        let mut bits = field.to_bits();
        self.number(&mut bits);
        *field = f64::from_bits(bits);
    }

    /// A flag.
    pub fn flag(&mut self, field: &mut bool) {
        let mut word = u32::from(*field);
        self.word(&mut word);
        *field = word != 0;
    }

    /// Numbers of 32 bits, however many there are.
    pub fn words(&mut self, field: &mut Vec<u32>) {
        let mut count = field.len();
        self.index(&mut count);
        if let Self::Out(out) = self {
            let from = out.len();
            out.resize(from + 4 * count, 0);
            let bytes = out[from..].as_chunks_mut::<4>().0;
            bytes.iter_mut().zip(field).for_each(|(bytes, word)| *bytes = word.to_le_bytes());
        } else if let Some(here) = self.next(count.saturating_mul(4)) {
            *field = here.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        }
    }

    /// Carries pairs of 32-bit numbers, of any count; returns the pairs.
    pub fn pairs(&mut self, pairs: impl Iterator<Item = (u32, u32)>) -> Vec<(u32, u32)> {
        let mut words: Vec<u32> = pairs.flat_map(|(first, second)| [first, second]).collect();
        self.words(&mut words);
        words.as_chunks::<2>().0.iter().map(|[first, second]| (*first, *second)).collect()
    }
}
