"""BLEU on the development set, recorded as on a GPU or not, against plain greedy searches scored by sacreBLEU."""

from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
import sacrebleu
import torch

from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.config.systems.decoders import GlobalContextConfig
from pipeline_py.config.systems.training import ModelConfig
from pipeline_py.files.ragged_arrays import write_ragged_rows
from pipeline_py.nmt.data.dataset import ParallelDataset
from pipeline_py.nmt.model import TranslationModel
from pipeline_py.nmt.training.validation import Validator
from pipeline_py.subword.vocabulary import EOS, Vocabulary
from tests.nmt.fake_graph_recorder import use_gpu_search
from tests.nmt.network_assertions import draw_parameters
from tests.nmt.search.plain_search import plain_search, stepwise

SIZES = {"source": 12, "target": 10}
COUNT = 8
MAX_WORDS = 7
pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def model() -> TranslationModel:
    """A network in double precision that ends some translations before the length limit."""
    torch.manual_seed(1)
    system = CompositionConfig(contexts=[GlobalContextConfig()], model=ModelConfig(embedding=12, hidden=12))
    model = draw_parameters(TranslationModel(system, SIZES).double().eval(), std=2.0)
    with torch.no_grad():
        model.decoder.softmax.bias[EOS] = 1.0
    return model


@pytest.fixture
def vocabulary(tmp_path: Path) -> Vocabulary:
    """A target vocabulary with the beginning of a word."""
    pieces = ["a", "b", "c@@", "d", "e", "f", "g", "h"]
    path = tmp_path / "vocabulary"
    path.write_text("</s> 0\n<unk> 0\n" + "".join(f"{piece} 9\n" for piece in pieces))
    return Vocabulary.load(path)


def translate_plainly(model: TranslationModel, dataset: ParallelDataset) -> list[list[int]]:
    """Return the tokens of the greedy translation of each sentence, without EOS."""
    translations = []
    for pair in range(COUNT):
        batch = dataset.build_batch(np.array([pair]))
        limit = 3 * (int(batch.source_lengths[0]) - 1) + 10
        ((_, _, tokens),) = plain_search(stepwise(model, batch), 1, limit, 0.0, 1)
        translations.append([token for token in tokens if token != EOS])
    return translations


def open_dataset(folder: Path, references: list[list[int]]) -> ParallelDataset:
    """Open random sources of one to seven words with these references, given without EOS."""
    random = np.random.default_rng(3)
    lengths = random.integers(1, MAX_WORDS + 1, size=COUNT)
    sources = [[*random.integers(2, SIZES["source"], size=length)] for length in lengths]
    for side, sentences in (("source", sources), ("target", references)):
        write_ragged_rows(folder / f"{side}.arrow", [np.array([*words, EOS]) for words in sentences], "int32")
    return ParallelDataset(folder / "source.arrow", folder / "target.arrow", {}, SIZES)


def join_words(vocabulary: Vocabulary, tokens: list[int]) -> str:
    return " ".join(vocabulary.decode(tokens)).replace("@@ ", "").removesuffix("@@")


@pytest.mark.parametrize(
    ("is_gpu", "has_graphs"), [(False, True), (True, False), (True, True)], ids=["CPU", "GPU", "GPU, recorded"]
)
def test_bleu_equals_that_of_plain_translations(
    tmp_path: Path, model: TranslationModel, vocabulary: Vocabulary, is_gpu: bool, has_graphs: bool
) -> None:
    """The weights change between the two validations, which share no recording."""
    translations = translate_plainly(model, open_dataset(tmp_path, [[2]] * COUNT))
    references = [tokens if row % 2 else [*tokens, 3, 5] for row, tokens in enumerate(translations)]
    dataset = open_dataset(tmp_path, references)
    validator = Validator(
        dataset, dataset.build_sorted_batches(4, "sentences"), torch.device("cpu"), False, has_graphs=has_graphs
    )
    reference_texts = [join_words(vocabulary, tokens).replace("<unk>", "<outside>") for tokens in references]
    scores = []
    for bias in (1.0, -9.0):
        with torch.no_grad():
            model.decoder.softmax.bias[EOS] = bias
        texts = [join_words(vocabulary, tokens) for tokens in translate_plainly(model, dataset)]
        expected = sacrebleu.corpus_bleu(texts, [reference_texts], tokenize="none", lowercase=True, force=True).score
        with use_gpu_search() if is_gpu else nullcontext() as recorder:
            scores.append(validator.compute_bleu(model, vocabulary))
        assert scores[-1] == pytest.approx(expected, abs=1e-9)
        if recorder is not None:
            assert (recorder.record_count > 0) == has_graphs
    assert 1 < scores[1] < scores[0] < 100


def test_recording_does_not_change_bleu_in_half_precision(
    tmp_path: Path, model: TranslationModel, vocabulary: Vocabulary
) -> None:
    """Casts of weights are kept in the context of a validation, in which steps are recorded and replayed."""
    model = model.float()
    dataset = open_dataset(tmp_path, [[2]] * COUNT)
    dataset = open_dataset(tmp_path, translate_plainly(model, dataset))
    batches = dataset.build_sorted_batches(4, "sentences")
    scores = []
    for has_graphs in (False, True):
        with use_gpu_search() as recorder:
            validator = Validator(dataset, batches, torch.device("cpu"), is_bfloat16=True, has_graphs=has_graphs)
            scores.append(validator.compute_bleu(model, vocabulary))
        assert (recorder.record_count > 0) == has_graphs
    assert 1 < scores[0] == scores[1]
