// `certified`: a proof decides, which speaks of every cell. Twin of src/rule/certified.rs.
#pragma once

constexpr bool RULE_FACES = false;

DEVICE Region deciding(const RunArgs&, const Region& region) { return region; }
