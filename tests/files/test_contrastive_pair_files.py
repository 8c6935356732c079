"""Files of contrastive pairs: both formats, and errors."""

import gzip
import json

import pytest

from pipeline_py.files.contrastive_pair_files import ContrastivePair, read_contrastive_pairs
from pipeline_py.run.errors import InputError

LINGEVAL = [
    {
        "source": "Prague falls.",
        "reference": "Die Börse stürzt.",
        "origin": "newstest2009.1",
        "errors": [
            {"type": "np_agreement", "contrastive": "Der Börse stürzt.", "distance": 2, "frequency": 2020},
            {"type": "polarity_particle_nicht_ins", "contrastive": "Die Börse stürzt nicht."},
            {"type": "subj_verb_agreement", "contrastive": "Die Börse stürzen.", "distance": "0", "frequency": 0},
        ],
    },
    {"source": "No errors here.", "reference": "Keine Fehler.", "origin": "newstest2009.2", "errors": []},
]


def write_file(path, text):
    data = text.encode("utf-8")
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.mark.parametrize("name", ["mine.tsv", "mine.tsv.gz", "mine"])
def test_a_table_may_have_its_columns_in_any_order(tmp_path, name):
    text = '\ufeffcorrect\tcontrastive\tsource\tdistance\r\n"Ja" er geht\tEr gehen\tHe\u2028goes\t3\r\nA\tB\tC\t\r\n'
    assert [*read_contrastive_pairs(write_file(tmp_path / name, text))] == [
        ContrastivePair("He\u2028goes", '"Ja" er geht', "Er gehen", "mine", "3", ""),
        ContrastivePair("C", "A", "B", "mine", "", ""),
    ]


def test_kinds_are_read_from_their_column(tmp_path):
    text = "source\tcorrect\tcontrastive\tkind\tfrequency\na\tb\tc\tgender\t7\na\tb\td\t\t\n"
    pairs = [*read_contrastive_pairs(write_file(tmp_path / "x.tsv", text))]
    assert [(pair.kind, pair.frequency) for pair in pairs] == [("gender", "7"), ("", "")]


@pytest.mark.parametrize("name", ["lingeval97.json", "lingeval97.json.gz"])
def test_a_sentence_of_lingeval_gives_a_pair_for_each_error(tmp_path, name):
    first = ("Prague falls.", "Die Börse stürzt.")
    assert [
        *read_contrastive_pairs(write_file(tmp_path / name, json.dumps(LINGEVAL, indent=1, ensure_ascii=False)))
    ] == [
        ContrastivePair(*first, "Der Börse stürzt.", "np_agreement", "2", "2020"),
        ContrastivePair(*first, "Die Börse stürzt nicht.", "polarity_particle_nicht_ins"),
        ContrastivePair(*first, "Die Börse stürzen.", "subj_verb_agreement", "0", "0"),
    ]


HEAD = "source\tcorrect\tcontrastive"
ENTRY = {"source": "a", "reference": "b", "errors": [{"contrastive": "c"}]}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.tsv", "", "x.tsv: the file has no contrastive pairs; add some"),
        ("x.tsv", f"{HEAD}\n", "x.tsv: the file has no contrastive pair"),
        ("x.tsv", "a\tb\tc\n", "x.tsv, line 1: the column 'a' is unknown; columns are source, correct"),
        ("x.tsv", f"{HEAD}\tsource\n", "line 1: the column 'source' stands twice"),
        ("x.tsv", "source\tcorrect\nA\tB\n", "line 1: no column 'contrastive'; the first line must name source"),
        ("x.tsv", f"{HEAD}\na\tb\tc\na\tb\n", "x.tsv, line 3: the line has 2 columns and the header has 3"),
        ("x.tsv", f"{HEAD}\na\tb\tb\n", "line 2: both translations are the same"),
        ("x.tsv", f"{HEAD}\na\t \tb\n", "line 2: `correct` is empty; write it, or leave the pair out"),
        ("x.tsv", f"{HEAD}\tdistance\na\tb\tc\tfar\n", "line 2: `distance` must be a whole number, not 'far'"),
        ("x.json", '[\n{"source": }]', "x.json, line 2: not JSON"),
        ("x.json", "{}", "x.json: the file is not a list of sentences; give a file in LingEval97's JSON format"),
        ("x.json", "[]", "x.json: the file has no contrastive pair"),
        ("x.json", json.dumps([ENTRY, {"source": "a"}]), "x.json: entry 2 is not a sentence with a list of `errors`"),
        ("x.json", json.dumps([{**ENTRY, "errors": ["c"]}]), "entry 1: an error is an object with `contrastive`"),
        ("x.json", json.dumps([{**ENTRY, "reference": None}]), "entry 1: `correct` must be text, not None; write it"),
        ("x.json", json.dumps([{**ENTRY, "source": "a\nb"}]), "entry 1: `source` is on several lines"),
        ("x.json", json.dumps([{**ENTRY, "errors": [{"contrastive": "c", "type": "a\tb"}]}]), "`kind` has a tab"),
        ("x.json", json.dumps([ENTRY, {**ENTRY, "source": "\ud83d"}]), "entry 2: `source` has half a character, '"),
        ("x.json", json.dumps([{**ENTRY, "errors": [{"contrastive": "c", "distance": 1.5}]}]), "`distance` must be"),
    ],
)
def test_mistakes_are_reported_with_their_line(tmp_path, name, text, message):
    with pytest.raises(InputError) as error:
        [*read_contrastive_pairs(write_file(tmp_path / name, text))]
    assert message in str(error.value)


def test_a_file_that_is_not_utf8_is_rejected(tmp_path):
    (tmp_path / "x.tsv").write_bytes(f"{HEAD}\n".encode() + b"a\t\xff\tc\n")
    with pytest.raises(InputError, match="line 2: byte 2 is not UTF-8"):
        [*read_contrastive_pairs(tmp_path / "x.tsv")]
    (tmp_path / "x.json").write_bytes(b'["\xff"]')
    with pytest.raises(InputError, match="byte 2 is not UTF-8"):
        [*read_contrastive_pairs(tmp_path / "x.json")]
