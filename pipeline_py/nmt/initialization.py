"""How the parameters of a network begin: what each rule of `model.initialization` draws for each kind of them."""

from abc import ABC, abstractmethod
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from pipeline_py.config.systems.training import InitializationName

SMALL = 0.1
"""Where uniform distributions end, on either side of 0."""


class Rule(ABC):
    """One rule; biases begin at 0 under all of them."""

    @abstractmethod
    def matrix(self, weight: Tensor) -> None:
        """Fill the matrix of a linear map (Y, X)."""

    @abstractmethod
    def embedding(self, weight: Tensor) -> None:
        """Fill a table of vectors (V, E)."""

    @abstractmethod
    def vector(self, weight: Tensor) -> None:
        """Fill a vector (X,)."""

    def recurrent(self, weight: Tensor) -> None:
        """Fill the matrices of all gates (n·X, X), which a state goes through again and again."""
        for gate in weight.split(weight.shape[1]):
            nn.init.orthogonal_(gate)

    def output(self, weight: Tensor) -> None:
        """Fill the matrix before a softmax (V, X)."""
        self.matrix(weight)

    def tied(self, size: int) -> float:
        """Say what vectors of this size are multiplied with where they are the matrix before a softmax as well."""
        return 1.0

    def linear(self, module: nn.Linear) -> None:
        """Fill weight and bias of a linear map."""
        self.matrix(module.weight)
        self.bias(module.bias)

    def bias(self, bias: Tensor | None) -> None:
        """Fill a bias, if there is one."""
        if bias is not None:
            bias.zero_()


class Nematus(Rule):
    """N(0, 0.01²)."""

    def matrix(self, weight: Tensor) -> None:
        weight.normal_(std=0.01)

    embedding = vector = matrix


class Uniform(Rule):
    """U(−0.1, 0.1), the matrix before the softmax 0."""

    def matrix(self, weight: Tensor) -> None:
        weight.uniform_(-SMALL, SMALL)

    embedding = vector = recurrent = matrix

    def output(self, weight: Tensor) -> None:
        self.matrix(weight)  # what is drawn after it stays the same
        weight.zero_()


class LeCun(Rule):
    """Inputs of unit variance stay so: an embedding has one unit at work, a matrix as many as it reads."""

    def matrix(self, weight: Tensor) -> None:
        weight.normal_(std=weight.shape[1] ** -0.5)

    def embedding(self, weight: Tensor) -> None:
        weight.normal_(std=1.0)

    def tied(self, size: int) -> float:
        return float(size**-0.5)

    def vector(self, weight: Tensor) -> None:
        weight.uniform_(-SMALL, SMALL)


class LeCunSmall(LeCun):
    """The same with small embeddings: Adam, whose steps are of about one size, changes them sooner."""

    DEVIATION = 0.25

    def embedding(self, weight: Tensor) -> None:
        weight.normal_(std=self.DEVIATION)

    def tied(self, size: int) -> float:
        return super().tied(size) / self.DEVIATION


class Glorot(Rule):
    """Glorot and Bengio (2010); embeddings that are multiplied by √E have unit variance."""

    def matrix(self, weight: Tensor) -> None:
        nn.init.xavier_uniform_(weight)

    def embedding(self, weight: Tensor) -> None:
        weight.normal_(std=weight.shape[1] ** -0.5)

    output = embedding

    def vector(self, weight: Tensor) -> None:
        weight.uniform_(-SMALL, SMALL)


@runtime_checkable
class WithParameters(Protocol):
    """A module that says how its own parameters begin; those of its children are the children's affair."""

    def initialize(self, rule: Rule) -> None:
        """Fill them, without gradients."""


RULES: dict[InitializationName, Rule] = {
    "nematus": Nematus(),
    "uniform": Uniform(),
    "lecun": LeCun(),
    "lecun_small": LeCunSmall(),
    "glorot": Glorot(),
}


@torch.no_grad()
def initialize(network: nn.Module, name: InitializationName) -> None:
    """Draw all parameters of a network from torch's global generator.

    Modules of torch follow the rule where they are linear maps and embeddings; others keep what they began with.

    Raises:
        TypeError: a module that is none of torch's does not say how its parameters begin.
    """
    rule = RULES[name]
    for module in network.modules():
        if isinstance(module, WithParameters):
            module.initialize(rule)
        elif isinstance(module, nn.Linear):
            rule.linear(module)
        elif isinstance(module, nn.Embedding):
            rule.embedding(module.weight)
        elif not _of_torch(module) and next(module.parameters(recurse=False), None) is not None:
            raise TypeError(f"{type(module).__name__} has parameters; say in `initialize(rule)` how they begin")


@torch.no_grad()
def initialize_tied(embedding: Tensor, name: InitializationName) -> None:
    """Let an embedding (V, E) that `initialize` has drawn begin as one that is the softmax's matrix as well."""
    embedding.mul_(RULES[name].tied(embedding.shape[1]))


def _of_torch(module: nn.Module) -> bool:
    """Say whether a module is one of torch's, or made of one."""
    return any(base.__module__.startswith("torch.nn.") for base in type(module).__mro__ if base is not nn.Module)
