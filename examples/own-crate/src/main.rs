//! A field of one's own, here and on a GPU, in the program: the distance from a sphere, cut off at a band about it.
use orthant::field::{Defaults, DeviceTwin, Evaluate, Labels, OwnField};
use orthant::prelude::*;
use orthant::{CellType, WordsMut};

orthant::device_struct! {
    /// Samples at (c + 0.5)·pitch − 1.
    struct Sphere { pitch: f32, radius: f32, band: f32 }
}

impl Field<3> for Sphere {
    fn labels(&self) -> Labels {
        Labels::values(CellType::F32)
    }
    fn host(&self) -> Option<&dyn Evaluate<3>> {
        Some(self)
    }
    fn twin(&self) -> Option<DeviceTwin> {
        Some(DeviceTwin::new(DeviceTwin::API, include_str!("sphere.cuh"), self))
    }
}

impl Evaluate<3> for Sphere {
    fn evaluate(&self, cells: &[[u32; 3]], labels: WordsMut<'_>) {
        labels.put(cells.iter().map(|cell| {
            let [x, y, z] = cell.map(|c| (c as f32 + 0.5).mul_add(self.pitch, -1.0));
            (x.mul_add(x, y.mul_add(y, z * z)).sqrt() - self.radius).clamp(-self.band, self.band)
        }));
    }
}

fn main() -> std::process::ExitCode {
    let usual = |k| Defaults { window: vec![[-1.0, 1.0]; k], ..Defaults::unit(k) };
    let sphere = OwnField::new("sphere", "distance from a sphere, f32", usual)
        .in_dim::<3>(|domain, _| Ok(Box::new(Sphere { pitch: domain.pitch()[0] as f32, radius: 0.7, band: 0.1 })));
    orthant_cli::main_with(std::env::args_os(), vec![sphere])
}
