"""Tables and figures, and a page that holds them all; `report(...)` marks what `snakemake --report` shows.

REQUIRED INPUTS: scores and comparisons of <results>/evaluation/, facts and curves of training, ledgers and reports of
                 <results>/syntax/, attention of <results>/nmt/
OUTPUTS:         <results>/{table}.tsv, .md, .tex, <results>/{table}.facts.tsv,
                 <results>/figures/{table}.length.svg, .pdf, <results>/figures/{figure}.{sentence}.svg, .pdf,
                 <results>/report.html
"""


rule table:
    input:
        scores=lambda wildcards: [*scores_of(wildcards.table).values()],
        significance=expand("<results>/evaluation/{{table}}/{split}.significance.tsv", split=TESTS),
        published=lambda wildcards: PUBLISHED[wildcards.table],
    output:
        tsv=report(
            "<results>/{table}.tsv",
            caption="../report/table.rst",
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
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
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
        scores=lambda wildcards: [*measures_of(wildcards.table).values()],
        facts=lambda wildcards: [*facts_of(wildcards.table).values()],
        bootstraps=lambda wildcards: [*bootstraps_of(wildcards.table).values()],
        accuracy=lambda wildcards: [*accuracy_files(wildcards.table).values()],
    output:
        tsv=report(
            "<results>/{table}.tsv",
            caption="../report/measures.rst",
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
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
    params:
        given=lambda wildcards: {
            "table": table_of_measures(wildcards.table),
            "settings": [settings_of(system) for system in EXPERIMENT.tables[wildcards.table].systems],
            "sets": names_of_sets(wildcards.table),
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
                f"--bootstrap={split}={file}"
                for split, file in zip(bootstraps_of(wildcards.table), input.bootstraps, strict=True)
            ),
            *(f"--set-name={split}={name}" for split, name in names_of_sets(wildcards.table).items()),
            *accuracy_options(wildcards.table, input.accuracy),
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
            caption="../report/parse_counts.rst",
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
        table=tables_of_type("parses"),
    conda:
        "../../envs/text.yaml"
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
            *(
                f"--split={NAMES_OF_SPLITS.get(split, split)}={file}"
                for split, file in zip(EXPERIMENT.corpora.splits, input.ledgers, strict=True)
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
        original=[tokens(side).format(split="train") for side in ("source", "target")],
        generalised=lambda wildcards: [
            words(EXPERIMENT.tables[wildcards.table].subword, side).format(split="train")
            for side in ("source", "target")
        ],
        pieces=lambda wildcards: [
            pieces(EXPERIMENT.tables[wildcards.table].subword, side).format(split="train")
            for side in ("source", "target")
        ],
    output:
        tsv=report(
            "<results>/{table}.tsv",
            caption="../report/vocabulary_sizes.rst",
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
        table=tables_of_type("vocabulary"),
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
    params:
        given=lambda wildcards: {
            **EXPERIMENT.tables[wildcards.table].model_dump(),
            "languages": LANGUAGES,
            "made_by": made_by("report.vocabulary_sizes"),
        },
        options=lambda wildcards, input: [
            f"--title={EXPERIMENT.tables[wildcards.table].title}",
            *(
                f"--{form}={language}={file}"
                for form in ("original", "generalised", "pieces")
                for language, file in zip(LANGUAGES, input[form], strict=True)
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
            caption="../report/attention_table.rst",
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
        table=tables_of_type("attention"),
    conda:
        "../../envs/text.yaml"
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
            *names_in(wildcards.table, "label", EXPERIMENT.tables[wildcards.table].labels),
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


rule facts:
    input:
        facts=lambda wildcards: [*facts_of(wildcards.table).values()],
        accuracy=lambda wildcards: [*accuracy_files(wildcards.table).values()],
    output:
        tsv=report(
            "<results>/{table}.facts.tsv",
            caption="../report/facts.rst",
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
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
    params:
        given=lambda wildcards: {
            "systems": trained_for(wildcards.table),
            "parsers": [EXPERIMENT.systems[system].parser for system in trained_for(wildcards.table)],
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


rule plot:
    input:
        buckets="<results>/evaluation/{table}/length.buckets.tsv",
    output:
        svg=report(
            "<results>/figures/{table}.length.svg",
            caption="../report/plot.rst",
            category="BLEU by source length",
            labels={"table": "{table}"},
        ),
        pdf="<results>/figures/{table}.length.pdf",
    log:
        "<logs>/report/plot/{table}.length.log",
    benchmark:
        "<benchmarks>/report/plot/{table}.length.tsv"
    wildcard_constraints:
        table=tables_of_type("bleu"),
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
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
            --title={params.given[title]:q} \
            {params.labels:q} \
            --svg-output {output.svg:q} \
            --pdf-output {output.pdf:q} \
            2>{log:q}
        """


rule attention:
    input:
        unpack(lambda wildcards: picture_inputs(wildcards.figure)),
    output:
        svg=report(
            "<results>/figures/{figure}.{sentence}.svg",
            caption="../report/attention.rst",
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
    conda:
        "../../envs/text.yaml"
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
            *(["--lexical"] if reads_lexical_trees(wildcards.figure) else []),
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


rule report:
    input:
        unpack(lambda wildcards: {option: [*files.values()] for option, files in files_of_page().items()}),
        templates=TEMPLATES_OF_PAGE,
    output:
        page=report(
            "<results>/report.html",
            caption="../report/report.rst",
            category="The whole experiment",
            labels={"page": "report.html"},
        ),
    log:
        "<logs>/report/report/page.log",
    benchmark:
        "<benchmarks>/report/report/page.tsv"
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        # Found for the page alone: the code of all stages takes most of a second.
        given=lambda wildcards: {
            "experiment": EXPERIMENT.model_dump_json(exclude_unset=True),
            "made_by": made_by("report.report", *SOFTWARE_OF_PAGE),
            "made_by_all": made_by_all(),
        },
        options=lambda wildcards, input: options_of_page(input),
        command=lambda wildcards, input: command_of_page(),
    shell:
        """
        python -m pipeline_py.report.report \
            --experiment {params.given[experiment]:q} \
            {params.options:q} \
            {params.given[made_by_all]:q} \
            --command {params.command:q} \
            --output {output.page:q} \
            2>{log:q}
        """


# Every table and figure by its name, and every folder of them: `snakemake table1` makes all there is to it.
for name in dict.fromkeys(name.partition("/")[0] for name in (*EXPERIMENT.tables, *EXPERIMENT.figures)):
    if name == "all" or name in {rule.name for rule in workflow.rules}:
        raise WorkflowError(f"tables: `{name}` is what a rule is called; give the table, figure or folder another name")

    rule:
        name:
            name
        input:
            [file for table in called(name, EXPERIMENT.tables) for file in everything_of(table)],
            [file for figure in called(name, EXPERIMENT.figures) for file in pictures_of(figure)],
        localrule: True
