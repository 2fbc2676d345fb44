//! Which code a time is of. Each has constants of its own: another loop over cells, other tables, other launches.

use super::observed::{Hardware, LevelWork, Terms};
use super::streams;
use orthant::backend::{Mapping, StrategyKind};
use orthant::registry;
use orthant::rule::RuleKind;

registry! {
    /// The code that constants are of.
    pub enum Code("code") {
        /// Every cell, without regions.
        Exhaustive = "exhaustive",
        /// Workers of regions that look at their cells.
        Regions = "regions",
        /// Workers of regions that ask the field first.
        ProvenRegions = "proven-regions",
        /// Streams that share the cells on faces.
        StreamFaces = "stream-faces",
        /// Streams by proofs alone.
        StreamProofs = "stream-proofs",
    }
}

impl Code {
    /// That of a run under a rule, which asks the field for proofs or does not.
    pub fn of(strategy: StrategyKind, mapping: Mapping, rule: RuleKind, proves: bool) -> Self {
        match (strategy, mapping) {
            (StrategyKind::Exhaustive, _) => Self::Exhaustive,
            (_, Mapping::Stream) if rule.certifies() => Self::StreamProofs,
            (_, Mapping::Stream) => Self::StreamFaces,
            _ if proves => Self::ProvenRegions,
            _ => Self::Regions,
        }
    }

    /// Whose constants serve where it has none: first its own. Workers of regions were once fitted together with Exhaustive, and
    /// whether they proved or not.
    pub fn served_by(self) -> &'static [Self] {
        match self {
            Self::Exhaustive => &[Self::Exhaustive, Self::Regions, Self::ProvenRegions],
            Self::Regions => &[Self::Regions, Self::ProvenRegions],
            Self::ProvenRegions => &[Self::ProvenRegions, Self::Regions],
            Self::StreamFaces => &[Self::StreamFaces],
            Self::StreamProofs => &[Self::StreamProofs],
        }
    }
}

/// The features of a run by whatever code carries it out.
pub fn features(strategy: StrategyKind, mapping: Mapping, hardware: Hardware, levels: &[LevelWork]) -> Terms {
    match (strategy, mapping) {
        (StrategyKind::Ask | StrategyKind::Dp, Mapping::Stream) => streams::terms(hardware, levels),
        _ => Terms::new(strategy, mapping, hardware, levels),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_is_of_one_code() {
        let of = |strategy, mapping, rule: RuleKind| Code::of(strategy, mapping, rule, rule.proves());
        for &code in Code::ALL {
            assert_eq!(code.served_by()[0], code);
        }
        assert_eq!(of(StrategyKind::Exhaustive, Mapping::Stream, RuleKind::Certified), Code::Exhaustive);
        assert_eq!(of(StrategyKind::Ask, Mapping::Stream, RuleKind::Certified), Code::StreamProofs);
        assert_eq!(Code::of(StrategyKind::Ask, Mapping::Stream, RuleKind::Closed, true), Code::StreamFaces);
        assert_eq!(of(StrategyKind::Dp, Mapping::Mbr, RuleKind::Full), Code::ProvenRegions);
        assert_eq!(of(StrategyKind::Ask, Mapping::Sbr, RuleKind::Closed), Code::Regions);
    }
}
