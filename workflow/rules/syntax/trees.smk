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


use rule syntax_job as merge_trees with:
    input:
        inputs_of("syntax.merge_trees"),
    output:
        output="<results>/syntax/{parser}/{split}.{trees}",
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
    params:
        identity=identity_of("syntax.merge_trees"),
        job=call_of("syntax.merge_trees"),


use rule syntax_job as import_trees with:
    input:
        inputs_of("syntax.import_trees"),
    output:
        output="<results>/syntax/{parser}/{split}.{trees}",
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
    params:
        identity=identity_of("syntax.import_trees"),
        job=call_of("syntax.import_trees"),


use rule syntax_job as control_trees with:
    input:
        inputs_of("syntax.control_trees"),
    output:
        output="<results>/syntax/{parser}/{split}.{trees}",
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
    params:
        identity=identity_of("syntax.control_trees"),
        job=call_of("syntax.control_trees"),
