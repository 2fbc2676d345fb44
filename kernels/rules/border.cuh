// `border`: the cells on the region's own faces decide. Twin of src/rule/border.rs.
#pragma once

constexpr bool RULE_FACES = true;
constexpr bool RULE_PROVES = false;

DEVICE Region deciding(const RunArgs&, const Region& region) { return region; }
