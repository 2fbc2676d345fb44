//! What is sorted: a key, and the value of an attribute where one is needed.

/// A point that is sorted.
pub(super) trait SortedRecord: Copy + Default + Send + Sync + 'static {
    /// Of a point.
    fn new(key: u64, word: u64) -> Self;
    /// What it is sorted by.
    fn key(self) -> u64;
    /// The value of its attribute; 0 if it has none.
    fn word(self) -> u64;
    /// Bytes in a file.
    const BYTES: usize;
    /// Appends those bytes.
    fn write(self, bytes: &mut Vec<u8>);
    /// What so many bytes are.
    fn read(bytes: &[u8]) -> Self;
}

fn number(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |&bytes| u64::from_ne_bytes(bytes))
}

/// A key alone.
impl SortedRecord for u64 {
    #[inline]
    fn new(key: u64, _: u64) -> Self {
        key
    }

    #[inline]
    fn key(self) -> u64 {
        self
    }

    #[inline]
    fn word(self) -> u64 {
        0
    }

    const BYTES: usize = 8;

    fn write(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_ne_bytes());
    }

    fn read(bytes: &[u8]) -> Self {
        number(bytes)
    }
}

/// A key and a value.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct KeyedValue {
    key: u64,
    word: u64,
}

impl SortedRecord for KeyedValue {
    #[inline]
    fn new(key: u64, word: u64) -> Self {
        Self { key, word }
    }

    #[inline]
    fn key(self) -> u64 {
        self.key
    }

    #[inline]
    fn word(self) -> u64 {
        self.word
    }

    const BYTES: usize = 16;

    fn write(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.key.to_ne_bytes());
        bytes.extend(self.word.to_ne_bytes());
    }

    fn read(bytes: &[u8]) -> Self {
        Self { key: number(bytes), word: number(&bytes[8..]) }
    }
}
