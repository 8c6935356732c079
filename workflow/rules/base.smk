"""Rules that make nothing themselves: what rules for a kind of stage have in common.

A rule that inherits one names its inputs, outputs, log and parameters. Paths are absolute, since rules in other folders
inherit them.
"""


rule text_job:
    log:
        "<logs>/text_job.log",
    conda:
        f"{workflow.basedir}/envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
    shell:
        "python -m pipeline_py.run {params.job:q} 2>{log:q}"


rule reporting_text_job:  # its messages are shown on the terminal, too
    log:
        "<logs>/reporting_text_job.log",
    conda:
        f"{workflow.basedir}/envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
    shell:
        "python -m pipeline_py.run {params.job:q} 2> >(tee {log:q} >&2)"


rule syntax_job:
    log:
        "<logs>/syntax_job.log",
    conda:
        f"{workflow.basedir}/envs/syntax.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
    shell:
        "python -m pipeline_py.run {params.job:q} 2>{log:q}"


rule network_job:  # trains a network
    log:
        "<logs>/network_job.log",
    conda:
        f"{workflow.basedir}/envs/nmt.yaml"
    threads: EXPERIMENT.training.threads
    resources:
        mem_mb=lambda wildcards, attempt: 16000 * attempt,
        runtime=lambda wildcards, attempt: 1440 * attempt,
        gpu=plan.gpu,
    shell:
        "python -m pipeline_py.run {params.job:q} 2> >(tee {log:q} >&2)"


rule network_job_with_warnings:  # runs networks; only its warnings are shown on the terminal
    log:
        "<logs>/network_job_with_warnings.log",
    conda:
        f"{workflow.basedir}/envs/nmt.yaml"
    threads: EXPERIMENT.training.threads
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=lambda wildcards, attempt: 480 * attempt,
        gpu=plan.gpu,
    shell:
        'python -m pipeline_py.run {params.job:q} 2> >(tee {log:q} | grep "^warning: " >&2)'
