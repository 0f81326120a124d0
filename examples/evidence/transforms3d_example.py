"""A short program for the audit of transforms3d: see docs/evidence/audit-evidence.md."""

import numpy as np
from transforms3d import affines, axangles, euler, quaternions

q = euler.euler2quat(0.1, 0.2, 0.3).astype(np.float32)
M = quaternions.quat2mat(q)
A = affines.compose(np.array([1, 2, 3], np.float32), M.astype(np.float32), np.ones(3, np.float32))
print(affines.decompose(A)[0].dtype, axangles.axangle2mat([1, 0, 0], 0.5).dtype)
