"""Lock the results: folders that share them by a link or a path would write the same files at the same time.

Snakemake locks the folder that it runs in. This lock ends with its process, in whatever way; it needs no `--unlock`.
"""

from pipeline_py.run.locks import hold_lock


def lock_results():
    """Lock the folder of results for a run that executes jobs.

    Raises:
        InputError: another run holds the lock.
    """
    if not workflow.is_main_process or not workflow.execution_settings.lock:
        return
    results = Path(EXPERIMENT.folder("results")).resolve()
    try:
        results.mkdir(parents=True, exist_ok=True)
        is_locked = hold_lock(results / ".lock")
    except OSError as error:
        logger.warning(f"{results}: cannot be locked ({error.strerror}); run only one Snakemake with these results.")
        return
    if not is_locked:
        raise InputError(
            "another Snakemake, perhaps of another folder, makes these results; wait until it ends (`--nolock` runs "
            "both at your own risk)",
            results,
        )
