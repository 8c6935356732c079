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


use rule syntax_job as compute_distances with:
    input:
        inputs_of("syntax.compute_distances"),
    output:
        output="<results>/syntax/{parser}/{split}.distances.arrow",
        counts="<results>/syntax/{parser}/{split}.distances.json",
    log:
        "<logs>/syntax/compute_distances/{parser}.{split}.log",
    benchmark:
        "<benchmarks>/syntax/compute_distances/{parser}.{split}.tsv"
    group:
        on_cluster("views")
    params:
        identity=identity_of("syntax.compute_distances"),
        job=call_of("syntax.compute_distances"),


use rule syntax_job as extract_units with:
    input:
        inputs_of("syntax.extract_units"),
    output:
        output="<results>/syntax/{parser}/{split}.units.arrow",
        counts="<results>/syntax/{parser}/{split}.units.json",
    log:
        "<logs>/syntax/extract_units/{parser}.{split}.log",
    benchmark:
        "<benchmarks>/syntax/extract_units/{parser}.{split}.tsv"
    group:
        on_cluster("views")
    params:
        identity=identity_of("syntax.extract_units"),
        job=call_of("syntax.extract_units"),


use rule syntax_job as extract_labels with:
    input:
        inputs_of("syntax.extract_labels"),
    output:
        output="<results>/syntax/{parser}/{split}.labels",
        counts="<results>/syntax/{parser}/{split}.labels.json",
    log:
        "<logs>/syntax/extract_labels/{parser}.{split}.log",
    benchmark:
        "<benchmarks>/syntax/extract_labels/{parser}.{split}.tsv"
    group:
        on_cluster("views")
    params:
        identity=identity_of("syntax.extract_labels"),
        job=call_of("syntax.extract_labels"),
