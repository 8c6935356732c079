"""Figures.

REQUIRED INPUTS: <results>/evaluation/{table}/length.buckets.tsv, attention and pieces of <results>/nmt/
OUTPUTS:         <results>/figures/{table}.length.svg, .pdf, <results>/figures/{figure}.{sentence}.svg, .pdf
"""


rule plot:
    input:
        buckets="<results>/evaluation/{table}/length.buckets.tsv",
    output:
        svg=report(
            "<results>/figures/{table}.length.svg",
            caption="../../report/plot.rst",
            category="BLEU by source length",
            labels={"table": "{table}"},
        ),
        pdf="<results>/figures/{table}.length.pdf",
    log:
        "<logs>/report/plot/{table}.length.log",
    benchmark:
        "<benchmarks>/report/plot/{table}.length.tsv"
    wildcard_constraints:
        table=plan.report.of_type("bleu"),
    group:
        on_cluster("tables")
    conda:
        "../../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
    params:
        given=lambda wildcards: {
            **EXPERIMENT.tables[wildcards.table].model_dump(include={"title", "labels"}),
            "smallest_group": EXPERIMENT.evaluation.smallest_group,
            "made_by": made_by("report.plot", "matplotlib"),
        },
        labels=lambda wildcards: plan.report.names_in(
            wildcards.table, "label", EXPERIMENT.tables[wildcards.table].labels
        ),
    shell:
        """
        python -m pipeline_py.report.plot \
            --buckets {input.buckets:q} \
            --title={params.given[title]:q} \
            {params.labels:q} \
            --smallest-group {params.given[smallest_group]} \
            --svg-output {output.svg:q} \
            --pdf-output {output.pdf:q} \
            2>{log:q}
        """


rule attention:
    input:
        unpack(lambda wildcards: plan.report.picture_inputs(wildcards.figure)),
    output:
        svg=report(
            "<results>/figures/{figure}.{sentence}.svg",
            caption="../../report/attention.rst",
            category="Attention",
            labels={"figure": "{figure}", "sentence": "{sentence}"},
        ),
        pdf="<results>/figures/{figure}.{sentence}.pdf",
    log:
        "<logs>/report/attention/{figure}.{sentence}.log",
    benchmark:
        "<benchmarks>/report/attention/{figure}.{sentence}.tsv"
    wildcard_constraints:
        sentence=r"\d+",
    group:
        on_cluster("tables")
    conda:
        "../../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
    params:
        given=lambda wildcards: {
            **EXPERIMENT.figures[wildcards.figure].model_dump(include={"title", "words"}),
            "made_by": made_by("report.attention", "matplotlib"),
        },
        options=lambda wildcards, input: [
            f"--title={EXPERIMENT.figures[wildcards.figure].title}",
            *(f"--{name.replace('_', '-')}={file}" for name, file in input.items()),
            *(f"--word={word}" for word in EXPERIMENT.figures[wildcards.figure].words),
            *(["--lexical"] if plan.report.reads_lexical_trees(wildcards.figure) else []),
        ],
    shell:
        """
        python -m pipeline_py.report.attention \
            --sentence {wildcards.sentence} \
            {params.options:q} \
            --svg-output {output.svg:q} \
            --pdf-output {output.pdf:q} \
            2>{log:q}
        """
