//! The cells of a page: chunks are unpacked, predictions taken back, and tiles put side by side.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};

use flate2::read::ZlibDecoder;
use weezl::{BitOrder, LzwStatus};

use crate::input::error::{FilePlace, InputFault};
use crate::input::reader::FilePart;
use crate::input::tiff::directory::{Compression, Page, Predictor};
use orthant::Endian;
use orthant::disk::File;

/// The most bytes that are unpacked before they are written: a row of cells, or those of a row of tiles.
const TOGETHER: u128 = 1 << 30;

impl Page {
    /// Writes its cells row by row, in the file's order of bytes.
    pub(in crate::input) fn write(&self, file: &File, endian: Endian, out: &mut dyn Write) -> Result<(), InputFault> {
        let across = self.size[0].div_ceil(self.chunk[0]) as usize;
        let width = self.kind.bytes();
        let row = u128::from(self.size[0]) * u128::from(width);
        // One strip after the other has its rows in order; tiles are put side by side first.
        let together = if across == 1 { 1 } else { self.chunk[1].min(self.size[1]) };
        let bytes = row * u128::from(together);
        if bytes > TOGETHER {
            let allowed = format!("{bytes} bytes are unpacked together; at most {TOGETHER} can be");
            let (name, value) = if across == 1 { ("ImageWidth", self.size[0]) } else { ("TileLength", self.chunk[1]) };
            return Err(InputFault::field(FilePlace::Byte(self.at), name, value, allowed));
        }
        let row = row as usize;
        // Pages of zeros are none until something is written there.
        let mut held = vec![0; bytes as usize];
        for (band, chunks) in self.chunks.chunks(across).enumerate() {
            let rows = self.chunk[1].min(self.size[1] - band as u32 * self.chunk[1]) as usize;
            for (index, &(offset, bytes)) in chunks.iter().enumerate() {
                let mut reader = self.unpacked(file, offset, bytes)?;
                let damaged = |error: io::Error| match error.kind() {
                    ErrorKind::InvalidData | ErrorKind::InvalidInput | ErrorKind::UnexpectedEof | ErrorKind::Other => {
                        let what = "a chunk of cells that is damaged, or is shorter than its page says".into();
                        InputFault::Damaged { at: FilePlace::Byte(offset), what }
                    }
                    _ => error.into(),
                };
                let first = index as u32 * self.chunk[0];
                // Tiles reach over the edge.
                let end = first.saturating_add(self.chunk[0]).min(self.size[0]);
                let columns = (u64::from(first) * width) as usize..(u64::from(end) * width) as usize;
                for line in 0..rows {
                    let line = if across == 1 { &mut held[..] } else { &mut held[line * row..][..row] };
                    self.row(&mut reader, endian, &mut line[columns.clone()]).map_err(damaged)?;
                    if across == 1 {
                        out.write_all(&held)?;
                    }
                }
                self.end(&mut reader, rows).map_err(damaged)?;
            }
            if across > 1 {
                out.write_all(&held[..rows * row])?;
            }
        }
        Ok(())
    }

    /// Looks at what lies behind so many rows of a chunk, if that tells damage. A last strip may be as high as the others.
    fn end(&self, reader: &mut dyn Read, rows: usize) -> io::Result<()> {
        if self.compression != Compression::Deflate {
            return Ok(());
        }
        // The checksum comes behind the last byte.
        let rest = u64::from(self.chunk[1]).saturating_sub(rows as u64);
        let row = u64::from(self.chunk[0]) * self.kind.bytes();
        io::copy(&mut reader.take(rest.saturating_mul(row).saturating_add(1)), &mut io::sink()).map(drop)
    }

    /// The bytes of a chunk as they were before they were packed.
    fn unpacked<'f>(&self, file: &'f File, offset: u64, bytes: u64) -> Result<Box<dyn Read + 'f>, InputFault> {
        let packed = BufReader::new(FilePart::new(file, offset, bytes));
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

    /// The first cells of the next row of a chunk, as many as there is room for; the rest goes by.
    fn row(&self, reader: &mut dyn Read, endian: Endian, row: &mut [u8]) -> io::Result<()> {
        let width = self.kind.bytes() as usize;
        let cells = row.len() / width;
        let beyond = u64::from(self.chunk[0]) - cells as u64;
        if self.predictor == Predictor::Floats {
            // All highest bytes come first, and each is a difference from the one before.
            let (mut sum, mut bytes) = (0u8, vec![0; cells]);
            for byte in 0..width {
                let place = if endian == Endian::Big { byte } else { width - 1 - byte };
                reader.read_exact(&mut bytes)?;
                for (cell, difference) in row.chunks_exact_mut(width).zip(&bytes) {
                    sum = sum.wrapping_add(*difference);
                    cell[place] = sum;
                }
                pass(reader, beyond, |bytes| sum = bytes.iter().fold(sum, |sum, byte| sum.wrapping_add(*byte)))?;
            }
            return Ok(());
        }
        reader.read_exact(row)?;
        pass(reader, beyond * width as u64, |_| ())?;
        match (self.predictor, width) {
            (Predictor::Nothing | Predictor::Floats, _) => {}
            (Predictor::Differences, 1) => add_up::<1>(row, endian),
            (Predictor::Differences, 2) => add_up::<2>(row, endian),
            (Predictor::Differences, 4) => add_up::<4>(row, endian),
            (Predictor::Differences, _) => add_up::<8>(row, endian),
        }
        Ok(())
    }
}

/// Reads so many bytes a few at a time, each of which is looked at once.
fn pass(reader: &mut dyn Read, mut bytes: u64, mut each: impl FnMut(&[u8])) -> io::Result<()> {
    let mut few = [0; 4096];
    while bytes > 0 {
        let few = &mut few[..bytes.min(4096) as usize];
        reader.read_exact(few)?;
        each(few);
        bytes -= few.len() as u64;
    }
    Ok(())
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
