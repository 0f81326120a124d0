"""Where NumPy 2 differs from NumPy 1: run `castwise port --from numpy@1 --to numpy@2`."""

import numpy as np

weights = np.linspace(0, 1, 4, dtype=np.float32)

gain = np.float64(1.5)  # for example from a configuration file
scaled = weights * gain

step = weights.mean() * 1e-3
exposure = np.uint8(100) + 100
is_exact = weights[1] == 1 / 3
print(scaled.sum(), step, exposure, is_exact)
