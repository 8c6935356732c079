"""Parsers that are trained here, and how good a parser is on trees that it has not seen.

REQUIRED INPUTS: a treebank where a parser is trained; gold trees where it is measured
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


rule train_parser:
    input:
        unpack(lambda wildcards: plan.parsers.training_inputs(wildcards.parser, wildcards.processor)),
    output:
        model="<results>/syntax/{parser}/model/{processor}.pt",
        pretrain="<results>/syntax/{parser}/model/{processor}.pretrain.pt",
        counts="<results>/syntax/{parser}/model/{processor}.json",
    log:
        "<logs>/syntax/train_parser/{parser}.{processor}.log",
    benchmark:
        "<benchmarks>/syntax/train_parser/{parser}.{processor}.tsv"
    conda:
        "../../../envs/syntax.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=lambda wildcards, attempt: 1440 * attempt,
    params:
        given=lambda wildcards: plan.parsers.training(wildcards.parser, wildcards.processor),
        options=lambda wildcards, input: plan.parsers.training_options(wildcards.parser, wildcards.processor, input),
        cache=lambda wildcards, output: cache_of(output.model),
    shell:
        """
        python -m pipeline_py.syntax.train_parser \
            --processor {wildcards.processor} \
            --treebank-train {input.train:q} \
            --treebank-dev {input.dev:q} \
            --language {params.given[language]} \
            --seed {params.given[seed]} \
            {params.given[case]} \
            {params.options:q} \
            --threads {threads} \
            --code {params.given[made_by][code]} \
            --cache {params.cache:q} \
            --output {output.model:q} \
            --pretrain-output {output.pretrain:q} \
            --counts-output {output.counts:q} \
            2>{log:q}
        """


rule treebank_text:
    input:
        trees=lambda wildcards: plan.parsers.treebank(wildcards.parser, "test", wildcards.trees),
    output:
        tokens="<results>/syntax/{parser}/accuracy/{trees}.tokens",
    log:
        "<logs>/syntax/treebank_text/{parser}.{trees}.log",
    benchmark:
        "<benchmarks>/syntax/treebank_text/{parser}.{trees}.tsv"
    group:
        on_cluster("text")
    conda:
        "../../../envs/syntax.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=lambda wildcards: {
            "annotation": ANNOTATION[wildcards.trees],
            "case": plan.parsers.case,
            "content": plan.contents_of([plan.parsers.treebank(wildcards.parser, "test", wildcards.trees)]),
            "made_by": made_by("syntax.treebank_text"),
        },
        form=[],
    shell:
        """
        python -m pipeline_py.syntax.treebank_text \
            --annotation {params.given[annotation]} \
            {params.form:q} \
            {params.given[case]} \
            --treebank {input.trees:q} \
            --output {output.tokens:q} \
            2>{log:q}
        """


use rule treebank_text as original_text_of_treebank with:
    input:
        trees=lambda wildcards: plan.parsers.treebank(wildcards.parser, wildcards.part, "conllu"),
    output:
        tokens="<results>/syntax/{parser}/treebank/{part}.text",
    log:
        "<logs>/syntax/original_text_of_treebank/{parser}.{part}.log",
    benchmark:
        "<benchmarks>/syntax/original_text_of_treebank/{parser}.{part}.tsv"
    params:
        given=lambda wildcards: plan.parsers.original_text(wildcards.parser, wildcards.part),
        form=lambda wildcards: plan.parsers.form_of_text(),


use rule tokenize as tokenize_treebank with:
    input:
        inputs_of("syntax.tokenize_treebank"),
    output:
        output="<results>/syntax/{parser}/treebank/{part}.tokens",
    log:
        "<logs>/syntax/tokenize_treebank/{parser}.{part}.log",
    benchmark:
        "<benchmarks>/syntax/tokenize_treebank/{parser}.{part}.tsv"
    params:
        identity=identity_of("syntax.tokenize_treebank"),
        job=call_of("syntax.tokenize_treebank"),


rule learn_words:
    input:
        treebank=lambda wildcards: plan.parsers.treebank(wildcards.parser, "train", "conllu"),
        tokens="<results>/syntax/{parser}/treebank/train.tokens",
    output:
        table="<results>/syntax/{parser}/model/words.tsv",
        counts="<results>/syntax/{parser}/model/words.json",
    log:
        "<logs>/syntax/learn_words/{parser}.log",
    benchmark:
        "<benchmarks>/syntax/learn_words/{parser}.tsv"
    group:
        on_cluster("parsers")
    conda:
        "../../../envs/syntax.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=lambda wildcards: plan.parsers.word_learning(wildcards.parser),
    shell:
        """
        python -m pipeline_py.syntax.learn_words \
            --treebank {input.treebank:q} \
            --tokens {input.tokens:q} \
            {params.given[case]} \
            --output {output.table:q} \
            --counts-output {output.counts:q} \
            2>{log:q}
        """


use rule learn_segmenter as learn_parser_segmenter with:
    input:
        train=lambda wildcards: plan.parsers.treebank(wildcards.parser, "train", "conllu"),
        dev=lambda wildcards: plan.parsers.treebank(wildcards.parser, "dev", "conllu"),
    output:
        model="<results>/syntax/{parser}/model/segmenter.pt",
        counts="<results>/syntax/{parser}/model/segmenter.json",
    log:
        "<logs>/syntax/learn_parser_segmenter/{parser}.log",
    benchmark:
        "<benchmarks>/syntax/learn_parser_segmenter/{parser}.tsv"
    params:
        given=lambda wildcards: plan.parsers.segmenter_training(wildcards.parser),
        units="--words",


use rule parse as parse_held_out_trees with:
    input:
        tokens="<results>/syntax/{parser}/accuracy/{trees}.tokens",
        models=lambda wildcards: plan.syntax.models_of(wildcards.parser, wildcards.trees),
    output:
        trees="<results>/syntax/{parser}/accuracy/test.{trees}",
        counts="<results>/syntax/{parser}/accuracy/test.{trees}.json",
        facts="<results>/syntax/{parser}/accuracy/test.{trees}.facts.json",
    log:
        "<logs>/syntax/parse_held_out_trees/{parser}.{trees}.log",
    benchmark:
        "<benchmarks>/syntax/parse_held_out_trees/{parser}.{trees}.tsv"
    wildcard_constraints:
        parser=plan.parsers.of_type("trained", "stanza"),
    params:
        given=lambda wildcards: plan.syntax.parsing(wildcards.parser, wildcards.trees),
        words=[],


use rule parse as parse_raw_text with:
    input:
        unpack(lambda wildcards: plan.syntax.raw_text_to_divide(wildcards.parser)),
        tokens="<results>/syntax/{parser}/treebank/test.tokens",
        models=lambda wildcards: plan.syntax.models_of(wildcards.parser, "conllu"),
    output:
        trees="<results>/syntax/{parser}/accuracy/raw.conllu",
        counts="<results>/syntax/{parser}/accuracy/raw.conllu.json",
        facts="<results>/syntax/{parser}/accuracy/raw.conllu.facts.json",
    log:
        "<logs>/syntax/parse_raw_text/{parser}.log",
    benchmark:
        "<benchmarks>/syntax/parse_raw_text/{parser}.tsv"
    wildcard_constraints:
        parser=plan.parsers.of_type("trained", "stanza"),
    params:
        given=lambda wildcards: plan.syntax.parsing(wildcards.parser, "conllu", plan.syntax.words_of(wildcards.parser)),
        words=lambda wildcards, input: [
            *plan.syntax.options_of_words(wildcards.parser, input),
            "--over-words",
        ],
        models=lambda wildcards, input: plan.syntax.model_options(wildcards.parser, "conllu", input.models),


rule accuracy:
    input:
        unpack(lambda wildcards: plan.syntax.raw_text_trees(wildcards.parser, wildcards.trees)),
        gold=lambda wildcards: plan.parsers.treebank(wildcards.parser, "test", wildcards.trees),
        predicted="<results>/syntax/{parser}/accuracy/test.{trees}",
    output:
        accuracy="<results>/syntax/{parser}/accuracy/{trees}.tsv",
    log:
        "<logs>/syntax/accuracy/{parser}.{trees}.log",
    benchmark:
        "<benchmarks>/syntax/accuracy/{parser}.{trees}.tsv"
    group:
        on_cluster("parsers")
    conda:
        "../../../envs/syntax.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        given=lambda wildcards: {
            "annotation": ANNOTATION[wildcards.trees],
            "case": plan.parsers.case,
            "language": EXPERIMENT.language_of(wildcards.parser),
            "content": plan.contents_of([plan.parsers.treebank(wildcards.parser, "test", wildcards.trees)]),
            "made_by": made_by("syntax.accuracy"),
        },
        raw_text=lambda wildcards, input: [f"--raw-text={file}" for file in [input.get("raw_text")] if file],
    shell:
        """
        python -m pipeline_py.syntax.accuracy \
            --annotation {params.given[annotation]} \
            {params.given[case]} \
            --language {params.given[language]} \
            --gold {input.gold:q} \
            --predicted {input.predicted:q} \
            {params.raw_text:q} \
            --output {output.accuracy:q} \
            2>{log:q}
        """


rule accuracy_of_all_trees:
    """One file for a parser: its dependency and its constituency figures, of that which it has gold trees of."""
    input:
        lambda wildcards: plan.parsers.accuracies_of(wildcards.parser),
    output:
        accuracy="<results>/syntax/{parser}/accuracy.tsv",
    log:
        "<logs>/syntax/accuracy_of_all_trees/{parser}.log",
    group:
        on_cluster("parsers")
    conda:
        "../../../envs/syntax.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
    params:
        given={"made_by": made_by("syntax.accuracy_of_all_trees")},
        files=lambda wildcards, input: [f"--input={file}" for file in input],
    shell:
        """
        python -m pipeline_py.syntax.accuracy_of_all_trees \
            {params.files:q} \
            --output {output.accuracy:q} \
            2>{log:q}
        """
