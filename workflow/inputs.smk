"""Compare files of the user by their content: neither their paths nor their times decide a result."""

from snakemake.io import AnnotatedString, ancient, sourcecache_entry


class Content(str):
    """The hash of a file, which Snakemake records in the place of its path, and shows as this path."""

    def __new__(cls, hexadecimal, path):
        content = super().__new__(cls, hexadecimal)
        content.path = path
        return content

    def __format__(self, specification):
        return format(self.path, specification)


def by_content(item):
    """Flag an input that no rule makes."""
    if callable(item) or getattr(item, "callable", None):
        return item
    if not hasattr(item, "flags"):
        item = AnnotatedString(item)
    path = str(item)
    (content,) = [None] if plan.is_made(path) else plan.contents_of([path])
    return item if content is None else sourcecache_entry(ancient(item), Content(content, path))


# A file in a storage of Snakemake has no content here.
if workflow.storage_settings.default_storage_provider is None:

    inputflags:
        by_content,
