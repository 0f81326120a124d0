"""A short program for the audit of python_speech_features: see docs/evidence/audit-evidence.md."""

import numpy as np
from python_speech_features import delta, logfbank, mfcc

rng = np.random.default_rng(0)
signal = (rng.standard_normal(16000) * 3000).astype(np.int16)
f = mfcc(signal, 16000)
d = delta(f, 2)
b = logfbank(signal, 16000)
print(f.shape, b.shape)
signal32 = signal.astype(np.float32) / np.float32(32768)
print(mfcc(signal32, 16000).dtype)
