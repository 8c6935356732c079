"""Reports on parsers, and the agreement of two parsers.

REQUIRED INPUTS: <results>/syntax/{parser}/{split}.conllu and .ptb, in the formats that systems read
OUTPUTS:         <results>/syntax/{parser}/report.tsv, <results>/syntax/{parser}/agreement.{second_parser}.tsv
"""


use rule syntax_job as compute_tree_statistics with:
    input:
        inputs_of("syntax.compute_tree_statistics"),
    output:
        output="<results>/syntax/{parser}/{split}.{trees}.statistics.json",
    log:
        "<logs>/syntax/compute_tree_statistics/{parser}.{split}.{trees}.log",
    benchmark:
        "<benchmarks>/syntax/compute_tree_statistics/{parser}.{split}.{trees}.tsv"
    group:
        on_cluster("parsers")
    params:
        identity=identity_of("syntax.compute_tree_statistics"),
        job=call_of("syntax.compute_tree_statistics"),


use rule syntax_job as write_parser_report with:
    input:
        inputs_of("syntax.write_parser_report"),
    output:
        output="<results>/syntax/{parser}/report.tsv",
    log:
        "<logs>/syntax/write_parser_report/{parser}.log",
    benchmark:
        "<benchmarks>/syntax/write_parser_report/{parser}.tsv"
    group:
        on_cluster("parsers")
    params:
        identity=identity_of("syntax.write_parser_report"),
        job=call_of("syntax.write_parser_report"),


use rule syntax_job as measure_agreement with:
    input:
        inputs_of("syntax.measure_agreement"),
    output:
        output="<results>/syntax/{parser}/agreement.{second_parser}.tsv",
    log:
        "<logs>/syntax/measure_agreement/{parser}.{second_parser}.log",
    benchmark:
        "<benchmarks>/syntax/measure_agreement/{parser}.{second_parser}.tsv"
    wildcard_constraints:
        second_parser=build_name_pattern(EXPERIMENT.parsers),
    group:
        on_cluster("parsers")
    params:
        identity=identity_of("syntax.measure_agreement"),
        job=call_of("syntax.measure_agreement"),
