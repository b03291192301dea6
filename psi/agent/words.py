"""Closed word classes of English that the span reader's rules refer to."""

MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"

NUMBER_WORD = (
    r"(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen"
    r"|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred)"
)

_STOP_WORDS = """
a about above after again against all also although am among an and any are as at
be became because become been before being below between both but by
can could did do does doing down during each either even ever every few for from further
had has have having he her here hers herself him himself his how however
i if in into is it its itself just like made many may me might more most much must my myself
near neither never no nor not of off on once only or other our ours out over own
s same she should since so some such than that the their theirs them themselves then there these they this those
through thus to together too toward towards under until up upon us very
was we were what when where whether which while who whom whose why will with within without would yet you your yours
based born called died including include includes included known located named won
"""

STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Function words, and participles that lead up to an answer without being a part of it."""

_CONNECTORS = "of the and de la le du van von der den del di da al el for in on to a & at with y e et bin ibn"

CONNECTORS = frozenset(_CONNECTORS.split())
"""Small words inside names: `Bank of England`, `Vincent van Gogh`."""
