"""Reports on parsers, and the agreement of two parsers.

REQUIRED INPUTS: <results>/syntax/{parser}/{split}.conllu and .ptb, in the formats that systems read
OUTPUTS:         <results>/syntax/{parser}/report.tsv, <results>/syntax/{parser}/agreement.{other}.tsv
"""


use rule syntax_job as tree_statistics with:
    input:
        inputs_of("syntax.tree_statistics"),
    output:
        output="<results>/syntax/{parser}/{split}.{trees}.statistics.json",
    log:
        "<logs>/syntax/tree_statistics/{parser}.{split}.{trees}.log",
    benchmark:
        "<benchmarks>/syntax/tree_statistics/{parser}.{split}.{trees}.tsv"
    group:
        on_cluster("parsers")
    params:
        identity=identity_of("syntax.tree_statistics"),
        job=call_of("syntax.tree_statistics"),


use rule syntax_job as parser_report with:
    input:
        inputs_of("syntax.parser_report"),
    output:
        output="<results>/syntax/{parser}/report.tsv",
    log:
        "<logs>/syntax/parser_report/{parser}.log",
    benchmark:
        "<benchmarks>/syntax/parser_report/{parser}.tsv"
    group:
        on_cluster("parsers")
    params:
        identity=identity_of("syntax.parser_report"),
        job=call_of("syntax.parser_report"),


use rule syntax_job as agreement with:
    input:
        inputs_of("syntax.agreement"),
    output:
        output="<results>/syntax/{parser}/agreement.{other}.tsv",
    log:
        "<logs>/syntax/agreement/{parser}.{other}.log",
    benchmark:
        "<benchmarks>/syntax/agreement/{parser}.{other}.tsv"
    wildcard_constraints:
        other=build_name_pattern(EXPERIMENT.parsers),
    group:
        on_cluster("parsers")
    params:
        identity=identity_of("syntax.agreement"),
        job=call_of("syntax.agreement"),
