//! The data of a case as files, for processes that know a case by its options alone.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use orthant::field::{DataValue, FieldData};
use orthant::list::StoredList;
use orthant::mesh::Mesh;
use orthant::points::Points;
use orthant::result::DenseArray;
use orthant_formats::export::npy;

use crate::error::Error;

/// Names of columns of coordinates.
const COLUMNS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// Writes the data of a case into a folder: the options that name them. `array` are the cells of an array.
///
/// # Errors
/// [`Error::File`] if the file cannot be written; [`Error::Input`] for data of a new kind.
pub(super) fn write<const K: usize>(
    data: &FieldData,
    value: Option<DataValue>,
    array: impl FnOnce() -> Result<DenseArray<K>, Error>,
    folder: &Path,
) -> Result<Vec<String>, Error> {
    let file = |name: &str, what: &dyn Fn(&mut dyn Write) -> io::Result<()>| {
        let path = folder.join(name);
        let written = File::create(&path).and_then(|file| {
            let mut out = BufWriter::new(file);
            what(&mut out)?;
            out.flush()
        });
        written.map_err(|source| Error::File { path: path.clone(), source })?;
        Ok::<_, Error>(format!("--input={}", path.display()))
    };
    match data {
        FieldData::Array(_) => {
            let array = array()?;
            let cells = array.cells();
            let write = |out: &mut dyn Write| {
                npy::header(&array.size(), cells.kind(), out)?;
                cells.le_bytes(0..cells.len(), |bytes| out.write_all(bytes))
            };
            Ok(vec![file("cells.npy", &write)?])
        }
        FieldData::List(list) => {
            let background = format!("--background={}", list.kind().text(list.background()));
            let cells = file("list.npy", &|out| rows(list, out))?;
            Ok(vec!["--coordinates=cells".to_owned(), background, cells])
        }
        FieldData::Mesh(mesh) => Ok(vec![file("mesh.off", &|out| off(mesh, out))?]),
        FieldData::Points(points) => {
            let measured = matches!(value, Some(DataValue::Min | DataValue::Max | DataValue::Mean));
            let columns = format!("--columns={}", COLUMNS[..points.axes()].join(","));
            let height = measured.then(|| "--attribute=height".to_owned());
            let input = file("points.csv", &|out| table(points, measured, out))?;
            Ok([columns, input].into_iter().chain(height).collect())
        }
        _ => Err(Error::Input("verify --ranks: a case has data that no file is made of".into())),
    }
}

/// A list as an array of NumPy: a row of coordinates and the value for each entry, all of the value's type.
fn rows(list: &StoredList, out: &mut dyn Write) -> io::Result<()> {
    let kind = list.kind();
    npy::header(&[list.size().len() as u32 + 1, list.len() as u32], kind, out)?;
    let bytes = |word: u64| word.to_le_bytes().into_iter().take(kind.bytes() as usize).collect::<Vec<_>>();
    list.entries().try_for_each(|(cell, word)| {
        cell.iter().try_for_each(|&coordinate| out.write_all(&bytes(kind.word_of(coordinate.into()))))?;
        out.write_all(&bytes(word))
    })
}

/// A mesh as OFF. The digits of a number are as many as bring back the same number.
fn off(mesh: &Mesh, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "OFF\n{} {} 0", mesh.vertices().len(), mesh.triangles().len())?;
    mesh.vertices().iter().try_for_each(|[x, y, z]| writeln!(out, "{x:?} {y:?} {z:?}"))?;
    mesh.triangles().iter().try_for_each(|[a, b, c]| writeln!(out, "3 {a} {b} {c}"))
}

/// Points as a table, each with a height if one is `measured`.
fn table(points: &Points, measured: bool, out: &mut dyn Write) -> io::Result<()> {
    let columns = COLUMNS[..points.axes()].join(",");
    writeln!(out, "{columns}{}", if measured { ",height" } else { "" })?;
    for (number, point) in points.coordinates().chunks(points.axes()).enumerate() {
        let coordinates: Vec<String> = point.iter().map(|coordinate| format!("{coordinate:?}")).collect();
        let height = if measured { format!(",{}", number % 5) } else { String::new() };
        writeln!(out, "{}{height}", coordinates.join(","))?;
    }
    Ok(())
}
