"""Tests of the table of facts."""

import csv
import json
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from pipeline_py.report.render_facts import render_facts

TRAINED = {
    "parameters": 126893261,
    "updates": 400000,
    "epochs": 25.6,
    "target_words_per_second": 12345.678,
    "seconds": 518400.5,
    "best_dev": 37.1234,
    "early_stopping": "bleu",
    "device": "cpu",
    "threads": 1,
    "seed": 12345,
    "versions": {"torch": "2.13.0", "python": "3.11.7"},
}


def build_description(
    parsers: dict[str, str] | None = None, settings: dict[str, dict[str, str]] | None = None
) -> dict[str, Any]:
    return {"parsers": parsers or {}, "settings": settings or {}}


def get_outputs(folder: Path) -> dict[str, Path]:
    return {"tsv_output": folder / "facts.tsv", "markdown_output": folder / "facts.md"}


def write_file(path: Path, content: Any) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_facts_have_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = write_file(tmp_path / "first.json", {**TRAINED, "kernels": True})
    second = write_file(
        tmp_path / "second.json",
        {**TRAINED, "epochs": None, "kernels": False, "versions": {"stanza": "9.9"}, "statistics": [{}, {"span": 3.5}]},
    )
    accuracy = write_file(
        tmp_path / "accuracy.tsv",
        "metric\tvalue\tsentences\twords\nUPOS\t97.5\t9\t99\nUAS\t91.25\t9\t99\nLAS\t88.5\t9\t99\n"
        "LAS (raw text)\t80.5\t9\t99\n",
    )
    render_facts(
        description=build_description({"SDAtt (n=4)": "stanza"}),
        files={
            "facts": {"GlobalAtt:single": first, "SDAtt (n=4):seed1": second},
            "accuracy": {"stanza": accuracy},
        },
        **get_outputs(tmp_path),
    )
    with (tmp_path / "facts.tsv").open(encoding="utf-8", newline="") as file:
        base, syntax = csv.DictReader(file, delimiter="\t")
    assert (base["system"], syntax["system"]) == ("GlobalAtt", "SDAtt (n=4)")
    assert base["parameters"] == "126893261"
    assert base["words_per_second"] == "12345.678"
    assert (base["dev_metric"], base["seed"], base["epochs"], syntax["epochs"]) == ("bleu", "12345", "25.6", "")
    assert (base["parser"], base["UAS"], base["LAS"]) == ("", "", "")
    assert (syntax["parser"], syntax["UAS"], syntax["LAS"]) == ("stanza", "91.25", "88.5")
    assert syntax["LAS (raw text)"] == "80.5" and "UAS (raw text)" not in syntax
    assert (base["span (2)"], syntax["span (2)"]) == ("", "3.5")
    assert (base["kernels"], syntax["kernels"]) == ("yes", "no")
    assert (base["torch"], base["python"], syntax["python"]) == ("2.13.0", "3.11.7", "")
    assert (base["stanza"], syntax["stanza"]) == (metadata.version("stanza"), "9.9")
    assert base["sacrebleu"] == metadata.version("sacrebleu")
    markdown = (tmp_path / "facts.md").read_text(encoding="utf-8")
    assert "| SDAtt (n=4) | 126893261 | 400000 | – | 12346 | 518400 | 37.12 | bleu | cpu | 1 | 12345 | " in markdown
    assert "GlobalAtt" in capsys.readouterr().err


def test_ceilings_of_table_sets_have_columns(tmp_path: Path) -> None:
    ceilings = write_file(
        tmp_path / "ceiling.tsv",
        "set\tbleu\tsentences\tcauses\texample\ndev\t99.5\t9\t\t\none\t86.25\t9\tx\ty\nother\t50\t9\tx\ty\n",
    )
    render_facts(
        description={**build_description(), "sets": ["dev", "one"]},
        files={"facts": {"A:single": write_file(tmp_path / "a.json", TRAINED)}, "ceiling": {"": ceilings}},
        **get_outputs(tmp_path),
    )
    with (tmp_path / "facts.tsv").open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file, delimiter="\t")
    assert (row["ceiling_dev"], row["ceiling_one"]) == ("99.5", "86.25") and "ceiling_other" not in row


def test_every_run_has_row(tmp_path: Path) -> None:
    files = [write_file(tmp_path / f"{seed}.json", {**TRAINED, "seed": seed}) for seed in (1, 2)]
    render_facts(
        description=build_description({"SDAtt": "stanza"}),
        files={"facts": {f"SDAtt:seed{seed}": file for seed, file in enumerate(files, start=1)}},
        **get_outputs(tmp_path),
    )
    with (tmp_path / "facts.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert [(row["system"], row["seed"], row["parser"]) for row in rows] == [
        ("SDAtt", "1", "stanza"),
        ("SDAtt", "2", "stanza"),
    ]


def test_optional_facts_have_columns_if_any_system_has_them(tmp_path: Path) -> None:
    network = {"hidden": 256, "loss": "blackout", "samples": 500, "dev_loss": 2.5, "dev_perplexity": 12.18}
    network |= {"gpu_hours": 1.5}
    files = [
        write_file(tmp_path / "old.json", TRAINED),
        write_file(
            tmp_path / "softmax.json",
            {**TRAINED, "loss": "softmax", "samples": None, "seconds_per_epoch": 61.5},
        ),
    ]
    render_facts(
        description=build_description(), files={"facts": {file.stem: file for file in files}}, **get_outputs(tmp_path)
    )
    with (tmp_path / "facts.tsv").open(encoding="utf-8", newline="") as file:
        old, softmax = csv.DictReader(file, delimiter="\t")
    assert {*old} & {"hidden", "loss", "samples", "dev_perplexity", "seconds_per_epoch"} == {
        "loss",
        "seconds_per_epoch",
    }
    assert (old["loss"], old["seconds_per_epoch"]) == ("", "")
    assert (softmax["loss"], softmax["seconds_per_epoch"]) == ("softmax", "61.5")

    files.append(write_file(tmp_path / "blackout.json", {**TRAINED, **network}))
    render_facts(
        description=build_description(), files={"facts": {file.stem: file for file in files}}, **get_outputs(tmp_path)
    )
    with (tmp_path / "facts.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert {key: rows[2][key] for key in network} == {key: str(value) for key, value in network.items()}
    assert [row["samples"] for row in rows] == ["", "", "500"]
    assert rows[2]["seconds_per_epoch"] == ""


def test_chosen_beams_have_columns(tmp_path: Path) -> None:
    trained = write_file(tmp_path / "facts.json", TRAINED)
    widths = [{"beam": 5, "bleu": 20.125, "noted": {}}, {"beam": 10, "bleu": 21.0, "noted": {}}]
    choices = [write_file(tmp_path / f"{beam}.json", {"beam": beam, "widths": widths}) for beam in (5, 10)]
    render_facts(
        description=build_description(),
        files={
            "facts": {"A:seed1": trained, "A:seed2": trained, "B:seed1": trained},
            "beams": {"A:seed1:A": choices[0], "A:seed2:A": choices[1], "A:seed1:Both": choices[1]},
        },
        **get_outputs(tmp_path),
    )
    with (tmp_path / "facts.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert [row["chosen_beam"] for row in rows] == ["5; Both: 10", "10", ""]
    assert [row["dev_bleu_by_beam"] for row in rows] == [
        "5: 20.12, 10: 21.00; Both: 5: 20.12, 10: 21.00",
        "5: 20.12, 10: 21.00",
        "",
    ]


def test_settings_that_differ_have_columns(tmp_path: Path) -> None:
    trained = write_file(tmp_path / "facts.json", TRAINED)
    render_facts(
        description=build_description(
            settings={"search": {"A": "beam 5; Wide: beam 20", "B": "beam 5"}, "training": {"B": "epochs 4"}}
        ),
        files={"facts": dict.fromkeys(["A:seed1", "A:seed2", "B"], trained)},
        **get_outputs(tmp_path),
    )
    with (tmp_path / "facts.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert [row["search"] for row in rows] == ["beam 5; Wide: beam 20"] * 2 + ["beam 5"]
    assert [row["training"] for row in rows] == ["", "", "epochs 4"] and "data" not in rows[0]


def test_note_names_trainings_that_shared_cores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    times = {"cpu_seconds": 40.5, "target_words_per_cpu_second": 1080.4, "machine_load": 2.5}
    shared = write_file(tmp_path / "shared.json", {**TRAINED, **times, "core_share": 0.4})
    unshared = write_file(tmp_path / "alone.json", {**TRAINED, **times, "core_share": 0.98})
    render_facts(
        description=build_description(), files={"facts": {"A": shared, "B": unshared}}, **get_outputs(tmp_path)
    )
    with (tmp_path / "facts.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert [row["core_share"] for row in rows] == ["0.4", "0.98"]
    assert {(row["cpu_seconds"], row["target_words_per_cpu_second"]) for row in rows} == {("40.5", "1080.4")}
    assert "part of the time: A 40 %. Compare" in (tmp_path / "facts.md").read_text()
    assert "part of the time: A 40 %. Compare" in capsys.readouterr().err


def test_external_systems_have_origin_and_unknown_facts(tmp_path: Path) -> None:
    trained = write_file(tmp_path / "trained.json", TRAINED)
    description = {"parsers": {}, "settings": {}, "from_elsewhere": {"Theirs": "a company", "LLM": None}}
    for files in ({"SDAtt:seed1": trained}, {}):
        render_facts(description=description, files={"facts": files}, **get_outputs(tmp_path))
        with (tmp_path / "facts.tsv").open(encoding="utf-8", newline="") as opened:
            rows = {row["system"]: row for row in csv.DictReader(opened, delimiter="\t")}
        assert [*rows] == [*(["SDAtt"] if files else []), "Theirs", "LLM"]
        assert [row["origin"] for row in rows.values()] == [*(["here"] if files else []), "a company", ""]
        assert {rows[name]["parameters"] for name in ("Theirs", "LLM")} == {""}
        lines = (tmp_path / "facts.md").read_text(encoding="utf-8").splitlines()
        assert [line for line in lines if line.startswith("| Theirs | unknown | unknown | unknown |")]
