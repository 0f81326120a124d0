"""A short program for the audit of pyloudnorm: see docs/evidence/audit-evidence.md."""

import numpy as np
import pyloudnorm as pyln

rng = np.random.default_rng(0)
data = rng.standard_normal((48000 * 2, 2)).astype(np.float32) * np.float32(0.1)
meter = pyln.Meter(48000)
loudness = meter.integrated_loudness(data)
out = pyln.normalize.loudness(data, loudness, -12.0)
peak = pyln.normalize.peak(data, -1.0)
print(out.dtype, peak.dtype)
