// `full`: every cell decides, and so does a proof. Twin of src/rule/full.rs.
#pragma once

constexpr bool RULE_FACES = false;

DEVICE Region deciding(const RunArgs&, const Region& region) { return region; }
