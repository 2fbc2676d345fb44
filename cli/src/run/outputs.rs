//! The files that a run writes, and what it says first.

use std::io::Write;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use serde::Serialize;

use orthant::backend::Kept;
use orthant::result::{Stored, dense_fits};
use orthant::tree::TreeAxis;
use orthant::{Control, Keep};

use crate::error::Error;
use crate::options::OutputOptions;
use crate::output::{Slice, Staged, distinct, expect_extension, has_extension, is_stdout, tree};
use crate::voice::Voice;

/// Pixels of a side that most programs can show.
const LARGE: u32 = 16_384;

/// Pixels of a side that no picture has unless its scale is given: no program shows more.
const LARGEST: u32 = 1 << 17;

/// A file to write, by its extension.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Format {
    Png,
    Npy,
}

impl Format {
    pub(super) fn of(path: &Path) -> Result<Self, Error> {
        if has_extension(path, "png") {
            return Ok(Self::Png);
        }
        if !is_stdout(path) {
            expect_extension("--output", path, &["png", "npy", "tree.zarr", "tree.zarr.zip"])?;
        }
        Ok(Self::Npy)
    }
}

/// The outputs of a run, opened before any work.
pub(super) struct Outputs {
    pub(super) arrays: Vec<(Format, Staged)>,
    /// Those that are trees, which the library opens when there is a plan.
    pub(super) trees: Vec<PathBuf>,
    pub(super) overlay: Option<Staged>,
    pub(super) report: Option<Staged>,
    /// True if one of them is stdout, where the table then has no place.
    pub(super) stdout: bool,
    /// True if the scale of pictures was given, so that whoever runs it wants pictures of that size.
    scaled: bool,
}

impl Outputs {
    /// Opens what the options name, none of which is one of `inputs`, with the slice of the cells that pictures show. Prints which slice that is.
    ///
    /// # Errors
    /// [`Error::Input`] of what the options name, or of a picture that no program shows.
    pub(super) fn with_slice<const K: usize>(
        args: &OutputOptions,
        keep: Keep,
        inputs: &[PathBuf],
        size: [u32; K],
        axes: &[TreeAxis],
        voice: Voice,
    ) -> Result<(Self, Slice<K>), Error> {
        let slice = Slice::new(size, &args.slice, axes)?;
        let slice = slice.scaled(args.scale.map_or(1, NonZeroU32::get));
        let outputs = Self::open(args, keep, inputs)?;
        outputs.say_shown(&slice, size, axes, voice)?;
        Ok((outputs, slice))
    }

    /// Opens what the options name, none of which is one of `inputs`.
    fn open(args: &OutputOptions, keep: Keep, inputs: &[PathBuf]) -> Result<Self, Error> {
        let paths = || args.output.iter().chain(&args.overlay).map(PathBuf::as_path).chain(args.report());
        distinct(paths(), inputs)?;
        if let Some(path) = &args.overlay {
            expect_extension("--overlay", path, &["png"])?;
        }
        if let Some(path) = args.report().filter(|path| !is_stdout(path)) {
            expect_extension("--report", path, &["json"])?;
        }
        if args.palette.is_some()
            && args.overlay.is_none()
            && !args.output.iter().any(|path| has_extension(path, "png"))
        {
            return Err(Error::Input("--palette: no picture is written; name one by -o PATH.png or --overlay".into()));
        }
        if args.scale.is_some() && !args.output.iter().any(|path| has_extension(path, "png")) {
            return Err(Error::Input("--scale: no picture is written; name one by -o PATH.png".into()));
        }
        if keep == Keep::Counts && !(args.output.is_empty() && args.overlay.is_none()) {
            let error = Error::Input("--keep counts keeps no cells to write; use --keep dense or regions".into());
            return Err(error.about(&["keep", "output", "overlay"]));
        }
        let (trees, arrays): (Vec<_>, Vec<_>) = args.output.iter().partition(|path| tree::is_tree(path));
        if let Some(path) = trees.iter().find(|path| !args.force && path.symlink_metadata().is_ok()) {
            return Err(Error::Exists { path: path.to_path_buf() });
        }
        let formats = arrays.into_iter().map(|path| Ok((Format::of(path)?, path)));
        let mut formats = formats.collect::<Result<Vec<_>, Error>>()?;
        // Stdout comes last.
        formats.sort_by_key(|(_, path)| is_stdout(path));
        let stage = |path: &Path| Staged::new(path, args.force);
        Ok(Self {
            arrays: formats
                .into_iter()
                .map(|(format, path)| Ok((format, stage(path)?)))
                .collect::<Result<_, Error>>()?,
            trees: trees.into_iter().cloned().collect(),
            overlay: args.overlay.as_deref().map(stage).transpose()?,
            report: args.report().map(stage).transpose()?,
            stdout: paths().any(is_stdout),
            scaled: args.scale.is_some(),
        })
    }

    /// Checks that the cells that outputs show fit `limit`: all of them where the run keeps them, those of the slice where a
    /// picture is made of regions. Regions are not counted here.
    pub(super) fn fit<const K: usize>(
        &self,
        slice: &Slice<K>,
        size: [u32; K],
        kept: &Kept,
        limit: Option<u64>,
    ) -> Result<(), Error> {
        let (what, axes) = match kept.keep {
            Keep::Dense if self.show_cells() => (Stored::Dense, size),
            _ if self.pictures() => (Stored::Materialised, slice.window(size).extent),
            // An array is written a piece at a time.
            _ => return Ok(()),
        };
        let cells = axes.iter().fold(1u128, |cells, &n| cells.saturating_mul(n.into()));
        dense_fits(what, cells, kept.cell, limit).map_err(|error| match (what, self.pictures()) {
            // The library does not know what is written.
            (Stored::Dense, pictures) if error.limit.is_some() => {
                let other = if pictures { "a tree (-o X.tree.zarr) instead of a picture" } else { "--keep regions" };
                let reason = format!("{error}; a smaller -n, {other}, or a larger --mem-limit may help");
                Error::Memory(reason).about(&["size", "keep", "cell", "output", "mem-limit"])
            }
            _ => error.into(),
        })
    }

    /// Says which slice pictures show, and how large they are, if few programs show so large a one.
    ///
    /// # Errors
    /// [`Error::Input`] of a picture that no program shows, unless its scale was given.
    fn say_shown<const K: usize>(
        &self,
        slice: &Slice<K>,
        size: [u32; K],
        axes: &[TreeAxis],
        voice: Voice,
    ) -> Result<(), Error> {
        if K > 2 && self.pictures() {
            let all = match &self.trees[..] {
                [] => "; a tree has all cells: -o X.tree.zarr, then `orthant tree view X.tree.zarr -o X.html`",
                _ => "",
            };
            voice.say(format_args!("orthant: pictures show the slice {}{all}", slice.held(axes)));
        }
        let [width, height] = slice.pixels(size);
        let large = width.max(height) > LARGE && self.arrays.iter().any(|(format, _)| *format == Format::Png);
        if large {
            let scale = width.max(height).div_ceil(LARGE).next_power_of_two();
            let picture = format!("a picture of {width} x {height} pixels");
            let smaller = format!("--scale {scale} makes it {} x {}", width.div_ceil(scale), height.div_ceil(scale));
            if width.max(height) > LARGEST && !self.scaled {
                let reason = format!(
                    "--output: {picture}, more than programs show; {smaller}, and --scale 1 writes it as it is"
                );
                return Err(Error::Input(reason).about(&["output", "size", "scale"]));
            }
            voice.say(format_args!("orthant: {picture}, more than most programs show; {smaller}"));
        }
        Ok(())
    }

    /// True if an output that is no tree shows cells.
    pub(super) fn show_cells(&self) -> bool {
        !self.arrays.is_empty() || self.overlay.is_some()
    }

    /// True if an output is a picture.
    pub(super) fn pictures(&self) -> bool {
        self.overlay.is_some() || self.arrays.iter().any(|(format, _)| *format == Format::Png)
    }
}

/// Writes an output with `write`, and says that it did.
pub(super) fn finish(
    staged: Staged,
    control: &Control,
    voice: Voice,
    write: &mut dyn FnMut(&mut dyn Write) -> std::io::Result<()>,
) -> Result<(), Error> {
    let wrote = (!staged.is_stdout()).then(|| format!("orthant: wrote {}", staged.target().display()));
    staged.finish(control, write)?;
    wrote.iter().for_each(|wrote| voice.say(wrote));
    Ok(())
}

/// Writes a report, if there is one to write.
pub(super) fn write_report(
    staged: Option<Staged>,
    report: &impl Serialize,
    control: &Control,
    voice: Voice,
) -> Result<(), Error> {
    staged.map_or(Ok(()), |staged| {
        finish(staged, control, voice, &mut |out| {
            serde_json::to_writer(&mut *out, report)?;
            out.write_all(b"\n")
        })
    })
}
