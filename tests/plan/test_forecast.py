"""Forecasts of durations from rates, sizes of an experiment and earlier runs."""

from pathlib import Path

import pytest
import yaml

from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.plan.forecast import StageForecast, forecast_stages, format_forecast, read_job_seconds

ROOT = Path(__file__).parents[2]
SENTENCES = {"train": 4000, "dev": 200, "mixed": 200}
LENGTHS = dict.fromkeys(SENTENCES, 1.0)
TRAIN = "logs/times/nmt/train/{system}.{run}.tsv"


def build_experiment(**overrides: object) -> ExperimentConfig:
    config = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    return load_experiment(config, overrides, should_check_files=False)


@pytest.fixture(autouse=True)
def empty_times_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def forecast_seconds(
    pattern: str,
    config: ExperimentConfig | None = None,
    jobs: int = 1,
    lengths: dict[str, float] = LENGTHS,
    **sentences: int,
) -> float:
    sizes = {**SENTENCES, **sentences}
    (stage,) = forecast_stages({f"logs/times/{pattern}": jobs}, config or build_experiment(), sizes, lengths)
    assert stage.job_count == jobs and stage.stage_name == "/".join(pattern.split("/")[:2])
    return stage.total_seconds / jobs


def write_benchmark(name: str, *rows: str) -> None:
    file = Path("logs/times", name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("s\th:m:s\tcpu_time\n" + "".join(f"{row}\n" for row in rows), encoding="utf-8")


def test_training_time_grows_with_epochs_updates_and_sizes() -> None:
    base_seconds = forecast_seconds("nmt/train/{system}.{run}.tsv") - 1.5
    assert 10 < base_seconds < 30, "what they took in the embedded experiment"
    for settings, times in [
        ({"training": {"epochs": 4}}, 2),
        ({"training": {"updates": 50}}, 0.2),  # of 250
        ({"training": {"updates": 10_000}}, 1),
        ({"training": {"updates": 50, "batch_unit": "tokens", "batch_size": 277}}, 0.2),  # 32 sentences of 52 / 6 words
    ]:
        config = build_experiment(**settings)
        seconds = forecast_seconds("nmt/train/{system}.{run}.tsv", config) - 1.5
        assert seconds == pytest.approx(times * base_seconds, rel=0.01)
    assert (
        forecast_seconds(
            "nmt/train/{system}.{run}.tsv",
            build_experiment(model={"embedding": 620, "hidden": 1000, "tied_embeddings": "none"}),
        )
        > 6 * base_seconds
    )


def test_search_time_grows_with_beam_and_text() -> None:
    pattern = "nmt/translate/{system}.{run}.tsv"
    base_seconds = forecast_seconds(pattern) - 1.4
    assert forecast_seconds(pattern, build_experiment(decoding={"beam": 10})) - 1.4 == pytest.approx(2 * base_seconds)
    choosing = build_experiment(decoding={"beam": [5, 10]})
    assert forecast_seconds(pattern, choosing) - 1.4 == pytest.approx(2 * base_seconds), "the widest may be chosen"
    choice_seconds = forecast_seconds("nmt/choose_beam/{system}.{run}.tsv", choosing, mixed=0) - 1.4
    assert choice_seconds == pytest.approx(3 * (forecast_seconds(pattern, mixed=0) - 1.4)), "dev with both widths"
    assert forecast_seconds(pattern, dev=500, mixed=300) - 1.4 == pytest.approx(2 * base_seconds), (
        "a job translates all sets"
    )
    assert forecast_seconds(pattern, phrases=300, lengths={**LENGTHS, "phrases": 1.0}) - 1.4 == pytest.approx(
        base_seconds
    )
    scored = forecast_seconds("nmt/force_decode/{system}.{run}.tsv", phrases=300, lengths={**LENGTHS, "phrases": 1.0})
    assert scored == pytest.approx(1.5 + 0.3 * 3.0), "contrastive sets alone"
    assert forecast_seconds("evaluation/postprocess/{system}.{run}.tsv") == pytest.approx(0.3 + 0.4 * 0.5), "both sets"
    assert forecast_seconds(pattern, train=4001) == pytest.approx(base_seconds + 1.4, rel=1e-3), (
        "it is no text that is translated"
    )


def test_parsing_time_depends_on_shards_and_models() -> None:
    unsharded_seconds = forecast_seconds("syntax/parse/{parser}.{split}.{trees}.tsv", dev=4000, mixed=4000) - 2
    cut = build_experiment(parsing={"shard_size": 1000 * 52 // 6})
    of_a_shard = forecast_seconds("syntax/parse_shard/{parser}.{split}.tsv", cut, dev=4000, mixed=4000) - 2
    assert of_a_shard == pytest.approx(unsharded_seconds / 4, rel=0.001)
    of_long = forecast_seconds(
        "syntax/parse_shard/{parser}.{split}.tsv", cut, lengths=dict.fromkeys(LENGTHS, 2.0), mixed=4000
    )
    assert of_long - 2 == pytest.approx(of_a_shard), "a shard has as many words, be its sentences long or short"
    packaged = build_experiment(parsers={"package": {"type": "stanza", "package": "default"}}, parser="package")
    assert (
        forecast_seconds("syntax/parse/{parser}.{split}.{trees}.tsv", packaged, dev=4000, mixed=4000) - 2
        == 3 * unsharded_seconds
    )


def test_time_grows_with_sentence_length() -> None:
    """Times grow with the length of texts, except for scores and reports."""
    long = {"train": 3.0, "dev": 1.0, "mixed": 1.0}
    for pattern, start, times in [
        ("nmt/train/{system}.{run}.tsv", 1.5, 3),
        ("syntax/parse/{parser}.{split}.{trees}.tsv", 2, (4000 * 3 + 400) / 4400),
        ("evaluation/statistics/{system}.{run}.{split}.tsv", 0.3, 1),
        ("syntax/train_parser/{parser}.{processor}.tsv", 0.5, 1),
    ]:
        assert forecast_seconds(pattern, lengths=long) - start == pytest.approx(
            times * (forecast_seconds(pattern) - start)
        ), pattern


def test_parser_training_time_grows_with_the_treebank() -> None:
    larger = build_experiment(parsers={"embedded": {"type": "trained", "treebank": {"generate": 1800}}})
    base_seconds = forecast_seconds("syntax/train_parser/{parser}.{processor}.tsv") - 0.5
    assert forecast_seconds("syntax/train_parser/{parser}.{processor}.tsv", larger) - 0.5 == pytest.approx(
        2 * base_seconds
    )


def test_any_stage_has_a_rate() -> None:
    assert 0 < forecast_seconds("corpus/clean/train.tsv") < forecast_seconds("corpus/clean/train.tsv", train=100_000)
    assert forecast_seconds("report/table/{table}.tsv") > 0


def test_measured_times_are_averaged_or_their_median_is_used() -> None:
    for name, took in [("train.source", 9.0), ("dev.source", 1.0), ("test.source", 2.0)]:
        write_benchmark(f"corpus/tokenize/{name}.tsv", f"{took}\t0:00:01\t0.0")
    assert forecast_seconds("corpus/tokenize/{split}.{side}.tsv", jobs=3) == 4.0
    assert forecast_seconds("corpus/tokenize/{split}.{side}.tsv", jobs=1) == 2.0
    (stage,) = forecast_stages(
        {"logs/times/corpus/tokenize/{split}.{side}.tsv": 5}, build_experiment(), SENTENCES, LENGTHS
    )
    assert stage.measured_job_count == 3


def test_job_seconds_are_read_from_benchmark_files() -> None:
    write_benchmark("nmt/train/A.tsv", "100.5\t0:01:40\t25.0")
    write_benchmark("nmt/train/B.tsv", "100.5\t0:01:40\t190.0")
    write_benchmark("nmt/train/C.tsv", "0.25\t0:00:00\tNA")
    write_benchmark("nmt/train/D.tsv", "0.75\t0:00:00\t0.5")
    write_benchmark("nmt/train/E.tsv", "50\t0:00:50\t40", "20\t0:00:20\t-")  # resumed
    write_benchmark("nmt/train/ours/first.tsv", "0.5\t0:00:00\t0.0")  # in a folder
    assert read_job_seconds(Path("logs/times/nmt/train")) == [100.5, 100.5, 0.25, 0.75, 20.0, 0.5]


def test_a_damaged_benchmark_file_is_ignored() -> None:
    for place, row in enumerate(["", "inf\t\tnan", "-3\t\t-3", "nan", "1e9\t\t1", "1.2.3\t\t1", "\0\0\0", "0\t\t0"]):
        write_benchmark(f"nmt/train/{place}.tsv", row)
    write_benchmark("nmt/train/killed.tsv")
    Path("logs/times/nmt/train/bytes.tsv").write_bytes(b"\xff\xfes\tx\n\x80\n")
    Path("logs/times/nmt/train/empty.tsv").touch()
    Path("logs/times/nmt/train/folder.tsv").mkdir()
    Path("logs/times/nmt/train/quoted.tsv").write_text('s\tcpu_time\n"' + "9" * 200_000, encoding="utf-8")
    assert read_job_seconds(Path("logs/times/nmt/train")) == []
    assert read_job_seconds(Path("logs/times/nowhere")) == []


STAGES = [
    StageForecast("corpus/clean", 1, 0.5),
    StageForecast("nmt/train", 2, 240.0),
    StageForecast("syntax/parse", 1, 20.0),
]


def test_the_forecast_lists_stages_and_total() -> None:
    header, *lines, total_line = format_forecast(STAGES, 2, None).splitlines()
    assert header == "Jobs to run, with estimated times:"
    assert [line.split() for line in lines] == [
        ["nmt/train", "2", "×", "2", "min", "=", "4", "min"],
        ["syntax/parse", "1", "×", "20", "s", "=", "20", "s"],
        ["others", "1", "×", "0.5", "s", "=", "0.5", "s"],
    ]
    assert len({line.index("×") for line in lines}) == 1
    by_rates = "from the embedded experiment on CPUs and the size of this one"
    assert total_line == f"In total about 2 min on 2 cores ({by_rates})."


@pytest.mark.parametrize(
    ("cores", "cards", "text"),
    [
        (1, None, "4 min on 1 core ("),
        (100, None, "2 min on 100 cores ("),
        (100, 1, "4 min on 100 cores ("),
        (None, None, "2 min on the cluster, without the time in its queue ("),
    ],
    ids=["all work", "the longest of each package", "one card", "cluster"],
)
def test_the_total_respects_cores_and_gpus(cores: int | None, cards: int | None, text: str) -> None:
    assert format_forecast(STAGES, cores, cards).splitlines()[-1].startswith(f"In total about {text}")


def test_the_source_of_a_forecast_is_named() -> None:
    first, second, third = STAGES
    some = format_forecast([first._replace(measured_job_count=1), second, third], 2, None)
    assert "(1 of 4 jobs from earlier runs, the others from the embedded experiment" in some
    every = format_forecast([stage._replace(measured_job_count=stage.job_count) for stage in STAGES], 2, None)
    assert every.endswith("(4 of 4 jobs from earlier runs).")


def test_there_is_no_forecast_without_jobs() -> None:
    assert format_forecast([], 2, None) == ""


@pytest.mark.parametrize(
    ("took", "text"), [(0.04, "0.0 s"), (9.94, "9.9 s"), (12, "12 s"), (300, "5 min"), (9000, "2.5 h")]
)
def test_times_have_the_precision_of_a_forecast(took: float, text: str) -> None:
    assert f"In total about {text} on 1 core" in format_forecast([StageForecast("package/stage", 1, took)], 1, None)
