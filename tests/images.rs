//! Images and volumes of other programs: what is read of them, and what is refused.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use orthant::prelude::*;
use orthant::tree::{Scale, Source};
use orthant_formats::input::{About, ArrayFile, Endian, InputFault, Remark};

use crate::samples::{self, Bytes, Packed, SIZE};

/// A folder that goes with the test.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("images-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    pub(super) fn put(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    pub(super) fn open(&self, name: &str, bytes: &[u8]) -> ArrayFile {
        open(&self.put(name, bytes)).unwrap_or_else(|error| panic!("{error}"))
    }

    /// What is wrong with a file, without its name.
    pub(super) fn wrong(&self, name: &str, bytes: &[u8]) -> String {
        open(&self.put(name, bytes)).unwrap_err().wrong.to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(super) fn open(path: &Path) -> Result<ArrayFile, orthant_formats::input::InputError> {
    let beside = path.with_extension("room");
    let room = |_| {
        let file = File::options().create(true).truncate(true).read(true).write(true).open(&beside)?;
        fs::remove_file(&beside)?;
        Ok(file)
    };
    ArrayFile::open(path, None, room)
}

/// All cells of an array of three axes.
pub fn cells(file: &ArrayFile) -> Vec<u16> {
    let source = file.source::<3>().unwrap();
    let whole = Region { corner: [0; 3], extent: source.size() };
    let mut bytes = vec![0; whole.volume() as usize * 2];
    source.read(&whole, &mut bytes).unwrap();
    bytes.as_chunks().0.iter().map(|&cell| u16::from_ne_bytes(cell)).collect()
}

fn placed(about: &About) -> bool {
    let axis =
        |axis: &orthant_formats::input::AboutAxis| (axis.unit.clone(), axis.spacing.unwrap(), axis.origin.unwrap());
    about.axes.iter().map(axis).eq([9.75, 19.75, -5.25].map(|origin| (Some("mm".to_owned()), 0.5, origin)))
}

#[test]
fn every_format_is_read() {
    let folder = Folder::new("every");
    for (index, (name, bytes)) in samples::files().into_iter().enumerate() {
        let file = folder.open(name, &bytes);
        assert_eq!(file.layout().size, SIZE, "{name} {index}");
        assert_eq!(cells(&file), (0..24).collect::<Vec<_>>(), "{name} {index}");
        assert_eq!(file.about().remarks, [], "{name} {index}");
        // Others have no place to say it.
        assert!(matches!(name, "a.tif" | "a.h5") || placed(file.about()), "{name} {index}: {:?}", file.about());
        assert_eq!(file.about().directions, None, "{name}");
    }
}

/// Header and cells in files of their own: one, many, some of which are packed.
#[test]
fn cells_beside_a_header_are_found() {
    let folder = Folder::new("beside");
    let all: Vec<u16> = (0..24).collect();
    let little = samples::cells(Endian::Little);
    folder.put("p.img", &little);
    let pair = folder.open("p.hdr", &samples::nifti(1, Endian::Little, false));
    assert_eq!((cells(&pair), pair.others()), (all.clone(), &[folder.0.join("p.img")][..]));
    folder.put("a.raw", &[b"two\nlines\nabc", &little[..], b"end"].concat());
    for (index, half) in little.chunks(24).enumerate() {
        folder.put(&format!("s{:02}.raw", index + 7), half);
        folder.put(&format!("s{}.gz", index + 7), &samples::gzip(half));
    }
    let nrrd = |text: &str| {
        format!("NRRD0004\ntype: unsigned short\ndimension: 3\nsizes: 4 3 2\nendian: little\n{text}\n").into_bytes()
    };
    let skipped = folder.open("a.nhdr", &nrrd("encoding: raw\nline skip: 2\nbyte skip: 3\ndata file: a.raw"));
    assert_eq!((cells(&skipped), &skipped.about().remarks[..]), (all.clone(), &[Remark::After(3)][..]));
    for text in [
        "encoding: raw\ndatafile: s%02d.raw 7 8 1",
        "encoding: gzip\ndata file: s%d.gz 7 8 1 2",
        "encoding: raw\ndata file: LIST\ns07.raw\ns08.raw",
    ] {
        assert_eq!(cells(&folder.open("b.nhdr", &nrrd(text))), all, "{text}");
    }
    let meta = |text: &str| format!("NDims = 3\nDimSize = 4 3 2\nElementType = MET_USHORT\n{text}\n").into_bytes();
    folder.put("b.raw", &[b"header", &little[..]].concat());
    for text in [
        "HeaderSize = -1\nElementDataFile = b.raw",
        "HeaderSize = 6\nElementDataFile = b.raw",
        "ElementDataFile = s%02d.raw 7 8 1",
        "CompressedData = True\nElementDataFile = LIST 2\ns7.gz\ns8.gz",
    ] {
        assert_eq!(cells(&folder.open("a.mhd", &meta(text))), all, "{text}");
    }
    // What is missing is told by its name.
    let lost = open(&folder.put("c.nhdr", &nrrd("encoding: raw\ndata file: lost.raw"))).unwrap_err();
    assert!(lost.path.ends_with("lost.raw") && matches!(lost.wrong, InputFault::Io(_)), "{lost}");
    let alone = folder.wrong("q.hdr", &samples::nifti(1, Endian::Little, false));
    assert!(alone.starts_with("byte 0: a header of cells in another file, and there is no "), "{alone}");
}

/// Cells stay as they are stored; what they stand for is told.
#[test]
fn what_is_scaled_is_said() {
    let folder = Folder::new("scaled");
    let mut file = Bytes(samples::nifti(1, Endian::Little, true), Endian::Little);
    file.float(112, 4, 2.0);
    file.float(116, 4, -0.1);
    let opened = folder.open("a.nii", &file.0);
    let scale = Scale { slope: 2.0, intercept: -0.1 };
    assert_eq!((opened.about().scale, &opened.about().remarks[..]), (Some(scale), &[Remark::Scaled(scale)][..]));
}

/// Both versions of NIfTI say that cells are labels by a code, in either order of bytes.
#[test]
fn what_is_labelled_is_said() {
    let folder = Folder::new("labelled");
    for (version, at, width) in [(1, 68, 2), (2, 504, 4)] {
        for endian in [Endian::Little, Endian::Big] {
            let mut file = Bytes(samples::nifti(version, endian, true), endian);
            assert!(!folder.open("a.nii", &file.0).about().labelled);
            file.put(at, width, 1002);
            assert!(folder.open("a.nii", &file.0).about().labelled, "version {version}, {endian}");
            file.put(at, width, 1001);
            assert!(!folder.open("a.nii", &file.0).about().labelled);
        }
    }
}

/// Where an axis of NRRD begins and ends is spacing and origin, and its labels are as its cells are, below 0 too.
#[test]
fn axes_and_labels_of_nrrd_are_as_its_cells_are() {
    let folder = Folder::new("nrrd");
    let opened = |kind: &str, text: &str| {
        let header =
            format!("NRRD0004\ntype: {kind}\ndimension: 2\nsizes: 4 3\nencoding: raw\nendian: little\n{text}\n\n");
        folder.open("a.nrrd", &[header.as_bytes(), &[0; 24]].concat()).about().clone()
    };
    let about = opened("short", "axis mins: 10 -1\naxis maxs: 12 1\ncenters: cell node");
    assert_eq!(about.window([4, 3]), Some([[10.0, 12.0], [-1.5, 1.5]]));
    let about = opened("short", "axis mins: 10 -1\naxis maxs: nan 1\nspacings: 2 nan");
    assert_eq!(about.window([4, 3]), Some([[10.0, 18.0], [0.0, 3.0]]));
    let segments = ["-1", "3", "-32768", "32768", "x"].iter().enumerate();
    let text: Vec<String> = segments.map(|(number, value)| format!("Segment{number}_LabelValue:={value}")).collect();
    let about = opened("short", &text.join("\n"));
    let words: Vec<u64> = about.labels.iter().map(|label| label.word).collect();
    assert_eq!((words, &about.remarks[..]), (vec![0x8000, 0xffff, 3], &[Remark::OtherLabels(2)][..]));
    let about = opened("ushort", &text.join("\n"));
    assert_eq!(about.labels.iter().map(|label| label.word).collect::<Vec<_>>(), [3, 32768]);
}

#[test]
fn what_cannot_be_read_is_told_where_it_stands() {
    let folder = Folder::new("refused");
    let changed = |at: usize, width: usize, number: i64| {
        let mut file = Bytes(samples::nifti(1, Endian::Big, true), Endian::Big);
        file.put(at, width, number);
        folder.wrong("a.nii", &file.0)
    };
    for (at, width, number, says) in [
        (0, 4, 349, "byte 0: no header of NIfTI"),
        (344, 4, 0, "byte 344: no magic of NIfTI; headers of ANALYZE"),
        (40, 2, 8, "byte 40: dim[0] '8': between 1 and 7 axes can be"),
        (44, 2, -3, "byte 44: dim[2] '-3': between 1 and 4294967295 cells"),
        (44, 2, 4, "byte 352: 48 bytes of cells, and the shape needs 64"),
        (70, 2, 128, "byte 70: datatype '128': RGB24; cells of one integer or float"),
        (70, 2, 32, "byte 70: datatype '32': complex64; "),
        (70, 2, 77, "byte 70: datatype '77': unknown; "),
        (108, 4, 0, "byte 108: vox_offset '0': cells begin at a whole byte, from 352 on"),
    ] {
        let found = changed(at, width, number);
        assert!(found.starts_with(says), "{at}: {found}");
    }
    assert_eq!(
        folder.wrong("a.nii", &samples::nifti(2, Endian::Big, true)[..400]),
        "byte 0: a header of 540 bytes, in a file of 400"
    );
    let cut = samples::gzip(&samples::nifti(1, Endian::Big, true));
    assert_eq!(
        folder.wrong("a.nii.gz", &cut[..cut.len() - 3]),
        "byte 0: what is packed from here on is damaged, or has not the 400 bytes that the header says"
    );
    let nrrd = |from: &str, to: &str| {
        let text = String::from_utf8(samples::nrrd("raw", Endian::Big)).unwrap();
        assert!(text.contains(from), "{from}");
        folder.wrong("a.nrrd", text.replacen(from, to, 1).as_bytes())
    };
    for (from, to, says) in [
        ("NRRD0005", "NRRD0009", "line 1: version 'NRRD0009': NRRD0001 to NRRD0005 can be read"),
        ("ushort", "block", "line 3: type 'block': integers of 8 to 64 bits"),
        ("dimension: 3", "dimension: 9", "line 4: dimension '9': between 1 and 8 axes can be"),
        ("4 3 2", "4 3", "line 5: sizes '4 3': 3 whole numbers"),
        ("4 3 2", "4 3 0", "line 5: sizes '4 3 0': between 1 and 4294967295 cells"),
        ("4 3 2", "4 4294967296 2", "line 5: sizes '4 4294967296 2': 3 whole numbers"),
        ("4 3 2", "4 3 3", "byte 218: 48 bytes of cells, and the shape needs 72"),
        ("encoding: raw", "encoding: bzip2", "line 6: encoding 'bzip2': cells that are raw or packed by gzip"),
        ("endian: big", "endian: middle", "line 7: endian 'middle': little or big"),
        ("endian: big\n", "", "the header says nothing of endian"),
        ("(0,0,0.5)", "(0,0,x)", "line 8: space directions '(0.5,0,0) (0,0.5,0) (0,0,x)': vectors such as (1,0,0)"),
        ("key:=value", "sizes: 4 3 2", "line 12: sizes ' 4 3 2': it comes twice"),
        ("key:=value", "nothing", "line 12: neither 'field: what it says' nor 'key:=value'"),
        ("key:=value", "line skip: 9", "line 3: the file ends within the lines that are skipped"),
        (
            "key:=value",
            "data file: a%db%d.raw 1 2 1",
            "line 12: data file 'a%db%d.raw 1 2 1': a pattern has one number",
        ),
        (
            "key:=value",
            "data file: a%d.raw 1 999999 1",
            "line 12: data file 'a%d.raw 1 999999 1': between 1 and 65536 files",
        ),
    ] {
        let found = nrrd(from, to);
        assert!(found.starts_with(says), "{to}: {found}");
    }
    let meta = |from: &str, to: &str| {
        let text = String::from_utf8(samples::metaimage(false, Endian::Big)).unwrap();
        assert!(text.contains(from), "{from}");
        folder.wrong("a.mha", text.replacen(from, to, 1).as_bytes())
    };
    for (from, to, says) in [
        ("= Image", "= Tube", "line 1: ObjectType 'Tube': an Image can be read"),
        ("BinaryData = True", "BinaryData = False", "line 3: BinaryData 'False': cells as text"),
        ("MSB = True", "MSB = Maybe", "line 4: BinaryDataByteOrderMSB 'Maybe': True or False"),
        ("MET_USHORT", "MET_USHORT_ARRAY", "line 11: ElementType 'MET_USHORT_ARRAY': MET_CHAR, "),
        ("DimSize = 4", "DimSize = 40", "byte 268: 48 bytes of cells, and the shape needs 480"),
        (
            "DistanceUnits = mm",
            "ElementNumberOfChannels = 3",
            "line 9: ElementNumberOfChannels '3': cells of one value",
        ),
        ("ElementDataFile = LOCAL\n", "", "line 12: not MetaImage"),
        ("Offset = 10 20", "Offset = 10", "line 7: Offset '10 -5': 3 numbers are needed"),
    ] {
        let found = meta(from, to);
        assert!(found.starts_with(says), "{to}: {found}");
    }
    assert_eq!(folder.wrong("b.mha", b"ObjectType = Image\nNDims = 3\n"), "the header says nothing of ElementDataFile");
    let tiff = |tag: u16, value: u32| {
        let mut file = samples::tiff(false, Endian::Little, Packed::Deflate, false);
        let at = file.windows(4).position(|four| four == [tag.to_le_bytes(), 4u16.to_le_bytes()].concat()).unwrap();
        file[at + 8..at + 12].copy_from_slice(&value.to_le_bytes());
        folder.wrong("a.tif", &file)
    };
    for (tag, value, says) in [
        (256, 0, "ImageWidth '0': between 1 and"),
        (256, 5, "a page of 4x3 u16, after pages of 5x3 u16; only pages of one size"),
        (258, 12, "BitsPerSample '12': integers of 8, 16, 32 or 64 bits"),
        (259, 7, "Compression '7': JPEG; none, LZW, Deflate"),
        (277, 3, "SamplesPerPixel '3': cells of one value can be read; write each channel to a page of its own"),
        (278, 1, "StripOffsets '2': 3 numbers are needed"),
    ] {
        let found = tiff(tag, value);
        assert!(found.starts_with("byte ") && found.contains(says), "{tag}: {found}");
    }
    assert_eq!(folder.wrong("a.tif", b"II"), "byte 0: the file ends before what should be here");
    assert_eq!(folder.wrong("a.tif", b"GIF89a"), "byte 0: not TIFF, which begins with II or MM");
    let unknown = open(&folder.put("a.dcm", b"")).unwrap_err().to_string();
    assert!(unknown.contains("a.dcm: none of the formats that are known; they are .npy, .npz, .nii, "), "{unknown}");
}

/// Names that mean the same, sizes of cells that are their spacing, and headers within headers.
#[test]
fn fields_of_metaimage_that_mean_the_same_agree() {
    let folder = Folder::new("same");
    let with = |from: &str, to: &str| {
        let text = String::from_utf8(samples::metaimage(false, Endian::Little)).unwrap();
        assert!(text.contains(from), "{from}");
        folder.put("a.mha", text.replacen(from, to, 1).as_bytes())
    };
    for (from, to) in [
        ("ElementSpacing", "ElementSize"),
        ("ElementSpacing", "ElementSize = 9 9 9\nElementSpacing"),
        ("Offset = 10 20 -5\n", "Offset = 10 20 -5\nPosition = 10.0 20 -5\nOrigin = 10 20 -5\n"),
        ("DimSize", "HeaderSize = 0\nDimSize"),
    ] {
        assert!(placed(open(&with(from, to)).unwrap().about()), "{to}");
    }
    for (from, to, says) in [
        (
            "DimSize",
            "Position = 1 2 3\nDimSize",
            "line 10: Position '1 2 3': Offset means the same and says '10 20 -5'",
        ),
        ("Offset = 10 20 -5\n", "Origin = 1\n", "line 7: Origin '1': 3 numbers are needed"),
        ("DimSize", "Offset = 10 20 -5\nDimSize", "line 10: Offset '10 20 -5': it comes twice"),
        ("DimSize", "HeaderSize = 9\nDimSize", "line 10: HeaderSize '9': cells follow the header itself: 0 or -1"),
    ] {
        let wrong = open(&with(from, to)).unwrap_err().wrong.to_string();
        assert!(wrong.starts_with(says), "{to}: {wrong}");
    }
}

/// Members of gzip follow each other, and NULs the last one.
#[test]
fn nuls_after_gzip_are_its_end() {
    let folder = Folder::new("nuls");
    let whole = samples::nifti(1, Endian::Little, true);
    let (first, second) = whole.split_at(360);
    let members = [samples::gzip(first), samples::gzip(second)];
    for nuls in [0, 1, 100_000] {
        let file = folder.open("a.nii.gz", &[members.concat(), vec![0; nuls]].concat());
        assert_eq!((cells(&file), &file.about().remarks[..]), ((0..24).collect(), &[][..]), "{nuls}");
    }
    let wrong = folder.wrong("a.nii.gz", &[&members.concat()[..], b"\0\0x"].concat());
    assert!(wrong.starts_with("byte 0: what is packed from here on is damaged"), "{wrong}");
}

#[test]
fn names_of_files_have_no_control_characters() {
    let folder = Folder::new("names");
    for (name, shown) in [("a\0b.raw", "a\\0b.raw"), ("LIST\na\tb.raw", "a\\tb.raw"), ("a\u{7f}%d 1 2 1", "a\\u{7f}1")]
    {
        let text = format!("NDims = 1\nDimSize = 4\nElementType = MET_UCHAR\nElementDataFile = {name}\n");
        assert_eq!(
            folder.wrong("a.mhd", text.as_bytes()),
            format!("line 4: ElementDataFile '{shown}': a file's name without control characters is needed")
        );
    }
}

/// Nobody makes room for cells that a few packed bytes cannot be.
#[test]
fn no_room_is_made_on_the_word_of_a_header() {
    let folder = Folder::new("word");
    let mut file = Bytes(samples::nifti(1, Endian::Little, true), Endian::Little);
    [42, 44, 46].into_iter().for_each(|at| file.put(at, 2, 32_767));
    let path = folder.put("a.nii.gz", &samples::gzip(&file.0));
    let wrong = ArrayFile::open(&path, None, |_| panic!("room is made")).unwrap_err().wrong.to_string();
    assert_eq!(
        wrong,
        "byte 0: what is packed from here on is damaged, or has not the 70362301923678 bytes that the header says"
    );
}
