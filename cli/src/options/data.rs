//! What a field is made of, as `--input` names it.

use std::path::Path;

use orthant::field::{FieldData, FieldKind};
use orthant::input::MeshFormat;

use super::input::InputOptions;
use crate::error::Error;

impl InputOptions {
    /// The data of a field that is made of some; None of other fields.
    ///
    /// # Errors
    /// [`Error`] names the option that is missing, or the file and what is wrong there.
    pub(crate) fn data(&self, workload: FieldKind) -> Result<Option<FieldData>, Error> {
        if workload != FieldKind::Mesh {
            return Ok(None);
        }
        let Some(path) = &self.input else {
            let example = "`orthant run mesh --input part.stl -n 512 -o part.tree.zarr`";
            let reason = format!("--input: name the file of the mesh ({}), as in {example}", MeshFormat::endings());
            return Err(Error::Input(reason));
        };
        mesh(path).map(Some)
    }
}

fn mesh(path: &Path) -> Result<FieldData, Error> {
    let Some(format) = MeshFormat::of(path) else {
        let (path, endings) = (path.display(), MeshFormat::endings());
        let reason =
            format!("--input {path}: the name of a mesh ends with {endings}; `orthant run array` reads arrays");
        return Err(Error::Input(reason));
    };
    let mesh = format.read(path).map_err(|error| Error::from(error).about(&["input"]))?;
    Ok(FieldData::from(mesh))
}
