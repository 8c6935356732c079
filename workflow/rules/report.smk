"""Tables, facts, figures and the report page; `report(...)` marks files for `snakemake --report`.

REQUIRED INPUTS: statistics and comparisons of <results>/evaluation/, facts of training, counts of <results>/syntax/,
                 attention and pieces of <results>/nmt/, curves, reports of parsers
OUTPUTS:         <results>/{table}.tsv, .md, .tex, .sheet.json, <results>/{table}.facts.tsv,
                 <results>/figures/{table}.length.svg, .pdf, <results>/figures/{figure}.{sentence}.svg, .pdf,
                 <results>/report.html, <results>/{package}/{system}/{run}/README.md, system.json, files/
"""


use rule text_job as bundle_system with:
    input:
        inputs_of("bundles.bundle_system"),
    output:
        card="<results>/{package}/{system}/{run}/README.md",
        description="<results>/{package}/{system}/{run}/system.json",
        files=directory("<results>/{package}/{system}/{run}/files"),
    log:
        "<logs>/report/bundle_system/{package}.{system}.{run}.log",
    benchmark:
        "<benchmarks>/report/bundle_system/{package}.{system}.{run}.tsv"
    wildcard_constraints:
        package="nmt|smt",
    group:
        on_cluster("scores")
    params:
        identity=identity_of("bundles.bundle_system"),
        job=call_of("bundles.bundle_system"),


use rule reporting_text_job as render_table with:
    input:
        inputs_of("report.render_table", lambda wildcards: plan.report.add_requested_table(wildcards.table)),
        cards=cards_of_table,
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
        "<logs>/report/render_table/{table}.log",
    benchmark:
        "<benchmarks>/report/render_table/{table}.tsv"
    group:
        on_cluster("tables")
    params:
        identity=identity_of("report.render_table"),
        job=call_of("report.render_table"),


use rule text_job as render_facts with:
    input:
        inputs_of("report.facts_table"),
    output:
        tsv=report(
            "<results>/{table}.facts.tsv",
            caption="../report/facts.rst",
            category="Facts",
            labels={"table": "{table}"},
        ),
        markdown="<results>/{table}.facts.md",
    log:
        "<logs>/report/render_facts/{table}.log",
    benchmark:
        "<benchmarks>/report/render_facts/{table}.tsv"
    wildcard_constraints:
        table=plan.report.table_name_pattern("bleu", "measures"),
    group:
        on_cluster("tables")
    params:
        identity=identity_of("report.facts_table"),
        job=call_of("report.facts_table"),


use rule text_job as draw_bleu_by_length with:
    input:
        inputs_of("report.draw_bleu_by_length"),
    output:
        svg=report(
            "<results>/figures/{table}.length.svg",
            caption="../report/plot.rst",
            category="BLEU by source length",
            labels={"table": "{table}"},
        ),
        pdf="<results>/figures/{table}.length.pdf",
    log:
        "<logs>/report/draw_bleu_by_length/{table}.length.log",
    benchmark:
        "<benchmarks>/report/draw_bleu_by_length/{table}.length.tsv"
    wildcard_constraints:
        table=plan.report.table_name_pattern("bleu"),
    group:
        on_cluster("tables")
    params:
        identity=identity_of("report.draw_bleu_by_length"),
        job=call_of("report.draw_bleu_by_length"),


use rule text_job as draw_attention with:
    input:
        inputs_of("report.draw_attention"),
    output:
        svg=report(
            "<results>/figures/{figure}.{sentence}.svg",
            caption="../report/attention.rst",
            category="Attention",
            labels={"figure": "{figure}", "sentence": "{sentence}"},
        ),
        pdf="<results>/figures/{figure}.{sentence}.pdf",
    log:
        "<logs>/report/draw_attention/{figure}.{sentence}.log",
    benchmark:
        "<benchmarks>/report/draw_attention/{figure}.{sentence}.tsv"
    wildcard_constraints:
        sentence=r"\d+",
    group:
        on_cluster("tables")
    params:
        identity=identity_of("report.draw_attention"),
        job=call_of("report.draw_attention"),


rule manifest:
    output:
        "<results>/report.manifest.json",
    log:
        "<logs>/report/manifest/page.log",
    localrule: True
    params:
        # Hashing the code of all stages takes most of a second, so only the page does it.
        settings=lambda wildcards: plan.page.build_manifest_settings(),
        manifest=lambda wildcards, output: plan.page.build_manifest()
        | {"command": plan.page.format_command(workflow.overwrite_configfiles or [], workflow.config_settings.config)},
    run:
        page.write_manifest(Path(output[0]), params.manifest)


use rule text_job as write_page with:
    input:
        inputs_of("page.page"),
        unpack(lambda wildcards: {kind: [*files.values()] for kind, files in plan.page.get_page_files().items()}),
        templates=page.TEMPLATE_FILES,
    output:
        output=report(
            "<results>/report.html",
            caption="../report/report.rst",
            category="The whole experiment",
            labels={"page": "report.html"},
        ),
    log:
        "<logs>/report/write_page/page.log",
    benchmark:
        "<benchmarks>/report/write_page/page.tsv"
    params:
        identity=identity_of("page.page"),
        job=call_of("page.page"),


# A target for every table, figure and folder of them: `snakemake table1` makes all files of the table.
for name in dict.fromkeys(name.partition("/")[0] for name in (*EXPERIMENT.tables, *EXPERIMENT.figures)):
    if name == "all" or name in {rule.name for rule in workflow.rules}:
        raise InputError(f"tables: `{name}` is the name of a rule; rename the table, figure or folder")

    rule:
        name:
            name
        input:
            [file for table in match_targets(name, EXPERIMENT.tables) for file in plan.report.get_table_outputs(table)],
            [
                file
                for figure in match_targets(name, EXPERIMENT.figures)
                for file in plan.report.get_figure_outputs(figure)
            ],
        localrule: True
