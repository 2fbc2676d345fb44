//! `.vtkhdf`: VTK's HyperTreeGrid in HDF5, version 2.4 of VTKHDF; four dimensions are a volume in steps of time.
//!
//! The grid of each step is what [`htg`](crate::export::htg) has; the steps lie one after the other, and where each begins is told
//! beside them. The time of a step is where its cells begin on axis 3, or its number
//! where those cannot be told apart. VTK says no time of a single step.

use std::io::{self, Write};

use hdf5_pure::{AttrValue, Datatype, FileBuilder};

use crate::export::boxes::Boxes;
use crate::export::error::ExportError;
use crate::export::hyper_tree_grid::HyperTreeGrid;
use crate::export::vtk;
use orthant::CellType;
use orthant::geometry::{Domain, Region};
use orthant::here;
use orthant::per_axis;
use orthant::tree::Source;

/// Checks that the format holds a domain of this size.
///
/// # Errors
/// If it has neither 2, 3 nor 4 axes, or more cells on one than VTK counts.
pub fn check<const K: usize>(size: [u32; K]) -> Result<(), ExportError> {
    match K {
        2..=3 => vtk::check(".vtkhdf", size),
        4 => vtk::check(".vtkhdf", [size[0], size[1], size[2]]),
        _ => Err(ExportError::Dimensions { format: ".vtkhdf", k: K, allowed: "2, 3 or 4" }),
    }
}

/// Writes all cells, as `value` of VTK's cells. The file is put together in memory.
///
/// # Errors
/// As [`check`]; if cells cannot be read, the writer fails, or there is no memory for the vertices.
pub fn write<const K: usize>(boxes: &dyn Boxes<K>, out: &mut dyn Write) -> Result<(), ExportError> {
    here!(fn(&dyn Boxes<K>, &mut dyn Write) -> Result<(), ExportError> = write_here::<K>)(boxes, out)
}

fn write_here<const K: usize>(boxes: &dyn Boxes<K>, out: &mut dyn Write) -> Result<(), ExportError> {
    let domain = boxes.domain();
    check(domain.size())?;
    let mut series = Series::default();
    if K == 4 {
        for at in 0..domain.size()[3] {
            series.append(HyperTreeGrid::of(&Step { boxes, at })?);
        }
    } else {
        series.append(HyperTreeGrid::of(boxes)?);
    }
    let times = (K == 4).then(|| {
        let ([begins, _], pitch) = (domain.window()[3], domain.pitch()[3]);
        let steps = || (0..domain.size()[3]).map(f64::from);
        let times: Vec<f64> = steps().map(|step| step.mul_add(pitch, begins)).collect();
        if times.is_sorted_by(|a, b| a < b) { times } else { steps().collect() }
    });
    series.file(boxes.kind(), times).finish_to(out).map_err(|error| match error {
        hdf5_pure::Error::Io(error) => ExportError::Write(error),
        error => ExportError::Write(io::Error::other(error)),
    })
}

/// The type of the values.
fn datatype(kind: CellType) -> Datatype {
    match kind {
        CellType::U8 => hdf5_pure::make_u8_type(),
        CellType::U16 => hdf5_pure::make_u16_type(),
        CellType::U32 => hdf5_pure::make_u32_type(),
        CellType::U64 => hdf5_pure::make_u64_type(),
        CellType::I8 => hdf5_pure::make_i8_type(),
        CellType::I16 => hdf5_pure::make_i16_type(),
        CellType::I32 => hdf5_pure::make_i32_type(),
        CellType::I64 => hdf5_pure::make_i64_type(),
        CellType::F32 => hdf5_pure::make_f32_type(),
        CellType::F64 => hdf5_pure::make_f64_type(),
    }
}

/// A volume of four dimensions at a step of the last.
struct Step<'b, const K: usize> {
    boxes: &'b dyn Boxes<K>,
    at: u32,
}

impl<const K: usize> Step<'_, K> {
    fn among(&self, part: &Region<3>) -> Region<K> {
        Region {
            corner: per_axis::each(|j| part.corner.get(j).copied().unwrap_or(self.at)),
            extent: per_axis::each(|j| part.extent.get(j).copied().unwrap_or(1)),
        }
    }
}

impl<const K: usize> Source<3> for Step<'_, K> {
    fn kind(&self) -> CellType {
        self.boxes.kind()
    }

    fn size(&self) -> [u32; 3] {
        let size = self.boxes.size();
        [size[0], size[1], size[2]]
    }

    fn read(&self, window: &Region<3>, bytes: &mut [u8]) -> io::Result<()> {
        self.check(window, bytes)?;
        self.boxes.read(&self.among(window), bytes)
    }

    fn known(&self, window: &Region<3>) -> io::Result<Option<u64>> {
        self.boxes.known(&self.among(window))
    }
}

impl<const K: usize> Boxes<3> for Step<'_, K> {
    fn domain(&self) -> Domain<3> {
        let whole = self.boxes.domain();
        let window = whole.window();
        Domain::new(self.size(), [window[0], window[1], window[2]], whole.sample()).expect("three axes of a domain")
    }
}

/// The grids of all steps, one after the other.
#[derive(Default)]
struct Series {
    points: [u32; 3],
    coordinates: [Vec<f64>; 3],
    ids: Vec<i64>,
    depths: Vec<i64>,
    per_depth: Vec<i64>,
    divided: Vec<u8>,
    masked: Vec<u8>,
    values: Vec<u8>,
    steps: Vec<StepPlace>,
}

/// Where a step begins, and how much of it there is.
struct StepPlace {
    id: i64,
    per_depth: i64,
    divided: i64,
    masked: i64,
    cell: i64,
    trees: i64,
    depths: i64,
    cells: i64,
    divided_bits: i64,
}

impl Series {
    fn append(&mut self, grid: HyperTreeGrid) {
        let (trees, depths, cells) = (grid.depths.len() as i64, grid.per_depth.len() as i64, grid.masked.len as i64);
        self.steps.push(StepPlace {
            id: self.ids.len() as i64,
            per_depth: self.per_depth.len() as i64,
            divided: self.divided.len() as i64,
            masked: self.masked.len() as i64,
            cell: self.steps.last().map_or(0, |last| last.cell + last.cells),
            trees,
            depths,
            cells,
            divided_bits: grid.divided.len as i64,
        });
        self.ids.extend(0..trees);
        self.depths.extend(grid.depths.into_iter().map(i64::from));
        self.per_depth.extend(grid.per_depth);
        self.divided.extend(grid.divided.bytes);
        self.masked.extend(grid.masked.bytes);
        self.values.extend(grid.values);
        // All steps lie in the same place.
        (self.points, self.coordinates) = (grid.points, grid.coordinates);
    }

    fn file(&mut self, kind: CellType, times: Option<Vec<f64>>) -> FileBuilder {
        let of = |fact: fn(&StepPlace) -> i64| self.steps.iter().map(fact).collect::<Vec<i64>>();
        let mut file = FileBuilder::new();
        let mut root = file.create_group("VTKHDF");
        root.set_attr("Version", AttrValue::I64Array(vec![2, 4]));
        root.set_attr("Type", AttrValue::AsciiString("HyperTreeGrid".into()));
        root.set_attr("BranchFactor", AttrValue::I64(2));
        root.set_attr("TransposedRootIndexing", AttrValue::I64(0));
        root.set_attr("Dimensions", AttrValue::I64Array(self.points.map(i64::from).into()));
        for (name, at) in ["XCoordinates", "YCoordinates", "ZCoordinates"].into_iter().zip(&self.coordinates) {
            root.create_dataset(name).with_f64_data(at);
        }
        for (name, numbers) in [
            ("NumberOfTrees", of(|step| step.trees)),
            ("NumberOfDepths", of(|step| step.depths)),
            ("NumberOfCells", of(|step| step.cells)),
            ("DescriptorsSize", of(|step| step.divided_bits)),
        ] {
            root.create_dataset(name).with_i64_data(&numbers);
        }
        for (name, numbers) in
            [("TreeIds", &self.ids), ("DepthPerTree", &self.depths), ("NumberOfCellsPerTreeDepth", &self.per_depth)]
        {
            root.create_dataset(name).with_i64_data(numbers);
        }
        root.create_dataset("Descriptors").with_u8_data(&self.divided);
        root.create_dataset("Mask").with_u8_data(&self.masked);
        let mut data = root.create_group("CellData");
        let cells = self.values.len() as u64 / kind.bytes();
        data.create_dataset("value").with_raw_data(datatype(kind), std::mem::take(&mut self.values), cells);
        root.add_group(data.finish());
        if let Some(times) = times {
            let mut steps = root.create_group("Steps");
            steps.set_attr("NSteps", AttrValue::I64(times.len() as i64));
            steps.create_dataset("Values").with_f64_data(&times);
            let zeros = vec![0; times.len()];
            for (name, numbers) in [
                ("PartOffsets", (0..times.len() as i64).collect()),
                ("NumberOfParts", vec![1; times.len()]),
                ("XCoordinatesOffsets", zeros.clone()),
                ("YCoordinatesOffsets", zeros.clone()),
                ("ZCoordinatesOffsets", zeros),
                ("TreeIdsOffsets", of(|step| step.id)),
                ("DepthPerTreeOffsets", of(|step| step.id)),
                ("NumberOfCellsPerTreeDepthOffsets", of(|step| step.per_depth)),
                ("DescriptorsOffsets", of(|step| step.divided)),
                ("MaskOffsets", of(|step| step.masked)),
            ] {
                steps.create_dataset(name).with_i64_data(&numbers);
            }
            let mut offsets = steps.create_group("CellDataOffsets");
            offsets.create_dataset("value").with_i64_data(&of(|step| step.cell));
            steps.add_group(offsets.finish());
            root.add_group(steps.finish());
        }
        file.add_group(root.finish());
        file
    }
}
