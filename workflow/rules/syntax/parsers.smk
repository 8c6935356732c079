"""Training of parsers, and evaluation of parsers on held-out gold trees.

REQUIRED INPUTS: a treebank if a parser is trained; gold trees if it is evaluated
OUTPUTS:         <results>/syntax/{parser}/model/{processor}.pt, words.tsv and segmenter.pt, <results>/syntax/{parser}/accuracy.tsv
"""


wildcard_constraints:
    part="train|dev|test",
    processor="tagger|depparse|constituency",


use rule generate as generate_treebank with:
    input:
        inputs_of("parsers.generate_treebank"),
    output:
        source="<results>/syntax/{parser}/treebank/{part}.source",
        target=temp("<results>/syntax/{parser}/treebank/{part}.target"),
        conllu="<results>/syntax/{parser}/treebank/{part}.conllu",
        ptb="<results>/syntax/{parser}/treebank/{part}.ptb",
        counts="<results>/syntax/{parser}/treebank/{part}.json",
    log:
        "<logs>/syntax/generate_treebank/{parser}.{part}.log",
    benchmark:
        "<benchmarks>/syntax/generate_treebank/{parser}.{part}.tsv"
    conda:
        "../../../envs/text.yaml"
    params:
        identity=identity_of("parsers.generate_treebank"),
        job=call_of("parsers.generate_treebank"),


use rule syntax_job as train_parser with:
    input:
        inputs_of("parsers.train_parser"),
    output:
        output="<results>/syntax/{parser}/model/{processor}.pt",
        pretrain="<results>/syntax/{parser}/model/{processor}.pretrain.pt",
        counts="<results>/syntax/{parser}/model/{processor}.json",
    log:
        "<logs>/syntax/train_parser/{parser}.{processor}.log",
    benchmark:
        "<benchmarks>/syntax/train_parser/{parser}.{processor}.tsv"
    resources:
        mem_mb=parser_memory,
        runtime=lambda wildcards, attempt: 1440 * attempt,
    params:
        identity=identity_of("parsers.train_parser"),
        job=call_of("parsers.train_parser"),


use rule syntax_job as treebank_text with:
    input:
        inputs_of("parsers.treebank_text"),
    output:
        output="<results>/syntax/{parser}/accuracy/{trees}.tokens",
    log:
        "<logs>/syntax/treebank_text/{parser}.{trees}.log",
    benchmark:
        "<benchmarks>/syntax/treebank_text/{parser}.{trees}.tsv"
    group:
        on_cluster("text")
    params:
        identity=identity_of("parsers.treebank_text"),
        job=call_of("parsers.treebank_text"),


use rule syntax_job as original_text_of_treebank with:
    input:
        inputs_of("parsers.original_text_of_treebank"),
    output:
        output="<results>/syntax/{parser}/treebank/{part}.text",
    log:
        "<logs>/syntax/original_text_of_treebank/{parser}.{part}.log",
    benchmark:
        "<benchmarks>/syntax/original_text_of_treebank/{parser}.{part}.tsv"
    group:
        on_cluster("text")
    params:
        identity=identity_of("parsers.original_text_of_treebank"),
        job=call_of("parsers.original_text_of_treebank"),


use rule text_job as tokenize_treebank with:
    input:
        inputs_of("syntax.tokenize_treebank"),
    output:
        output="<results>/syntax/{parser}/treebank/{part}.tokens",
    log:
        "<logs>/syntax/tokenize_treebank/{parser}.{part}.log",
    benchmark:
        "<benchmarks>/syntax/tokenize_treebank/{parser}.{part}.tsv"
    priority: 10
    group:
        on_cluster("text")
    params:
        identity=identity_of("syntax.tokenize_treebank"),
        job=call_of("syntax.tokenize_treebank"),


use rule syntax_job as learn_word_table with:
    input:
        inputs_of("parsers.learn_word_table"),
    output:
        output="<results>/syntax/{parser}/model/words.tsv",
        counts="<results>/syntax/{parser}/model/words.json",
    log:
        "<logs>/syntax/learn_word_table/{parser}.log",
    benchmark:
        "<benchmarks>/syntax/learn_word_table/{parser}.tsv"
    group:
        on_cluster("parsers")
    params:
        identity=identity_of("parsers.learn_word_table"),
        job=call_of("parsers.learn_word_table"),


use rule syntax_job as learn_parser_segmenter with:
    input:
        inputs_of("parsers.learn_parser_segmenter"),
    output:
        output="<results>/syntax/{parser}/model/segmenter.pt",
        counts="<results>/syntax/{parser}/model/segmenter.json",
    log:
        "<logs>/syntax/learn_parser_segmenter/{parser}.log",
    benchmark:
        "<benchmarks>/syntax/learn_parser_segmenter/{parser}.tsv"
    params:
        identity=identity_of("parsers.learn_parser_segmenter"),
        job=call_of("parsers.learn_parser_segmenter"),


use rule syntax_job as parse_held_out_trees with:
    input:
        inputs_of("syntax.parse_held_out_trees"),
    output:
        output="<results>/syntax/{parser}/accuracy/test.{trees}",
        counts="<results>/syntax/{parser}/accuracy/test.{trees}.json",
        facts="<results>/syntax/{parser}/accuracy/test.{trees}.facts.json",
    log:
        "<logs>/syntax/parse_held_out_trees/{parser}.{trees}.log",
    benchmark:
        "<benchmarks>/syntax/parse_held_out_trees/{parser}.{trees}.tsv"
    wildcard_constraints:
        parser=plan.parsers.parser_name_pattern("trained", "stanza"),
    resources:
        mem_mb=parser_memory,
        runtime=lambda wildcards, attempt: 1440 * attempt,
        gpu=plan.gpu_count,
    params:
        identity=identity_of("syntax.parse_held_out_trees"),
        job=call_of("syntax.parse_held_out_trees"),


use rule syntax_job as parse_raw_text with:
    input:
        inputs_of("syntax.parse_raw_text"),
    output:
        output="<results>/syntax/{parser}/accuracy/raw.conllu",
        counts="<results>/syntax/{parser}/accuracy/raw.conllu.json",
        facts="<results>/syntax/{parser}/accuracy/raw.conllu.facts.json",
    log:
        "<logs>/syntax/parse_raw_text/{parser}.log",
    benchmark:
        "<benchmarks>/syntax/parse_raw_text/{parser}.tsv"
    wildcard_constraints:
        parser=plan.parsers.parser_name_pattern("trained", "stanza"),
    resources:
        mem_mb=parser_memory,
        runtime=lambda wildcards, attempt: 1440 * attempt,
        gpu=plan.gpu_count,
    params:
        identity=identity_of("syntax.parse_raw_text"),
        job=call_of("syntax.parse_raw_text"),


use rule syntax_job as measure_accuracy with:
    input:
        inputs_of("parsers.measure_accuracy"),
    output:
        output="<results>/syntax/{parser}/accuracy/{trees}.tsv",
    log:
        "<logs>/syntax/measure_accuracy/{parser}.{trees}.log",
    benchmark:
        "<benchmarks>/syntax/measure_accuracy/{parser}.{trees}.tsv"
    group:
        on_cluster("parsers")
    params:
        identity=identity_of("parsers.measure_accuracy"),
        job=call_of("parsers.measure_accuracy"),


use rule syntax_job as join_accuracies with:
    input:
        inputs_of("parsers.join_accuracies"),
    output:
        output="<results>/syntax/{parser}/accuracy.tsv",
    log:
        "<logs>/syntax/join_accuracies/{parser}.log",
    benchmark:
        "<benchmarks>/syntax/join_accuracies/{parser}.tsv"
    group:
        on_cluster("parsers")
    params:
        identity=identity_of("parsers.join_accuracies"),
        job=call_of("parsers.join_accuracies"),
