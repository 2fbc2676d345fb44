//! Zarr of versions 2 and 3, as other programs write it: an array, `x.zarr::/group/array`, or the only one; of an image in several sizes
//! (OME-Zarr) the largest.
//!
//! [`orthant::zarr`] writes and checks one kind of store, of which it knows every byte. This reads what others make: metadata is JSON of
//! which unknown parts are refused by name, and chunks are unpacked within bounds that follow from what is known already.

mod blosc;
mod chunks;
mod codec;
mod header;
mod image;
mod name;
mod node;
mod unpack_error;
mod word;

use std::fs::File;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::input::described::{Described, Located};
use crate::input::error::{InputError, InputFault};
use crate::input::format::{Access, Format};
use crate::input::layout::Layout;
use crate::input::members::{FileState, Members};
use crate::input::zarr::chunks::Chunks;
use crate::input::zarr::header::ArrayHeader;
use crate::input::zarr::image::OmeImage;
use crate::input::zarr::node::{ZarrNode, inside, of_store};
use orthant::CellType;
use orthant::tree::{About, Remark};
use orthant::zarr::ZarrStore;
use orthant::{Endian, IndexOrder};

pub(super) const FORMAT: Format =
    Format { name: "Zarr", extensions: &["zarr", "zarr.zip"], part: Some("::"), folder: is_node, describe };

/// The most groups and arrays that are looked through for the only one, and how deep they lie.
const MOST: usize = 10_000;
const DEEPEST: usize = 32;

/// The most cells of an axis whose coordinates are looked at.
const LONGEST: u64 = 1 << 22;

/// True of a folder within a store.
fn is_node(folder: &Path) -> bool {
    ["zarr.json", ".zarray", ".zgroup"].iter().any(|name| folder.join(name).is_file())
}

/// An array that was found, and the image of which it is a size.
struct FoundArray {
    name: String,
    document: ZarrNode,
    image: Option<OmeImage>,
    /// The metadata that it was found by, and what its files were when they were read.
    files: Vec<(PathBuf, FileState)>,
}

fn describe(path: &Path, part: Option<&str>, _: Access) -> Result<Described, InputError> {
    let (path, part) = in_group(path, part)?;
    let wrong = |wrong| InputError { path: path.to_owned(), wrong };
    let store = ZarrStore::rewritten(path).map_err(of_store)?;
    let unknown = |name: &str| InputFault::Other(format!("{name}: no name of an array in a store"));
    let part = part.map(|part| name::tidy(part).ok_or_else(|| wrong(unknown(part)))).transpose()?;
    let FoundArray { name, document, image, files: headers } =
        find(&store, part.as_deref().unwrap_or_default(), part.is_some())?;
    let header = ArrayHeader::of(&document)?;
    let size = header.shape.iter().rev().map(|&n| n as u32).collect();
    let layout = Layout { kind: header.kind, size, order: IndexOrder::C, endian: Endian::HERE, offset: 0 };
    let bytes = layout.bytes().map_err(wrong)?;
    let mut about = about(&store, &name, &document, &header);
    if let Some(image) = image {
        image.tell(&mut about);
        if !header.kind.is_float() {
            image.label(header.kind, &mut about);
        }
    }
    let chunks = Chunks::of(store, name, header)?;
    let files = Members { headers, chunks: chunks.files(), ..Members::default() };
    let write = move |out: &mut File| chunks.write(out);
    Ok(Described { layout, cells: Located::Scattered { bytes, write: Box::new(write) }, about, files })
}

/// A folder that is an array within a store as the group around it and its name there: what lies beside it says where its axes are.
fn in_group<'p>(path: &'p Path, part: Option<&'p str>) -> Result<(&'p Path, Option<&'p str>), InputError> {
    let own = path.file_name().and_then(|name| name.to_str()).filter(|name| name::tidy(name).as_deref() == Some(*name));
    let (Some(group), Some(own), None) = (path.parent(), own, part) else { return Ok((path, part)) };
    let group = if group.as_os_str().is_empty() { Path::new(".") } else { group };
    let within = is_node(path) && is_node(group);
    let array =
        within && ZarrNode::read(&ZarrStore::rewritten(path).map_err(of_store)?, "")?.is_some_and(|node| node.array);
    Ok(if array { (group, Some(own)) } else { (path, part) })
}

/// The array of that name, or the only one below it.
fn find(store: &ZarrStore, name: &str, named: bool) -> Result<FoundArray, InputError> {
    let wrong = |wrong| InputError { path: store.path().to_owned(), wrong };
    match ZarrNode::read(store, name)? {
        Some(document) if document.array => {
            let (folder, own) = name::split(name);
            let group = if name.is_empty() { None } else { ZarrNode::read(store, folder)? };
            let files = group.iter().flat_map(|group| &group.files).chain(&document.files).cloned().collect();
            let image = group.map(|group| OmeImage::of(&group, folder, Some(own))).transpose()?.flatten();
            Ok(FoundArray { name: name.to_owned(), document, image, files })
        }
        Some(group) => match OmeImage::of(&group, name, None)? {
            Some(image) => of_image(store, &group, image),
            None if group.attributes.contains_key("orthant_tree") => Err(wrong(InputFault::Tree)),
            None => only(store, name),
        },
        None if named => {
            let names: Vec<_> = all(store, "")?.found.into_iter().map(|name| format!("/{name}")).collect();
            if names.is_empty() {
                let alone = ZarrNode::read(store, "")?.is_some_and(|node| node.array);
                let why = if alone { "it is one array itself" } else { "no array of numbers is in it" };
                return Err(wrong(InputFault::Other(format!("there is no /{name}: {why}"))));
            }
            let (members, wanted) = (names.len(), Some(format!("/{name}")));
            Err(wrong(InputFault::Member { wanted, members, names: names.into_iter().take(20).collect() }))
        }
        None => match only(store, name) {
            Err(InputError { wrong: InputFault::Other(_), .. }) => {
                let what = "no Zarr: neither zarr.json nor .zarray nor .zgroup is in it";
                Err(wrong(InputFault::Other(what.into())))
            }
            found => found,
        },
    }
}

/// A size of an image.
fn of_image(store: &ZarrStore, group: &ZarrNode, image: OmeImage) -> Result<FoundArray, InputError> {
    let name = image.name.clone();
    match ZarrNode::read(store, &name)? {
        Some(document) if document.array => {
            let files = group.files.iter().chain(&document.files).cloned().collect();
            Ok(FoundArray { name, document, image: Some(image), files })
        }
        _ => Err(group.wrong("path", Some(&Value::from(name)), "no array is there")),
    }
}

/// The only array of numbers, or image, below a name, that is no axis of another.
fn only(store: &ZarrStore, name: &str) -> Result<FoundArray, InputError> {
    let Arrays { found, other } = all(store, name)?;
    match &found[..] {
        [name] => find(store, name, true),
        [] => Err(other.unwrap_or_else(|| InputError {
            path: store.path().to_owned(),
            wrong: InputFault::Other("no array of numbers in it".into()),
        })),
        _ => {
            let names = found.iter().take(20).map(|name| format!("/{name}")).collect();
            let wrong = InputFault::Member { wanted: None, members: found.len(), names };
            Err(InputError { path: store.path().to_owned(), wrong })
        }
    }
}

/// Names of arrays and images, the least deep first.
struct Arrays {
    found: Vec<String>,
    /// What is wrong with the first array that cannot be read.
    other: Option<InputError>,
}

fn all(store: &ZarrStore, name: &str) -> Result<Arrays, InputError> {
    let (mut found, mut other, mut groups) = (Vec::new(), None, vec![name.to_owned()]);
    let mut looked = 0;
    for _ in 0..DEEPEST {
        let mut inner = Vec::new();
        for group in std::mem::take(&mut groups) {
            for own in store.folders(&group).map_err(of_store)? {
                let name = inside(&group, &own);
                looked += 1;
                if looked > MOST {
                    let what = format!("more than {MOST} folders; name an array, as FILE.zarr::/group/array");
                    return Err(InputError { path: store.path().to_owned(), wrong: InputFault::Other(what) });
                }
                match ZarrNode::read(store, &name)? {
                    Some(document) if document.array => match ArrayHeader::of(&document) {
                        Ok(header) if is_axis(&names(&document, &header), &own) => {}
                        Ok(_) => found.push(name),
                        // A number alone is no array that anybody looks for.
                        Err(_) if document.content.get("shape").is_some_and(|shape| shape == &Value::Array(vec![])) => {
                        }
                        Err(error) => other = other.or(Some(error)),
                    },
                    Some(group) if OmeImage::of(&group, &name, None)?.is_some() => found.push(name),
                    Some(_) => inner.push(name),
                    None => {}
                }
            }
        }
        groups = inner;
    }
    Ok(Arrays { found, other })
}

/// What axes are called, the slowest first: xarray has that in an attribute in version 2.
fn names(document: &ZarrNode, header: &ArrayHeader) -> Vec<Option<String>> {
    let said = document.attributes.get("_ARRAY_DIMENSIONS").and_then(Value::as_array);
    match said.filter(|names| names.len() == header.names.len() && header.names.iter().all(Option::is_none)) {
        Some(names) => names.iter().map(|name| name.as_str().map(str::to_owned)).collect(),
        None => header.names.clone(),
    }
}

/// True of the coordinates of an axis that is called as they are.
fn is_axis(names: &[Option<String>], own: &str) -> bool {
    matches!(names, [Some(name)] if name == own)
}

/// What attributes say of an array, and arrays beside it of its axes.
fn about(store: &ZarrStore, name: &str, document: &ZarrNode, header: &ArrayHeader) -> About {
    let mut about = About::new(header.shape.len());
    let attributes = &document.attributes;
    about.nodata =
        ["_FillValue", "missing_value"].iter().find_map(|name| word::attribute(header.kind, attributes.get(*name)?));
    let of = |name: &str| attributes.get(name).and_then(Value::as_f64);
    if let (slope, intercept) = (of("scale_factor"), of("add_offset"))
        && (slope.is_some() || intercept.is_some())
    {
        about.scaled(slope.unwrap_or(1.0), intercept.unwrap_or(0.0));
    }
    let (folder, own) = name::split(name);
    for (axis, name) in names(document, header).into_iter().rev().enumerate() {
        let Some(name) = name.filter(|name| !name.is_empty()) else { continue };
        let cells = header.shape[header.shape.len() - 1 - axis];
        about.axes[axis].name = Some(name.clone());
        if name != own {
            // What is beside an array and cannot be read says nothing of it.
            let _ = coordinates(store, folder, &name, cells, axis, &mut about);
        }
    }
    about
}

/// What an array of coordinates says of an axis of so many cells.
fn coordinates(
    store: &ZarrStore,
    folder: &str,
    own: &str,
    cells: u64,
    axis: usize,
    about: &mut About,
) -> Result<(), InputError> {
    let Some(name) = name::tidy(own).filter(|name| name == own && !name.contains('/')) else { return Ok(()) };
    let path = inside(folder, &name);
    let Some(document) = ZarrNode::read(store, &path)?.filter(|document| document.array) else { return Ok(()) };
    let header = ArrayHeader::of(&document)?;
    if header.shape != [cells] || !is_axis(&names(&document, &header), own) {
        return Ok(());
    }
    about.axes[axis].unit = document.attributes.get("units").and_then(Value::as_str).map(str::to_owned);
    if !(2..=LONGEST).contains(&cells) {
        return Ok(());
    }
    let kind = header.kind;
    let bytes = Chunks::of(ZarrStore::rewritten(store.path()).map_err(of_store)?, path, header)?.all()?;
    // Coordinates may be packed, as cells may.
    let of = |name: &str| document.attributes.get(name).and_then(Value::as_f64);
    let (slope, intercept) = (of("scale_factor").unwrap_or(1.0), of("add_offset").unwrap_or(0.0));
    let cells = bytes.chunks_exact(kind.bytes() as usize);
    let places: Vec<f64> = cells.map(|cell| place(kind, cell) * slope + intercept).collect();
    let (first, last) = (places[0], places[places.len() - 1]);
    let spacing = (last - first) / (places.len() - 1) as f64;
    let even = |(index, place): (usize, &f64)| (place - first - spacing * index as f64).abs() <= 1e-4 * spacing.abs();
    if places.iter().enumerate().all(even) {
        about.step(axis, spacing, first);
    } else {
        about.remarks.push(Remark::Uneven(own.to_owned()));
    }
    Ok(())
}

/// A cell of this machine's bytes as a number.
fn place(kind: CellType, cell: &[u8]) -> f64 {
    let mut bytes = [0; 8];
    if cfg!(target_endian = "big") {
        bytes[8 - cell.len()..].copy_from_slice(cell);
    } else {
        bytes[..cell.len()].copy_from_slice(cell);
    }
    kind.number(u64::from_ne_bytes(bytes))
}
