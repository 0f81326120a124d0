"""A training loop that should compute in bfloat16, and mostly does not.

    castwise audit examples/train_mixed.py
    castwise audit --deep examples/train_mixed.py

The weights and the input are bfloat16. But the positions that are added to the input were made
without a dtype, so everything after them is float32. A layer with bfloat16 weights would refuse it,
so someone added a cast there. The loss scale is a 0-d tensor, which causes no cast. The targets are
float32, so the prediction is cast.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

BATCH, STEPS, WIDTH, EPOCHS = 32, 64, 128, 5


class Block(nn.Module):
    """A residual block, in bfloat16."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH, dtype=torch.bfloat16)
        self.up = nn.Linear(WIDTH, 2 * WIDTH, dtype=torch.bfloat16)
        self.down = nn.Linear(2 * WIDTH, WIDTH, dtype=torch.bfloat16)
        self.gain = nn.Parameter(torch.ones(WIDTH, dtype=torch.bfloat16))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = functional.gelu(self.up(self.norm(x.to(torch.bfloat16))))
        return x + self.down(hidden) * self.gain


class Model(nn.Module):
    """Two blocks, applied to an input with its positions."""

    def __init__(self) -> None:
        super().__init__()
        self.positions = torch.linspace(0, 1, STEPS)
        self.blocks = nn.ModuleList([Block(), Block()])
        self.head = nn.Linear(WIDTH, 1, dtype=torch.bfloat16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.positions[:, None]
        for block in self.blocks:
            x = block(x)
        return self.head(x.to(torch.bfloat16)).squeeze(-1)


def main() -> None:
    torch.manual_seed(0)
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    x = torch.randn(BATCH, STEPS, WIDTH, dtype=torch.bfloat16)
    target = torch.randn(BATCH, STEPS)
    scale = torch.tensor(128.0)
    for epoch in range(EPOCHS):
        prediction = model(x)
        loss = functional.mse_loss(prediction, target) * scale
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"epoch {epoch}: loss {loss.item() / 128:.2f}")


if __name__ == "__main__":
    main()
