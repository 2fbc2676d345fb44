//! `orthant demo`: a small labelled volume to begin with, and the commands that are tried on it.

use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use orthant::Control;
use orthant::per_axis;

use crate::error::Error;
use crate::output::{Staged, expect_folder};
use crate::voice::{Voice, print};

/// Options of `demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoOptions {
    /// The folder of the files; it is made if it is not there
    #[arg(default_value = "demo")]
    folder: PathBuf,
    /// Overwrite existing files
    #[arg(long)]
    force: bool,
}

/// Cells per axis, x first, and their lengths in millimetres.
const SIZE: [usize; 3] = [128, 128, 96];
const SPACING: [f64; 3] = [1.5, 1.5, 2.0];

/// B: in a volume as small as this one most leaves of the default would hold several labels.
const LEAF: u32 = 4;

/// What the labels 1, 2, .. are called, and their colours.
const LABELS: [(&str, [f32; 3]); 5] = [
    ("skin", [0.93, 0.78, 0.66]),
    ("skull", [0.95, 0.95, 0.88]),
    ("brain", [0.80, 0.55, 0.58]),
    ("ventricles", [0.30, 0.60, 0.85]),
    ("vessel", [0.75, 0.10, 0.12]),
];

impl DemoOptions {
    /// Writes the volume, and returns the arguments of the commands that make its tree and its page.
    ///
    /// # Errors
    /// [`Error::File`] and [`Error::Exists`] name the file.
    pub(crate) fn write(&self, voice: Voice) -> Result<[Vec<OsString>; 2], Error> {
        let failed = |source| Error::File { path: self.folder.clone(), source };
        expect_folder(&self.folder)?;
        match std::fs::create_dir(&self.folder) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(failed(error)),
            _ => {}
        }
        let [volume, tree, page] = self.files();
        let staged = Staged::new(&volume, self.force)?;
        for path in [&tree, &page] {
            if !self.force && path.symlink_metadata().is_ok() {
                return Err(Error::Exists { path: path.clone() });
            }
        }
        staged.finish(&Control::default(), nrrd)?;
        voice.say(format_args!("orthant: wrote {}", volume.display()));
        let command = |name: &str, from: &Path, to: &Path| {
            let words = ["orthant", "--quiet", "tree", name].map(OsString::from);
            let paths = [from.as_os_str().into(), "-o".into(), to.as_os_str().into()];
            let options = if name == "build" { vec!["-B".into(), LEAF.to_string().into()] } else { Vec::new() };
            words.into_iter().chain(paths).chain(options).chain(self.force.then(|| "--force".into())).collect()
        };
        Ok([command("build", &volume, &tree), command("view", &tree, &page)])
    }

    /// Says what was written, and what to type next.
    ///
    /// # Errors
    /// Those of stdout.
    pub(crate) fn tell(&self, voice: Voice) -> Result<(), Error> {
        let [volume, tree, page] = self.files();
        voice.say(format_args!("orthant: wrote {}", tree.display()));
        voice.say(format_args!("orthant: wrote {}", page.display()));
        let [volume, tree, page, slice] = [volume, tree, page, self.place("slice.png")].map(|path| quoted(&path));
        let lines = [
            ("how the tree and the page were made", ""),
            ("  ", &format!("orthant tree build {volume} -B {LEAF} -o {tree} --force")),
            ("  ", &format!("orthant tree view {tree} -o {page} --force")),
            ("what the tree answers", ""),
            ("  ", &format!("orthant tree stats {tree}")),
            ("  ", &format!("orthant tree sample {tree} --at 64,64,48")),
            ("  ", &format!("orthant tree slice {tree} --axis z=48 --legend -o {slice}")),
        ]
        .map(|(words, command)| format!("{words}{command}\n"));
        if voice.quiet { Ok(()) } else { print(crate::escape::lines(&lines.concat())) }
    }

    /// A file of the demo. A folder that begins with a hyphen would be read as an option.
    fn place(&self, name: &str) -> PathBuf {
        let hyphen = self.folder.as_os_str().as_encoded_bytes().starts_with(b"-");
        let folder = if hyphen { Path::new(".").join(&self.folder) } else { self.folder.clone() };
        folder.join(name)
    }

    fn files(&self) -> [PathBuf; 3] {
        ["labels.nrrd", "labels.tree.zarr", "labels.html"].map(|name| self.place(name))
    }
}

/// A path as a shell reads it.
fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    match path.chars().all(|c| c.is_alphanumeric() || "/._-".contains(c)) {
        true => path,
        false => format!("'{}'", path.replace('\'', r"'\''")),
    }
}

/// Writes the volume as an NRRD segmentation of 3D Slicer: a header of lines, an empty line, and the cells, x fastest.
fn nrrd(out: &mut dyn Write) -> std::io::Result<()> {
    let [x, y, z] = SIZE;
    let [dx, dy, dz] = SPACING;
    writeln!(
        out,
        "NRRD0005\n# A head that is made up, by orthant demo\ntype: uint8\ndimension: 3\nsizes: {x} {y} {z}"
    )?;
    writeln!(out, "space: left-posterior-superior\nspace directions: ({dx},0,0) (0,{dy},0) (0,0,{dz})")?;
    writeln!(
        out,
        "space units: \"mm\" \"mm\" \"mm\"\nspace origin: (0,0,0)\nkinds: domain domain domain\nencoding: raw"
    )?;
    for (segment, (name, [red, green, blue])) in LABELS.iter().enumerate() {
        let value = segment + 1;
        writeln!(out, "Segment{segment}_Name:={name}\nSegment{segment}_LabelValue:={value}")?;
        writeln!(out, "Segment{segment}_Layer:=0\nSegment{segment}_Color:={red} {green} {blue}")?;
    }
    writeln!(out)?;
    let row = |y, z| (0..x).map(|x| label([x, y, z])).collect::<Vec<u8>>();
    (0..z).flat_map(|z| (0..y).map(move |y| (y, z))).try_for_each(|(y, z)| out.write_all(&row(y, z)))
}

/// The label of a cell: ellipsoids within each other, and a vessel that winds through them.
fn label(cell: [usize; 3]) -> u8 {
    // Millimetres from the middle of the volume.
    let [x, y, z]: [f64; 3] =
        per_axis::each(|axis| (cell[axis] as f64 + 0.5 - SIZE[axis] as f64 / 2.0) * SPACING[axis]);
    let within = |centre: f64, radii: [f64; 3]| {
        let [a, b, c] = radii;
        ((x - centre) / a).powi(2) + (y / b).powi(2) + (z / c).powi(2) < 1.0
    };
    let (turn, climb) = ((z / 12.0).sin_cos(), 40.0);
    let vessel = (x - climb * turn.1).powi(2) + (y - climb * turn.0).powi(2) < 16.0;
    match () {
        () if !within(0.0, [78.0, 90.0, 88.0]) => 0,
        () if !within(0.0, [72.0, 84.0, 82.0]) => 1,
        () if !within(0.0, [66.0, 78.0, 76.0]) => 2,
        () if vessel => 5,
        () if within(-14.0, [9.0, 30.0, 22.0]) || within(14.0, [9.0, 30.0, 22.0]) => 4,
        () => 3,
    }
}
