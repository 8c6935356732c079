"""Whether systems differ: tests of significance and intervals.

REQUIRED INPUTS: <results>/evaluation/{system}/{run}/{split}.txt, cleaned references
OUTPUTS:         <results>/evaluation/{table}/{split}.significance.tsv, .bootstrap.tsv, .comparisons.tsv, .intervals.tsv
"""


rule significance:
    input:
        outputs=lambda wildcards: [*outputs_of(wildcards.table, wildcards.split).values()],
        references=references_of,
    output:
        comparisons="<results>/evaluation/{table}/{split}.significance.tsv",
    log:
        "<logs>/evaluation/significance/{table}.{split}.log",
    benchmark:
        "<benchmarks>/evaluation/significance/{table}.{split}.tsv"
    conda:
        "../../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        given={
            "options": bleu_options(),
            "made_by": made_by("evaluation.significance", "sacrebleu", "scipy"),
        },
        systems=lambda wildcards, input: [
            f"--system={system}:{run}={file}"
            for (system, run), file in zip(outputs_of(wildcards.table, wildcards.split), input.outputs, strict=True)
        ],
        references=lambda wildcards, input: [f"--reference={file}" for file in input.references],
    shell:
        """
        python -m pipeline_py.evaluation.significance \
            {params.systems:q} \
            {params.references:q} \
            {params.given[options]:q} \
            --output {output.comparisons:q} \
            2>{log:q}
        """


rule bootstrap:
    input:
        unpack(lambda wildcards: parsed_only(wildcards.table, wildcards.split)),
        outputs=lambda wildcards: [*outputs_of(wildcards.table, wildcards.split).values()],
        references=references_of,
    output:
        comparisons="<results>/evaluation/{table}/{split}.bootstrap.tsv",
    log:
        "<logs>/evaluation/bootstrap/{table}.{split}.log",
    benchmark:
        "<benchmarks>/evaluation/bootstrap/{table}.{split}.tsv"
    conda:
        "../../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        given={
            "options": bleu_options(),
            "made_by": made_by("evaluation.bootstrap", "sacrebleu"),
        },
        files=lambda wildcards, input: [
            *(
                f"--system={system}:{run}={file}"
                for (system, run), file in zip(
                    outputs_of(wildcards.table, wildcards.split), input.outputs, strict=True
                )
            ),
            *(f"--reference={file}" for file in input.references),
            *([f"--trees={input.trees}"] if "trees" in input.keys() else []),
        ],
    shell:
        """
        python -m pipeline_py.evaluation.bootstrap \
            {params.files:q} \
            {params.given[options]:q} \
            --output {output.comparisons:q} \
            2>{log:q}
        """


rule comparisons:
    input:
        unpack(lambda wildcards: parsed_only(wildcards.table, wildcards.split)),
        outputs=lambda wildcards: [
            *outputs_of(wildcards.table, wildcards.split, from_baseline(wildcards.table)).values()
        ],
        references=references_of,
    output:
        comparisons="<results>/evaluation/{table}/{split}.comparisons.tsv",
        intervals="<results>/evaluation/{table}/{split}.intervals.tsv",
    log:
        "<logs>/evaluation/comparisons/{table}.{split}.log",
    benchmark:
        "<benchmarks>/evaluation/comparisons/{table}.{split}.tsv"
    conda:
        "../../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        given=lambda wildcards: {
            "systems": from_baseline(wildcards.table),
            "options": bleu_options(),
            "made_by": made_by("evaluation.comparisons", "sacrebleu", "scipy"),
        },
        files=lambda wildcards, input: [
            *(
                f"--system={system}:{run}={file}"
                for (system, run), file in zip(
                    outputs_of(wildcards.table, wildcards.split, from_baseline(wildcards.table)),
                    input.outputs,
                    strict=True,
                )
            ),
            *(f"--reference={file}" for file in input.references),
            *([f"--trees={input.trees}"] if "trees" in input.keys() else []),
        ],
    shell:
        """
        python -m pipeline_py.evaluation.comparisons \
            {params.files:q} \
            {params.given[options]:q} \
            --output {output.comparisons:q} \
            --intervals-output {output.intervals:q} \
            2>{log:q}
        """
