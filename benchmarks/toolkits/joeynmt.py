# mypy: disable-error-code="import-not-found"
"""JoeyNMT's side: a Transformer, or bidirectional GRU encoder, GRU decoder with input feeding, Bahdanau attention.

Network, loss, optimizer, update and beam search are JoeyNMT's own. It runs in the environment of the peers.
"""

import tempfile
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from joeynmt.batch import Batch
from joeynmt.config import _check_special_symbols, parse_train_args
from joeynmt.model import build_model
from joeynmt.search import search
from joeynmt.training import TrainManager
from joeynmt.vocabulary import Vocabulary

from benchmarks.toolkits.batch_file import SentenceBatch, pad_rows
from benchmarks.toolkits.peer_vocabulary import (
    END_ID,
    PADDING_ID,
    START_ID,
    UNKNOWN_ID,
    list_vocabulary_words,
    to_peer_ids,
    to_pipeline_ids,
)
from benchmarks.toolkits.worker_server import ToolkitAdapter, serve_requests


class JoeyNMTAdapter(ToolkitAdapter):
    """JoeyNMT as it comes, with its train manager's update and its beam search."""

    def __init__(self, worker_options: dict[str, Any]) -> None:
        self.version = metadata.version("joeynmt")
        self._device = torch.device(worker_options["device"])
        options = (
            _build_transformer_options(worker_options)
            if worker_options["architecture"] == "transformer"
            else _build_recurrent_options(worker_options)
        )
        options["tied_softmax"] = worker_options["tied"]
        model = build_model(
            options, _build_vocabulary(worker_options["source"]), _build_vocabulary(worker_options["target"])
        )
        model.loss_function = ("crossentropy", 0.0)
        self.model = model.to(self._device)
        training = {
            "optimizer": worker_options["optimizer"],
            "learning_rate": worker_options["learning_rate"],
            "clip_grad_norm": worker_options["clip"],
            "normalization": "batch",
            "scheduling": "decaying",  # once an epoch, which none here ends; it cannot do without
            "batch_size": 1,  # nothing here asks for it
        }
        self._autocast = {
            "device_type": self._device.type,
            "dtype": torch.bfloat16,
            "enabled": worker_options["precision"] == "bfloat16",
        }
        self._folder = tempfile.TemporaryDirectory()
        self._manager = TrainManager(
            0,
            self.model,
            Path(self._folder.name),
            self._device,
            n_gpu=int(self._device.type == "cuda"),
            autocast=self._autocast,
            train_args=parse_train_args(training),
        )

    def prepare_batch(self, batch: SentenceBatch) -> tuple[Batch, int]:
        """Make the batch that its data loader makes."""
        source = [to_peer_ids(row) for row in batch.source]
        target = [np.array([START_ID, *to_peer_ids(row)]) for row in batch.target]
        joeynmt_batch = Batch(
            src=torch.from_numpy(pad_rows(source, PADDING_ID)),
            src_length=torch.tensor([len(row) for row in source]),
            src_prompt_mask=None,
            trg=torch.from_numpy(pad_rows(target, PADDING_ID)) if target else None,
            trg_prompt_mask=None,
            indices=torch.arange(len(source)),
            device=self._device,
            pad_index=PADDING_ID,
            eos_index=END_ID,
        )
        joeynmt_batch.sort_by_src_length()
        return joeynmt_batch, batch.max_translation_length

    def train_batch(self, batch: tuple[Batch, int]) -> None:
        """Make the update that `TrainManager.train_and_validate` makes of one batch."""
        manager = self._manager
        manager._train_step(batch[0])
        manager.clip_grad_fun(parameters=self.model.parameters())
        if manager.scaler is None:
            manager.optimizer.step()
        else:
            manager.scaler.step(manager.optimizer)
            manager.scaler.update()
        self.model.zero_grad()

    def set_learning_rate(self, learning_rate: float) -> None:
        """Set that of all parameters, as its schedulers do."""
        for group in self._manager.optimizer.param_groups:
            group["lr"] = learning_rate

    def translate_batch(self, batch: tuple[Batch, int], beam_size: int) -> list[list[int]]:
        """Search as `predict` does."""
        sentences, longest = batch
        hypotheses, _, _ = search(
            self.model,
            sentences,
            longest,
            beam_size,
            beam_alpha=0,
            n_best=1,
            generate_unk=True,
            autocast=self._autocast,
        )
        # Rows end with END and padding; one without END was cut.
        ends = hypotheses == END_ID
        lengths = np.where(ends.any(1), ends.argmax(1) + 1, hypotheses.shape[1])
        translations = [to_pipeline_ids(row[:length]) for row, length in zip(hypotheses, lengths, strict=True)]
        # JoeyNMT has sorted the batch by length.
        return [translation for _, translation in sorted(zip(sentences.indices.tolist(), translations, strict=True))]


def _build_recurrent_options(worker_options: dict[str, Any]) -> dict[str, Any]:
    side = {
        "type": "recurrent",
        "rnn_type": "gru",
        "hidden_size": worker_options["hidden"],
        "dropout": worker_options["dropout"],
    }
    embeddings = {"embedding_dim": worker_options["embedding"], "dropout": worker_options["dropout"]}
    return {
        "encoder": {**side, "embeddings": embeddings, "bidirectional": True, "num_layers": 1},
        "decoder": {
            **side,
            "embeddings": embeddings,
            "attention": "bahdanau",
            "hidden_dropout": worker_options["dropout"],
            "input_feeding": True,
            "init_hidden": "bridge",
            "num_layers": 1,
        },
    }


def _build_transformer_options(worker_options: dict[str, Any]) -> dict[str, Any]:
    side = {
        "type": "transformer",
        "embeddings": {
            "embedding_dim": worker_options["embedding"],
            "dropout": worker_options["dropout"],
            "scale": True,
        },
        "hidden_size": worker_options["hidden"],
        "ff_size": worker_options["feed_forward"] * worker_options["hidden"],
        "num_layers": worker_options["layers"],
        "num_heads": worker_options["heads"],
        "layer_norm": worker_options["norm"],
        "dropout": worker_options["dropout"],
    }
    return {"encoder": side, "decoder": side}


def _build_vocabulary(size: int) -> Vocabulary:
    """Name the words of the pipeline's vocabulary of a size, its end of sentence and unknown word counted."""
    symbols = SimpleNamespace(**_check_special_symbols({}))
    vocabulary = Vocabulary([], symbols)
    assert [vocabulary.unk_index, vocabulary.pad_index, vocabulary.bos_index, vocabulary.eos_index] == [
        UNKNOWN_ID,
        PADDING_ID,
        START_ID,
        END_ID,
    ]
    # `add_tokens` looks through the whole list for each word, which takes minutes for 50,000.
    for word in list_vocabulary_words(size):
        vocabulary._stoi[word] = len(vocabulary._itos)
        vocabulary._itos.append(word)
    return vocabulary


if __name__ == "__main__":
    serve_requests(JoeyNMTAdapter)
