"""A short program for the audit of trimesh: see docs/evidence/audit-evidence.md."""

import numpy as np
import trimesh

m = trimesh.creation.icosphere(subdivisions=3)
m.apply_transform(trimesh.transformations.rotation_matrix(0.3, [0, 0, 1]))
print(m.area, m.volume, m.vertex_normals.dtype)
p = trimesh.sample.sample_surface(m, 500)[0].astype(np.float32)
print(trimesh.bounds.corners(m.bounds).dtype, p.mean())
m.subdivide()
trimesh.smoothing.filter_laplacian(m, iterations=3)
