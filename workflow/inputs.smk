"""Compare the user's files by content instead of by path and modification time."""

from snakemake.io import AnnotatedString, ancient, sourcecache_entry


class ContentHash(str):
    """The hash of a file. Snakemake records it instead of the path, but displays the path."""

    def __new__(cls, hexadecimal, path):
        content = super().__new__(cls, hexadecimal)
        content.path = path
        return content

    def __format__(self, specification):
        return format(self.path, specification)


def compare_by_content(item):
    """Flag an input file that no rule makes, so that Snakemake compares its content."""
    if callable(item) or getattr(item, "callable", None):
        return item
    if not hasattr(item, "flags"):
        item = AnnotatedString(item)
    path = str(item)
    (content,) = [None] if plan.is_workflow_output(path) else plan.hash_user_files([path])
    return item if content is None else sourcecache_entry(ancient(item), ContentHash(content, path))


# The content of a file in a Snakemake storage is not available here.
if workflow.storage_settings.default_storage_provider is None:

    inputflags:
        compare_by_content,
