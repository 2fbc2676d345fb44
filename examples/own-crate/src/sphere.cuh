// Twin of `Sphere`: every product and sum rounded as there.
DEVICE Label label(const FieldArgs& args, const Coords& cell) {
    float p[3];
    for (u32 j = 0; j < 3; j++) p[j] = fma_once(add(float(cell[j]), 0.5f), args.pitch, -1.0f);
    const float distance = add(root(fma_once(p[0], p[0], fma_once(p[1], p[1], mul(p[2], p[2])))), -args.radius);
    return distance < -args.band ? -args.band : distance > args.band ? args.band : distance;
}
