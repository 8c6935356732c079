"""Tables of scores and other measures, and the facts behind them; `report(...)` marks what `snakemake --report` shows.

REQUIRED INPUTS: scores and comparisons of <results>/evaluation/, facts of training, ledgers of <results>/syntax/
OUTPUTS:         <results>/{table}.tsv, .md, .tex, <results>/{table}.facts.tsv
"""


rule table:
    input:
        scores=lambda wildcards: [*plan.report.scores(plan.report.in_this_run(wildcards.table)).values()],
        comparisons=lambda wildcards: [*plan.report.comparisons(wildcards.table).values()],
        facts=lambda wildcards: [*plan.report.facts(wildcards.table).values()],
        published=lambda wildcards: plan.report.published[wildcards.table],
    output:
        tsv=report(
            "<results>/{table}.tsv",
            caption="../../report/table.rst",
            category="Tables",
            labels={"table": "{table}"},
        ),
        markdown="<results>/{table}.md",
        latex="<results>/{table}.tex",
    log:
        "<logs>/report/table/{table}.log",
    benchmark:
        "<benchmarks>/report/table/{table}.tsv"
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
            **EXPERIMENT.tables[wildcards.table].model_dump(),
            "tests": plan.corpus.tests,
            "dev": EXPERIMENT.corpora.dev.name,
            "notes": plan.report.notes(wildcards.table),
            "made_by": made_by("report.table"),
        },
        options=lambda wildcards, input: [
            *(f"--row={system}" for system in EXPERIMENT.tables[wildcards.table].systems),
            *(f"--proposed={system}" for system in EXPERIMENT.tables[wildcards.table].proposed),
            *plan.report.names_in(wildcards.table, "label", EXPERIMENT.tables[wildcards.table].labels),
            *(f"--test={split}" for split in plan.corpus.tests),
            *named_files("score", plan.report.scores(wildcards.table), input.scores),
            *named_files("comparisons", plan.report.comparisons(wildcards.table), input.comparisons),
            *named_files("facts", plan.report.facts(wildcards.table), input.facts),
            *plan.report.notes(wildcards.table),
            *plan.report.published_options(wildcards.table),
        ],
    shell:
        """
        python -m pipeline_py.report.table \
            --title={params.given[title]:q} \
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


rule measures:
    input:
        scores=lambda wildcards: [*plan.report.measures(plan.report.in_this_run(wildcards.table)).values()],
        facts=lambda wildcards: [*plan.report.facts(wildcards.table).values()],
        comparisons=lambda wildcards: [*plan.report.comparisons(wildcards.table).values()],
        accuracy=lambda wildcards: [*plan.report.accuracy(wildcards.table).values()],
    output:
        tsv=report(
            "<results>/{table}.tsv",
            caption="../../report/measures.rst",
            category="Tables",
            labels={"table": "{table}"},
        ),
        markdown="<results>/{table}.md",
        latex="<results>/{table}.tex",
    log:
        "<logs>/report/measures/{table}.log",
    benchmark:
        "<benchmarks>/report/measures/{table}.tsv"
    wildcard_constraints:
        table=plan.report.of_type("measures"),
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
            "table": plan.report.table_of_measures(wildcards.table),
            "settings": [plan.report.settings(system) for system in EXPERIMENT.tables[wildcards.table].systems],
            "sets": plan.report.names_of_sets(wildcards.table),
            "notes": plan.report.notes(wildcards.table),
            "made_by": made_by("report.measures"),
        },
        options=lambda wildcards, input: [
            f"--table={plan.report.table_of_measures(wildcards.table)}",
            *named_files("score", plan.report.measures(wildcards.table), input.scores),
            *named_files("facts", plan.report.facts(wildcards.table), input.facts),
            *(
                f"--setting={system}:{column}={text}"
                for system in EXPERIMENT.tables[wildcards.table].systems
                for column, text in plan.report.settings(system).items()
            ),
            *named_files("comparisons", plan.report.comparisons(wildcards.table), input.comparisons),
            *(f"--set-name={split}={name}" for split, name in plan.report.names_of_sets(wildcards.table).items()),
            *named_files("parser-accuracy", plan.report.accuracy(wildcards.table), input.accuracy),
            *plan.report.notes(wildcards.table),
            *(["--lowercase-trees"] if EXPERIMENT.corpora.source.case == "lower" else []),
        ],
    shell:
        """
        python -m pipeline_py.report.measures \
            {params.options:q} \
            --output {output.tsv:q} \
            --markdown-output {output.markdown:q} \
            --latex-output {output.latex:q} \
            2> >(tee {log:q} >&2)
        """


rule facts:
    input:
        facts=lambda wildcards: [*plan.report.facts(wildcards.table).values()],
        accuracy=lambda wildcards: [*plan.report.accuracy(wildcards.table).values()],
    output:
        tsv=report(
            "<results>/{table}.facts.tsv",
            caption="../../report/facts.rst",
            category="Facts",
            labels={"table": "{table}"},
        ),
        markdown="<results>/{table}.facts.md",
    log:
        "<logs>/report/facts/{table}.log",
    benchmark:
        "<benchmarks>/report/facts/{table}.tsv"
    wildcard_constraints:
        table=plan.report.of_type("bleu", "measures"),
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
            "systems": plan.report.trained_for(wildcards.table),
            "parsers": [EXPERIMENT.systems[system].parser for system in plan.report.trained_for(wildcards.table)],
            "settings": plan.report.settings_in_facts(wildcards.table),
            "made_by": made_by("report.facts", "stanza", "sacrebleu"),
        },
        options=lambda wildcards, input: [
            *named_files("facts", plan.report.facts(wildcards.table), input.facts),
            *(
                f"--parser={system}={parser}"
                for system in plan.report.trained_for(wildcards.table)
                if (parser := EXPERIMENT.systems[system].parser)
            ),
            *plan.report.settings_in_facts(wildcards.table),
            *named_files("parser-accuracy", plan.report.accuracy(wildcards.table), input.accuracy),
        ],
    shell:
        """
        python -m pipeline_py.report.facts \
            {params.options:q} \
            --output {output.tsv:q} \
            --markdown-output {output.markdown:q} \
            2>{log:q}
        """
