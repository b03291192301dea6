"""Plain English words that the world is furnished with: professions, subjects, products, titles."""

from __future__ import annotations


def _listed(text: str) -> tuple[str, ...]:
    return tuple(text.split(", "))


PROFESSIONS: dict[str, tuple[str, ...]] = {
    "literature": _listed("novelist, poet, playwright, essayist, translator"),
    "film": _listed("film director, screenwriter, film actor, cinematographer, film editor"),
    "music": _listed("composer, singer, violinist, pianist, conductor, organist, cellist"),
    "art": _listed("painter, sculptor, engraver, photographer, illustrator"),
    "science": _listed("chemist, botanist, astronomer, geologist, physician, mathematician, zoologist"),
    "sport": _listed("cyclist, swimmer, rower, fencer, long-distance runner, skater, wrestler"),
    "politics": _listed("politician, diplomat, jurist, general, reformer"),
    "trade": _listed("industrialist, merchant, banker, shopkeeper, inventor"),
    "seafaring": _listed("sea captain, explorer, navigator, hydrographer, shipwright"),
}

# what a person is known for: any first part with any second part
KNOWN_FOR: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "literature": (
        _listed("stories about, satires of, long poems about, ballads about, essays on, sketches of, comedies about"),
        _listed(
            "lighthouse keepers, village schools, the salt trade, travelling actors, provincial courts, orchards in "
            "winter, ferrymen, unhappy clerks, mountain weddings, old soldiers, market towns, exiles, family feuds"
        ),
    ),
    "film": (
        _listed(
            "comedies about, silent dramas about, slow portraits of, musicals about, thrillers about, documentaries on"
        ),
        _listed(
            "night trains, harbour pilots, circus families, small hotels, border guards, glassworkers, country "
            "doctors, failed inventors, rival bakers, telephone operators, runaway brides, coal miners"
        ),
    ),
    "music": (
        _listed("songs about, marches for, chamber pieces for, lullabies for, arrangements for, concertos for"),
        _listed(
            "brass and choir, two harps, village bands, solo viola, children's voices, wooden flutes, the bass "
            "clarinet, cathedral organ, small string groups, the hurdy-gurdy, four guitars, bells and strings"
        ),
    ),
    "art": (
        _listed("views of, portraits of, studies of, night scenes of, large canvases of, woodcuts of, pastels of"),
        _listed(
            "frozen canals, fishmongers, abandoned mills, river fog, dancing teachers, market women, empty theatres, "
            "cattle fairs, stone bridges, sleeping children, harbour cranes, beekeepers, thunderstorms"
        ),
    ),
    "science": (
        _listed(
            "work on, experiments with, a catalogue of, early studies of, lectures on, a long survey of, measurements "
            "of"
        ),
        _listed(
            "mineral dyes, alpine mosses, variable stars, river deltas, fevers of the marshes, prime numbers, cave "
            "fish, volcanic glass, comet tails, migrating geese, soil acids, tidal waves, crystal growth, seed banks"
        ),
    ),
    "sport": (
        _listed("victories in, a comeback in, a long rivalry in, records in, tactical skill in, stamina in"),
        _listed(
            "the mountain stages, open-water races, the sabre, the marathon relay, sculling, the winter games, indoor "
            "meetings, the hour race, river regattas, night races, the heavyweight class, team events"
        ),
    ),
    "politics": (
        _listed("reform of, speeches against, a campaign for, opposition to, negotiations over, a report on"),
        _listed(
            "the grain tax, free libraries, the prison system, fishing rights, the salt monopoly, women's suffrage, "
            "the land registry, child labour, railway tariffs, the upper chamber, the border rivers, church schools"
        ),
    ),
    "trade": (
        _listed(
            "improvements to, a monopoly on, advertisements for, a patent for, the export of, the mass production of"
        ),
        _listed(
            "sewing needles, tinned fish, marine clocks, rubber boots, piano wire, lamp oil, porcelain stoves, "
            "folding maps, tulip bulbs, printing ink, ice skates, spectacle lenses, bicycle chains"
        ),
    ),
    "seafaring": (
        _listed("charts of, a passage through, rescues off, soundings of, voyages to, a description of"),
        _listed(
            "the southern ice, the outer shoals, the pepper islands, the foggy banks, the narrow straits, the whale "
            "coast, the northern river mouths, the coral reefs, the storm capes, the pearl grounds, the unlit coast"
        ),
    ),
}

OFFICES = _listed(
    "minister of harbours, minister of public works, speaker of the assembly, minister of education, state treasurer, "
    "minister of forests, postmaster general, chief justice, minister of war, envoy to the northern courts, governor "
    "of the state bank, minister of health"
)

INDUSTRIES = _listed(
    "glassmaking, salt refining, shipbuilding, watchmaking, paper milling, lace weaving, brewing, tanning, silver "
    "mining, cheese making, bell founding, herring fishing, rope making, silk spinning, coal mining, wine growing, "
    "printing, porcelain, granite quarrying, timber rafting, tile making, beekeeping, button making, cider pressing, "
    "knife grinding, hat making"
)

CROPS = _listed(
    "barley, hops, plums, flax, saffron, walnuts, sheep, rye, apricots, horses, tobacco, olives, sugar beet, "
    "chestnuts, buckwheat, geese, lavender, pears, oats, goats"
)

CURRENCIES = _listed("crown, thaler, mark, florin, ducat, piece, guilder, penny, shell, sol")

PRODUCTS = _listed(
    "sewing machines, marine clocks, fountain pens, bicycles, enamel cookware, matches, pianos, telescopes, tinned "
    "fish, wallpaper, umbrellas, steam pumps, ice skates, typewriters, cocoa, soap, barometers, railway signals, "
    "leather gloves, toy trains, lamp oil, printing presses, biscuits, rubber boots, ploughs, safes and locks, "
    "spectacles, carpets, mineral water, cigars"
)

SUBJECTS = _listed(
    "a disputed inheritance, a shipwrecked schoolteacher, the last summer of a spa, a forged map, two feuding "
    "sisters, a strike at a cannery, a clockmaker who loses his memory, a village that refuses a railway, an unsolved "
    "theft, a long walk across the mountains, a travelling puppet theatre, the decline of a merchant house, a widow "
    "who opens an inn, a flood and its aftermath, a deserter in hiding, an impossible wager, a duel that never takes "
    "place, a mute bell-ringer, a lost consignment of tea, an orphan raised by monks, the rivalry of two bakers, a "
    "judge who doubts his verdict, a nurse at a border hospital, an invented saint, the building of a dam, a stolen "
    "violin, a letter delivered twenty years late, a lighthouse in wartime, a family of smugglers, a translator "
    "caught in a lie"
)

MOTIFS = _listed(
    "a ferry in fog, three sleeping fishermen, a market at dusk, a woman mending nets, a burning haystack, an empty "
    "ballroom, children on the ice, a procession of lamps, a blind fiddler, a table after supper, two horses at a "
    "well, a storm over rooftops, a beekeeper at work, a letter by a window, a ruined chapel, a boy with a heron, a "
    "wedding in the rain, washerwomen by a bridge, a chess game, a shepherd with a lantern"
)

FATES = _listed(
    "was wrecked on a reef, burned at anchor, was sold for scrap, was lost with all hands, became a floating school, "
    "was rebuilt as a coal hulk, sank after a collision, was turned into a museum ship, was crushed by ice, was "
    "captured by pirates, was scuttled to block a channel"
)

COLOURS = _listed(
    "green and white, black and gold, red and blue, sky blue, maroon and silver, orange and black, purple and white, "
    "yellow and green, navy and cream, scarlet, brown and gold, grey and red"
)

DISCIPLINES = _listed("cycling, rowing, fencing, swimming, skating, wrestling, athletics")

SHIP_NOUNS = _listed("barque, steamer, brig, schooner, frigate, clipper, icebreaker, ketch")

TITLE_ADJECTIVES = _listed(
    "Glass, Silent, Crooked, Hollow, Amber, Broken, Winter, Distant, Drowned, Bitter, Golden, Last, Painted, Narrow, "
    "Unlit, Borrowed, Iron, Second, Patient, Scarlet, Sleeping, Wandering, Pale, Copper, Secret, Burning, Quiet, "
    "Northern, Empty, Salt, Velvet, Wooden, Blind, Hidden, Paper, Idle, Bright, Forgotten, Tame, Stubborn, Frozen, "
    "Lesser, Crystal, Faithful, Seventh"
)

TITLE_NOUNS = _listed(
    "Orchard, Lantern, Harbour, Staircase, Heron, Garden, Bridge, Mirror, Thimble, River, Clock, Ferry, Winter, "
    "Shepherd, Carousel, Letter, Kingdom, Window, Apprentice, Well, Cathedral, Gate, Widow, Compass, Meadow, Tailor, "
    "Snowfall, Key, Island, Beekeeper, Wedding, Tower, Carpet, Fiddler, Mill, Tide, Anchor, Pilgrim, Feather, Ladder, "
    "Furnace, Raven, Postman, Cellar, Drum, Guest, Harvest, Locksmith, Moth, Needle, Oath, Quarry, Sparrow, "
    "Threshold, Umbrella, Vineyard, Weaver"
)

TITLE_ABSTRACTS = _listed(
    "Patience, Winter, Mercy, Distance, Rain, Silence, Bread, Honey, Exile, Thirst, Ashes, Memory, Salt, Thunder, "
    "Dust, Envy, Daylight, Hunger, Slumber, Smoke, Farewell, Return"
)

SURROUNDINGS = _listed(
    "low chalk hills, pine forest, wide marshes, terraced vineyards, bare moorland, flat sheep pasture, steep "
    "limestone cliffs, beech woods, old peat diggings, apple orchards, dunes and heath, rocky gorges"
)

TRAITS = _listed(
    "patient and exacting, generous but quick-tempered, shy in company, a tireless letter writer, sparing with "
    "praise, fond of practical jokes, careless with money, devoted to routine, a gifted mimic, proud of a plain "
    "upbringing, impatient of ceremony, an early riser, a poor sleeper, slow to forgive, always punctual, happiest "
    "out of doors"
)

HOBBIES = _listed(
    "beekeeping, chess, long walks, collecting seashells, amateur theatre, gardening, bookbinding, fishing, card "
    "games, mending clocks, keeping canaries, choral singing, drawing maps, baking, pressing flowers, playing the "
    "zither, skating, stargazing"
)

TRADES = _listed(
    "ropemaker, schoolteacher, miller, potter, customs officer, baker, notary, carpenter, innkeeper, pharmacist, "
    "tailor, ferry pilot, blacksmith, tax clerk, weaver, gardener, bookseller, cooper"
)

# what invented syllables must not spell
ORDINARY_WORDS = frozenset(
    _listed(
        "also, ardent, bald, band, bend, best, beta, bind, bird, bore, bund, came, core, data, demi, dine, dust, fend, "
        "find, fine, fore, fort, fund, hand, here, hero, hunt, into, kind, laid, land, lane, lend, liar, line, lord, "
        "maid, malt, mane, mani, mend, mere, meta, mild, mind, mine, mint, mist, more, must, name, nest, nine, none, "
        "port, raid, rane, rani, rend, rest, rich, rust, said, salt, same, sand, sane, semi, send, silent, sore, sort, "
        "tali, tame, tend, test, time, tine, were, west, wind, word, zero"
    )
)
