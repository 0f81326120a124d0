"""Fine-tuning under autocast: which op runs in which dtype, and which weights are cast again.

    castwise audit examples/autocast.py

The encoder is frozen. Autocast keeps the bfloat16 copies of weights that are trained until its
block ends, but not those of frozen ones: it casts them again for each of the two views.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

WIDTH, BATCH, EPOCHS = 256, 32, 3


class Model(nn.Module):
    """A frozen encoder with a head that is trained."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH))
        self.encoder.requires_grad_(False)
        self.head = nn.Linear(WIDTH, 10)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.encoder(x))


def main() -> None:
    torch.manual_seed(0)
    model = Model()
    optimizer = torch.optim.SGD(model.head.parameters(), lr=0.1)
    views = [torch.randn(BATCH, WIDTH) for _ in range(2)]
    target = torch.randint(0, 10, (BATCH,))
    for _ in range(EPOCHS):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            one, two = (model(view) for view in views)
            loss = functional.cross_entropy(one, target) + functional.mse_loss(one, two)
        loss.backward()
        optimizer.step()
    print(f"{EPOCHS} epochs, loss in {loss.dtype}")


if __name__ == "__main__":
    main()
