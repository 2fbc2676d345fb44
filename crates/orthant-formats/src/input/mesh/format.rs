//! The formats of meshes.

use std::path::Path;

use crate::input::error::{InputError, InputFault};
use crate::input::mesh::{obj, off, ply, stl};
use crate::input::reader::whole_file;
use orthant::mesh::Mesh;
use orthant::registry;

registry! {
    /// A format that meshes are read from. Names of files end with its name.
    ///
    /// ```
    /// use std::path::Path;
    /// use orthant_formats::input::MeshFormat;
    ///
    /// # let folder = std::env::temp_dir().join(format!("orthant-doc-mesh-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// let path = folder.join("triangle.off");
    /// std::fs::write(&path, "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n")?;
    /// let mesh = MeshFormat::of(&path).unwrap().read(&path)?;
    /// assert_eq!((mesh.triangles(), mesh.name()), (&[[0, 1, 2]][..], Some("triangle.off")));
    /// assert_eq!(MeshFormat::of(Path::new("array.npy")), None);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub enum MeshFormat("mesh format") {
        /// Triangles without indices, binary or text.
        Stl = "stl",
        /// Wavefront's text.
        Obj = "obj",
        /// Elements with properties, binary or text.
        Ply = "ply",
        /// Geomview's text.
        Off = "off",
    }
}

impl MeshFormat {
    /// The format of a file by what its name ends with, in letters of either case.
    pub fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?;
        Self::ALL.iter().copied().find(|format| ending.eq_ignore_ascii_case(format.name()))
    }

    /// What names of files end with, for people.
    pub fn endings() -> String {
        let endings: Vec<_> = Self::ALL.iter().map(|format| format!(".{}", format.name())).collect();
        endings.join(", ")
    }

    /// Reads a mesh. It is called by the file's name without folders.
    ///
    /// # Errors
    /// [`InputError`] names the file, the line or the byte, what is there and what is allowed.
    pub fn read(self, path: &Path) -> Result<Mesh, InputError> {
        let mesh = whole_file(path).and_then(|bytes| self.parse(&bytes));
        let mesh = mesh.map_err(|wrong| InputError { path: path.to_owned(), wrong })?;
        Ok(mesh.named(path.file_name().unwrap_or_default().to_string_lossy()))
    }

    /// The mesh that the bytes of a file are.
    ///
    /// # Errors
    /// [`InputFault`] names the line or the byte, what is there and what is allowed.
    pub fn parse(self, bytes: &[u8]) -> Result<Mesh, InputFault> {
        match self {
            Self::Stl => stl::parse(bytes),
            Self::Obj => obj::parse(bytes),
            Self::Ply => ply::parse(bytes),
            Self::Off => off::parse(bytes),
        }
    }
}
