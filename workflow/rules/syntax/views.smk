"""Representations of trees that systems read: binary phrases, distances, units and labels.

REQUIRED INPUTS: <results>/syntax/{parser}/{split}.conllu and .ptb, plan.corpus.get_token_path_pattern("source")
OUTPUTS:         <results>/syntax/{parser}/{split}.binary.ptb, .distances.arrow, .units.arrow, .labels
"""


use rule syntax_job as binarize with:
    input:
        inputs_of("syntax.binarize"),
    output:
        output="<results>/syntax/{parser}/{split}.binary.ptb",
        counts="<results>/syntax/{parser}/{split}.binary.json",
    log:
        "<logs>/syntax/binarize/{parser}.{split}.log",
    benchmark:
        "<benchmarks>/syntax/binarize/{parser}.{split}.tsv"
    group:
        on_cluster("views")
    params:
        identity=identity_of("syntax.binarize"),
        job=call_of("syntax.binarize"),


use rule syntax_job as distances with:
    input:
        inputs_of("syntax.distances"),
    output:
        output="<results>/syntax/{parser}/{split}.distances.arrow",
        counts="<results>/syntax/{parser}/{split}.distances.json",
    log:
        "<logs>/syntax/distances/{parser}.{split}.log",
    benchmark:
        "<benchmarks>/syntax/distances/{parser}.{split}.tsv"
    group:
        on_cluster("views")
    params:
        identity=identity_of("syntax.distances"),
        job=call_of("syntax.distances"),


use rule syntax_job as units with:
    input:
        inputs_of("syntax.units"),
    output:
        output="<results>/syntax/{parser}/{split}.units.arrow",
        counts="<results>/syntax/{parser}/{split}.units.json",
    log:
        "<logs>/syntax/units/{parser}.{split}.log",
    benchmark:
        "<benchmarks>/syntax/units/{parser}.{split}.tsv"
    group:
        on_cluster("views")
    params:
        identity=identity_of("syntax.units"),
        job=call_of("syntax.units"),


use rule syntax_job as labels with:
    input:
        inputs_of("syntax.labels"),
    output:
        output="<results>/syntax/{parser}/{split}.labels",
        counts="<results>/syntax/{parser}/{split}.labels.json",
    log:
        "<logs>/syntax/labels/{parser}.{split}.log",
    benchmark:
        "<benchmarks>/syntax/labels/{parser}.{split}.tsv"
    group:
        on_cluster("views")
    params:
        identity=identity_of("syntax.labels"),
        job=call_of("syntax.labels"),
