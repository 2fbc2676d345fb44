//! The cells of a page: chunks are unpacked, predictions taken back, and tiles put side by side.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};

use flate2::read::ZlibDecoder;
use weezl::{BitOrder, LzwStatus};

use crate::input::error::{FilePlace, Wrong};
use crate::input::layout::Endian;
use crate::input::tiff::directory::{Compression, Page, Predictor};

impl Page {
    /// Writes its cells row by row, in the file's order of bytes.
    pub(in crate::input) fn write(&self, file: &File, endian: Endian, out: &mut dyn Write) -> Result<(), Wrong> {
        let across = self.size[0].div_ceil(self.chunk[0]) as usize;
        for (band, chunks) in self.chunks.chunks(across).enumerate() {
            let rows = self.chunk[1].min(self.size[1] - band as u32 * self.chunk[1]);
            let mut readers = Vec::new();
            for &(offset, bytes) in chunks {
                readers.push((self.unpacked(file, offset, bytes)?, offset));
            }
            for _ in 0..rows {
                for (index, (reader, offset)) in readers.iter_mut().enumerate() {
                    let row = self.row(reader, endian).map_err(|error| match error.kind() {
                        ErrorKind::InvalidData
                        | ErrorKind::InvalidInput
                        | ErrorKind::UnexpectedEof
                        | ErrorKind::Other => {
                            let what = "a chunk of cells that is damaged, or is shorter than its page says".into();
                            Wrong::Damaged { at: FilePlace::Byte(*offset), what }
                        }
                        _ => Wrong::Io(error),
                    })?;
                    // Tiles reach over the edge.
                    let cells = self.chunk[0].min(self.size[0] - index as u32 * self.chunk[0]);
                    out.write_all(&row[..(u64::from(cells) * self.kind.bytes()) as usize])?;
                }
            }
        }
        Ok(())
    }

    /// The bytes of a chunk as they were before they were packed.
    fn unpacked<'f>(&self, file: &'f File, offset: u64, bytes: u64) -> Result<Box<dyn Read + 'f>, Wrong> {
        let packed = BufReader::new(FilePart { file, at: offset, left: bytes });
        Ok(match self.compression {
            Compression::Nothing => Box::new(packed),
            Compression::Deflate => Box::new(ZlibDecoder::new(packed)),
            Compression::Zstandard => Box::new(zstd::stream::read::Decoder::with_buffer(packed)?),
            Compression::PackBits => Box::new(PackBits { from: packed, left: 0, repeated: None }),
            Compression::Lzw => {
                Box::new(Lzw { from: packed, decoder: weezl::decode::Decoder::with_tiff_size_switch(BitOrder::Msb, 8) })
            }
        })
    }

    /// The next row of a chunk. Memory grows with what comes.
    fn row(&self, reader: &mut dyn Read, endian: Endian) -> io::Result<Vec<u8>> {
        let width = self.kind.bytes() as usize;
        let bytes = u64::from(self.chunk[0]) * width as u64;
        let mut row = Vec::new();
        if reader.take(bytes).read_to_end(&mut row)? as u64 != bytes {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        match self.predictor {
            Predictor::Nothing => {}
            Predictor::Differences => match width {
                1 => add_up::<1>(&mut row, endian),
                2 => add_up::<2>(&mut row, endian),
                4 => add_up::<4>(&mut row, endian),
                _ => add_up::<8>(&mut row, endian),
            },
            Predictor::Floats => {
                add_up::<1>(&mut row, endian);
                // All highest bytes come first.
                let cells = row.len() / width;
                let place = |cell: usize, byte: usize| match endian {
                    Endian::Big => cell * width + byte,
                    Endian::Little => cell * width + width - 1 - byte,
                };
                let mut floats = vec![0; row.len()];
                for byte in 0..width {
                    for cell in 0..cells {
                        floats[place(cell, byte)] = row[byte * cells + cell];
                    }
                }
                row = floats;
            }
        }
        Ok(row)
    }
}

/// Makes numbers of differences, in place.
fn add_up<const W: usize>(row: &mut [u8], endian: Endian) {
    let number = |bytes: [u8; W]| {
        let digit = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        match endian {
            Endian::Little => bytes.iter().rev().fold(0, digit),
            Endian::Big => bytes.iter().fold(0, digit),
        }
    };
    let mut sum = 0u64;
    for cell in row.as_chunks_mut::<W>().0 {
        sum = sum.wrapping_add(number(*cell));
        *cell = match endian {
            Endian::Little => *sum.to_le_bytes().first_chunk().expect("at most eight"),
            Endian::Big => *sum.to_be_bytes().last_chunk().expect("at most eight"),
        };
    }
}

/// A part of a file, whatever others read of it meanwhile.
struct FilePart<'f> {
    file: &'f File,
    at: u64,
    left: u64,
}

impl Read for FilePart<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = self.left.min(buffer.len() as u64) as usize;
        self.file.seek(SeekFrom::Start(self.at))?;
        let read = self.file.read(&mut buffer[..most])?;
        (self.at, self.left) = (self.at + read as u64, self.left - read as u64);
        Ok(read)
    }
}

/// Runs: n from 0 to 127, and n + 1 bytes as they are; from -127 to -1, and a byte 1 - n times.
struct PackBits<R> {
    from: R,
    left: usize,
    /// Of a run that is one.
    repeated: Option<u8>,
}

impl<R: Read> PackBits<R> {
    /// None at the end.
    fn byte(&mut self) -> io::Result<Option<u8>> {
        let mut byte = [0];
        Ok((self.from.read(&mut byte)? == 1).then_some(byte[0]))
    }
}

impl<R: Read> Read for PackBits<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.left == 0 {
            match self.byte()?.map(u8::cast_signed) {
                None => return Ok(0),
                Some(-128) => {}
                Some(n @ 0..) => (self.left, self.repeated) = (n as usize + 1, None),
                Some(n) => {
                    let byte = self.byte()?.ok_or(ErrorKind::UnexpectedEof)?;
                    (self.left, self.repeated) = (usize::from(n.unsigned_abs()) + 1, Some(byte));
                }
            }
        }
        let most = self.left.min(buffer.len());
        let read = match self.repeated {
            Some(byte) => {
                buffer[..most].fill(byte);
                most
            }
            None => self.from.read(&mut buffer[..most])?,
        };
        // A run that its end cuts off.
        self.left = if read == 0 && most > 0 { 0 } else { self.left - read };
        Ok(read)
    }
}

/// LZW as TIFF has it.
struct Lzw<R> {
    from: R,
    decoder: weezl::decode::Decoder,
}

impl<R: BufRead> Read for Lzw<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let packed = self.from.fill_buf()?;
            let result = self.decoder.decode_bytes(packed, buffer);
            let ended = packed.is_empty();
            self.from.consume(result.consumed_in);
            match result.status {
                _ if result.consumed_out > 0 || buffer.is_empty() => return Ok(result.consumed_out),
                Ok(LzwStatus::Done) => return Ok(0),
                Ok(LzwStatus::NoProgress) if ended => return Ok(0),
                Ok(_) => {}
                Err(_) => return Err(ErrorKind::InvalidData.into()),
            }
        }
    }
}
