//! Programs with fields of their own.

use std::process::ExitCode;

use orthant::field::{Defaults, OwnField};
use orthant::prelude::*;

#[test]
fn a_name_that_is_taken_is_named_and_ends_the_program() {
    let field = |name| {
        OwnField::new(name, "rings", Defaults::unit)
            .in_dim::<2>(|_, _| Ok(Box::new(CellField::new(1, |[x, y]| x & y & 1))))
    };
    for (names, taken) in [(["rings", "rings"], "rings"), (["rings", "mandelbrot"], "mandelbrot"), (["rings", ""], "")]
    {
        let error = FieldKind::register(names.map(field).into()).unwrap_err().to_string();
        assert!(error.starts_with(&format!("a field cannot be named '{taken}'")), "{error}");
        let code = orthant_cli::main_with(["orthant", "info"], names.map(field).into());
        assert_eq!(format!("{code:?}"), format!("{:?}", ExitCode::from(2)));
    }
}
