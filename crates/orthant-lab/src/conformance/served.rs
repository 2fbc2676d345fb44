//! What can serve a case: rows that ask for anything else are not its.

use crate::conformance::axes::Wanted;
use crate::conformance::cases::Case;
use orthant::CellType;
use orthant::PlanError;
use orthant::backend::{Error, Proofs};
use orthant::curve::CurveKind;
use orthant::field::{Field, Job, Labels, Open};
use orthant::rule::RuleKind;
use orthant::{BackendKind, Request};

/// What can serve a case.
pub(super) struct Served {
    /// Every curve: Hilbert needs equal power-of-two r. Every other error is one of the case, which its runs will tell.
    curves: Vec<bool>,
    /// The labels, if the field can be opened.
    labels: Option<Labels>,
    /// True if the field proves regions, everywhere.
    proves: bool,
    /// True if proofs alone decide.
    certifies: bool,
    /// True if regions look at faces that they share.
    shares: bool,
    /// True if a thread alone can ask for a proof.
    alone: bool,
    /// True if the CPU can evaluate it, and if a GPU can.
    host: bool,
    twin: bool,
}

impl Served {
    /// True if it runs on a backend. A field that cannot be opened is left to its runs.
    pub(super) fn runs_on(&self, backend: BackendKind) -> bool {
        match backend {
            BackendKind::Cpu => self.host,
            _ => self.twin,
        }
    }

    /// True if the case can be what a row wants of it.
    pub(super) fn serves(&self, Wanted { curve, cell, proofs, streams }: Wanted) -> bool {
        curve.is_none_or(|curve| self.curves[curve as usize])
            && cell.is_none_or(|cell| self.holds(cell))
            && proofs.is_none_or(|proofs| self.asked(proofs))
            && (!streams || self.streams(proofs))
    }

    /// True if proofs can be asked for, or not.
    fn asked(&self, proofs: Proofs) -> bool {
        match proofs {
            Proofs::Yes => self.proves,
            _ => !self.certifies,
        }
    }

    /// True if there are streams, with or without proofs.
    fn streams(&self, proofs: Option<Proofs>) -> bool {
        match self.shares {
            true => self.alone || proofs != Some(Proofs::Yes),
            false => self.certifies && self.alone,
        }
    }

    /// True if cells of a type can hold the labels.
    fn holds(&self, cell: CellType) -> bool {
        self.labels.is_none_or(|labels| labels.most().map_or(cell == labels.kind(), |most| most <= cell.most()))
    }
}

impl Case {
    pub(super) fn served(&self) -> Served {
        struct Serves<'a>(&'a Request);
        impl Job for Serves<'_> {
            type Output = Served;
            fn run<const K: usize>(self, open: Open<K>) -> Served {
                let serves = |&curve: &CurveKind| {
                    let plan = self.0.clone().curve(curve).plan::<K>();
                    !matches!(plan, Err(Error::Plan(PlanError::Curve(_))))
                };
                let field = || {
                    let domain = self.0.domain::<K>()?;
                    Ok::<_, Error>(open(&domain, &self.0.options()?)?)
                };
                let field = field().ok();
                let proves = |field: &dyn Field<K>| {
                    field.prover().is_some() && field.twin().is_none_or(|twin| twin.has_proofs())
                };
                let has = |has: &dyn Fn(&dyn Field<K>) -> bool| field.as_deref().is_none_or(has);
                Served {
                    host: has(&|field| field.host().is_some()),
                    twin: has(&|field| field.twin().is_some()),
                    curves: CurveKind::ALL.iter().map(serves).collect(),
                    labels: field.as_ref().map(|field| field.labels()),
                    proves: field.as_ref().is_some_and(|field| proves(&**field)),
                    certifies: self.0.rule(K).certifies(),
                    shares: self.0.rule(K) == RuleKind::Closed,
                    alone: field.as_ref().and_then(|field| field.twin()).is_some_and(|twin| !twin.proves_by_warps()),
                }
            }
        }
        let curves = vec![true; CurveKind::ALL.len()];
        let all = Served {
            curves,
            labels: None,
            proves: false,
            certifies: false,
            shares: false,
            alone: false,
            host: true,
            twin: true,
        };
        self.request.workload.dispatch(self.request.k(), Serves(&self.request)).unwrap_or(all)
    }
}
