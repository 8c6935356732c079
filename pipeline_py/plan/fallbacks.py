"""Jobs of the rules that replace the failed trees of a parser by those of its fallbacks.

The trees of a parser `ewt` with the fallback `pcfg` have two versions: `ewt.before.pcfg`, its own trees, of which some
have failed, and `ewt`, in which trees of `pcfg` replace those. If `pcfg` has the fallback `random`, there are three:
`ewt.before.pcfg`, `ewt.before.random` and `ewt`. In paths, these names stand where other parsers have their own.
"""

from dataclasses import dataclass

from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.kinds.syntax_kind import TreeFormat
from pipeline_py.plan.corpus import CorpusPlan
from pipeline_py.plan.parsers import ANNOTATION_NAMES
from pipeline_py.plan.paths import build_name_pattern, get_version_parser
from pipeline_py.plan.syntax import SyntaxPlan
from pipeline_py.run.job import Job


@dataclass(frozen=True)
class FallbacksPlan:
    """Jobs that parse failed sentences again, and replace their trees."""

    experiment: ExperimentConfig
    corpus: CorpusPlan
    syntax: SyntaxPlan

    def get_tree_versions(self, parser: str) -> list[str]:
        """Return the names of all versions of a parser's trees; the first has the parser's own trees."""
        return [*(f"{parser}.before.{fallback}" for fallback in self.experiment.get_parser_chain(parser)[1:]), parser]

    def own_tree_pattern(self, *parser_types: str) -> str:
        """Return a regular expression for the versions of trees that parsers of some types make themselves."""
        return build_name_pattern(
            self.get_tree_versions(name)[0]
            for name, parser in self.experiment.parsers.items()
            if parser.type in parser_types
        )

    def replaced_tree_pattern(self) -> str:
        """Return a regular expression for the versions of trees that have trees of fallbacks."""
        return build_name_pattern(
            version for parser in self.experiment.parsers for version in self.get_tree_versions(parser)[1:]
        )

    def failed_tree_pattern(self) -> str:
        """Return a regular expression for the versions of trees whose failed sentences Stanza parses again."""
        return build_name_pattern(
            version
            for parser in self.experiment.parsers
            for version in self.get_tree_versions(parser)[:-1]
            if self.experiment.parsers[self.get_fallback(version)].runs_stanza
        )

    def get_fallback(self, version: str) -> str:
        """Return the fallback that replaces the failed trees of a version."""
        return version.rpartition(".")[2]

    def find_previous_version(self, version: str) -> str | None:
        """Return the version whose failed trees are replaced in this version; None if the parser made its trees."""
        versions = self.get_tree_versions(get_version_parser(version))
        place = versions.index(version)
        return versions[place - 1] if place else None

    # Jobs of the rules, named after their rules.

    def build_select_failed_sentences_job(self, parser: str, split: str, trees: TreeFormat) -> Job:
        """Build the job that writes the sentences whose trees have failed as a text."""
        return Job(
            "syntax.select_failed_sentences",
            files={
                "trees": f"<results>/syntax/{parser}/{split}.{trees}",
                "tokens": self.corpus.get_token_path_pattern("source").format(split=split),
                "text": self.corpus.get_untokenized_path_pattern("source").format(split=split),
            },
            settings={"annotation": ANNOTATION_NAMES[trees]},
        )

    def build_parse_failed_sentences_job(self, parser: str, split: str, trees: TreeFormat) -> Job:
        """Build the job that parses these sentences by the fallback, if it runs Stanza."""
        fallback = self.get_fallback(parser)
        self.syntax.check_parser_suits_text(fallback, split)
        text = f"<results>/syntax/{parser}/failed/{split}.{trees}"
        return self.syntax.build_stanza_job(fallback, trees, f"{text}.tokens", f"{text}.text", {})

    def build_replace_failed_trees_job(self, parser: str, split: str, trees: TreeFormat) -> Job:
        """Build the job that replaces the failed trees of a text by those of a fallback."""
        version = self.find_previous_version(parser)
        assert version is not None
        fallback = self.get_fallback(version)
        is_parsed_again = self.experiment.parsers[fallback].runs_stanza
        folder = f"{version}/failed" if is_parsed_again else self.get_tree_versions(fallback)[0]
        first, second = (f"<results>/syntax/{name}/{split}.{trees}" for name in (version, folder))
        return Job(
            "syntax.replace_failed_trees",
            files={
                "trees": first,
                "counts": f"{first}.json",
                "facts": f"{first}.facts.json",
                "fallback_trees": second,
                **({"fallback_counts": f"{second}.json"} if is_parsed_again else {}),
                "fallback_facts": f"{second}.facts.json",
            },
            settings={
                "annotation": ANNOTATION_NAMES[trees],
                "parser": get_version_parser(version),
                "fallback": fallback,
            },
        )
