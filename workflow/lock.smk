"""Lock the results folder, since two working folders that share it would write the same files at the same time.

Snakemake locks the folder that it runs in. This lock is released when its process ends, even if it is
killed; it needs no `--unlock`.
"""

from pipeline_py.run.file_locks import acquire_lock


def lock_results():
    """Lock the folder of results for a run that executes jobs.

    Raises:
        InputError: another run holds the lock.
    """
    if not workflow.is_main_process or not workflow.execution_settings.lock:
        return
    results = Path(EXPERIMENT.get_output_folder("results")).resolve()
    try:
        results.mkdir(parents=True, exist_ok=True)
        is_locked = acquire_lock(results / ".lock")
    except OSError as error:
        logger.warning(f"{results}: cannot be locked ({error.strerror}); run only one Snakemake with these results.")
        return
    if not is_locked:
        raise InputError(
            "another Snakemake process writes these results, perhaps in another folder; wait until it ends, or add "
            "`--nolock` to run both at your own risk",
            results,
        )
