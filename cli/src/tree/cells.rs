//! `orthant tree box` and `orthant tree slice`: cells of a tree as arrays and pictures.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use orthant::geometry::Region;
use orthant::tree::{Parts, Source, TreeFile, TreeInfo, TreeJob, TreeSlice, TreeSource};
use orthant::{Control, with_dimensions};
use orthant_formats::export::{Cutout, ExportError, npy};

use super::listed::fits;
use super::open::open;
use super::span::{AxisSpan, Spans, region_of};
use super::to::ToOptions;
use crate::error::Error;
use crate::interrupt::cancels;
use crate::options::CellKind;
use crate::output::legend::{self, Colours};
use crate::output::png::{Caption, Gradient, Palette, gradient};
use crate::output::tree::is_tree;
use crate::output::{HeldAxes, NamedAxes, Slice, has_extension, held_too_many, png};
use crate::voice::Voice;

/// Options of `tree box`.
#[derive(Debug, Args)]
pub(crate) struct BoxOptions {
    /// The tree: a folder X.tree.zarr, an X.tree.zarr.zip, or the URL of either
    tree: PathBuf,
    /// Per axis, axis 0 first: an index, or a range as NumPy has it, such as 0:64,0:64,8 or :,:,3:7
    #[arg(value_name = "BOX", conflicts_with = "axis")]
    spans: Option<Spans>,
    /// The cells of an axis, by number or name, as indices or places: z=40:60, y=10mm:30mm, x=-0.5:0.5, 0=8. May be repeated. Other axes are whole
    ///
    /// A range ends before its second index, as in NumPy. A range of places has all cells that it meets.
    #[arg(long, value_name = "AXIS=RANGE")]
    axis: Vec<NamedAxes<AxisSpan>>,
    #[command(flatten)]
    to: ToOptions,
}

/// Options of `tree slice`.
#[derive(Debug, Args)]
pub(crate) struct SliceOptions {
    /// The tree: a folder X.tree.zarr, an X.tree.zarr.zip, or the URL of either
    tree: PathBuf,
    /// Hold an axis, by number or name, at an index or a place: z=48 and 2=48 are the cell 48, z=90mm and z=48.0 are places. May be repeated. A picture shows two axes, and of two none need be held
    #[arg(long = "axis", alias = "slice", value_name = "AXIS=INDEX")]
    fixed: Vec<HeldAxes>,
    /// The colours of a picture, from the least value of the slice to the greatest [default: one for each of few whole numbers, else greys]
    #[arg(long, value_parser = gradient(), value_name = "NAME")]
    palette: Option<Gradient>,
    /// What cells are: labels have a colour each, values one by their size [default: as the tree names labels, else as the slice looks]
    #[arg(long)]
    kind: Option<CellKind>,
    /// Say beside a picture what its colours mean: numbers, or labels by their names
    #[arg(long)]
    legend: bool,
    #[command(flatten)]
    to: ToOptions,
}

/// Writes a box.
pub(super) fn a_box(args: BoxOptions, voice: Voice) -> Result<(), Error> {
    if args.spans.is_none() && args.axis.is_empty() {
        return Err(Error::Input("BOX: say which cells, as in 0:64,:,8, or name axes, as in --axis z=8".into()));
    }
    let to = ToOptions { voice: Some(voice), of: args.tree.clone(), ..args.to };
    open(&args.tree.clone(), BoxOptions { to, ..args })
}

/// Writes a slice.
pub(super) fn slice(args: SliceOptions, voice: Voice) -> Result<(), Error> {
    let to = ToOptions { voice: Some(voice), of: args.tree.clone(), ..args.to };
    open(&args.tree.clone(), SliceOptions { to, ..args })
}

impl TreeJob for BoxOptions {
    type Output = Result<(), Error>;

    fn run<const K: usize>(self, tree: TreeFile<K>) -> Self::Output {
        let tree = self.to.memory.within(tree)?;
        let (size, axes) = (tree.plan().domain().size(), &tree.info().axes);
        let window = match &self.spans {
            Some(spans) => spans.region(size, axes)?,
            None => region_of(&self.axis, size, axes)?,
        };
        fits(&tree, &window.extent)?;
        let staged = self.to.stage(&["npy"])?;
        self.to.write(staged, &mut |out| write(&tree, window, &window.extent, out))
    }
}

impl TreeJob for SliceOptions {
    type Output = Result<(), Error>;

    fn run<const K: usize>(self, tree: TreeFile<K>) -> Self::Output {
        let tree = self.to.memory.within(tree)?;
        let size = tree.plan().domain().size();
        let mut window = Region { corner: [0; K], extent: size };
        let mut held = [None; K];
        let axes = &tree.info().axes;
        for fixed in self.fixed.iter().flat_map(HeldAxes::iter) {
            let wrong = |why: String| Error::Input(format!("--axis {why}"));
            let (axis, index) = fixed.cell(axes, &size).map_err(wrong)?;
            if held[axis].replace(index).is_some() {
                return Err(wrong(format!("{fixed}: axis {axis} is held twice")));
            }
            if let (Some(voice), Some(words)) = (self.to.voice, fixed.place_as_index(axes, &size)) {
                voice.say(format_args!("orthant: {words}"));
            }
            (window.corner[axis], window.extent[axis]) = (index, 1);
        }
        let is_tree = is_tree(&self.to.output);
        if K == 1 && is_tree {
            let reason = "a slice of a tree of one axis is a cell, and no tree; see tree sample";
            return Err(Error::Input(format!("--output {}: {reason}", self.to.output.display())));
        }
        if (K > 2 || is_tree) && self.fixed.is_empty() {
            let reason = format!(
                "--axis: hold an axis of the {K} at an index, as in --axis {}={}",
                axes[K - 1].name,
                size[K - 1] / 2
            );
            return Err(Error::Input(reason).about(&["axis"]));
        }
        let free: Vec<u32> = (0..K).filter(|&j| held[j].is_none()).map(|j| size[j]).collect();
        if free.is_empty() {
            return Err(Error::Input("--axis: every axis is held, which leaves a cell; see tree sample".into()));
        }
        if !has_extension(&self.to.output, "png") {
            if self.palette.is_some() {
                return Err(Error::Input("--palette: no picture is written; name one by -o PATH.png".into()));
            }
            if self.kind.is_some() {
                return Err(Error::Input("--kind: no picture is written; name one by -o PATH.png".into()));
            }
            if self.legend {
                return Err(Error::Input("--legend: no picture is written; name one by -o PATH.png".into()));
            }
            if is_tree {
                self.to.is_free()?;
                return with_dimensions!(free.len(), M => self.save(TreeSlice::<M>::new(&tree, held)?, tree.info()), else {
                    unreachable!("axes are left")
                });
            }
            fits(&tree, &window.extent)?;
            let staged = self.to.stage(&["npy", "png", "tree.zarr", "tree.zarr.zip"])?;
            return self.to.write(staged, &mut |out| write(&tree, window, &free, out));
        }
        if free.len() != 2 {
            let reason = format!("--axis: {}", held_too_many(K, free.len()));
            return Err(Error::Input(reason).about(&["axis", "output"]));
        }
        let slice = Slice::new(size, &self.fixed, axes)?;
        let staged = self.to.stage(&["npy", "png"])?;
        let parts: &dyn Parts<K> = &tree;
        let array = parts.array(&window, self.to.memory.limit())?;
        let caption = Caption::of_tree(tree.plan().domain(), &slice);
        let labels = &tree.info().labels;
        let said = self.kind.map(|kind| kind == CellKind::Labels).or((!labels.is_empty()).then_some(true));
        let are_labels = said.unwrap_or_else(|| legend::looks_like_labels(&array, &slice));
        let colours = match self.palette.is_none() && are_labels {
            true => Colours::of_labels(array.cells(), labels),
            false => Colours::Numbers(Palette::of_values(array.cells(), tree.info().nodata, self.palette)),
        };
        let (found, most) = (colours.labels(), legend::MOST_LABELS);
        if self.legend && found > most {
            let reason =
                format!("--legend: {found} labels are in the slice, and {most} can be named; --palette shows numbers");
            return Err(Error::Input(reason).about(&["legend", "palette"]));
        }
        self.to.write(staged, &mut |out| {
            let written = match &colours {
                Colours::Numbers(palette) if !self.legend => png::write(&slice.of(&array), palette, &caption, out),
                colours => legend::write(&slice.of(&array), colours, self.legend, &caption, out),
            };
            written.map_err(ExportError::Write)
        })
    }
}

impl SliceOptions {
    /// Writes a slice with `M` axes of a tree as a tree, of which `info` is known.
    fn save<const M: usize>(&self, slice: TreeSlice<'_, M>, info: &TreeInfo) -> Result<(), Error> {
        let control = Arc::new(Control::default());
        cancels(&control);
        let made = slice.tree(self.to.memory.limit(), &control)?;
        self.to.save(&made, &slice.info(info))
    }
}

/// Writes a box of a tree as `.npy`, whose shape are the extents `shape` in reverse.
fn write<const K: usize>(
    tree: &TreeFile<K>,
    window: Region<K>,
    shape: &[u32],
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let tree = TreeSource(tree);
    npy::header(shape, tree.kind(), out).map_err(ExportError::Write)?;
    npy::cells(&Cutout::new(&tree, window).expect("the box is one of the domain"), out)
}
