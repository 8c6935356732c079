"""Clean text becomes tokens.

REQUIRED INPUTS: <results>/corpus/clean/; a treebank where tokens are learnt
OUTPUTS:         <results>/corpus/tokenized/{split}.{side}, or truecased/ where a side asks for it, with normalized
                 punctuation where it asks for that; generalised text for units that ask for it
"""


rule learn_segmenter:
    input:
        unpack(lambda wildcards: plan.corpus.segmenter_treebank(wildcards.side)),
    output:
        model="<results>/corpus/segmenter.{side}.pt",
        counts="<results>/corpus/segmenter.{side}.json",
    log:
        "<logs>/corpus/learn_segmenter/{side}.log",
    benchmark:
        "<benchmarks>/corpus/learn_segmenter/{side}.tsv"
    priority: 10
    conda:
        "../../../envs/syntax.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
    params:
        given=lambda wildcards: plan.corpus.segmenter_learning(wildcards.side),
        units="--no-words",
    shell:
        """
        python -m pipeline_py.corpus.learn_segmenter \
            --treebank-train {input.train:q} \
            --treebank-dev {input.dev:q} \
            --language {params.given[language]} \
            {params.units} \
            --threads {threads} \
            --output {output.model:q} \
            --counts-output {output.counts:q} \
            2>{log:q}
        """


rule normalize_punctuation:
    input:
        text="<results>/corpus/clean/{split}.{side}",
    output:
        text="<results>/corpus/normalized/{split}.{side}",
    log:
        "<logs>/corpus/normalize_punctuation/{split}.{side}.log",
    benchmark:
        "<benchmarks>/corpus/normalize_punctuation/{split}.{side}.tsv"
    priority: 10
    group:
        on_cluster("text")
    conda:
        "../../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
    params:
        given=lambda wildcards: {
            "language": plan.corpus.language(wildcards.side).language,
            "made_by": made_by("corpus.normalize_punctuation", "sacremoses"),
        },
    shell:
        """
        python -m pipeline_py.corpus.normalize_punctuation \
            --input {input.text:q} \
            --language {params.given[language]} \
            --output {output.text:q} \
            2>{log:q}
        """


rule tokenize:
    input:
        text=lambda wildcards: plan.corpus.text(wildcards.side),
        segmenter=lambda wildcards: plan.corpus.segmenter(wildcards.side),
    output:
        text="<results>/corpus/tokenized/{split}.{side}",
    log:
        "<logs>/corpus/tokenize/{split}.{side}.log",
    benchmark:
        "<benchmarks>/corpus/tokenize/{split}.{side}.tsv"
    priority: 10
    group:
        on_cluster("text")
    conda:
        "../../../envs/syntax.yaml" if plan.corpus.stanza_tokenizes else "../../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 240 * attempt,
    params:
        given=lambda wildcards: plan.corpus.tokenization(wildcards.side),
        flags=lambda wildcards, input: plan.corpus.tokenizer_flags(wildcards.side, input.segmenter),
    shell:
        """
        python -m pipeline_py.corpus.tokenize \
            --input {input.text:q} \
            --language {params.given[language]} \
            --tokenizer {params.given[tokenizer]} \
            {params.flags:q} \
            --output {output.text:q} \
            2>{log:q}
        """


rule learn_truecaser:
    input:
        text="<results>/corpus/tokenized/train.{side}",
    output:
        model="<results>/corpus/truecaser.{side}",
    log:
        "<logs>/corpus/learn_truecaser/{side}.log",
    benchmark:
        "<benchmarks>/corpus/learn_truecaser/{side}.tsv"
    priority: 10
    group:
        on_cluster("text")
    conda:
        "../../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 240 * attempt,
    params:
        given={"made_by": made_by("corpus.learn_truecaser", "sacremoses")},
    shell:
        """
        python -m pipeline_py.corpus.learn_truecaser \
            --input {input.text:q} \
            --output {output.model:q} \
            2>{log:q}
        """


rule truecase:
    input:
        text="<results>/corpus/tokenized/{split}.{side}",
        model=lambda wildcards: f"<results>/corpus/truecaser.{plan.corpus.trained_side(wildcards.side)}",
    output:
        text="<results>/corpus/truecased/{split}.{side}",
    log:
        "<logs>/corpus/truecase/{split}.{side}.log",
    benchmark:
        "<benchmarks>/corpus/truecase/{split}.{side}.tsv"
    priority: 10
    group:
        on_cluster("text")
    conda:
        "../../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
    params:
        given={"made_by": made_by("corpus.truecase")},
    shell:
        """
        python -m pipeline_py.corpus.truecase \
            --input {input.text:q} \
            --model {input.model:q} \
            --output {output.text:q} \
            2>{log:q}
        """


rule generalise:
    input:
        text=lambda wildcards: plan.corpus.tokens(wildcards.side),
        train=lambda wildcards: plan.corpus.tokens(plan.corpus.trained_side(wildcards.side)).format(split="train"),
    output:
        text="<results>/corpus/generalised/{rarer}/{split}.{side}",
        counts="<results>/corpus/generalised/{rarer}/{split}.{side}.json",
    log:
        "<logs>/corpus/generalise/{rarer}.{split}.{side}.log",
    benchmark:
        "<benchmarks>/corpus/generalise/{rarer}.{split}.{side}.tsv"
    wildcard_constraints:
        rarer=r"\d+",
    group:
        on_cluster("text")
    conda:
        "../../../envs/text.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
    params:
        given={"made_by": made_by("corpus.generalise")},
    shell:
        """
        python -m pipeline_py.corpus.generalise \
            --input {input.text:q} \
            --train {input.train:q} \
            --min-count {wildcards.rarer} \
            --output {output.text:q} \
            --counts-output {output.counts:q} \
            2>{log:q}
        """
