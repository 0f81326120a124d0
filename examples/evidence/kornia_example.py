"""A short program for the audit of kornia: see docs/evidence/audit-evidence.md."""

import kornia
import torch

torch.manual_seed(0)
img = torch.rand(1, 3, 64, 64, dtype=torch.float64)
g = kornia.filters.gaussian_blur2d(img, (5, 5), (1.5, 1.5))
h = kornia.color.rgb_to_hsv(img)
e = kornia.filters.sobel(img.float())
w = kornia.geometry.rotate(img.float(), torch.tensor([30.0]))
n = kornia.enhance.normalize(img, torch.tensor([0.5, 0.5, 0.5]), torch.tensor([0.2, 0.2, 0.2]))
print(g.dtype, h.dtype, e.dtype, w.dtype, n.dtype)
