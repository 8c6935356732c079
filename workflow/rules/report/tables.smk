"""Tables of scores and other measures, and the facts behind them; `report(...)` marks what `snakemake --report` shows.

REQUIRED INPUTS: scores and comparisons of <results>/evaluation/, facts of training, ledgers of <results>/syntax/
OUTPUTS:         <results>/{table}.tsv, .md, .tex, <results>/{table}.facts.tsv
"""


rule table:
    input:
        scores=lambda wildcards: [*scores_of(in_this_run(wildcards.table)).values()],
        comparisons=lambda wildcards: [*comparisons_of(wildcards.table).values()],
        facts=lambda wildcards: [*facts_of(wildcards.table).values()],
        published=lambda wildcards: PUBLISHED[wildcards.table],
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
        table=tables_of_type("bleu"),
    conda:
        "../../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
    params:
        given=lambda wildcards: {
            **EXPERIMENT.tables[wildcards.table].model_dump(),
            "tests": TESTS,
            "dev": EXPERIMENT.corpora.dev.name,
            "notes": notes_of(wildcards.table),
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
            *(
                f"--comparisons={split}={file}"
                for split, file in zip(comparisons_of(wildcards.table), input.comparisons, strict=True)
            ),
            *(
                f"--facts={system}:{run}={file}"
                for (system, run), file in zip(facts_of(wildcards.table), input.facts, strict=True)
            ),
            *notes_of(wildcards.table),
            *published_options(wildcards.table, input.published),
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
        scores=lambda wildcards: [*measures_of(in_this_run(wildcards.table)).values()],
        facts=lambda wildcards: [*facts_of(wildcards.table).values()],
        comparisons=lambda wildcards: [*comparisons_of(wildcards.table).values()],
        accuracy=lambda wildcards: [*accuracy_files(wildcards.table).values()],
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
        table=tables_of_type("measures"),
    conda:
        "../../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
    params:
        given=lambda wildcards: {
            "table": table_of_measures(wildcards.table),
            "settings": [settings_of(system) for system in EXPERIMENT.tables[wildcards.table].systems],
            "sets": names_of_sets(wildcards.table),
            "notes": notes_of(wildcards.table),
            "made_by": made_by("report.measures"),
        },
        options=lambda wildcards, input: [
            f"--table={table_of_measures(wildcards.table)}",
            *(
                f"--score={':'.join(place)}={file}"
                for place, file in zip(measures_of(wildcards.table), input.scores, strict=True)
            ),
            *(
                f"--facts={system}:{run}={file}"
                for (system, run), file in zip(facts_of(wildcards.table), input.facts, strict=True)
            ),
            *(
                f"--setting={system}:{column}={text}"
                for system in EXPERIMENT.tables[wildcards.table].systems
                for column, text in settings_of(system).items()
            ),
            *(
                f"--comparisons={split}={file}"
                for split, file in zip(comparisons_of(wildcards.table), input.comparisons, strict=True)
            ),
            *(f"--set-name={split}={name}" for split, name in names_of_sets(wildcards.table).items()),
            *accuracy_options(wildcards.table, input.accuracy),
            *notes_of(wildcards.table),
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
        facts=lambda wildcards: [*facts_of(wildcards.table).values()],
        accuracy=lambda wildcards: [*accuracy_files(wildcards.table).values()],
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
        table=tables_of_type("bleu", "measures"),
    conda:
        "../../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
    params:
        given=lambda wildcards: {
            "systems": trained_for(wildcards.table),
            "parsers": [EXPERIMENT.systems[system].parser for system in trained_for(wildcards.table)],
            "settings": settings_in_facts(wildcards.table),
            "made_by": made_by("report.facts", "stanza", "sacrebleu"),
        },
        options=lambda wildcards, input: [
            *(
                f"--facts={system}:{run}={file}"
                for (system, run), file in zip(facts_of(wildcards.table), input.facts, strict=True)
            ),
            *(
                f"--parser={system}={parser}"
                for system in trained_for(wildcards.table)
                if (parser := EXPERIMENT.systems[system].parser)
            ),
            *settings_in_facts(wildcards.table),
            *accuracy_options(wildcards.table, input.accuracy),
        ],
    shell:
        """
        python -m pipeline_py.report.facts \
            {params.options:q} \
            --output {output.tsv:q} \
            --markdown-output {output.markdown:q} \
            2>{log:q}
        """
