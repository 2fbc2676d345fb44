//! OME-Zarr (NGFF): a group that is an image in several sizes, with axes that have names, units and places.

use serde_json::{Map, Value};

use crate::input::error::InputError;
use crate::input::zarr::name;
use crate::input::zarr::node::{ZarrNode, inside};
use orthant::CellType;
use orthant::tree::TreeLabel;
use orthant::tree::{About, Remark};

/// An image in several sizes, the largest first.
pub(super) struct OmeImage {
    /// The name in the store of the size that is read, the largest unless it was named.
    pub(super) name: String,
    /// Sizes that were not asked for.
    others: usize,
    /// As the array has them, the slowest first.
    axes: Vec<ImageAxis>,
    /// True if the image says that it is one of labels.
    labelled: bool,
    labels: Vec<(i64, [u8; 4])>,
}

struct ImageAxis {
    name: Option<String>,
    unit: Option<String>,
    /// From one cell to the next, and where the first one's centre is; None of channels.
    place: Option<(f64, f64)>,
}

impl OmeImage {
    /// The image that a group in a folder of the store is, if it is one, and if it has a size of that name, or any.
    pub(super) fn of(group: &ZarrNode, folder: &str, wanted: Option<&str>) -> Result<Option<Self>, InputError> {
        let attributes = &group.attributes;
        // Since 0.5 within `ome`.
        let own = attributes.get("ome").and_then(Value::as_object).unwrap_or(attributes);
        let Some(multiscales) = own.get("multiscales") else { return Ok(None) };
        let wrong = |key, said: Option<&Value>, allowed| group.wrong(key, said, allowed);
        let first = multiscales.get(0).and_then(Value::as_object);
        let first = first.ok_or_else(|| wrong("multiscales", Some(multiscales), "a list of images is needed"))?;
        let sizes = first.get("datasets").and_then(Value::as_array).filter(|sizes| !sizes.is_empty());
        let sizes = sizes.ok_or_else(|| wrong("datasets", first.get("datasets"), "a list of sizes is needed"))?;
        let path = |size: &Value| size.get("path").and_then(Value::as_str).and_then(name::tidy);
        let size = match wanted {
            Some(wanted) => sizes.iter().find(|size| path(size).as_deref() == Some(wanted)),
            None => sizes.first(),
        };
        let Some(size) = size else { return Ok(None) };
        let path = path(size).ok_or_else(|| wrong("path", size.get("path"), "the name of an array is needed"))?;
        let mut axes: Vec<ImageAxis> =
            first.get("axes").and_then(Value::as_array).map_or(&[][..], Vec::as_slice).iter().map(axis).collect();
        for of in [size.as_object(), Some(first)].into_iter().flatten() {
            transform(group, of, &mut axes)?;
        }
        let (labelled, labels) =
            (own.contains_key("image-label"), own.get("image-label").map_or_else(Vec::new, colours));
        let others = if wanted.is_some() { 0 } else { sizes.len() - 1 };
        Ok(Some(Self { name: inside(folder, &path), others, axes, labelled, labels }))
    }

    /// What the image says of this size.
    pub(super) fn tell(&self, about: &mut About) {
        if self.others > 0 {
            about.remarks.push(Remark::Sizes { name: self.name.clone(), sizes: self.others + 1 });
        }
        // Of an array of other axes it says nothing.
        if self.axes.len() != about.axes.len() {
            return;
        }
        for (axis, own) in self.axes.iter().rev().enumerate() {
            about.axes[axis].name = own.name.clone().or(about.axes[axis].name.take());
            about.axes[axis].unit = own.unit.clone().or(about.axes[axis].unit.take());
            if let Some((spacing, centre)) = own.place {
                about.step(axis, spacing, centre);
            }
        }
    }

    /// Says which labels have colours, of cells of a type; those that no cell can have are counted.
    pub(super) fn label(&self, kind: CellType, about: &mut About) {
        about.labelled |= self.labelled;
        let mask = u64::MAX >> (64 - 8 * kind.bytes());
        let mut others = 0;
        for &(value, colour) in &self.labels {
            let (word, name) = (value.cast_unsigned() & mask, value.to_string());
            if kind.text(word) != name {
                others += 1;
            } else if about.labels.iter().all(|label| label.word != word) {
                about.labels.push(TreeLabel { word, name, colour: Some(colour) });
            }
        }
        if others > 0 {
            about.remarks.push(Remark::OtherLabels(others));
        }
    }
}

/// An axis: an object, or before 0.4 a name.
fn axis(said: &Value) -> ImageAxis {
    let text = |key: &str| said.get(key).and_then(Value::as_str).map(str::to_owned);
    let name = said.as_str().map(str::to_owned).or_else(|| text("name"));
    let channel = text("type").as_deref() == Some("channel");
    ImageAxis { name, unit: text("unit"), place: (!channel && said.is_object()).then_some((1.0, 0.0)) }
}

/// What is done to coordinates, one after the other.
fn transform(group: &ZarrNode, of: &Map<String, Value>, axes: &mut [ImageAxis]) -> Result<(), InputError> {
    const KEY: &str = "coordinateTransformations";
    for step in of.get(KEY).and_then(Value::as_array).map_or(&[][..], Vec::as_slice) {
        let kind = step.get("type").and_then(Value::as_str).unwrap_or_default();
        if kind == "identity" {
            continue;
        }
        let numbers: Option<Vec<f64>> =
            step.get(kind).and_then(Value::as_array).and_then(|list| list.iter().map(Value::as_f64).collect());
        let numbers = numbers.filter(|list| matches!(kind, "scale" | "translation") && list.len() == axes.len());
        let allowed = format!("identity, or scale or translation with {} numbers, can be read", axes.len());
        let numbers = numbers.ok_or_else(|| group.wrong(KEY, Some(step), allowed))?;
        for (axis, number) in axes.iter_mut().zip(numbers) {
            if let Some((spacing, centre)) = &mut axis.place {
                match kind {
                    "scale" => (*spacing, *centre) = (*spacing * number, *centre * number),
                    _ => *centre += number,
                }
            }
        }
    }
    Ok(())
}

/// The colours of an image of labels.
fn colours(said: &Value) -> Vec<(i64, [u8; 4])> {
    let list = said.get("colors").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let colour = |said: &Value| {
        let rgba: Option<Vec<u8>> = (said.get("rgba")?.as_array()?.iter())
            .map(|part| part.as_u64().and_then(|part| u8::try_from(part).ok()))
            .collect();
        Some((said.get("label-value")?.as_i64()?, rgba?.try_into().ok()?))
    };
    list.iter().filter_map(colour).collect()
}
