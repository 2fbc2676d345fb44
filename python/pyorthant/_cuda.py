"""Where pip puts CUDA's compiler."""

import importlib.util
import os


def find_nvrtc():
    """Tells the library where ``pip install pyorthant[cuda]`` put NVRTC, unless ``ORTHANT_NVRTC_DIR`` says where it is."""
    if os.environ.get("ORTHANT_NVRTC_DIR"):
        return
    try:
        spec = importlib.util.find_spec("nvidia")
    except (ImportError, ValueError):
        return
    for place in (spec.submodule_search_locations or ()) if spec else ():
        folder = os.path.join(place, "cu13", "lib")
        if os.path.exists(os.path.join(folder, "libnvrtc.so.13")):
            os.environ["ORTHANT_NVRTC_DIR"] = folder
            return
