"""The initialization of network parameters by the rules of `model.initialization`."""

from abc import ABC, abstractmethod
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from pipeline_py.config.systems.training import InitializationName

UNIFORM_LIMIT = 0.1
"""Bound of uniform distributions."""


class InitializationRule(ABC):
    """An initialization rule; all rules set biases to 0."""

    @abstractmethod
    def fill_matrix(self, weight: Tensor) -> None:
        """Fill the matrix of a linear layer (Y, X)."""

    @abstractmethod
    def fill_embedding(self, weight: Tensor) -> None:
        """Fill an embedding table (V, E)."""

    @abstractmethod
    def fill_vector(self, weight: Tensor) -> None:
        """Fill a vector (X,)."""

    def fill_recurrent(self, weight: Tensor) -> None:
        """Fill the recurrent matrices of all gates (n·X, X)."""
        for gate in weight.split(weight.shape[1]):
            nn.init.orthogonal_(gate)

    def fill_output(self, weight: Tensor) -> None:
        """Fill the matrix before a softmax (V, X)."""
        self.fill_matrix(weight)

    def get_tied_scale(self, size: int) -> float:
        """Return the factor of an embedding of this size that is tied to the matrix before a softmax."""
        return 1.0

    def fill_linear(self, module: nn.Linear) -> None:
        """Fill weight and bias of a linear layer."""
        self.fill_matrix(module.weight)
        self.fill_bias(module.bias)

    def fill_bias(self, bias: Tensor | None) -> None:
        """Fill a bias, if there is one."""
        if bias is not None:
            bias.zero_()


class NematusRule(InitializationRule):
    """The rule of Nematus: N(0, 0.01²)."""

    def fill_matrix(self, weight: Tensor) -> None:
        weight.normal_(std=0.01)

    fill_embedding = fill_vector = fill_matrix


class UniformRule(InitializationRule):
    """The uniform rule: U(−0.1, 0.1), and 0 for the matrix before the softmax."""

    def fill_matrix(self, weight: Tensor) -> None:
        weight.uniform_(-UNIFORM_LIMIT, UNIFORM_LIMIT)

    fill_embedding = fill_vector = fill_recurrent = fill_matrix

    def fill_output(self, weight: Tensor) -> None:
        self.fill_matrix(weight)  # keeps the random numbers of later parameters
        weight.zero_()


class LeCunRule(InitializationRule):
    """The rule of LeCun: outputs have unit variance, with fan-in 1 for embeddings and X for matrices."""

    def fill_matrix(self, weight: Tensor) -> None:
        weight.normal_(std=weight.shape[1] ** -0.5)

    def fill_embedding(self, weight: Tensor) -> None:
        weight.normal_(std=1.0)

    def get_tied_scale(self, size: int) -> float:
        return float(size**-0.5)

    def fill_vector(self, weight: Tensor) -> None:
        weight.uniform_(-UNIFORM_LIMIT, UNIFORM_LIMIT)


class LeCunSmallRule(LeCunRule):
    """The rule of LeCun with smaller embeddings, which Adam changes faster because its steps have a constant size."""

    EMBEDDING_DEVIATION = 0.25

    def fill_embedding(self, weight: Tensor) -> None:
        weight.normal_(std=self.EMBEDDING_DEVIATION)

    def get_tied_scale(self, size: int) -> float:
        return super().get_tied_scale(size) / self.EMBEDDING_DEVIATION


class GlorotRule(InitializationRule):
    """The rule of Glorot and Bengio (2010); embeddings have unit variance after multiplication by √E."""

    def fill_matrix(self, weight: Tensor) -> None:
        nn.init.xavier_uniform_(weight)

    def fill_embedding(self, weight: Tensor) -> None:
        weight.normal_(std=weight.shape[1] ** -0.5)

    fill_output = fill_embedding

    def fill_vector(self, weight: Tensor) -> None:
        weight.uniform_(-UNIFORM_LIMIT, UNIFORM_LIMIT)


@runtime_checkable
class SelfInitializing(Protocol):
    """A module that initializes the parameters that it owns directly, without those of its children."""

    def initialize(self, rule: InitializationRule) -> None:
        """Fill the parameters, without gradients."""


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

    The rule applies to linear layers and embeddings of torch; other modules of torch do not change.

    Raises:
        TypeError: a module of this package has parameters but no method `initialize`.
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
            raise TypeError(f"{type(module).__name__} has parameters; initialize them in a method `initialize(rule)`")


@torch.no_grad()
def scale_tied_embedding(embedding: Tensor, rule_name: InitializationName) -> None:
    """Scale an embedding (V, E) that is tied to the matrix of the softmax, after `initialize_parameters`."""
    embedding.mul_(INITIALIZATION_RULES[rule_name].get_tied_scale(embedding.shape[1]))


def _is_torch_module(module: nn.Module) -> bool:
    """Return whether the class of a module is from torch or derived from such a class."""
    return any(base.__module__.startswith("torch.nn.") for base in type(module).__mro__ if base is not nn.Module)
