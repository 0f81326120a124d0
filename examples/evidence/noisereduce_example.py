"""A short program for the audit of noisereduce: see docs/evidence/audit-evidence.md."""

import noisereduce as nr
import numpy as np

rng = np.random.default_rng(0)
y = rng.standard_normal(16000).astype(np.float32)
print(nr.reduce_noise(y=y, sr=16000).dtype, nr.reduce_noise(y=y, sr=16000, stationary=True).dtype)
