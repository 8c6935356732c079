"""Base rules for kinds of stages.

A rule that inherits from a base rule names its inputs, outputs, log and parameters. Paths are absolute, since rules in
other folders inherit them. The rule for `plan.subword.build_apply_bpe_job(units, split, side)`:

    use rule text_job as apply_bpe with:
        input:
            inputs_of("subword.apply_bpe"),
        output:
            output="<results>/subword/{units}/pieces/{split}.{side}",
        log:
            "<logs>/subword/apply_bpe/{units}.{split}.{side}.log",
        benchmark:
            "<benchmarks>/subword/apply_bpe/{units}.{split}.{side}.tsv"
        params:
            identity=identity_of("subword.apply_bpe"),
            job=call_of("subword.apply_bpe"),

The output NAME is the parameter NAME_output of the stage.
"""


rule text_job:
    log:
        "<logs>/text_job.log",
    conda:
        f"{PROJECT_FOLDER}/envs/text.yaml"
    threads: 1
    resources:
        mem_mb=text_memory(4000),
        runtime=lambda wildcards, attempt: 120 * attempt,
    shell:
        "python -m pipeline_py.run {params.job:q} 2>{log:q}"


rule reporting_text_job:  # its messages are shown on the terminal, too
    log:
        "<logs>/reporting_text_job.log",
    conda:
        f"{PROJECT_FOLDER}/envs/text.yaml"
    threads: 1
    resources:
        mem_mb=text_memory(4000),
        runtime=lambda wildcards, attempt: 120 * attempt,
    shell:
        "python -m pipeline_py.run {params.job:q} 2> >(tee {log:q} >&2)"


rule syntax_job:
    log:
        "<logs>/syntax_job.log",
    conda:
        f"{PROJECT_FOLDER}/envs/syntax.yaml"
    threads: 1
    resources:
        mem_mb=text_memory(4000),
        runtime=lambda wildcards, attempt: 120 * attempt,
    shell:
        "python -m pipeline_py.run {params.job:q} 2>{log:q}"


rule network_job:  # trains a network
    log:
        "<logs>/network_job.log",
    conda:
        f"{PROJECT_FOLDER}/envs/nmt.yaml"
    threads: EXPERIMENT.training.threads
    resources:
        mem_mb=network_memory(16000),
        runtime=lambda wildcards, attempt: 1440 * attempt,
        gpu=plan.gpu_count,
    shell:
        "python -m pipeline_py.run {params.job:q} 2> >(tee {log:q} >&2)"


rule network_job_with_warnings:  # runs networks; only its warnings are shown on the terminal
    log:
        "<logs>/network_job_with_warnings.log",
    conda:
        f"{PROJECT_FOLDER}/envs/nmt.yaml"
    threads: EXPERIMENT.training.threads
    resources:
        mem_mb=network_memory(8000),
        runtime=lambda wildcards, attempt: 480 * attempt,
        gpu=plan.gpu_count,
    shell:
        'python -m pipeline_py.run {params.job:q} 2> >(tee {log:q} | grep "^warning: " >&2)'
