"""Messages about the jobs of a run."""

import threading

from pipeline_py.plan.forecast import JobProgress


def test_costly_jobs_are_reported_individually_and_others_by_tenths():
    seconds = [0.0]
    lines = JobProgress({"nmt/train": 60.0, "corpus/clean": 1.0}, lambda: seconds[0])
    assert lines.start(1, "nmt/train/+SDAtt@gold.seed1.tsv") == "train +SDAtt@gold seed1: started"
    assert lines.start(2, "corpus/clean/train.tsv") == ""
    seconds[0] = 5.0
    lines.finish(2)
    assert lines.report_progress(1, 100) == "", "too little progress to report"
    seconds[0] = 58.4
    lines.finish(1)
    assert lines.report_progress(2, 100) == "train +SDAtt@gold seed1: done after 58 s\n2 of 100 jobs done"
    assert lines.report_progress(11, 100) == "" and lines.report_progress(13, 100) == "13 of 100 jobs done"
    assert lines.report_progress(14, 100) == "" and lines.report_progress(100, 100) == "100 of 100 jobs done"


def test_an_unexpectedly_long_job_is_reported():
    seconds = [0.0]
    lines = JobProgress({}, lambda: seconds[0])
    assert lines.start(1, "report/table/tree2seq/table5.tsv") == ""
    seconds[0] = 30.0
    lines.finish(1)
    lines.finish(7)
    assert lines.report_progress(1, 100).startswith("table tree2seq/table5: done after 30 s")


def test_a_failed_job_shows_its_error_or_the_end_of_its_log(tmp_path):
    lines, log = JobProgress(), tmp_path / "x.log"
    lines.start(1, "corpus/tokenize/train.source.tsv")
    log.write_text("tokenize: 5/9\rerror: a.txt, line 3: bad; mend it\n")
    assert lines.fail(1, "tokenize", [str(log)]) == (
        f"tokenize train source: failed ({log})\nerror: a.txt, line 3: bad; mend it"
    )
    log.write_text("tokenize: 5/9\n")
    late = threading.Timer(0.3, log.write_text, ["tokenize: 5/9\nerror: late\n"])
    late.start()
    assert lines.fail(1, "tokenize", [str(log)]).endswith("\nerror: late")
    late.join()
    log.write_text("".join(f"{number}\n" for number in range(50)))
    messages = lines.fail(2, "fetch", [str(log), str(tmp_path / "none.log")]).splitlines()
    assert messages[0].startswith("fetch: failed (") and messages[1:] == [str(number) for number in range(20, 50)]
