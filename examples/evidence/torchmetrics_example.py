"""A short program for the audit of torchmetrics: see docs/evidence/audit-evidence.md."""

import torch
import torchmetrics as tm

torch.manual_seed(0)
p = torch.rand(100, dtype=torch.bfloat16)
t = torch.rand(100)
print(
    float(tm.functional.mean_squared_error(p, t)),
    float(tm.functional.pearson_corrcoef(p.float(), t)),
)
labels = torch.randint(0, 3, (100,))
logits = torch.randn(100, 3, dtype=torch.float16)
print(
    float(tm.functional.classification.multiclass_accuracy(logits.float(), labels, num_classes=3))
)
print(
    float(
        tm.functional.image.peak_signal_noise_ratio(
            torch.randint(0, 255, (1, 3, 8, 8)), torch.rand(1, 3, 8, 8) * 255, data_range=255.0
        )
    )
)
print(
    float(tm.functional.r2_score(p, t)), float(tm.functional.mean_absolute_percentage_error(p, t))
)
