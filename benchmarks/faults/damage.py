"""Damage to the bytes of a file, as disks, transfers and editors do it."""

from collections.abc import Callable
from random import Random

DamageFunction = Callable[[bytes, Random], bytes]


def flip_bit(content: bytes, random: Random) -> bytes:
    """Turn one bit round."""
    changed = bytearray(content)
    changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def flip_bits(content: bytes, random: Random) -> bytes:
    """Turn some bits round."""
    for _ in range(random.randint(2, 64)):
        content = flip_bit(content, random)
    return content


def insert_bytes(content: bytes, random: Random) -> bytes:
    """Put some bytes in between."""
    place = random.randrange(len(content) + 1)
    return content[:place] + random.randbytes(random.randint(1, 32)) + content[place:]


def delete_bytes(content: bytes, random: Random) -> bytes:
    """Leave some bytes out."""
    place = random.randrange(len(content))
    return content[:place] + content[place + random.randint(1, 32) :]


def truncate_content(content: bytes, random: Random) -> bytes:
    """Cut the end off."""
    return content[: random.randrange(len(content))]


def zero_range(content: bytes, random: Random) -> bytes:
    """Write zeros over a part."""
    place = random.randrange(len(content))
    length = min(random.choice([1, 16, 512, 4096]), len(content) - place)
    return content[:place] + bytes(length) + content[place + length :]


def repeat_range(content: bytes, random: Random) -> bytes:
    """Write a part twice."""
    first, last = sorted(random.choices(range(len(content) + 1), k=2))
    return content[:last] + content[first:last] + content[last:]


def drop_line(content: bytes, random: Random) -> bytes:
    """Leave a line out."""
    lines = content.splitlines(keepends=True)
    del lines[random.randrange(len(lines))]
    return b"".join(lines)


def swap_lines(content: bytes, random: Random) -> bytes:
    """Exchange two lines."""
    lines = content.splitlines(keepends=True)
    first, second = random.choices(range(len(lines)), k=2)
    lines[first], lines[second] = lines[second], lines[first]
    return b"".join(lines)


DAMAGE_FUNCTIONS: tuple[DamageFunction, ...] = (
    flip_bit,
    flip_bit,
    flip_bits,
    insert_bytes,
    delete_bytes,
    truncate_content,
    zero_range,
    repeat_range,
    drop_line,
    swap_lines,
)


def damage_content(content: bytes, random: Random) -> tuple[bytes, str]:
    """Damage the content of a file, and say how; an empty file gets bytes."""
    if not content:
        return random.randbytes(random.randint(1, 32)), "insert"
    for _ in range(100):
        way = random.choice(DAMAGE_FUNCTIONS)
        if (changed := way(content, random)) != content:
            return changed, way.__name__
    return b"", "truncate"
