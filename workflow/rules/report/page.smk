"""A page that holds everything, and targets that make all there is to a table or figure.

REQUIRED INPUTS: tables, figures, comparisons, curves, reports of parsers
OUTPUTS:         <results>/report.html
"""


rule report:
    input:
        unpack(lambda wildcards: lists_of(plan.page.files())),
        templates=page.TEMPLATES,
    output:
        page=report(
            "<results>/report.html",
            caption="../../report/report.rst",
            category="The whole experiment",
            labels={"page": "report.html"},
        ),
    log:
        "<logs>/report/report/page.log",
    benchmark:
        "<benchmarks>/report/report/page.tsv"
    conda:
        "../../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        # Found for the page alone: the code of all stages takes most of a second.
        given=lambda wildcards: {
            "experiment": EXPERIMENT.model_dump_json(exclude_unset=True),
            "made_by": made_by("report.report", *page.SOFTWARE),
            "made_by_all": plan.page.made_by_all(),
        },
        options=lambda wildcards, input: plan.page.options(input),
        command=lambda wildcards, input: plan.page.command(
            workflow.overwrite_configfiles or [], workflow.config_settings.config
        ),
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
            [file for table in called(name, EXPERIMENT.tables) for file in plan.report.everything_of(table)],
            [file for figure in called(name, EXPERIMENT.figures) for file in plan.report.pictures_of(figure)],
        localrule: True
