"""What systems read of a tree: binary phrases, distances, units, labels.

REQUIRED INPUTS: <results>/syntax/{parser}/{split}.conllu and .ptb, plan.corpus.tokens("source")
OUTPUTS:         <results>/syntax/{parser}/{split}.binary.ptb, .distances.arrow, .units.arrow, .labels
"""


rule binarize:
    input:
        unpack(lambda wildcards: plan.syntax.dependencies_for_heads(wildcards.parser, wildcards.split)),
        trees="<results>/syntax/{parser}/{split}.ptb",
        tokens=plan.corpus.tokens("source"),
    output:
        trees="<results>/syntax/{parser}/{split}.binary.ptb",
        counts="<results>/syntax/{parser}/{split}.binary.json",
    log:
        "<logs>/syntax/binarize/{parser}.{split}.log",
    benchmark:
        "<benchmarks>/syntax/binarize/{parser}.{split}.tsv"
    group:
        on_cluster("views")
    conda:
        "../../../envs/syntax.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
    params:
        given=lambda wildcards: plan.syntax.binarization(wildcards.parser),
        heads=lambda wildcards, input: plan.syntax.options_of_heads(wildcards.parser, input.get("dependencies")),
    shell:
        """
        python -m pipeline_py.syntax.binarize \
            --trees {input.trees:q} \
            --tokens {input.tokens:q} \
            --branching {params.given[branching]} \
            {params.heads:q} \
            --output {output.trees:q} \
            --counts-output {output.counts:q} \
            2>{log:q}
        """


rule distances:
    input:
        trees="<results>/syntax/{parser}/{split}.conllu",
        tokens=plan.corpus.tokens("source"),
    output:
        distances="<results>/syntax/{parser}/{split}.distances.arrow",
        counts="<results>/syntax/{parser}/{split}.distances.json",
    log:
        "<logs>/syntax/distances/{parser}.{split}.log",
    benchmark:
        "<benchmarks>/syntax/distances/{parser}.{split}.tsv"
    group:
        on_cluster("views")
    conda:
        "../../../envs/syntax.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
    params:
        given={"made_by": made_by("syntax.distances", "pyarrow")},
    shell:
        """
        python -m pipeline_py.syntax.distances \
            --trees {input.trees:q} \
            --tokens {input.tokens:q} \
            --output {output.distances:q} \
            --counts-output {output.counts:q} \
            2>{log:q}
        """


rule units:
    input:
        trees="<results>/syntax/{parser}/{split}.conllu",
        tokens=plan.corpus.tokens("source"),
    output:
        units="<results>/syntax/{parser}/{split}.units.arrow",
        counts="<results>/syntax/{parser}/{split}.units.json",
    log:
        "<logs>/syntax/units/{parser}.{split}.log",
    benchmark:
        "<benchmarks>/syntax/units/{parser}.{split}.tsv"
    group:
        on_cluster("views")
    conda:
        "../../../envs/syntax.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
    params:
        given={"made_by": made_by("syntax.units", "pyarrow")},
    shell:
        """
        python -m pipeline_py.syntax.units \
            --trees {input.trees:q} \
            --tokens {input.tokens:q} \
            --output {output.units:q} \
            --counts-output {output.counts:q} \
            2>{log:q}
        """


rule labels:
    input:
        trees="<results>/syntax/{parser}/{split}.conllu",
        tokens=plan.corpus.tokens("source"),
    output:
        labels="<results>/syntax/{parser}/{split}.labels",
        counts="<results>/syntax/{parser}/{split}.labels.json",
    log:
        "<logs>/syntax/labels/{parser}.{split}.log",
    benchmark:
        "<benchmarks>/syntax/labels/{parser}.{split}.tsv"
    group:
        on_cluster("views")
    conda:
        "../../../envs/syntax.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
    params:
        given={"made_by": made_by("syntax.labels")},
    shell:
        """
        python -m pipeline_py.syntax.labels \
            --trees {input.trees:q} \
            --tokens {input.tokens:q} \
            --output {output.labels:q} \
            --counts-output {output.counts:q} \
            2>{log:q}
        """
