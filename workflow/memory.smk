"""Memory that jobs ask for, and the limit on this machine; `pipeline_py/plan/memory.py` has the estimates."""

from pipeline_py.run.cpu_usage import get_memory_limit_mb


def text_memory(default):
    """Return the memory of a job that reads texts or trees; `default` if the training text is not known yet."""
    return lambda wildcards, attempt: plan.memory.estimate_text_job(default) * attempt


def phrase_memory(default):
    """Return the memory of a job that trains a phrase-based system or translates with it."""
    return lambda wildcards, attempt: plan.memory.estimate_phrase_job(default) * attempt


def network_memory(default, processes=1):
    """Return the memory of a job that trains the networks of a system or computes with them in some processes."""

    def megabytes(wildcards, attempt):
        system = EXPERIMENT.systems_by_folder[wildcards.system]
        return plan.memory.estimate_network_job(system, default) * processes * attempt

    return megabytes


def parser_memory(wildcards, attempt):
    """Return the memory of a job that trains or runs a parser."""
    return plan.memory.estimate_parsing(wildcards.parser) * attempt


def fallback_memory(wildcards, attempt):
    """Return the megabytes that a job asks for which runs the fallback of a parser."""
    return plan.memory.estimate_parsing(plan.fallbacks.get_fallback(wildcards.parser)) * attempt


# Jobs that run at the same time share the memory of this machine. On a cluster, its scheduler decides.
if workflow.nodes is None and "mem_mb" not in workflow.global_resources:
    workflow.global_resources["mem_mb"] = get_memory_limit_mb()
