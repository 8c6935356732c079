"""Tables and figures.

REQUIRED INPUTS: <results>/evaluation/{system}/{run}/{split}.bleu.json, significance of the table's pairs, facts of training
OUTPUTS:         <results>/{table}.tsv, .md, .tex, <results>/{table}.facts.tsv,
                 <results>/figures/{table}.length.svg, .pdf
"""


rule table:
    input:
        scores=lambda wildcards: [*scores_of(wildcards.table).values()],
        significance=expand("<results>/evaluation/{{table}}/{split}.significance.tsv", split=TESTS),
        published=lambda wildcards: published_files(wildcards.table),
    output:
        tsv="<results>/{table}.tsv",
        markdown="<results>/{table}.md",
        latex="<results>/{table}.tex",
    log:
        "<logs>/report/table/{table}.log",
    benchmark:
        "<benchmarks>/report/table/{table}.tsv"
    wildcard_constraints:
        table="|".join(EXPERIMENT.tables) or "none",
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=10,
    params:
        given=lambda wildcards: {
            **EXPERIMENT.tables[wildcards.table].model_dump(),
            "tests": TESTS,
            "dev": EXPERIMENT.corpora.dev.name,
            "made_by": made_by("report.table"),
        },
        options=lambda wildcards, input: [
            *(f"--row={system}" for system in EXPERIMENT.tables[wildcards.table].systems),
            *(f"--proposed={system}" for system in EXPERIMENT.tables[wildcards.table].proposed),
            *names_in(wildcards.table, "label", EXPERIMENT.tables[wildcards.table].labels),
            *(f"--test={split}" for split in TESTS),
            *(
                f"--score={system}:{split}:{run}={file}"
                for (system, split, run), file in zip(scores_of(wildcards.table), input.scores, strict=True)
            ),
            *(f"--significance={split}={file}" for split, file in zip(TESTS, input.significance, strict=True)),
            *published_options(wildcards.table, input.published),
        ],
    shell:
        """
        python -m pipeline_py.report.table \
            --title {params.given[title]:q} \
            --baseline {params.given[baseline]:q} \
            --mark-style {params.given[marks]} \
            --dev dev \
            --dev-name {params.given[dev]:q} \
            {params.options:q} \
            --output {output.tsv:q} \
            --markdown-output {output.markdown:q} \
            --latex-output {output.latex:q} \
            2> >(tee {log:q} >&2)
        """


rule facts:
    input:
        facts=lambda wildcards: [*facts_of(wildcards.table).values()],
        accuracy=lambda wildcards: [*accuracy_files(wildcards.table).values()],
    output:
        tsv="<results>/{table}.facts.tsv",
        markdown="<results>/{table}.facts.md",
    log:
        "<logs>/report/facts/{table}.log",
    benchmark:
        "<benchmarks>/report/facts/{table}.tsv"
    wildcard_constraints:
        table="|".join(EXPERIMENT.tables) or "none",
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=10,
    params:
        given=lambda wildcards: {
            "systems": EXPERIMENT.tables[wildcards.table].systems,
            "parsers": [EXPERIMENT.systems[system].parser for system in EXPERIMENT.tables[wildcards.table].systems],
            "made_by": made_by("report.facts", "stanza", "sacrebleu"),
        },
        options=lambda wildcards, input: [
            *(
                f"--facts={system}:{run}={file}"
                for (system, run), file in zip(facts_of(wildcards.table), input.facts, strict=True)
            ),
            *(
                f"--parser={system}={parser}"
                for system in EXPERIMENT.tables[wildcards.table].systems
                if (parser := EXPERIMENT.systems[system].parser)
            ),
            *(
                f"--parser-accuracy={parser}={file}"
                for parser, file in zip(accuracy_files(wildcards.table), input.accuracy, strict=True)
            ),
        ],
    shell:
        """
        python -m pipeline_py.report.facts \
            {params.options:q} \
            --output {output.tsv:q} \
            --markdown-output {output.markdown:q} \
            2>{log:q}
        """


rule plot:
    input:
        buckets="<results>/evaluation/{table}/length.buckets.tsv",
    output:
        svg="<results>/figures/{table}.length.svg",
        pdf="<results>/figures/{table}.length.pdf",
    log:
        "<logs>/report/plot/{table}.length.log",
    benchmark:
        "<benchmarks>/report/plot/{table}.length.tsv"
    wildcard_constraints:
        table="|".join(EXPERIMENT.tables) or "none",
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        given=lambda wildcards: {
            **EXPERIMENT.tables[wildcards.table].model_dump(include={"title", "labels"}),
            "made_by": made_by("report.plot", "matplotlib"),
        },
        labels=lambda wildcards: names_in(wildcards.table, "label", EXPERIMENT.tables[wildcards.table].labels),
    shell:
        """
        python -m pipeline_py.report.plot \
            --buckets {input.buckets:q} \
            --title {params.given[title]:q} \
            {params.labels:q} \
            --svg-output {output.svg:q} \
            --pdf-output {output.pdf:q} \
            2>{log:q}
        """


# Every table by its name: `snakemake table1` makes the table, its facts and its figure.
for table in EXPERIMENT.tables:
    if table == "all" or table in {rule.name for rule in workflow.rules}:
        raise WorkflowError(f"tables: `{table}` is what a rule is called; give the table another name")

    rule:
        name:
            table
        input:
            everything_of(table),
        localrule: True
