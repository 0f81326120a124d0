"""A short program for the audit of filterpy: see docs/evidence/audit-evidence.md."""

import numpy as np
from filterpy.common import Q_discrete_white_noise
from filterpy.kalman import KalmanFilter

f = KalmanFilter(dim_x=2, dim_z=1)
f.x = np.array([2.0, 0.0], dtype=np.float32)
f.F = np.array([[1.0, 1.0], [0.0, 1.0]], dtype=np.float32)
f.H = np.array([[1.0, 0.0]], dtype=np.float32)
f.P *= 1000.0
f.R = 5
f.Q = Q_discrete_white_noise(dim=2, dt=0.1, var=0.13)
for i in range(50):
    f.predict()
    f.update(np.float32(i))
print(f.x.dtype)
