"""Content that no stage expects, of texts, trees, vocabularies, codes and tables."""

import re
from collections.abc import Callable
from random import Random

MutationFunction = Callable[[str, Random], str]

ODD_CHARACTERS = (
    "\0",
    "\x01\x02\x1b[31m",
    "\r",
    "\v\f\x1c\x1d\x1e",
    "\x85",
    "\u00a0",
    "\u00ad",
    "\u0301\u0301\u0301",
    "\u061c\u200e\u200f\u202e",
    "\u200b\u200d\u2060",
    "\u2028",
    "\u2029",
    "\u3000",
    "\ufeff",
    "\ufffd\uffff",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "\U000e0041",
    "\U0010ffff",
    "İıßẞſﬁ",
    "中文字",
    "<unk>",
    "<s></s>",
    "@@ @@",
    "|||",
    "( ) [ ] \\ / : #",
    "-LRB- -RRB-",
    "&amp;quot;",
    "$time $number",
    "{0} %s %n ${HOME}",
    '"\'`"',
)
ODD_NUMBERS = (
    "0",
    "-1",
    "1e999",
    "nan",
    "inf",
    "1.5",
    "0x10",
    "٣",
    "1_000",
    " 1",
    "",
    "9" * 20,
    "9" * 5000,
    "-" + "9" * 5000,
    "0." + "0" * 5000 + "1",
)


def insert_characters(text: str, random: Random) -> str:
    """Put odd characters anywhere."""
    for _ in range(random.choice([1, 1, 1, 5, 50])):
        place = random.randrange(len(text) + 1)
        text = text[:place] + random.choice(ODD_CHARACTERS) + text[place:]
    return text


def change_line_edge(text: str, random: Random) -> str:
    """Put odd characters at the beginning or the end of a line."""
    lines = text.split("\n")
    number, odd = random.randrange(len(lines)), random.choice(ODD_CHARACTERS)
    lines[number] = random.choice([odd + lines[number], lines[number] + odd, odd, odd * 100])
    return "\n".join(lines)


def add_byte_order_mark(text: str, random: Random) -> str:
    """Begin with a byte order mark."""
    return "\ufeff" * random.choice([1, 1, 2]) + text


def change_line_ends(text: str, random: Random) -> str:
    """End lines as on other systems."""
    return text.replace("\n", random.choice(["\r\n", "\r\n", "\n\r", "\r", "\u2028"]))


def strip_last_line_end(text: str, random: Random) -> str:
    """Leave out the last line end."""
    return text.rstrip("\n")


def append_line_ends(text: str, random: Random) -> str:
    """End with empty lines."""
    return text + "\n" * random.randint(1, 3)


def add_empty_lines(text: str, random: Random) -> str:
    """Empty some lines, or put empty ones in between."""
    lines = text.split("\n")
    for _ in range(random.choice([1, 3])):
        number = random.randrange(len(lines))
        lines[number : number + random.randint(0, 1)] = [random.choice(["", "", " ", "\t"])]
    return "\n".join(lines)


def delete_lines(text: str, random: Random) -> str:
    """Leave out lines, from the end or in the middle."""
    lines = text.split("\n")
    first = random.randrange(len(lines))
    return "\n".join(lines[:first] + lines[first + random.randint(1, 3) :])


def repeat_lines(text: str, random: Random) -> str:
    """Write lines twice."""
    lines = text.split("\n")
    first = random.randrange(len(lines))
    last = first + random.randint(1, 5)
    return "\n".join(lines[:last] + lines[first:last] + lines[last:])


def shuffle_lines(text: str, random: Random) -> str:
    """Write lines in another order."""
    lines = text.split("\n")
    random.shuffle(lines)
    return "\n".join(lines)


def lengthen_line(text: str, random: Random) -> str:
    """Make one line very long, of one word or of many."""
    lines = text.split("\n")
    word = random.choice(["x", "x ", "字", "( ", ") ", "1\t"])
    lines[random.randrange(len(lines))] = word * random.choice([2_000, 20_000])
    return "\n".join(lines)


def replace_number(text: str, random: Random) -> str:
    """Write another number in the place of one."""
    matches = [*re.finditer(r"\d+(\.\d+)?", text)]
    if not matches:
        return text + random.choice(ODD_NUMBERS)
    match = random.choice(matches)
    return text[: match.start()] + random.choice(ODD_NUMBERS) + text[match.end() :]


def replace_separator(text: str, random: Random) -> str:
    """Write another separator in the place of a tab, a space, a bracket or a quotation mark, or none."""
    matches = [*re.finditer(r'[\t (){}\[\]",:=]', text)]
    if not matches:
        return text + "\t"
    match = random.choice(matches)
    return text[: match.start()] + random.choice(["", " ", "\t", "  ", "(", ")", "\n", ","]) + text[match.end() :]


def change_fields(text: str, random: Random) -> str:
    """Leave out, repeat or exchange the fields of a line."""
    lines = text.split("\n")
    number = random.randrange(len(lines))
    separator = "\t" if "\t" in lines[number] else " "
    parts = lines[number].split(separator)
    first, second = random.randrange(len(parts)), random.randrange(len(parts))
    way = random.randrange(3)
    if way == 0:
        del parts[first]
    elif way == 1:
        parts.insert(second, parts[first])
    else:
        parts[first], parts[second] = parts[second], parts[first]
    lines[number] = separator.join(parts)
    return "\n".join(lines)


def erase_text(text: str, random: Random) -> str:
    """Leave nothing, or nothing but white space."""
    return random.choice(["", "\n", " \n", "\ufeff", "\n\n\n"])


def replace_text(text: str, random: Random) -> str:
    """Be the file of another kind."""
    return random.choice(
        ['{"a": 1}\n', "[]\n", "null\n", "a\tb\n", "(S (NP x))\n", "1\tx\t_\t_\t_\t_\t0\troot\t_\t_\n\n"]
    )


def replace_word(text: str, random: Random) -> str:
    """Write a word of the file in the place of another."""
    matches = [*re.finditer(r"\S+", text)]
    if len(matches) < 2:
        return text + "x"
    match, replacement = random.sample(matches, 2)
    return text[: match.start()] + replacement[0] + text[match.end() :]


MUTATION_FUNCTIONS: tuple[MutationFunction, ...] = (
    insert_characters,
    insert_characters,
    change_line_edge,
    add_byte_order_mark,
    change_line_ends,
    strip_last_line_end,
    append_line_ends,
    add_empty_lines,
    delete_lines,
    repeat_lines,
    shuffle_lines,
    lengthen_line,
    replace_number,
    replace_number,
    replace_separator,
    replace_separator,
    change_fields,
    change_fields,
    erase_text,
    replace_text,
    replace_word,
)


def mutate_content(content: bytes, random: Random) -> tuple[bytes, str]:
    """Mutate a UTF-8 file in one or several ways, and say in which; now and then it is UTF-8 no more."""
    text = content.decode("utf-8")
    names = []
    for way in random.choices(MUTATION_FUNCTIONS, k=random.choice([1, 1, 1, 2])):
        text = way(text, random)
        names.append(way.__name__)
    encoding = random.choice(["utf-8"] * 20 + ["utf-16", "latin-1"])
    if encoding != "utf-8":
        names.append(encoding)
    return text.encode(encoding, errors="replace"), " ".join(names)
