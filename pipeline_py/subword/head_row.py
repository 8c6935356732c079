"""What the row of a sentence holds where the heads of its words are packed.

A row over n pieces has n + 1 values, one for each piece and one for EOS: the position of the head, counted from 0. A
position that is its own head hangs under ROOT, as EOS does.
"""

NO_HEAD = -1
"""Every value of a sentence that has no parse."""
