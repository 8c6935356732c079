"""Memory that jobs ask for, and the limit on this machine; `pipeline_py/plan/memory.py` has the estimates."""

from pipeline_py.run.cpu_usage import get_memory_limit_mb


def text_memory(limit):
    """Return the resource of a job that reads texts or trees."""
    return lambda wildcards, attempt: plan.memory.estimate_text_job(limit) * attempt


def network_memory(limit):
    """Return the resource of a job that trains the networks of a system or computes with them."""
    return lambda wildcards, attempt: plan.memory.estimate_network_job(wildcards.system, limit) * attempt


def parser_memory(wildcards, attempt):
    """Return the megabytes that a job asks for which trains or runs a parser."""
    return plan.memory.estimate_parsing(wildcards.parser) * attempt


def fallback_memory(wildcards, attempt):
    """Return the megabytes that a job asks for which runs the fallback of a parser."""
    return plan.memory.estimate_parsing(plan.fallbacks.get_fallback(wildcards.parser)) * attempt


# Jobs that run at the same time share the memory of this machine. On a cluster, its scheduler decides.
if workflow.nodes is None and "mem_mb" not in workflow.global_resources:
    workflow.global_resources["mem_mb"] = get_memory_limit_mb()
