// What a proof says of a region that a thread has.
#pragma once

DEVICE Fate fate_of(Verdict verdict, Value value, const Region& region, bool last, Found& found) {
    if (verdict == UNIFORM) {
        found.proven++;
        found.uniform(region.volume());
        return {MAP_UNIFORM, key(value)};
    }
    found.mixed(region.volume(), last);
    return {MAP_MIXED, verdict == UNKNOWN ? value : 0};
}

DEVICE Fate proven(const FieldArgs& args, const Region& region, bool last, Found& found) {
    Value value = 0;
    const Verdict verdict = prove(args, region, value);
    return fate_of(verdict, value, region, last, found);
}
