# mypy: disable-error-code="import-not-found"
"""OpenNMT-py's side: a Transformer, or bidirectional GRU encoder, GRU decoder with input feeding, MLP attention.

Network, loss, optimizer, update and beam search are OpenNMT-py's own. It runs in the environment of the peers.
"""

from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from typing import Any

import numpy as np
import onmt.opts
import pyonmttok
import torch
from onmt.constants import DefaultTokens, ModelTask
from onmt.model_builder import build_model
from onmt.trainer import Trainer
from onmt.translate import GNMTGlobalScorer, Translator
from onmt.utils.loss import LossCompute
from onmt.utils.optimizers import Optimizer
from onmt.utils.parse import ArgumentParser

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

RECURRENT_OPTIONS = {
    "-encoder_type": "brnn",
    "-decoder_type": "rnn",
    "-rnn_type": "GRU",
    "-input_feed": "1",
    "-global_attention": "mlp",
    "-enc_layers": "1",
    "-dec_layers": "1",
}


class OpenNMTAdapter(ToolkitAdapter):
    """OpenNMT-py as it comes, with its trainer's update and its translator's beam search."""

    def __init__(self, worker_options: dict[str, Any]) -> None:
        self.version = metadata.version("OpenNMT-py")
        self._device = torch.device(worker_options["device"])
        options = _parse_options(worker_options)
        vocabularies = {
            "src": _build_vocabulary(worker_options["source"]),
            "tgt": _build_vocabulary(worker_options["target"]),
            "data_task": ModelTask.SEQ2SEQ,
            "decoder_start_token": DefaultTokens.BOS,
        }
        self.model = build_model(options, options, vocabularies, None, 0 if self._device.type == "cuda" else -1)
        loss = LossCompute.from_opts(options, self.model, vocabularies["tgt"])
        if worker_options["precision"] == "bfloat16":
            for module in (self.model, loss):
                module.forward = torch.autocast(self._device.type, torch.bfloat16)(module.forward)
        self._trainer = Trainer(
            self.model,
            loss,
            loss,
            None,
            {},
            Optimizer.from_opt(self.model, options),
            norm_method="sents",
            n_gpu=0,
            dropout=options.dropout,
            attention_dropout=options.attention_dropout,
            average_decay=options.average_decay,
        )
        self._translator = Translator(
            self.model,
            vocabularies,
            gpu=0 if self._device.type == "cuda" else -1,
            max_length_ratio=0,
            dump_beam="",
            global_scorer=GNMTGlobalScorer(0.0, 0.0, "none", "none"),
            report_score=False,
        )

    def prepare_batch(self, batch: SentenceBatch) -> tuple[dict[str, torch.Tensor], int]:
        """Make the dictionary that its data loader makes: sources have no end of sentence there."""
        source = [to_peer_ids(row[:-1]) for row in batch.source]
        tensors = {
            "src": torch.from_numpy(pad_rows(source, PADDING_ID)).unsqueeze(2),
            "srclen": torch.tensor([len(row) for row in source]),
        }
        if batch.target:
            target = [np.array([START_ID, *to_peer_ids(row)]) for row in batch.target]
            tensors["tgt"] = torch.from_numpy(pad_rows(target, PADDING_ID)).unsqueeze(2)
        return {name: tensor.to(self._device) for name, tensor in tensors.items()}, batch.max_translation_length

    def train_batch(self, batch: tuple[dict[str, torch.Tensor], int]) -> None:
        """Make the update that `Trainer.train` makes of one batch."""
        statistics = onmt.utils.Statistics(), onmt.utils.Statistics()
        self._trainer._gradient_accumulation([batch[0]], len(batch[0]["srclen"]), *statistics)
        if self._trainer.average_decay > 0:
            self._trainer._update_average(self._trainer.optim.training_step - 1)

    def set_learning_rate(self, learning_rate: float) -> None:
        """Set what its optimizer gives all parameters at each step."""
        self._trainer.optim._learning_rate = learning_rate

    @contextmanager
    def search_context(self) -> Iterator[None]:
        """Swap in the moving average of weights as `Trainer.validate` does, and swap the weights back in."""
        weights = [parameter.data for parameter in self.model.parameters()]
        averages = self._trainer.moving_average or weights
        for average, parameter in zip(averages, self.model.parameters(), strict=True):
            parameter.data = average
        yield
        for weight, parameter in zip(weights, self.model.parameters(), strict=True):
            parameter.data = weight

    def translate_batch(self, batch: tuple[dict[str, torch.Tensor], int], beam_size: int) -> list[list[int]]:
        """Search as `Translator` does."""
        tensors, longest = batch
        self._translator.beam_size, self._translator.max_length = beam_size, longest
        output = self._translator.translate_batch(tensors, attn_debug=False)
        return [to_pipeline_ids(hypotheses[0].numpy(force=True)) for hypotheses in output["predictions"]]


def _parse_options(worker_options: dict[str, Any]) -> Namespace:
    """Take OpenNMT-py's defaults but for what is compared."""
    parser = ArgumentParser()
    onmt.opts.train_opts(parser)
    dropout = str(worker_options["dropout"])
    options = {
        **(
            _build_transformer_options(worker_options)
            if worker_options["architecture"] == "transformer"
            else RECURRENT_OPTIONS
        ),
        "-word_vec_size": str(worker_options["embedding"]),
        "-hidden_size": str(worker_options["hidden"]),
        "-dropout": dropout,
        "-attention_dropout": dropout,
        "-optim": worker_options["optimizer"],
        "-learning_rate": str(worker_options["learning_rate"]),
        "-max_grad_norm": str(worker_options["clip"]),
        "-average_decay": str(1 - worker_options["moving_average"] if worker_options["moving_average"] else 0),
        "-data": "{}",
        "-src_vocab": "none",
        "-save_model": "none",
    }
    command = [word for pair in options.items() for word in pair]
    if worker_options["architecture"] == "transformer":
        command.append("-position_encoding")
    if worker_options["tied"]:
        command.append("-share_decoder_embeddings")
    if worker_options["device"] == "cuda":
        command += ["-world_size", "1", "-gpu_ranks", "0"]
    options, _ = parser.parse_known_args(command)
    ArgumentParser.update_model_opts(options)
    return options


def _build_transformer_options(worker_options: dict[str, Any]) -> dict[str, str]:
    """Describe a Transformer; it normalizes before each sublayer, as OpenNMT-py always does."""
    return {
        "-encoder_type": "transformer",
        "-decoder_type": "transformer",
        "-layers": str(worker_options["layers"]),
        "-heads": str(worker_options["heads"]),
        "-transformer_ff": str(worker_options["feed_forward"] * worker_options["hidden"]),
    }


def _build_vocabulary(size: int) -> pyonmttok.Vocab:
    """Name the words of the pipeline's vocabulary of a size, its end of sentence and unknown word counted."""
    specials = [DefaultTokens.UNK, DefaultTokens.PAD, DefaultTokens.BOS, DefaultTokens.EOS]
    vocabulary = pyonmttok.build_vocab_from_tokens(list_vocabulary_words(size), special_tokens=specials)
    vocabulary.default_id = vocabulary[DefaultTokens.UNK]
    assert [vocabulary[special] for special in specials] == [UNKNOWN_ID, PADDING_ID, START_ID, END_ID]
    return vocabulary


if __name__ == "__main__":
    serve_requests(OpenNMTAdapter)
