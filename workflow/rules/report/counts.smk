"""Tables that count parses, words and attention.

REQUIRED INPUTS: ledgers of <results>/syntax/, vocabularies, <results>/evaluation/{table}/attention.tsv
OUTPUTS:         <results>/{table}.tsv, .md, .tex
"""


rule parse_counts:
    input:
        ledgers=lambda wildcards: expand(
            "<results>/syntax/{parser}/{split}.binary.json",
            parser=EXPERIMENT.tables[wildcards.table].parser,
            split=EXPERIMENT.corpora.splits,
        ),
    output:
        tsv=report(
            "<results>/{table}.tsv",
            caption="../../report/parse_counts.rst",
            category="Tables",
            labels={"table": "{table}"},
        ),
        markdown="<results>/{table}.md",
        latex="<results>/{table}.tex",
    log:
        "<logs>/report/parse_counts/{table}.log",
    benchmark:
        "<benchmarks>/report/parse_counts/{table}.tsv"
    wildcard_constraints:
        table=plan.report.of_type("parses"),
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
            **EXPERIMENT.tables[wildcards.table].model_dump(),
            "splits": EXPERIMENT.corpora.splits,
            "made_by": made_by("report.parse_counts"),
        },
        options=lambda wildcards, input: [
            f"--title={EXPERIMENT.tables[wildcards.table].title}",
            *named_files(
                "split", (NAMES_OF_SPLITS.get(split, split) for split in EXPERIMENT.corpora.splits), input.ledgers
            ),
        ],
    shell:
        """
        python -m pipeline_py.report.parse_counts \
            {params.options:q} \
            --output {output.tsv:q} \
            --markdown-output {output.markdown:q} \
            --latex-output {output.latex:q} \
            2> >(tee {log:q} >&2)
        """


rule vocabulary_sizes:
    input:
        original=[plan.corpus.tokens(side).format(split="train") for side in ("source", "target")],
        generalised=lambda wildcards: [
            plan.subword.words(EXPERIMENT.tables[wildcards.table].subword, side).format(split="train")
            for side in ("source", "target")
        ],
        pieces=lambda wildcards: [
            plan.subword.pieces(EXPERIMENT.tables[wildcards.table].subword, side).format(split="train")
            for side in ("source", "target")
        ],
    output:
        tsv=report(
            "<results>/{table}.tsv",
            caption="../../report/vocabulary_sizes.rst",
            category="Tables",
            labels={"table": "{table}"},
        ),
        markdown="<results>/{table}.md",
        latex="<results>/{table}.tex",
    log:
        "<logs>/report/vocabulary_sizes/{table}.log",
    benchmark:
        "<benchmarks>/report/vocabulary_sizes/{table}.tsv"
    wildcard_constraints:
        table=plan.report.of_type("vocabulary"),
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
            **EXPERIMENT.tables[wildcards.table].model_dump(),
            "languages": plan.report.languages,
            "made_by": made_by("report.vocabulary_sizes"),
        },
        options=lambda wildcards, input: [
            f"--title={EXPERIMENT.tables[wildcards.table].title}",
            *(
                f"--{form}={language}={file}"
                for form in ("original", "generalised", "pieces")
                for language, file in zip(plan.report.languages, input[form], strict=True)
            ),
        ],
    shell:
        """
        python -m pipeline_py.report.vocabulary_sizes \
            {params.options:q} \
            --output {output.tsv:q} \
            --markdown-output {output.markdown:q} \
            --latex-output {output.latex:q} \
            2> >(tee {log:q} >&2)
        """


rule attention_table:
    input:
        shares="<results>/evaluation/{table}/attention.tsv",
    output:
        tsv=report(
            "<results>/{table}.tsv",
            caption="../../report/attention_table.rst",
            category="Tables",
            labels={"table": "{table}"},
        ),
        markdown="<results>/{table}.md",
        latex="<results>/{table}.tex",
    log:
        "<logs>/report/attention_table/{table}.log",
    benchmark:
        "<benchmarks>/report/attention_table/{table}.tsv"
    wildcard_constraints:
        table=plan.report.of_type("attention"),
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
            **EXPERIMENT.tables[wildcards.table].model_dump(),
            "made_by": made_by("report.attention_table"),
        },
        options=lambda wildcards, input: [
            f"--title={EXPERIMENT.tables[wildcards.table].title}",
            f"--shares={input.shares}",
            *plan.report.names_in(wildcards.table, "label", EXPERIMENT.tables[wildcards.table].labels),
        ],
    shell:
        """
        python -m pipeline_py.report.attention_table \
            {params.options:q} \
            --output {output.tsv:q} \
            --markdown-output {output.markdown:q} \
            --latex-output {output.latex:q} \
            2> >(tee {log:q} >&2)
        """
