"""Trees.

REQUIRED INPUTS: tokens("source"); a treebank where a parser is trained, model files where one is given
OUTPUTS:         <results>/syntax/{parser}/{split}.conllu, .ptb, .binary.ptb, .distances.arrow, .units.arrow, .labels,
                 <results>/syntax/{parser}/accuracy.tsv

Dependency and constituency parses are made apart: a system that reads one never waits for the other.
"""


wildcard_constraints:
    trees="conllu|ptb",
    part="train|dev|test",
    processor="tagger|depparse|constituency",


use rule generate as generate_treebank with:
    output:
        source="<results>/syntax/{parser}/treebank/{part}.source",
        target=temp("<results>/syntax/{parser}/treebank/{part}.target"),
        conllu="<results>/syntax/{parser}/treebank/{part}.conllu",
        ptb="<results>/syntax/{parser}/treebank/{part}.ptb",
        ledger="<results>/syntax/{parser}/treebank/{part}.json",
    log:
        "<logs>/syntax/generate_treebank/{parser}.{part}.log",
    benchmark:
        "<benchmarks>/syntax/generate_treebank/{parser}.{part}.tsv"
    params:
        given=lambda wildcards: generation_of_treebank(wildcards.parser, wildcards.part),


rule train_parser:
    input:
        unpack(lambda wildcards: training_inputs(wildcards.parser, wildcards.processor)),
    output:
        model="<results>/syntax/{parser}/model/{processor}.pt",
        pretrain="<results>/syntax/{parser}/model/{processor}.pretrain.pt",
        ledger="<results>/syntax/{parser}/model/{processor}.json",
    log:
        "<logs>/syntax/train_parser/{parser}.{processor}.log",
    benchmark:
        "<benchmarks>/syntax/train_parser/{parser}.{processor}.tsv"
    conda:
        "../../envs/syntax.yaml"
    threads: 1
    resources:
        mem_mb=6000,
        runtime=1440,
    params:
        given=lambda wildcards: training_of(wildcards.parser, wildcards.processor),
        options=lambda wildcards, input: training_options(wildcards.parser, wildcards.processor, input),
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
            --output {output.model:q} \
            --pretrain-output {output.pretrain:q} \
            --ledger-output {output.ledger:q} \
            2>{log:q}
        """


rule parse:
    input:
        tokens=tokens("source"),
        models=lambda wildcards: models_of(wildcards.parser, wildcards.trees),
    output:
        trees="<results>/syntax/{parser}/{split}.{trees}",
        ledger="<results>/syntax/{parser}/{split}.{trees}.json",
    log:
        "<logs>/syntax/parse/{parser}.{split}.{trees}.log",
    benchmark:
        "<benchmarks>/syntax/parse/{parser}.{split}.{trees}.tsv"
    conda:
        "../../envs/syntax.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=1440,
        gpu=takes_gpu(),
    params:
        given=lambda wildcards: {
            "annotation": ANNOTATION[wildcards.trees],
            "language": EXPERIMENT.corpora.source.language,
            **EXPERIMENT.parsers[wildcards.parser].model_dump(include={"max_words", "batch_size", "package"}),
            "made_by": made_by("syntax.parse", "stanza", "torch"),
        },
        models=lambda wildcards, input: model_options(wildcards.parser, wildcards.trees, input.models),
        device=EXPERIMENT.training.device,
    shell:
        """
        python -m pipeline_py.syntax.parse \
            --annotation {params.given[annotation]} \
            --language {params.given[language]} \
            --tokens {input.tokens:q} \
            {params.models:q} \
            --max-words {params.given[max_words]} \
            --batch-size {params.given[batch_size]} \
            --device {params.device} \
            --threads {threads} \
            --output {output.trees:q} \
            --ledger-output {output.ledger:q} \
            2>{log:q}
        """


rule treebank_text:
    input:
        trees=lambda wildcards: treebank(wildcards.parser, "test", wildcards.trees),
    output:
        tokens="<results>/syntax/{parser}/accuracy/{trees}.tokens",
    log:
        "<logs>/syntax/treebank_text/{parser}.{trees}.log",
    benchmark:
        "<benchmarks>/syntax/treebank_text/{parser}.{trees}.tsv"
    conda:
        "../../envs/syntax.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        given=lambda wildcards: {
            "annotation": ANNOTATION[wildcards.trees],
            "case": CASE_OF_TREES,
            "made_by": made_by("syntax.treebank_text"),
        },
    shell:
        """
        python -m pipeline_py.syntax.treebank_text \
            --annotation {params.given[annotation]} \
            {params.given[case]} \
            --treebank {input.trees:q} \
            --output {output.tokens:q} \
            2>{log:q}
        """


use rule parse as parse_held_out_trees with:
    input:
        tokens="<results>/syntax/{parser}/accuracy/{trees}.tokens",
        models=lambda wildcards: models_of(wildcards.parser, wildcards.trees),
    output:
        trees="<results>/syntax/{parser}/accuracy/test.{trees}",
        ledger="<results>/syntax/{parser}/accuracy/test.{trees}.json",
    log:
        "<logs>/syntax/parse_held_out_trees/{parser}.{trees}.log",
    benchmark:
        "<benchmarks>/syntax/parse_held_out_trees/{parser}.{trees}.tsv"


rule accuracy:
    input:
        gold=lambda wildcards: treebank(wildcards.parser, "test", wildcards.trees),
        predicted="<results>/syntax/{parser}/accuracy/test.{trees}",
    output:
        accuracy="<results>/syntax/{parser}/accuracy/{trees}.tsv",
    log:
        "<logs>/syntax/accuracy/{parser}.{trees}.log",
    benchmark:
        "<benchmarks>/syntax/accuracy/{parser}.{trees}.tsv"
    conda:
        "../../envs/syntax.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        given=lambda wildcards: {
            "annotation": ANNOTATION[wildcards.trees],
            "case": CASE_OF_TREES,
            "made_by": made_by("syntax.accuracy"),
        },
    shell:
        """
        python -m pipeline_py.syntax.accuracy \
            --annotation {params.given[annotation]} \
            {params.given[case]} \
            --gold {input.gold:q} \
            --predicted {input.predicted:q} \
            --output {output.accuracy:q} \
            2>{log:q}
        """


rule accuracy_of_all_trees:
    """One file for a parser: its dependency and its constituency figures, of that which it has gold trees of."""
    input:
        lambda wildcards: accuracies_of(wildcards.parser),
    output:
        accuracy="<results>/syntax/{parser}/accuracy.tsv",
    log:
        "<logs>/syntax/accuracy_of_all_trees/{parser}.log",
    conda:
        "../../envs/syntax.yaml"
    threads: 1
    resources:
        mem_mb=100,
        runtime=10,
    shell:
        """
        awk 'FNR > 1 || NR == 1' {input:q} >{output.accuracy:q} 2>{log:q}
        """


rule binarize:
    input:
        trees="<results>/syntax/{parser}/{split}.ptb",
        tokens=tokens("source"),
    output:
        trees="<results>/syntax/{parser}/{split}.binary.ptb",
        ledger="<results>/syntax/{parser}/{split}.binary.json",
    log:
        "<logs>/syntax/binarize/{parser}.{split}.log",
    benchmark:
        "<benchmarks>/syntax/binarize/{parser}.{split}.tsv"
    conda:
        "../../envs/syntax.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=120,
    params:
        given=lambda wildcards: {
            "branching": EXPERIMENT.parsers[wildcards.parser].branching,
            "made_by": made_by("syntax.binarize"),
        },
    shell:
        """
        python -m pipeline_py.syntax.binarize \
            --trees {input.trees:q} \
            --tokens {input.tokens:q} \
            --branching {params.given[branching]} \
            --output {output.trees:q} \
            --ledger-output {output.ledger:q} \
            2>{log:q}
        """


rule distances:
    input:
        trees="<results>/syntax/{parser}/{split}.conllu",
        tokens=tokens("source"),
    output:
        distances="<results>/syntax/{parser}/{split}.distances.arrow",
        ledger="<results>/syntax/{parser}/{split}.distances.json",
    log:
        "<logs>/syntax/distances/{parser}.{split}.log",
    benchmark:
        "<benchmarks>/syntax/distances/{parser}.{split}.tsv"
    conda:
        "../../envs/syntax.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=120,
    params:
        given={"made_by": made_by("syntax.distances", "pyarrow")},
    shell:
        """
        python -m pipeline_py.syntax.distances \
            --trees {input.trees:q} \
            --tokens {input.tokens:q} \
            --output {output.distances:q} \
            --ledger-output {output.ledger:q} \
            2>{log:q}
        """


rule units:
    input:
        trees="<results>/syntax/{parser}/{split}.conllu",
        tokens=tokens("source"),
    output:
        units="<results>/syntax/{parser}/{split}.units.arrow",
        ledger="<results>/syntax/{parser}/{split}.units.json",
    log:
        "<logs>/syntax/units/{parser}.{split}.log",
    benchmark:
        "<benchmarks>/syntax/units/{parser}.{split}.tsv"
    conda:
        "../../envs/syntax.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=120,
    params:
        given={"made_by": made_by("syntax.units", "pyarrow")},
    shell:
        """
        python -m pipeline_py.syntax.units \
            --trees {input.trees:q} \
            --tokens {input.tokens:q} \
            --output {output.units:q} \
            --ledger-output {output.ledger:q} \
            2>{log:q}
        """


rule labels:
    input:
        trees="<results>/syntax/{parser}/{split}.conllu",
        tokens=tokens("source"),
    output:
        labels="<results>/syntax/{parser}/{split}.labels",
        ledger="<results>/syntax/{parser}/{split}.labels.json",
    log:
        "<logs>/syntax/labels/{parser}.{split}.log",
    benchmark:
        "<benchmarks>/syntax/labels/{parser}.{split}.tsv"
    conda:
        "../../envs/syntax.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=120,
    params:
        given={"made_by": made_by("syntax.labels")},
    shell:
        """
        python -m pipeline_py.syntax.labels \
            --trees {input.trees:q} \
            --tokens {input.tokens:q} \
            --output {output.labels:q} \
            --ledger-output {output.ledger:q} \
            2>{log:q}
        """
