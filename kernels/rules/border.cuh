// `border`: the cells on the region's own faces decide. Twin of src/rule/border.rs.
#pragma once

constexpr bool RULE_FACES = true;

DEVICE Region deciding(const RunArgs&, const Region& region) { return region; }
