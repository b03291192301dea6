"""Plain English words that the world is furnished with: professions, subjects, products, titles."""

from __future__ import annotations

PROFESSIONS: dict[str, tuple[str, ...]] = {
    "literature": ("novelist", "poet", "playwright", "essayist", "translator"),
    "film": ("film director", "screenwriter", "film actor", "cinematographer", "film editor"),
    "music": ("composer", "singer", "violinist", "pianist", "conductor", "organist", "cellist"),
    "art": ("painter", "sculptor", "engraver", "photographer", "illustrator"),
    "science": ("chemist", "botanist", "astronomer", "geologist", "physician", "mathematician", "zoologist"),
    "sport": ("cyclist", "swimmer", "rower", "fencer", "long-distance runner", "skater", "wrestler"),
    "politics": ("politician", "diplomat", "jurist", "general", "reformer"),
    "trade": ("industrialist", "merchant", "banker", "shopkeeper", "inventor"),
    "seafaring": ("sea captain", "explorer", "navigator", "hydrographer", "shipwright"),
}

# what a person is known for: any first part with any second part
KNOWN_FOR: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "literature": (
        ("stories about", "satires of", "long poems about", "ballads about", "essays on", "sketches of", "comedies about"),
        ("lighthouse keepers", "village schools", "the salt trade", "travelling actors", "provincial courts", "orchards in winter",
         "ferrymen", "unhappy clerks", "mountain weddings", "old soldiers", "market towns", "exiles", "family feuds"),
    ),
    "film": (
        ("comedies about", "silent dramas about", "slow portraits of", "musicals about", "thrillers about", "documentaries on"),
        ("night trains", "harbour pilots", "circus families", "small hotels", "border guards", "glassworkers", "country doctors",
         "failed inventors", "rival bakers", "telephone operators", "runaway brides", "coal miners"),
    ),
    "music": (
        ("songs about", "marches for", "chamber pieces for", "lullabies for", "arrangements for", "concertos for"),
        ("brass and choir", "two harps", "village bands", "solo viola", "children's voices", "wooden flutes", "the bass clarinet",
         "cathedral organ", "small string groups", "the hurdy-gurdy", "four guitars", "bells and strings"),
    ),
    "art": (
        ("views of", "portraits of", "studies of", "night scenes of", "large canvases of", "woodcuts of", "pastels of"),
        ("frozen canals", "fishmongers", "abandoned mills", "river fog", "dancing teachers", "market women", "empty theatres",
         "cattle fairs", "stone bridges", "sleeping children", "harbour cranes", "beekeepers", "thunderstorms"),
    ),
    "science": (
        ("work on", "experiments with", "a catalogue of", "early studies of", "lectures on", "a long survey of", "measurements of"),
        ("mineral dyes", "alpine mosses", "variable stars", "river deltas", "fevers of the marshes", "prime numbers", "cave fish",
         "volcanic glass", "comet tails", "migrating geese", "soil acids", "tidal waves", "crystal growth", "seed banks"),
    ),
    "sport": (
        ("victories in", "a comeback in", "a long rivalry in", "records in", "tactical skill in", "stamina in"),
        ("the mountain stages", "open-water races", "the sabre", "the marathon relay", "sculling", "the winter games",
         "indoor meetings", "the hour race", "river regattas", "night races", "the heavyweight class", "team events"),
    ),
    "politics": (
        ("reform of", "speeches against", "a campaign for", "opposition to", "negotiations over", "a report on"),
        ("the grain tax", "free libraries", "the prison system", "fishing rights", "the salt monopoly", "women's suffrage",
         "the land registry", "child labour", "railway tariffs", "the upper chamber", "the border rivers", "church schools"),
    ),
    "trade": (
        ("improvements to", "a monopoly on", "advertisements for", "a patent for", "the export of", "the mass production of"),
        ("sewing needles", "tinned fish", "marine clocks", "rubber boots", "piano wire", "lamp oil", "porcelain stoves",
         "folding maps", "tulip bulbs", "printing ink", "ice skates", "spectacle lenses", "bicycle chains"),
    ),
    "seafaring": (
        ("charts of", "a passage through", "rescues off", "soundings of", "voyages to", "a description of"),
        ("the southern ice", "the outer shoals", "the pepper islands", "the foggy banks", "the narrow straits", "the whale coast",
         "the northern river mouths", "the coral reefs", "the storm capes", "the pearl grounds", "the unlit coast"),
    ),
}  # fmt: skip

OFFICES = ("minister of harbours", "minister of public works", "speaker of the assembly", "minister of education", "state treasurer",
           "minister of forests", "postmaster general", "chief justice", "minister of war", "envoy to the northern courts",
           "governor of the state bank", "minister of health")  # fmt: skip

PSEUDONYM_FIRST = ("Old", "Brother", "Captain", "Uncle", "Aunt", "Lady", "Doctor", "Little", "Blind", "Master")

INDUSTRIES = ("glassmaking", "salt refining", "shipbuilding", "watchmaking", "paper milling", "lace weaving", "brewing", "tanning",
              "silver mining", "cheese making", "bell founding", "herring fishing", "rope making", "silk spinning", "coal mining",
              "wine growing", "printing", "porcelain", "granite quarrying", "timber rafting", "tile making", "beekeeping",
              "button making", "cider pressing", "knife grinding", "hat making")  # fmt: skip

CROPS = ("barley", "hops", "plums", "flax", "saffron", "walnuts", "sheep", "rye", "apricots", "horses", "tobacco", "olives",
         "sugar beet", "chestnuts", "buckwheat", "geese", "lavender", "pears", "oats", "goats")  # fmt: skip

CURRENCIES = ("crown", "thaler", "mark", "florin", "ducat", "piece", "guilder", "penny", "shell", "sol")

PRODUCTS = ("sewing machines", "marine clocks", "fountain pens", "bicycles", "enamel cookware", "matches", "pianos", "telescopes",
            "tinned fish", "wallpaper", "umbrellas", "steam pumps", "ice skates", "typewriters", "cocoa", "soap", "barometers",
            "railway signals", "leather gloves", "toy trains", "lamp oil", "printing presses", "biscuits", "rubber boots",
            "ploughs", "safes and locks", "spectacles", "carpets", "mineral water", "cigars")  # fmt: skip

SUBJECTS = ("a disputed inheritance", "a shipwrecked schoolteacher", "the last summer of a spa", "a forged map", "two feuding sisters",
            "a strike at a cannery", "a clockmaker who loses his memory", "a village that refuses a railway", "an unsolved theft",
            "a long walk across the mountains", "a travelling puppet theatre", "the decline of a merchant house",
            "a widow who opens an inn", "a flood and its aftermath", "a deserter in hiding", "an impossible wager",
            "a duel that never takes place", "a mute bell-ringer", "a lost consignment of tea", "an orphan raised by monks",
            "the rivalry of two bakers", "a judge who doubts his verdict", "a nurse at a border hospital", "an invented saint",
            "the building of a dam", "a stolen violin", "a letter delivered twenty years late", "a lighthouse in wartime",
            "a family of smugglers", "a translator caught in a lie")  # fmt: skip

MOTIFS = ("a ferry in fog", "three sleeping fishermen", "a market at dusk", "a woman mending nets", "a burning haystack",
          "an empty ballroom", "children on the ice", "a procession of lamps", "a blind fiddler", "a table after supper",
          "two horses at a well", "a storm over rooftops", "a beekeeper at work", "a letter by a window", "a ruined chapel",
          "a boy with a heron", "a wedding in the rain", "washerwomen by a bridge", "a chess game", "a shepherd with a lantern")  # fmt: skip

FATES = ("was wrecked on a reef", "burned at anchor", "was sold for scrap", "was lost with all hands", "became a floating school",
         "was rebuilt as a coal hulk", "sank after a collision", "was turned into a museum ship", "was crushed by ice",
         "was captured by pirates", "was scuttled to block a channel")  # fmt: skip

COLOURS = ("green and white", "black and gold", "red and blue", "sky blue", "maroon and silver", "orange and black", "purple and white",
           "yellow and green", "navy and cream", "scarlet", "brown and gold", "grey and red")  # fmt: skip

DISCIPLINES = ("cycling", "rowing", "fencing", "swimming", "skating", "wrestling", "athletics")

SHIP_NOUNS = ("barque", "steamer", "brig", "schooner", "frigate", "clipper", "icebreaker", "ketch")

TITLE_ADJECTIVES = ("Glass", "Silent", "Crooked", "Hollow", "Amber", "Broken", "Winter", "Distant", "Drowned", "Bitter", "Golden", "Last",
                    "Painted", "Narrow", "Unlit", "Borrowed", "Iron", "Second", "Patient", "Scarlet", "Sleeping", "Wandering", "Pale",
                    "Copper", "Secret", "Burning", "Quiet", "Northern", "Empty", "Salt", "Velvet", "Wooden", "Blind", "Hidden", "Paper",
                    "Idle", "Bright", "Forgotten", "Tame", "Stubborn", "Frozen", "Lesser", "Crystal", "Faithful", "Seventh")  # fmt: skip

TITLE_NOUNS = ("Orchard", "Lantern", "Harbour", "Staircase", "Heron", "Garden", "Bridge", "Mirror", "Thimble", "River", "Clock", "Ferry",
               "Winter", "Shepherd", "Carousel", "Letter", "Kingdom", "Window", "Apprentice", "Well", "Cathedral", "Gate", "Widow",
               "Compass", "Meadow", "Tailor", "Snowfall", "Key", "Island", "Beekeeper", "Wedding", "Tower", "Carpet", "Fiddler", "Mill",
               "Tide", "Anchor", "Pilgrim", "Feather", "Ladder", "Furnace", "Raven", "Postman", "Cellar", "Drum", "Guest", "Harvest",
               "Locksmith", "Moth", "Needle", "Oath", "Quarry", "Sparrow", "Threshold", "Umbrella", "Vineyard", "Weaver")  # fmt: skip

TITLE_ABSTRACTS = ("Patience", "Winter", "Mercy", "Distance", "Rain", "Silence", "Bread", "Honey", "Exile", "Thirst", "Ashes", "Memory",
                   "Salt", "Thunder", "Dust", "Envy", "Daylight", "Hunger", "Slumber", "Smoke", "Farewell", "Return")  # fmt: skip

SURROUNDINGS = ("low chalk hills", "pine forest", "wide marshes", "terraced vineyards", "bare moorland", "flat sheep pasture",
                "steep limestone cliffs", "beech woods", "old peat diggings", "apple orchards", "dunes and heath", "rocky gorges")  # fmt: skip

TRAITS = ("patient and exacting", "generous but quick-tempered", "shy in company", "a tireless letter writer", "sparing with praise",
          "fond of practical jokes", "careless with money", "devoted to routine", "a gifted mimic", "proud of a plain upbringing",
          "impatient of ceremony", "an early riser", "a poor sleeper", "slow to forgive", "always punctual",
          "happiest out of doors")  # fmt: skip

HOBBIES = ("beekeeping", "chess", "long walks", "collecting seashells", "amateur theatre", "gardening", "bookbinding", "fishing",
           "card games", "mending clocks", "keeping canaries", "choral singing", "drawing maps", "baking", "pressing flowers",
           "playing the zither", "skating", "stargazing")  # fmt: skip

TRADES = ("ropemaker", "schoolteacher", "miller", "midwife", "customs officer", "baker", "notary", "carpenter", "innkeeper", "pharmacist",
          "seamstress", "ferry pilot", "blacksmith", "tax clerk", "weaver", "gardener", "bookseller", "cooper")  # fmt: skip
