"""Tests of columns of training costs."""

from pipeline_py.report.sections.scores_and_costs import build_cost_columns, collect_core_shares, read_facts_table

HEADER = "system\tparameters\twords_per_second\tseconds"


def read_facts(tmp_path, *rows: str, header: str = HEADER):
    path = tmp_path / "facts.tsv"
    path.write_text("\n".join([header, *rows]) + "\n")
    return read_facts_table(path)


def collect_texts(columns_and_cells) -> list[list[str]]:
    columns, cells = columns_and_cells
    return [[column.head for column in columns], *([cell.text for cell in row] for row in cells)]


def test_costs_average_over_runs_and_add_up_over_members(tmp_path):
    read = read_facts(
        tmp_path,
        "A\t1000000\t4000\t10",
        "A\t1000000\t2000\t30",
        "B\t500000\t1000\t100",
        "PBSMT\t\t\t5",
    )
    members = {"A": ["A"], "Both": ["A", "B"], "PBSMT": ["PBSMT"]}
    assert collect_texts(build_cost_columns([*members], members, read, existing_heads=[])) == [
        ["Parameters", "Words/s", "Training s"],
        ["1.00M", "3,000", "20"],
        ["1.50M", "–", "120"],
        ["–", "–", "5"],
    ]


def test_gpu_hours_are_missing_for_cpu_trainings(tmp_path):
    read = read_facts(tmp_path, "A\t1\t1\t7200\t4.0", "B\t1\t1\t7200\t", header=f"{HEADER}\tgpu_hours")
    heads, a, b = collect_texts(
        build_cost_columns(["A", "B"], {"A": ["A"], "B": ["B"]}, read, existing_heads=["Parameters", "Words/s"])
    )
    assert heads == ["Training s", "GPU h"] and a == ["7,200", "4.000"] and b == ["7,200", "–"]


def test_speeds_per_cpu_second_have_column(tmp_path):
    header = f"{HEADER}\ttarget_words_per_cpu_second\ttarget_words_per_gpu_second\tcpu_seconds"
    read = read_facts(tmp_path, "A\t1\t363\t100\t1080.4\t\t40", "B\t1\t1060\t42\t1079.6\t\t41", header=header)
    columns, cells = build_cost_columns(["A", "B"], {"A": ["A"], "B": ["B"]}, read, [])
    assert [column.head for column in columns] == ["Parameters", "Words/s", "Words/CPU s", "Training s", "CPU s"]
    assert [[cell.text for cell in row[1:]] for row in cells] == [
        ["363", "1,080", "100", "40"],
        ["1,060", "1,080", "42", "41"],
    ]


def test_collect_core_shares_omits_unknown_shares(tmp_path):
    read = read_facts(tmp_path, "A\t1\t1\t1\t0.4", "A\t1\t1\t1\t0.6", "B\t1\t1\t1\t", header=f"{HEADER}\tcore_share")
    assert collect_core_shares(read) == {"A": [0.4, 0.6]}
