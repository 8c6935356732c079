"""How the parameters of a network begin: what each rule of `model.initialization` draws for each kind of them."""

from abc import ABC, abstractmethod
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from pipeline_py.config.systems.training import InitializationName

UNIFORM_LIMIT = 0.1
"""Where uniform distributions end, on either side of 0."""


class InitializationRule(ABC):
    """One rule; biases begin at 0 under all of them."""

    @abstractmethod
    def fill_matrix(self, weight: Tensor) -> None:
        """Fill the matrix of a linear map (Y, X)."""

    @abstractmethod
    def fill_embedding(self, weight: Tensor) -> None:
        """Fill a table of vectors (V, E)."""

    @abstractmethod
    def fill_vector(self, weight: Tensor) -> None:
        """Fill a vector (X,)."""

    def fill_recurrent(self, weight: Tensor) -> None:
        """Fill the matrices of all gates (n·X, X), which a state goes through again and again."""
        for gate in weight.split(weight.shape[1]):
            nn.init.orthogonal_(gate)

    def fill_output(self, weight: Tensor) -> None:
        """Fill the matrix before a softmax (V, X)."""
        self.fill_matrix(weight)

    def get_tied_scale(self, size: int) -> float:
        """Say what vectors of this size are multiplied with where they are the matrix before a softmax as well."""
        return 1.0

    def fill_linear(self, module: nn.Linear) -> None:
        """Fill weight and bias of a linear map."""
        self.fill_matrix(module.weight)
        self.fill_bias(module.bias)

    def fill_bias(self, bias: Tensor | None) -> None:
        """Fill a bias, if there is one."""
        if bias is not None:
            bias.zero_()


class NematusRule(InitializationRule):
    """N(0, 0.01²)."""

    def fill_matrix(self, weight: Tensor) -> None:
        weight.normal_(std=0.01)

    fill_embedding = fill_vector = fill_matrix


class UniformRule(InitializationRule):
    """U(−0.1, 0.1), the matrix before the softmax 0."""

    def fill_matrix(self, weight: Tensor) -> None:
        weight.uniform_(-UNIFORM_LIMIT, UNIFORM_LIMIT)

    fill_embedding = fill_vector = fill_recurrent = fill_matrix

    def fill_output(self, weight: Tensor) -> None:
        self.fill_matrix(weight)  # what is drawn after it stays the same
        weight.zero_()


class LeCunRule(InitializationRule):
    """Inputs of unit variance stay so: an embedding has one unit at work, a matrix as many as it reads."""

    def fill_matrix(self, weight: Tensor) -> None:
        weight.normal_(std=weight.shape[1] ** -0.5)

    def fill_embedding(self, weight: Tensor) -> None:
        weight.normal_(std=1.0)

    def get_tied_scale(self, size: int) -> float:
        return float(size**-0.5)

    def fill_vector(self, weight: Tensor) -> None:
        weight.uniform_(-UNIFORM_LIMIT, UNIFORM_LIMIT)


class LeCunSmallRule(LeCunRule):
    """The same with small embeddings: Adam, whose steps are of about one size, changes them sooner."""

    EMBEDDING_DEVIATION = 0.25

    def fill_embedding(self, weight: Tensor) -> None:
        weight.normal_(std=self.EMBEDDING_DEVIATION)

    def get_tied_scale(self, size: int) -> float:
        return super().get_tied_scale(size) / self.EMBEDDING_DEVIATION


class GlorotRule(InitializationRule):
    """Glorot and Bengio (2010); embeddings that are multiplied by √E have unit variance."""

    def fill_matrix(self, weight: Tensor) -> None:
        nn.init.xavier_uniform_(weight)

    def fill_embedding(self, weight: Tensor) -> None:
        weight.normal_(std=weight.shape[1] ** -0.5)

    fill_output = fill_embedding

    def fill_vector(self, weight: Tensor) -> None:
        weight.uniform_(-UNIFORM_LIMIT, UNIFORM_LIMIT)


@runtime_checkable
class SelfInitializing(Protocol):
    """A module that says how its own parameters begin; those of its children are the children's affair."""

    def initialize(self, rule: InitializationRule) -> None:
        """Fill them, without gradients."""


INITIALIZATION_RULES: dict[InitializationName, InitializationRule] = {
    "nematus": NematusRule(),
    "uniform": UniformRule(),
    "lecun": LeCunRule(),
    "lecun_small": LeCunSmallRule(),
    "glorot": GlorotRule(),
}


@torch.no_grad()
def initialize_parameters(network: nn.Module, rule_name: InitializationName) -> None:
    """Draw all parameters of a network from torch's global generator.

    Modules of torch follow the rule where they are linear maps and embeddings; others keep what they began with.

    Raises:
        TypeError: a module that is none of torch's does not say how its parameters begin.
    """
    rule = INITIALIZATION_RULES[rule_name]
    for module in network.modules():
        if isinstance(module, SelfInitializing):
            module.initialize(rule)
        elif isinstance(module, nn.Linear):
            rule.fill_linear(module)
        elif isinstance(module, nn.Embedding):
            rule.fill_embedding(module.weight)
        elif not _is_torch_module(module) and next(module.parameters(recurse=False), None) is not None:
            raise TypeError(f"{type(module).__name__} has parameters; say in `initialize(rule)` how they begin")


@torch.no_grad()
def scale_tied_embedding(embedding: Tensor, rule_name: InitializationName) -> None:
    """Let an embedding (V, E) that `initialize_parameters` has drawn begin as one that is the softmax's matrix as well."""
    embedding.mul_(INITIALIZATION_RULES[rule_name].get_tied_scale(embedding.shape[1]))


def _is_torch_module(module: nn.Module) -> bool:
    """Say whether a module is one of torch's, or made of one."""
    return any(base.__module__.startswith("torch.nn.") for base in type(module).__mro__ if base is not nn.Module)
