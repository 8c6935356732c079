"""Tables, the facts behind them, figures, and a page of everything; `report(...)` marks what `snakemake --report` shows.

REQUIRED INPUTS: statistics and comparisons of <results>/evaluation/, facts of training, counts of <results>/syntax/,
                 attention and pieces of <results>/nmt/, curves, reports of parsers
OUTPUTS:         <results>/{table}.tsv, .md, .tex, .sheet.json, <results>/{table}.facts.tsv,
                 <results>/figures/{table}.length.svg, .pdf, <results>/figures/{figure}.{sentence}.svg, .pdf,
                 <results>/report.html
"""


rule table:
    input:
        unpack(lambda wildcards: lists_of(plan.report.files(plan.report.in_this_run(wildcards.table)))),
    output:
        tsv=report(
            "<results>/{table}.tsv",
            caption="../report/table.rst",
            category="Tables",
            labels={"table": "{table}"},
        ),
        sheet="<results>/{table}.sheet.json",
        markdown="<results>/{table}.md",
        latex="<results>/{table}.tex",
    log:
        "<logs>/report/table/{table}.log",
    benchmark:
        "<benchmarks>/report/table/{table}.tsv"
    group:
        on_cluster("tables")
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
    params:
        given=lambda wildcards: {
            "description": plan.report.description(wildcards.table),
            "title": EXPERIMENT.tables[wildcards.table].title,
            "made_by": made_by(
                "report.table", parts=[f"evaluation.metrics.{metric}" for metric in plan.evaluation.metrics]
            ),
        },
        files=lambda wildcards, input: options_by_kind(plan.report.files(wildcards.table), input),
    shell:
        """
        python -m pipeline_py.report.table \
            --description {params.given[description]:q} \
            {params.files:q} \
            --output {output.tsv:q} \
            --sheet-output {output.sheet:q} \
            --markdown-output {output.markdown:q} \
            --latex-output {output.latex:q} \
            2> >(tee {log:q} >&2)
        """


rule facts:
    input:
        unpack(lambda wildcards: lists_of(plan.report.files_of_facts(wildcards.table))),
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
        table=plan.report.of_type("bleu", "measures"),
    group:
        on_cluster("tables")
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
    params:
        given=lambda wildcards: {
            "description": plan.report.description_of_facts(wildcards.table),
            "made_by": made_by("report.facts", "stanza", "sacrebleu"),
        },
        files=lambda wildcards, input: options_by_kind(plan.report.files_of_facts(wildcards.table), input),
    shell:
        """
        python -m pipeline_py.report.facts \
            --description {params.given[description]:q} \
            {params.files:q} \
            --output {output.tsv:q} \
            --markdown-output {output.markdown:q} \
            2>{log:q}
        """


rule plot:
    input:
        buckets="<results>/evaluation/{table}/tests.by_sentence.tsv",
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
        table=plan.report.of_type("bleu"),
    group:
        on_cluster("tables")
    conda:
        "../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
    params:
        given=lambda wildcards: {
            "description": plan.report.description_of_figure(wildcards.table),
            "smallest_group": EXPERIMENT.evaluation.smallest_group,
            "made_by": made_by("report.plot", "matplotlib"),
        },
    shell:
        """
        python -m pipeline_py.report.plot \
            --description {params.given[description]:q} \
            --buckets {input.buckets:q} \
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
    group:
        on_cluster("tables")
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


rule manifest:
    output:
        "<results>/report.manifest.json",
    log:
        "<logs>/report/manifest/page.log",
    localrule: True
    params:
        # Found for the page alone: the code of all stages takes most of a second.
        given=lambda wildcards: plan.page.settings(),
        manifest=lambda wildcards, output: plan.page.manifest()
        | {"command": plan.page.command(workflow.overwrite_configfiles or [], workflow.config_settings.config)},
    run:
        page.write(Path(output[0]), params.manifest)


rule report:
    input:
        unpack(lambda wildcards: lists_of(plan.page.files())),
        templates=page.TEMPLATES,
        manifest="<results>/report.manifest.json",
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
        given=lambda wildcards: {"made_by": made_by("report.report", *page.SOFTWARE, parts=page.SECTIONS)},
    shell:
        """
        python -m pipeline_py.report.report \
            --manifest {input.manifest:q} \
            --output {output.page:q} \
            2>{log:q}
        """


# Every table and figure by its name, and every folder of them: `snakemake table1` makes all there is to it.
for name in dict.fromkeys(name.partition("/")[0] for name in (*EXPERIMENT.tables, *EXPERIMENT.figures)):
    if name == "all" or name in {rule.name for rule in workflow.rules}:
        raise InputError(f"tables: `{name}` is what a rule is called; give the table, figure or folder another name")

    rule:
        name:
            name
        input:
            [file for table in called(name, EXPERIMENT.tables) for file in plan.report.everything_of(table)],
            [file for figure in called(name, EXPERIMENT.figures) for file in plan.report.pictures_of(figure)],
        localrule: True
