"""Where trees come from: Stanza, the user's files, or a shape without any analysis.

REQUIRED INPUTS: plan.corpus.tokens("source"); model files of a parser, or trees that the user brings; clean text, or a table of
                 words, where a parser reads other words than the tokens
OUTPUTS:         <results>/syntax/{parser}/{split}.conllu and .ptb

Dependency and constituency trees are made apart: a system that reads one never waits for the other. A text of more
than `parsing.shard_size` words is parsed in shards, side by side, which are merged in order.
"""


wildcard_constraints:
    trees="conllu|ptb",
    shard=r"\d+",


rule parse:
    input:
        unpack(lambda wildcards: plan.syntax.text_to_divide(wildcards.parser, wildcards.split)),
        tokens=plan.corpus.tokens("source"),
        models=lambda wildcards: plan.syntax.models_for_text(wildcards.parser, wildcards.split, wildcards.trees),
    output:
        trees="<results>/syntax/{parser}/{split}.{trees}",
        counts="<results>/syntax/{parser}/{split}.{trees}.json",
        facts="<results>/syntax/{parser}/{split}.{trees}.facts.json",
    log:
        "<logs>/syntax/parse/{parser}.{split}.{trees}.log",
    benchmark:
        "<benchmarks>/syntax/parse/{parser}.{split}.{trees}.tsv"
    wildcard_constraints:
        parser=plan.parsers.of_type("trained", "stanza"),
        split=one_of(split for split in plan.syntax.shards if plan.syntax.shards[split] == 1),
    conda:
        "../../../envs/syntax.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=lambda wildcards, attempt: 1440 * attempt,
        gpu=plan.gpu,
    params:
        given=lambda wildcards: plan.syntax.parsing(
            wildcards.parser, wildcards.trees, plan.syntax.words_of(wildcards.parser)
        ),
        part=[],
        words=lambda wildcards, input: plan.syntax.options_of_words(wildcards.parser, input),
        models=lambda wildcards, input: plan.syntax.model_options(wildcards.parser, wildcards.trees, input.models),
        device=EXPERIMENT.training.device,
        cache=lambda wildcards, output: cache_of(output.trees),
    shell:
        """
        python -m pipeline_py.syntax.parse \
            --annotation {params.given[annotation]} \
            --language {params.given[language]} \
            --tokens {input.tokens:q} \
            {params.part} \
            {params.words:q} \
            {params.models:q} \
            --max-words {params.given[max_words]} \
            --batch-size {params.given[batch_size]} \
            --device {params.device} \
            --threads {threads} \
            --code {params.given[made_by][code]} \
            --cache {params.cache:q} \
            --output {output.trees:q} \
            --counts-output {output.counts:q} \
            --facts-output {output.facts:q} \
            2>{log:q}
        """


use rule parse as parse_shard with:
    output:
        trees="<results>/syntax/{parser}/shards/{split}/{shard}.{trees}",
        counts="<results>/syntax/{parser}/shards/{split}/{shard}.{trees}.json",
        facts="<results>/syntax/{parser}/shards/{split}/{shard}.{trees}.facts.json",
    log:
        "<logs>/syntax/parse_shard/{parser}.{split}.{shard}.{trees}.log",
    benchmark:
        "<benchmarks>/syntax/parse_shard/{parser}.{split}.{shard}.{trees}.tsv"
    wildcard_constraints:
        parser=plan.parsers.of_type("trained", "stanza"),
        split=one_of(split for split in plan.syntax.shards if plan.syntax.shards[split] > 1),
    params:
        part=lambda wildcards: plan.syntax.part_of_text(wildcards.split, int(wildcards.shard)),


rule merge_trees:
    input:
        unpack(lambda wildcards: plan.syntax.shards_of(wildcards.parser, wildcards.split, wildcards.trees)),
        tokens=plan.corpus.tokens("source"),
    output:
        trees="<results>/syntax/{parser}/{split}.{trees}",
        counts="<results>/syntax/{parser}/{split}.{trees}.json",
        facts="<results>/syntax/{parser}/{split}.{trees}.facts.json",
    log:
        "<logs>/syntax/merge_trees/{parser}.{split}.{trees}.log",
    benchmark:
        "<benchmarks>/syntax/merge_trees/{parser}.{split}.{trees}.tsv"
    wildcard_constraints:
        parser=plan.parsers.of_type("trained", "stanza"),
        split=one_of(split for split in plan.syntax.shards if plan.syntax.shards[split] > 1),
    group:
        on_cluster("views")
    conda:
        "../../../envs/syntax.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
    params:
        given=lambda wildcards: {
            "annotation": ANNOTATION[wildcards.trees],
            "made_by": made_by("syntax.merge_trees"),
        },
        parts=lambda wildcards, input: [
            *(f"--parts={file}" for file in input.parts),
            *(f"--counts={file}" for file in input.counts),
            *(f"--facts={file}" for file in input.facts),
        ],
    shell:
        """
        python -m pipeline_py.syntax.merge_trees \
            --annotation {params.given[annotation]} \
            {params.parts:q} \
            --tokens {input.tokens:q} \
            --output {output.trees:q} \
            --counts-output {output.counts:q} \
            --facts-output {output.facts:q} \
            2>{log:q}
        """


rule import_trees:
    input:
        trees=lambda wildcards: plan.syntax.given_trees(wildcards.parser, wildcards.split, wildcards.trees),
        text=lambda wildcards: plan.corpus.raw(wildcards.split, "source"),
        lines="<results>/corpus/clean/{split}.lines",
        tokens=plan.corpus.tokens("source"),
    output:
        trees="<results>/syntax/{parser}/{split}.{trees}",
        counts="<results>/syntax/{parser}/{split}.{trees}.json",
        facts="<results>/syntax/{parser}/{split}.{trees}.facts.json",
    log:
        "<logs>/syntax/import_trees/{parser}.{split}.{trees}.log",
    benchmark:
        "<benchmarks>/syntax/import_trees/{parser}.{split}.{trees}.tsv"
    wildcard_constraints:
        parser=plan.parsers.of_type("given"),
    group:
        on_cluster("views")
    conda:
        "../../../envs/syntax.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
    params:
        given=lambda wildcards: {
            "annotation": ANNOTATION[wildcards.trees],
            "content": plan.contents_of(plan.syntax.given_trees(wildcards.parser, wildcards.split, wildcards.trees)),
            "case": "--no-ignore-case" if EXPERIMENT.corpora.source.case == "keep" else "--ignore-case",
            "made_by": made_by("syntax.import_trees"),
        },
        trees=lambda wildcards, input: [f"--trees={file}" for file in input.trees],
    shell:
        """
        python -m pipeline_py.syntax.import_trees \
            --annotation {params.given[annotation]} \
            {params.trees:q} \
            --text {input.text:q} \
            --lines {input.lines:q} \
            --tokens {input.tokens:q} \
            {params.given[case]} \
            --output {output.trees:q} \
            --counts-output {output.counts:q} \
            --facts-output {output.facts:q} \
            2>{log:q}
        """


rule control_trees:
    input:
        tokens=plan.corpus.tokens("source"),
    output:
        trees="<results>/syntax/{parser}/{split}.{trees}",
        counts="<results>/syntax/{parser}/{split}.{trees}.json",
        facts="<results>/syntax/{parser}/{split}.{trees}.facts.json",
    log:
        "<logs>/syntax/control_trees/{parser}.{split}.{trees}.log",
    benchmark:
        "<benchmarks>/syntax/control_trees/{parser}.{split}.{trees}.tsv"
    wildcard_constraints:
        parser=plan.parsers.of_type("control"),
    group:
        on_cluster("views")
    conda:
        "../../../envs/syntax.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
    params:
        given=lambda wildcards: {
            "annotation": ANNOTATION[wildcards.trees],
            **EXPERIMENT.parsers[wildcards.parser].model_dump(include={"shape", "seed"}),
            "made_by": made_by("syntax.control_trees"),
        },
    shell:
        """
        python -m pipeline_py.syntax.control_trees \
            --annotation {params.given[annotation]} \
            --shape {params.given[shape]} \
            --seed {params.given[seed]} \
            --tokens {input.tokens:q} \
            --output {output.trees:q} \
            --counts-output {output.counts:q} \
            --facts-output {output.facts:q} \
            2>{log:q}
        """
