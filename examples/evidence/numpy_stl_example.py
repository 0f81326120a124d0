"""A short program for the audit of numpy_stl: see docs/evidence/audit-evidence.md."""

import numpy as np
from stl import mesh

data = np.zeros(1000, dtype=mesh.Mesh.dtype)
rng = np.random.default_rng(0)
data["vectors"] = rng.random((1000, 3, 3), dtype=np.float32)
m = mesh.Mesh(data)
m.rotate([0.0, 0.5, 0.0], np.radians(45))
m.translate(np.array([1, 2, 3]))
print(m.get_mass_properties()[0])
m.update_areas()
m.update_min()
m.update_max()
