//! The conformance suite on the CPU, what it varies, and what it notices.

use orthant::Control;
use orthant::backend::{CudaTuning, Error, Kept, Tuning};
use orthant::field::{Arithmetic, Precision};
use orthant::prelude::*;
use orthant_lab::conformance::{Case, Checked, Scope, Suite, cases};

fn run(cases: Vec<Case>, mut each: impl FnMut(&Checked)) -> Result<(), Error> {
    let suite = Suite::new(cases, BackendKind::Cpu, Scope::Full);
    suite.run(&Target::cpu(), &Control::default(), &mut each)
}

#[test]
fn every_case_agrees() {
    run(cases(), |outcome| assert_eq!(outcome.fault, None, "{outcome:?}")).unwrap();
}

/// A member of a registry that no row has would be untested, and so would a choice that is no axis.
#[test]
fn every_member_and_every_choice_has_a_row() {
    for &backend in BackendKind::ALL {
        for scope in [Scope::Full, Scope::Brief, Scope::Once] {
            let suite = Suite::new(cases(), backend, scope);
            for (axis, values) in suite.per_axis() {
                for (value, rows) in values {
                    assert!(rows > 0, "{backend} {scope:?}: no row has {axis} {value}");
                }
            }
            let axes: Vec<_> = suite.per_axis().into_iter().map(|(axis, _)| axis).collect();
            let choices = Kept::CHOICES.iter().chain(Tuning::CHOICES);
            let cuda = CudaTuning::CHOICES.iter().filter(|_| backend == BackendKind::Cuda);
            for choice in choices.chain(cuda).filter(|choice| choice.name != "threads" || backend == BackendKind::Cpu) {
                assert!(axes.contains(&choice.name), "{} is not varied on {backend}", choice.name);
            }
        }
    }
    let cases = cases();
    let any = |holds: &dyn Fn(&Request) -> bool| cases.iter().any(|case| holds(&case.request));
    for &field in FieldKind::ALL {
        assert!(any(&|request| request.workload == field), "no case of {field}");
    }
    for &rule in RuleKind::ALL {
        assert!(any(&|request| request.computed.explore == Some(rule)), "no case explores {rule}");
    }
    for &precision in Precision::ALL {
        assert!(any(&|request| request.options().unwrap().precision == precision), "no case in {precision}");
    }
    for &arithmetic in Arithmetic::ALL {
        assert!(
            any(&|request| request.options().unwrap().arithmetic == arithmetic),
            "no case in {arithmetic} arithmetic"
        );
    }
    assert!((1..=8).all(|k| any(&|request| request.k() == k)));
    assert_eq!(CurveKind::ALL.iter().enumerate().find(|&(i, &curve)| curve as usize != i), None);
}

#[test]
fn border_fails_where_it_must() {
    // A kept region of the carpet has a uniform border: nothing is subdivided and the holes are lost.
    for (workload, missed) in [(FieldKind::Carpet, 81 * 81 - 8u64.pow(4) - 27 * 27), (FieldKind::Menger, 0)] {
        let mut case = Case::new(workload, 2, &[81], (3, 3, 1), RuleKind::Border);
        case.mixed = Some(vec![0]);
        let mut differing = 0;
        run(vec![case], |outcome| {
            assert_eq!(outcome.fault, None, "{outcome:?}");
            differing = differing.max(outcome.differing);
        })
        .unwrap();
        assert!(differing >= missed && differing > 0, "{workload}: {differing}");
    }
}

#[test]
fn the_checker_sees_a_wrong_count_and_a_wrong_cell() {
    let mut case = Case::new(FieldKind::Simplex, 2, &[16], (2, 2, 1), RuleKind::Border);
    case.mixed = Some(vec![3, 9, 26]);
    assert!(run(vec![case], |_| {}).unwrap_err().to_string().contains("[3, 9, 27] regions are mixed"));
    let faults = |case: &Case| {
        let mut faults = 0;
        run(vec![case.clone()], |outcome| faults += u32::from(outcome.fault.is_some())).unwrap();
        faults
    };
    let mut case = Case::new(FieldKind::Carpet, 2, &[27], (3, 3, 1), RuleKind::Border);
    assert_eq!(faults(&case), 0);
    case.exact = true;
    assert!(faults(&case) > 0);
}
