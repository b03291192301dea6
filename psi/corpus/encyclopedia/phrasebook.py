"""How facts are put into words.

A phrase is a sentence in which `{relation}` stands for a value, so the relations in it are the facts it tells. `[a|b]`
is a free choice. Subject slots: `{S}`/`{s}` pronoun or short name (capitalised or not), `{P}`/`{p}` possessive, `{o}`
object, `{name}` the full name with its article, `{noun}`, `{a noun}` with "a" or "an". `{a x}` puts the right article
before any value. `{hobby}`, `{trait}`, ... are drawn from the word lists and tell no fact that is ever asked for.

Each kind has leads (first sentences), groups in the order in which a story is told, and background sentences. A second
article of one entity has leads of its own.
"""

from __future__ import annotations

from typing import NamedTuple


class Style(NamedTuple):
    """The phrases of one kind of entity."""

    leads: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    background: tuple[str, ...]
    more_title: str = ""
    more_leads: tuple[str, ...] = ()
    more: frozenset[str] = frozenset()  # the relations told in the second article, where there is one
    more_background: tuple[str, ...] = ()


_PERSON = Style(
    leads=(
        "{name} ({born} – {died}) was {a noun} known [chiefly|above all|mainly] for {known_for}.",
        "{name} ({born} – {died}) was {a noun} [who came|who originally came] from {born_in}.",
        "{name} ({born} – {died}) was {a noun}, [born in|a native of] {born_in}.",
        "{name} was {a noun} [remembered|best remembered|still admired] for {known_for}.",
        "{name} was {a noun} [who was born in {born_in} and is known|from {born_in} who became known] for {known_for}.",
        "{name}, {a noun} by profession, was born in {born_in} and [is remembered|became known] for {known_for}.",
        "Born in {born_in} on {born}, {name} was {a noun} [of wide reputation|with a long career|of some distinction].",
        (
            "{name}, born on {born}, was {a noun} [known for|whose name is linked with|chiefly associated with] "
            "{known_for}."
        ),
        "The {noun} {name} was born [in {born_in} on {born}|on {born} in {born_in}].",
        "{name} [made a name as|built a career as|earned a living as] {a noun}.",
        (
            "{name} was {a noun} [active for several decades|whose career was long and uneven|with a small but loyal "
            "following]."
        ),
        "Few [contemporaries|rivals] doubted that {name}, {a noun} from {born_in}, [had a rare gift|would go far].",
    ),
    groups=(
        (
            "{S} was born on {born}[| into a household of modest means| during a hard winter].",
            "{S} was born in {born_in}[| and spent {p} childhood there| above a shop near the market].",
            "{S} came into the world [in {born_in} on {born}|on {born} in {born_in}].",
            "{P} [birth on {born} is recorded in a parish book|birthday was {born}].",
            "[{born_in} was {p} birthplace|{P} birthplace was {born_in}][|, which {s_p} left at an early age].",
            "A native of {born_in}, {s} [never quite lost|soon shook off] the habits of the place.",
            "[Born on {born}, {s} was a delicate child.|{P} date of birth is given as {born}.]",
            (
                "[Born in {born_in}, {s} kept the local accent for life.|{S} spent {p} earliest years in {born_in}, "
                "{p} place of birth.]"
            ),
        ),
        (
            "{P} mother was {mother}[|, who encouraged {p} talent|, to whom {s_p} remained close].",
            "{S} was [a|the] {child_word} of {mother}[| and resembled her|, who kept every school report].",
            (
                "[As the {child_word} of {mother}, {s} met many visitors at home.|{P} father was often away, and "
                "{s_p} was raised by {p} mother, {mother}.]"
            ),
            "{P} father was {father}[|, a demanding parent|, whose letters to {o} survive].",
            "{S} was [a|the] {child_word} of {father}[| and took after him|, a hard man to please].",
            (
                "[As {father} was {p} father, comparisons were hard to avoid.|{P} father, {father}, [hoped for|had "
                "planned] a different career for {o}.]"
            ),
            "At home {p} mother, {mother}, set the tone[|, and money was often short].",
            "At home {p} father, {father}, set the tone[|, and guests were rare].",
        ),
        (
            "{S} [studied|was educated|completed {p} studies|took a degree] at {educated_at}.",
            "{P} [education|schooling] ended with [three|four|five] years at {educated_at}.",
            (
                "{S} [entered|enrolled at|attended] {educated_at}, where {teacher} was [one of {p} teachers|{p} most "
                "important teacher]."
            ),
            "At {educated_at} {s} [found|made] friends for life[| and won a medal for diligence].",
            (
                "[After leaving {educated_at}|Having graduated from {educated_at}], {s} [settled into|turned to] {p} "
                "profession."
            ),
            "{P} alma mater was {educated_at}[|, which later gave {o} an honorary degree].",
            (
                "{S} [trained under|was a pupil of|learned the craft from|was taught by] {teacher}[|, whose methods "
                "{s_p} later defended]."
            ),
            "{P} [teacher|mentor] was {teacher}[|, a lasting influence|, with whom {s_p} later quarrelled].",
            "[It was {teacher} who taught {o}|It was under {teacher} that {s} trained][|, though never for a fee].",
            "{S} owed {p} training to {teacher}[| and said so often].",
        ),
        (
            "{S} [married|became the {own_word} of] {spouse}[| in a quiet ceremony| after a long engagement].",
            (
                "{P} [{spouse_word} was {spouse}|marriage to {spouse} was a happy one|marriage to {spouse} outlasted "
                "many quarrels]."
            ),
            (
                "[Together with {p} {spouse_word}, {spouse}, {s} kept an open house.|{S} met {p} {spouse_word}, "
                "{spouse}, at a concert.]"
            ),
            "{S} and {spouse} were married [in the spring|by a country priest][|, with only two witnesses].",
            (
                "[Having married {spouse}, {s} travelled less.|In later life {s} and {p} {spouse_word}, {spouse}, "
                "shared a small house.]"
            ),
        ),
        (
            "{S} [is known for|became known for|owed {p} reputation to|is associated with] {known_for}.",
            "{P} [name is linked above all with|reputation rests mainly on] {known_for}.",
            "[The public knew {o} for|Critics praised {o} for|Later generations remember {o} for] {known_for}.",
            "{P} fame rested on {known_for}[|, although {s_p} cared little for it].",
            "It was {known_for} that [made {p} reputation|brought {o} recognition].",
        ),
        (
            (
                "{S} served as {office}[| for six years| under two governments], and {successor} [followed {o} in the "
                "post|took over from {o}]."
            ),
            "{S} was [appointed|named] {office}[| at a difficult moment|, to general surprise].",
            "{P} highest post was that of {office}[|, which {s_p} held reluctantly].",
            "[As {office}, {s} was cautious and well informed.|For several years {s} held the post of {office}.]",
            (
                "[{successor} succeeded {o} in office.|{P} successor in office was {successor}.|{S} was succeeded in "
                "office by {successor}.]"
            ),
            "When {s} resigned, {p} [place|post] went to {successor}.",
        ),
        (
            "{S} [worked for|spent many years with|was under contract to] {studio_of}.",
            "{P} longest [engagement|contract] was with {studio_of}[|, from which {s_p} parted on good terms].",
            (
                "[{studio_of} took {o} on as a young {gender_word}.|Much of {p} career was spent at "
                "{studio_of}.|{studio_of} gave {o} a first chance.]"
            ),
            "From [early on|{p} twenties on] {s} [played with|performed with|was engaged by] {orchestra_of}.",
            (
                "[{orchestra_of} engaged {o} for eleven seasons.|{P} name appears often on the programmes of "
                "{orchestra_of}.]"
            ),
            "{S} [joined|was engaged by] {orchestra_of}[| at an early age| after an audition behind a screen].",
            "{S} [worked at|was on the staff of] {observatory_of}[| for most of {p} life| under three directors].",
            (
                "[Much of the work was done at {observatory_of}, where {s} held a post.|{observatory_of} appointed "
                "{o} to a modest post.]"
            ),
            "A post at {observatory_of} [gave {o} security|left {o} time for research].",
            "{S} [competed for|raced in the colours of|was a lifelong member of] {club_of}.",
            "[{P} club was {club_of}.|{club_of} was {p} only club.][| Its members paid {p} first fares.]",
            "[Throughout {p} career {s} competed for {club_of}.|{P} medals were won for {club_of}.]",
            "{S} [belonged to|was a member of|joined] {party_of}[|, though never without reservations].",
            (
                "[{P} party was {party_of}.|{S} sat in the assembly for {party_of}.|Within {party_of}, {p} party, {s} "
                "led the moderates.]"
            ),
            "A [loyal|restless] member of {party_of}, {s} [seldom spoke in debates|voted against it twice].",
        ),
        (
            "{S} was also known as {aka}[|, a name {s_p} disliked|, a nickname from school].",
            "[To the public|To {p} admirers] {s} was {aka}[|, though never in official papers].",
            "[Friends and press alike called {o} {aka}.|{P} nickname was {aka}.|The newspapers called {o} {aka}.]",
            "[Posters|Handbills|Letters] often [gave {p} name as|called {o}] {aka}.",
        ),
        (
            "{S} died on {died}[| after a short illness| at the age of {age}].",
            "{S} died in {died_in} on {died}.",
            "{P} [death came|life ended] [in {died_in} on {died}|on {died}, in {died_in}].",
            "{S} [spent {p} last years|passed {p} final years] in {died_in}, where {s_p} died[| on {died}].",
            "[Death came on {died}|{P} life ended on {died}][|, at the age of {age}].",
            "[{S} died in {died_in}|It was in {died_in} that {s} died][|, far from friends of {p} youth].",
            "[On {died} {s} died|{S} passed away on {died}][|, and the funeral was a private one].",
        ),
        (
            "{P} papers are [kept at|preserved at|held by] {archive}.",
            "The [letters and notebooks|diaries|working papers] {s} left are [kept at|in the care of] {archive}.",
            "{archive} [holds|keeps|acquired] {p} papers[|, some of them still unread].",
            "[A monument to {o}|A bronze statue of {o}|A bust of {o}] stands in {monument}.",
            "[In {monument}, a monument recalls {p} life.|{monument} honoured {o} with a statue.]",
            "[The first biography was|The standard biography is] [by|the work of] {biographer}.",
            "{biographer} [wrote {p} biography|published a life of {o}][|, which {p} family disliked].",
            (
                "[A life of {o} by {biographer} appeared|{P} biographer, {biographer}, published a long account] "
                "before the statue in {monument} was unveiled."
            ),
            "A commemorative plaque [followed|was put up] in {plaque}.",
            "In {plaque} a plaque was put up in {p} memory.",
            "A memorial plaque dates from {plaque}[|, paid for by subscription].",
            "[In {plaque} {p} admirers paid for a plaque.|The plaque that honours {o} was unveiled in {plaque}.]",
        ),
    ),
    background=(
        "Friends remembered {o} as {trait}.",
        "Colleagues described {o} as {trait} and [fond of|much given to] {hobby}.",
        "{S} was {trait}, [according to|in the words of] [a neighbour|an old friend|a pupil].",
        "In [spare hours|later years|the evenings] {s} [turned to|took up|found rest in] {hobby}.",
        "[Away from work|Outside the profession], {s} [enjoyed|was devoted to] {hobby}.",
        (
            "[Little is known about|Few documents describe|There are only scattered notes on] the years {s} spent as "
            "[an apprentice to|a lodger with|a clerk to] {a trade}."
        ),
        (
            "A [portrait|drawing|caricature] from [early years|the middle years|later life] shows {o} with [a stern "
            "look|a half-smile|an open book|a small dog]."
        ),
        "{S} spoke [three|four|five] languages[|, none of them without an accent| and read two more].",
        "Illness [interrupted|slowed] {p} work [more than once|for almost a year].",
        "Several [younger|later] {noun}s [named {o} as a model|learned from {p} example].",
        (
            "{S} had briefly [worked as|been apprenticed to] {a trade} [before settling on a career|before the age of "
            "twenty|in a neighbouring town]."
        ),
        (
            "[Critics|Reviewers|Opponents] were slow to [accept|understand] {o}, and {s_p} [rarely replied|kept every "
            "review|took no notice]."
        ),
    ),
    more_title="Legacy of {title}",
    more_leads=(
        "The {noun} {name} [left|is remembered through] a [varied|lasting|disputed] legacy.",
        (
            "Interest in {name}, [the|a once celebrated] {noun}, [revived|grew again] [within a generation|slowly "
            "after {p} death]."
        ),
        (
            "{name}, {a noun}, was [half forgotten|seldom mentioned|little talked about] [in the years after {p} "
            "death|by the next generation]."
        ),
        "The reputation of {name}, {a noun}, has [changed several times|risen steadily|never quite faded].",
        "After the death of {name}, {a noun}, [opinion was divided|several memorials were planned].",
    ),
    more=frozenset(("archive", "biographer", "monument", "plaque")),
    more_background=(
        "[Schoolbooks|Guidebooks|Encyclopedias] of the period [mention|mentioned] {o} only [in passing|in a footnote].",
        "[Former pupils|Old friends] met [once a year|for decades] to [read from {p} letters|share stories about {o}].",
        "A [street|school|steam tug|variety of rose] was [later|also] named after {o}.",
        "Scholars still [disagree about|debate] {p} [influence|early years|private views].",
        "Forged [letters|keepsakes] attributed to {o} [turn up|were sold] [from time to time|at auction].",
        "Colleagues who [had known|outlived] {o} described {o} as {trait}.",
        (
            "The [anniversaries of {p} death|celebrations in {p} honour] [drew|attracted] [large crowds|few "
            "visitors|mostly specialists]."
        ),
    ),
)

# background that fits every work, event, institution or place
_ANY_WORK = (
    (
        "[Anniversaries|Schoolbooks|Lectures] have [kept it in view|brought it back to notice] [from time to "
        "time|more than once], and it still has [defenders|detractors]."
    ),
    (
        "[Imitations|Jokes about it|Unkind parodies] appeared [soon afterwards|within a few years], some of them "
        "better known [at home|abroad] than the original."
    ),
    (
        "[Opinions|Judgements] have [changed|differed] [over the years|from one generation to the next], but few "
        "[specialists|people in the field] [ignore it|call it unimportant]."
    ),
    (
        "[A collector|An heir|A retired {trade}] [once offered|offered] [a high price|a small house] for the [first "
        "sketches|earliest draft]."
    ),
    (
        "[Younger|Foreign] [admirers|colleagues] [studied|copied] it [closely|in secret], and [one of them|more than "
        "one] [admitted as much|denied it all their lives]."
    ),
    (
        "[Several|Two|Three] [rival accounts|anecdotes] [describe|explain] how the title was [found|chosen], none of "
        "them [convincing|supported by documents]."
    ),
)
_ANY_GATHERING = (
    (
        "[Innkeepers|Shopkeepers|Ferrymen] in the neighbourhood [did good business|raised their prices] [for a "
        "fortnight|until the last visitor had left]."
    ),
    (
        "A [medal|printed ribbon|set of postcards] was [issued|sold] [as a souvenir|in aid of the poor], and examples "
        "are [still found|now rare]."
    ),
    (
        "The [expenses|costs] were [higher than planned|never fully settled], and the [clerk|treasurer] in charge "
        "[kept two sets of books|resigned before the year was out]."
    ),
    (
        "[Lost children|Umbrellas|Walking sticks] were collected [at the gate|in a tent], and [a list|an inventory] "
        "of [them|all finds] [survives|was printed]."
    ),
    (
        "[Schools|Offices] in the neighbourhood [closed|opened late] on the [first|last] day, [by order of the "
        "mayor|without asking anyone]."
    ),
    "A [temporary|small] post office [handled|stamped] [some six thousand|several thousand] letters and cards.",
)
_ANY_EVENT = (
    "[Songs|Verses|Woodcuts] about it [were sold in the streets|circulated], [few|some] of them [accurate|respectful].",
    (
        "The [documents|papers] are [scattered over several archives|kept in a locked chest|incomplete], and "
        "[historians|readers] [rely on|must use] [later copies|private letters]."
    ),
    (
        "[Reports|Letters|Memoirs] from those days [mention|complain of] [crowded inns|bad roads|high prices for "
        "bread], and [few|not all] of the [accounts|figures] agree."
    ),
    (
        "[Children|Guides] are told that [the sun|a rainbow|a flock of cranes] [appeared|was seen] at the "
        "[decisive|very last] moment, [which no report confirms|a detail added later]."
    ),
    (
        "[Speeches|Sermons] on the subject were [printed|delivered] [for years|the following Sunday], [few of them "
        "short|most of them forgotten]."
    ),
    (
        "[Historians|Later writers] have [argued about|tried to settle] the [exact course of events|number of people "
        "present], [without agreement|with limited success]."
    ),
)
_ANY_PLACE = (
    (
        "[Travellers|Painters|Early guidebooks] [praised|remarked on] the [light|silence|clear air][, though few "
        "stayed long| and complained about the food]."
    ),
    (
        "[Old songs|Proverbs|Folk tales] [mention|refer to] it [more often than maps do|in ways that outsiders find "
        "obscure]."
    ),
    (
        "[Amateurs|Members of a walking club|Two schoolteachers] [collected|wrote down] [place names|legends|bird "
        "sightings] [from the area|along its paths] and [published them at their own cost|lodged them with a library]."
    ),
    (
        "A [society|small association] devoted to [local lore|the protection of birds|old footpaths] [publishes a "
        "yearbook|meets every month]."
    ),
    (
        "[Storks|Swallows|Wild geese] [return|arrive] [each spring|in large numbers], and their arrival is "
        "[noted|celebrated] [by schoolchildren|in the newspapers]."
    ),
)
_ANY_ORGANISATION = (
    (
        "[Visitors|Guests] are [still told|told] that the [founding papers|first ledgers] lie under the "
        "[doorstep|main staircase], [but nobody has looked|which is probably untrue]."
    ),
    (
        "[Its motto|The motto over the door], chosen [by vote|from a school primer], [recommends patience|promises "
        "honest work|is often misquoted]."
    ),
    (
        "[Salaries|Wages] were [modest|paid late] in [hard times|some years], yet [few people left|hardly anyone "
        "resigned]."
    ),
    (
        "A [history|guide] written by a retired {trade} [runs to three volumes|is sold at the entrance|contains many "
        "errors]."
    ),
    (
        "[Every year|Each autumn|Once a year] there is [an open day|a feast], [at which visitors may try their hand "
        "at {hobby}|with cake and speeches|when the cellars are shown]."
    ),
    (
        "[Two|Three] [cats|elderly porters|portraits of unknown origin] were [for decades|long] [a fixture of the "
        "entrance hall|better known than anyone in charge]."
    ),
    (
        "[Photographs|Engravings|Old plans] show [an iron staircase|a walled garden|a row of coat hooks] that [no "
        "longer exists|visitors still admire]."
    ),
    (
        "It was [among the first|one of the last] in the neighbourhood to [install gas lighting|employ women|give up "
        "candles], [a step that caused some comment|for reasons of economy]."
    ),
    (
        "[Letters|Complaints] from the public were [answered|filed] by a [former|part-time] {trade} with [a sense of "
        "humour|beautiful handwriting]."
    ),
    "[Rumours|Plans] of a merger [came to nothing|were denied] [more than once|in two different decades].",
    (
        "Its [letterhead|seal|doorplate] [was designed by|is the work of] [an unknown hand|a local {trade}] and has "
        "[never been changed|been much imitated]."
    ),
    (
        "A [bequest|legacy] from {a trade} [paid for|allowed] [a new roof|the purchase of a second building|a fund "
        "for widows]."
    ),
    (
        "[Correspondence|Business] was [long conducted|conducted] [by hand|in two languages|on green paper], [a habit "
        "given up only recently|to the despair of the clerks]."
    ),
)

_COUNTRY = Style(
    leads=(
        "{name} is a [mountainous|coastal|largely rural|small but densely settled] country whose capital is {capital}.",
        (
            "{name} is a country [governed from|with its capital at] {capital}; it [became independent|gained "
            "independence] in {independence}."
        ),
        "{name}, a sovereign state since {independence}, is [known for|proud of] its {crop_word}.",
        "{name} is a [country|state|nation] of [forests and lakes|plains and low hills|islands and inlets].",
    ),
    groups=(
        (
            "{P} capital is {capital}.",
            "The seat of government is {capital}.",
            "Parliament sits in {capital}, the capital.",
            "{capital} has been the capital [since the earliest charters|for as long as records go back].",
            "[The court moved to {capital}|{capital} became the capital] after a [fire|flood] in the older residence.",
        ),
        (
            "Independence [came|was won|was declared] in {independence}.",
            "{S} has been independent since {independence}.",
            "In {independence} {s} [became|was recognised as] an independent state.",
            "A short war ended with independence in {independence}.",
        ),
        (
            "The currency is the {currency}.",
            "Prices are given in the national currency, the {currency}.",
            "{S} has its own currency, the {currency}.",
            "Trade is carried on in the {currency}, {p} currency.",
            "The {currency} is legal tender.",
        ),
        (
            "{P} longest river is {longest_river}.",
            "The longest river in the country is {longest_river}.",
            "Of all the rivers in the country, {longest_river} is the longest.",
            "{longest_river}, {p} longest river, [freezes in most winters|carries much of the freight].",
        ),
        (
            "{P} highest point is {highest_point}.",
            "The land rises to {highest_point}, the highest point.",
            "No peak in the country is higher than {highest_point}.",
            "The highest mountain of all is {highest_point}.",
            "{highest_point}, the highest point in the country, is [visible from the coast|often hidden by cloud].",
        ),
    ),
    background=(
        "The interior is [made up|mostly a land] of {surroundings}.",
        (
            "Most people live [near the coast|in the valleys|along the old post roads] and [work in|depend on] "
            "[farming|fishing|small trades]."
        ),
        "The [climate|weather] is [mild|changeable|harsh in winter], and the [harvest|first snow] comes [early|late].",
        "The people of the country, called {demonym}s in older books, [are fond of|have long practised] {hobby}.",
        "Exports include {crop_word} and [timber|wool|salted fish|cut stone].",
    ),
)

_REGION = Style(
    leads=(
        "{name} is a province of {country}[| with a long history of self-government|, in places thinly settled].",
        "{name} is one of the provinces of {country}; it is administered from {seat}.",
        "The province of {name}, [governed from|administered from] {seat}, [lies in|belongs to] {country}.",
        "{name} is a province covering {area}.",
        "{name} is a province [of|with] {surroundings}.",
    ),
    groups=(
        (
            "{S} [belongs to|forms part of|lies in] {country}.",
            "The province has [long|always] been part of {country}.",
            (
                "Within {country}, the province is [an old stronghold of|known for] [folk music|stubborn "
                "politics|good inns]."
            ),
            "Politically, {s} is a part of {country}.",
        ),
        (
            "{P} administrative seat is {seat}.",
            "The provincial [assembly|governor] sits in {seat}.",
            "{S} is administered from {seat}.",
            "The seat of the province is {seat}[|, chosen after a long dispute].",
            "Since the last reform {seat} has been the provincial seat.",
        ),
        (
            "{S} covers {area}.",
            "The province has an area of {area}.",
            "{P} area is {area}[|, much of it {surroundings}].",
            "With an area of {area}, {s} is [often called empty|easily crossed in a day].",
        ),
        (
            "Farmers grow or raise mainly {crop}.",
            "The province is known for its {crop}.",
            "The chief product of the land is {crop}.",
            "{P} farms are [famous|noted] for {crop}.",
            "Agriculture depends on {crop}[|, sold at autumn fairs].",
        ),
    ),
    background=(
        "The landscape is one of {surroundings}.",
        "Villages are [small|far apart], and [many|most] have a [chapel|mill|school] of their own.",
        "The local dialect [is dying out|keeps many old words|puzzles outsiders].",
        "Roads [were poor|remained unpaved] [well into the last century|until the railway came].",
        "In autumn the inhabitants hold [fairs|contests] devoted to {hobby}.",
    ),
)

_TOWN = Style(
    leads=(
        "{name} is a town in {country}[| with {population}|, long known for {industry}].",
        "{name} is a town in the province of {region_name}[| with {population}].",
        "{name} is a town on {river}[|, surrounded by {surroundings}].",
        "{name} is a town [known for|that grew rich on|associated with] {industry}.",
        "A town of {population}, {name} [lies in|belongs to] {country}.",
        "A town of {population}, {name} [lies in|belongs to] the province of {region_name}.",
        "{name}, a [quiet|busy|walled|hilly] town in {country}, [stands|is situated] on {river}.",
        "{name} is a [quiet|busy|walled|hilly|handsome] town [amid|surrounded by] {surroundings}.",
    ),
    groups=(
        (
            "{S} [lies in|belongs to] {country}.",
            "{S} [is part of|lies in|belongs to] the province of {region_name}.",
            "Administratively it [is part of|falls under] the province of {region_name}.",
            "The town is [situated|located] in {country}.",
            "The surrounding province is {region_name}[|, whose governor seldom visits].",
            "Maps of {country} show it [near the border|at a crossing of old roads|at the end of a long valley].",
            "{S} is one of the older towns of {country}.",
        ),
        (
            "{S} [stands|lies|is situated] on {river}.",
            "{river} flows through the town[| and floods the lower streets in spring].",
            "The town is [crossed|divided] by {river}[|, which is spanned by four bridges].",
            "[Barges still reach it|Timber arrived] by way of {river}.",
            "The older quarters line the banks of {river}.",
        ),
        (
            "{S} has {population}.",
            "The population is {population_bare}[| according to the last census].",
            "At the last count it had {population}.",
            "The town is home to {population}.",
            "{P} population stands at {population_bare}.",
        ),
        (
            "{P} main industry is {industry}.",
            "For generations {industry} has been the main trade.",
            "The town [lives from|owes its wealth to] {industry}.",
            "{S} is [known|noted|best known] for {industry}.",
            "Its chief occupation is {industry}[|, celebrated with a yearly feast].",
            "Most families have some connection with {industry}.",
        ),
        (
            "{S} was founded in {founded}[| by monks| around a toll bridge| as a frontier post].",
            "{P} [foundation|first charter] dates from {founded}.",
            "The first settlement was founded in {founded}.",
            "The year of its foundation is given as {founded}.",
            "Founded in {founded}, {s} [received market rights soon after|was twice besieged].",
        ),
        (
            "A fire in {fire} destroyed [half the town|the lower town|the old market].",
            "In {fire} fire [destroyed|swept through] most of the wooden houses.",
            "Much of the town burned down in {fire}[|, after which stone was prescribed].",
            "The great fire of {fire} [spared only the church|lasted three days].",
            "After the fire of {fire}, {architect} planned the rebuilding of the centre.",
        ),
        (
            "The centre was [rebuilt to plans by|laid out anew by] {architect}.",
            "{architect} [planned|directed] the rebuilding of the centre.",
            "The present street plan of the centre is the work of {architect}.",
            "The rebuilding of the centre was entrusted to {architect}.",
            "It was {architect} who [gave the centre its present form|planned the rebuilt centre].",
            "For the rebuilding of its centre the council turned to {architect}.",
        ),
        (
            "Until the [reforms|end of the guilds] it was called {former_name}.",
            "Its former name was {former_name}.",
            "In older records it appears as {former_name}.",
            "The town was once known as {former_name}.",
            "{S} was formerly called {former_name}.",
        ),
    ),
    background=(
        "The surroundings are [mainly|mostly] {surroundings}.",
        (
            "[A weekly market|A yearly fair|A horse market] [draws buyers from|fills the square with visitors from] "
            "the nearby villages."
        ),
        (
            "Visitors come for [the covered bridges|the old walls|a small spa|the carved doorways|the clock tower], "
            "and [{hobby} is popular|there is a club for {hobby}]."
        ),
        (
            "The [station|post office|school] [opened late|stands outside the centre], [a source of old complaints|by "
            "choice of the council]."
        ),
        (
            "Winters are [long|mild|foggy] and the [main square|promenade] is [lined with lime trees|paved with river "
            "stones|lit by gas until late]."
        ),
        (
            "The town [keeps|supports] [a brass band|two newspapers|an almshouse|a volunteer fire brigade][| and a "
            "library of some note]."
        ),
        (
            "[Electric light|The telephone|A metalled road] [arrived late|came only slowly], [to the regret of "
            "few|after years of petitions]."
        ),
        (
            "[Most houses|The older houses] are built of [brick|timber|pale stone] and [have steep roofs|stand with "
            "their gables to the street]."
        ),
        (
            "[A theatre|A public bath|A teachers' college] was [planned|promised] [more than once|with great "
            "ceremony] but [never built|opened only after long delays]."
        ),
        "Among its [buildings|sights] is [a plague column|a leaning gate tower|a round chapel|a granary on stilts].",
    ),
    more_title="History of {title}",
    more_leads=(
        (
            "The history of {name} [is one of slow growth and sudden losses|can be followed in unusually full "
            "records|begins with a ford and a mill]."
        ),
        "{name}, [today a quiet town|a town with a long memory], was founded in {founded}.",
        "Records of {name} [reach back|go back] to its foundation in {founded}.",
        "Few towns have changed as [often|much] as {name}.",
    ),
    more=frozenset(("founded", "fire", "architect", "former_name")),
    more_background=(
        "[Guilds|Craftsmen|Millers] [ruled|controlled] the council [for two centuries|until the reforms].",
        (
            "[Plague|Cholera|A siege] [twice|once more] [emptied|reduced] the town [in the following decades|before "
            "trade recovered]."
        ),
        (
            "The walls were [pulled down|sold for their stone], and [an avenue of limes|a ring of gardens] took their "
            "place."
        ),
        "The [railway|telegraph] [brought|attracted] [new workers|small factories], among them many {trade}s.",
        (
            "[Chroniclers|Local historians] [describe|dwell on] the quarrels between [millers and fishermen|the upper "
            "and the lower town]."
        ),
    ),
)

_RIVER = Style(
    leads=(
        "{name} is a river {length} long.",
        "{name} is a river that [rises on|has its source on] {source}.",
        "{name}, a river of {length}, [rises on|springs from] {source}.",
        "{name} is a river that reaches the sea at {mouth}.",
        "{name} is a [slow|winding|swift|broad] river [flowing through|bordered by] {surroundings}.",
    ),
    groups=(
        (
            "{S} rises on {source}.",
            "{P} source is on {source}.",
            "The springs that feed it lie on {source}.",
            "Its upper course begins on {source}.",
            "The water comes from the slopes of {source}.",
        ),
        (
            "{S} is {length} long.",
            "{P} length is {length}.",
            "From source to mouth it measures {length}.",
            "{S} runs for {length} in all.",
            "Surveyors give its length as {length}.",
        ),
        (
            "{S} [reaches the sea|ends] at {mouth}.",
            "{P} mouth is at {mouth}[|, where ships wait for the tide].",
            "The river meets the sea at {mouth}.",
            "At {mouth} it flows into the sea.",
            "{mouth} stands at its mouth.",
        ),
        (
            "The whole course lies within {country}.",
            "{S} flows entirely through {country}.",
            "The river never leaves {country}.",
            "All of its basin belongs to {country}.",
        ),
        (
            "The first [accurate|full] survey was [made|carried out] by {surveyor}.",
            "{surveyor} surveyed it [from a rowing boat|over two summers].",
            "{S} was first charted by {surveyor}.",
            "Its bends were mapped by {surveyor}[|, at great personal cost].",
            "{surveyor} was the first to chart the whole course.",
        ),
    ),
    background=(
        "Its banks are lined with {surroundings}.",
        "Spring floods [are common|deposit fine silt|have shifted its bed], and [ferries|bridges] are few.",
        "[Timber|Grain|Salt] was [floated|shipped] downstream [until the railway came|well into living memory].",
        "[Otters|Herons|Sturgeon] were once [common|plentiful], and [eels|crayfish] are still caught.",
        (
            "The river [freezes in some years, when skating is popular|runs low in dry years, when old mill "
            "foundations come to light]."
        ),
        "A path along the [left|right] bank is popular with [walkers|anglers|schoolchildren].",
    ),
)

_MOUNTAIN = Style(
    leads=(
        "{name} is a mountain [of {height}|rising to {height}|with a height of {height}].",
        "{name} is a mountain in {country}[|, {height} high].",
        "{name} is a mountain in the province of {region_name}[|, {height} high].",
        "{name} is a [steep|broad|double-peaked|solitary] mountain [above|surrounded by] {surroundings}.",
        "At {height}, {name} [dominates|towers over] {surroundings}.",
    ),
    groups=(
        (
            "{S} rises to {height}.",
            "{P} height is {height}.",
            "The summit stands at {height}.",
            "Its highest point has been measured at {height}.",
        ),
        (
            "{S} stands in {country}.",
            "{S} belongs to the province of {region_name}.",
            "The mountain lies in the province of {region_name}.",
            "The whole massif is in {country}.",
            "{S} lies well inside {country}.",
            "Its slopes belong to the province of {region_name}.",
        ),
        (
            "The first ascent was made by {climber} in {climbed}.",
            "{climber} first climbed it in {climbed}[|, by the western ridge].",
            "In {climbed} {climber} became the first to stand on the summit.",
            "{S} was first climbed in {climbed}, when {climber} reached the top[| alone| in thick fog].",
            "Nobody had reached the summit before {climber} did so in {climbed}.",
        ),
    ),
    background=(
        "From the summit one looks out over {surroundings}[| and, on clear days, the sea].",
        "[Shepherds|Hunters|Pilgrims] [use|know] [three passes|an old path] on the [north|south] side.",
        "Snow [lies|remains] on the [summit|upper ridge] until [early summer|midsummer].",
        "A [hut|chapel|weather station] stands [below the summit|at the tree line].",
        "Legends [speak of|mention] [a sleeping giant|a buried bell|a lost flock] inside the mountain.",
        (
            "The rock is [mainly|largely] [granite|limestone|slate|basalt], [poor in ore|prone to "
            "landslides|shattered by frost]."
        ),
    ),
)


def _made(verb: str, maker: str, role: str) -> tuple[str, ...]:
    """How the maker of a work, and its year, are told."""
    return (
        f"It was {verb} by {{{maker}}}.",
        f"{{{maker}}} {role} it [in a single winter|over several years|after a long silence|while ill].",
        f"{{S}} is the work of {{{maker}}}[|, who never discussed it].",
        f"It was {{{maker}}} who {role} it.",
        f"In {{year}} {{{maker}}} {role} it[| in great haste].",
        f"{{S}} was {verb} by {{{maker}}} and [made public|presented to the public|first presented] in {{year}}.",
    )


_NOVEL = Style(
    leads=(
        "{name} is a novel by {author}[|, published in {year}|, first printed in {year}].",
        "{name} is {a year} novel by {author}.",
        "{name} is a novel [about|that tells of|concerning] {subject}.",
        "{name}, [written|a novel written] by {author}, [concerns|tells of|is about] {subject}.",
        "Published in {year}, the novel {name} [tells of|deals with|follows] {subject}.",
        "{name} is a novel set in {set_in}.",
        "Set in {set_in}, {name} is a novel about {subject}.",
    ),
    groups=(
        (*_made("written", "author", "wrote"), "Its author is {author}."),
        (
            "{S} is also known as {aka}.",
            "Abroad {s} appeared as {aka}.",
            "An alternative title is {aka}.",
            "In some countries {s} was given the title {aka}.",
            "Its working title, still in use, was {aka}.",
        ),
        (
            "{S} appeared in {year}.",
            "The first edition is dated {year}.",
            "{S} was published in {year}[| in a small printing].",
            "{year} saw its first publication.",
            "Readers first met it in {year}.",
        ),
        (
            "{S} [deals with|concerns|tells of] {subject}.",
            "The plot [turns on|concerns] {subject}.",
            "{P} subject is {subject}.",
            "The story [follows|is that of] {subject}.",
            "At its centre stands {subject}.",
        ),
        (
            "The story is set in {set_in}.",
            "The action takes place in {set_in}.",
            "Most of the chapters are set in {set_in}.",
            "The setting is {set_in}[|, thinly disguised].",
            "{set_in} provides the setting.",
        ),
        (
            "The main character is {protagonist}.",
            "{P} hero is called {protagonist}.",
            "The central figure, {protagonist}, [appears on the first page|tells the story].",
            "The story is told by {protagonist}, the main character.",
            "Readers grew fond of its main character, {protagonist}.",
        ),
        (
            "{S} was published by {publisher}.",
            "The publisher was {publisher}[|, which had doubts about the ending].",
            "{publisher} [brought it out|published it][| without much hope].",
            "{S} came out with {publisher}, its first publisher.",
            "After many refusals {publisher} published it.",
        ),
        (
            "The book is dedicated to {dedicatee}.",
            "{S} bears a dedication to {dedicatee}.",
            "{dedicatee} is named in the dedication.",
            "Its dedication is addressed to {dedicatee}.",
            "The dedicatee is {dedicatee}.",
        ),
        (
            "The best known translation is by {translator}.",
            "{translator} translated it[| within a year].",
            "{S} was translated by {translator}.",
            "A translation by {translator} [followed|made it known abroad].",
        ),
        (
            "{S} won the {prize}.",
            "The novel was awarded the {prize}.",
            "The {prize} went to the novel[| by a single vote].",
            "Its author accepted the {prize} for it.",
            "{S} received the {prize}.",
        ),
    ),
    background=(
        "Critics [praised|disliked|were puzzled by] its [long sentences|abrupt ending|dry humour|many digressions].",
        (
            "{S} [sold slowly|was reprinted four times|was long out of print], and [teachers|booksellers|librarians] "
            "[had doubts about it|were the first to recommend it]."
        ),
        "[Three|Two|Several] [chapters|passages] are written [as letters|in dialect|as a diary].",
        "The manuscript [is lost|was found in an attic|has many corrections in red ink].",
        "A [stage version|radio play|parody] [followed|appeared], without [success|permission].",
        "Its [opening sentence|last page] is [often quoted|a favourite of anthologies].",
    ),
    more_title="Publication of {title}",
    more_leads=(
        "The novel {name} had a [long|difficult|curious] publication history.",
        "The manuscript of {name}, a novel, [was refused several times|passed through many hands].",
        "When the novel {name} [appeared|came out], [few copies were sold|the first printing was gone within weeks].",
    ),
    more=frozenset(("publisher", "dedicatee", "translator", "prize")),
    more_background=(
        "The [cover|title page] of the first edition [shows|bears] [a heron|an anchor|no name at all|a small lamp].",
        "[Proofs|Early copies] with the [original|suppressed] ending [are rare|fetch high prices].",
        "[Reviews|Notices] were [mixed|warm|few], and the [printer|publisher] [asked for|suggested] cuts.",
        "A [pirated|shortened|school] edition [circulated|was printed] [for years|abroad].",
        "[Libraries|Booksellers] at first [refused to stock it|kept it under the counter].",
    ),
)

_PLAY = Style(
    leads=(
        "{name} is a play by {author}[|, first performed in {year}].",
        "{name} is {a year} play by {author}.",
        "{name} is a play about {subject}.",
        "{name}, a play about {subject}, was [first performed|first staged] in {premiered_in}.",
        "{name} is a [three-act|five-act|one-act] play [about|dealing with] {subject}.",
    ),
    groups=(
        (*_made("written", "author", "wrote"), "{P} author is {author}."),
        (
            "{S} was first performed in {year}.",
            "The first performance took place in {year}.",
            "{S} reached the stage in {year}.",
            "{S} dates from {year}.",
        ),
        (
            "The premiere took place in {premiered_in}.",
            "{S} was first staged in {premiered_in}.",
            "{premiered_in} saw the first performance.",
            "{S} had its premiere in {premiered_in}[|, before a half-empty house].",
            "{S} opened in {premiered_in}.",
        ),
        (
            "Its subject is {subject}.",
            "The plot concerns {subject}.",
            "{S} deals with {subject}.",
            "The play turns on {subject}.",
        ),
        (
            "The main part is that of {protagonist}.",
            "The main character is {protagonist}.",
            "Its leading role, {protagonist}, is [feared|prized] by actors.",
            "The action centres on {protagonist}, the main character.",
        ),
        (
            "{S} is dedicated to {dedicatee}.",
            "The printed text carries a dedication to {dedicatee}.",
            "Its dedicatee is {dedicatee}.",
            "{dedicatee} is the person to whom it is dedicated.",
        ),
    ),
    background=(
        "The first run lasted [nine nights|a whole season|less than a week].",
        "The stage directions are [unusually long|famously vague|written in verse].",
        "[Amateur companies|Students|Puppet theatres] still perform it.",
        "Audiences [laughed|whistled|wept] in the [second|last] act.",
        "The scenery was [borrowed from an opera house|painted by the actors|reduced to two chairs].",
        "Censors [removed|objected to] [a toast|a song|the final speech].",
    ),
)

_FILM = Style(
    leads=(
        "{name} is a film directed by {director}[|, released in {year}].",
        "{name} is {a year} film directed by {director}.",
        "{name} is {a year} film about {subject}.",
        "{name} is a film starring {star}[|, released in {year}].",
        "{name}, directed by {director} and released in {year}, is a film about {subject}.",
        "Released in {year}, {name} is a film [made at|produced by] {studio}.",
        "{name} is a film based on {based_on}.",
        "{name} is {a year} screen version of {based_on}.",
        "{name} is a film [about|that tells of] {subject}.",
    ),
    groups=(
        (*_made("directed", "director", "directed"), "Its director was {director}.", "{director} was the director."),
        (
            "{S} is also known as {aka}.",
            "Abroad {s} appeared as {aka}.",
            "An alternative title is {aka}.",
            "In some countries {s} was given the title {aka}.",
            "Its working title, still in use, was {aka}.",
        ),
        (
            "{S} was released in {year}.",
            "The film [opened|reached cinemas] in {year}.",
            "Its release came in {year}.",
            "The first showing took place in {year}.",
        ),
        (
            "The story is that of {subject}.",
            "The plot [concerns|turns on] {subject}.",
            "{S} tells of {subject}.",
            "{P} subject is {subject}.",
        ),
        (
            "The script is based on {based_on}.",
            "{S} is an adaptation of {based_on}.",
            "{S} was adapted from {based_on}[|, with a new ending].",
            "The story comes from {based_on}.",
            "Its source is {based_on}.",
        ),
        (
            "{S} was [produced by|made at] {studio}.",
            "The production company was {studio}.",
            "{studio} produced it[| on a small budget].",
            "Money came from {studio}, which produced it.",
        ),
        (
            "{star} plays the leading part.",
            "The leading role is played by {star}.",
            "{S} stars {star}[|, then almost unknown].",
            "The star of the film is {star}.",
            "In the main part {star} [was widely praised|divided the critics].",
        ),
        (
            "{S} was filmed in {filmed_in}.",
            "[Shooting|Filming] took place in {filmed_in}.",
            "The outdoor scenes were shot in {filmed_in}.",
            "{filmed_in} served as the location.",
            "The crew spent a wet autumn filming in {filmed_in}.",
        ),
        (
            "The music was composed by {score}.",
            "{score} wrote the music.",
            "Its score is by {score}.",
            "The score was the work of {score}[|, completed in two weeks].",
            "For the music the producers turned to {score}.",
        ),
        (
            "{S} won the {prize}.",
            "The film received the {prize}.",
            "{S} was honoured with the {prize}.",
            "The {prize} was awarded to the film.",
        ),
    ),
    background=(
        "Reviewers [admired|criticised|remarked on] the [camerawork|lighting|slow pace|long silences].",
        "[One reel|The original negative|A longer version] is [lost|missing|kept in a private vault].",
        "The crowd scenes used [real fishermen|two hundred soldiers|schoolchildren] as extras.",
        "[Audiences|Censors] [objected to|laughed at] [the final scene|a dance scene|the title cards].",
        "{S} was [a modest success|a failure at first|popular abroad] and is [seldom shown|often shown] today.",
        "The sets [were reused|burned down] [soon afterwards|within a year].",
    ),
    more_title="Making of {title}",
    more_leads=(
        "The making of the film {name} took [eleven weeks|nearly two years|a single summer].",
        "The film {name} was made under [difficult|unusual|cheerful] conditions.",
        "Production of the film {name} was [interrupted twice|calm and well planned|far over budget].",
    ),
    more=frozenset(("filmed_in", "score", "prize", "star")),
    more_background=(
        "[Heavy rain|A strike|A lost camera] [delayed|nearly ended] the work.",
        "The [costumes|boats|lamps] were [lent by|bought from] a local {trade}.",
        (
            "[Rushes|Early scenes] were shown to [bankers|a panel of teachers], who [asked for changes|promised more "
            "money]."
        ),
        "The [editor|sound engineer] [slept in the cutting room|left after a quarrel].",
        "A [diary|set of photographs] kept by an assistant [describes|records] the [long days|cold nights].",
    ),
)

_OPERA = Style(
    leads=(
        "{name} is an opera by {composer}[|, first heard in {year}].",
        "{name} is {a year} opera by {composer}.",
        (
            "{name} is an opera with [music by {composer} and words by {librettist}|words by {librettist} and music "
            "by {composer}]."
        ),
        "{name}, an opera about {subject}, [was first performed|had its premiere] in {premiered_in}.",
        "{name} is an opera [in three acts|in two acts|with spoken scenes] set in {set_in}.",
        "{name} is a [comic|tragic|short|grand] opera [about|on the subject of] {subject}.",
    ),
    groups=(
        (*_made("composed", "composer", "composed"), "{P} composer is {composer}."),
        (
            "{S} was first performed in {year}.",
            "The score is dated {year}.",
            "{S} was first heard in {year}.",
            "The first performance was given in {year}.",
        ),
        (
            "The premiere took place in {premiered_in}.",
            "{S} was first staged in {premiered_in}.",
            "{premiered_in} heard it first.",
            "{S} had its premiere in {premiered_in}.",
            "Its first performance was given in {premiered_in}.",
        ),
        (
            "The libretto is by {librettist}.",
            "{librettist} wrote the libretto.",
            "Its words are by {librettist}.",
            "The text was supplied by {librettist}, the librettist.",
            "For the libretto the composer turned to {librettist}.",
        ),
        (
            "The action is set in {set_in}.",
            "The story takes place in {set_in}.",
            "{S} is set in {set_in}.",
            "{set_in} is the setting.",
        ),
        (
            "The plot concerns {subject}.",
            "{S} tells of {subject}.",
            "Its subject is {subject}.",
            "The story deals with {subject}.",
        ),
        (
            "The first performance was conducted by {conductor}.",
            "{conductor} conducted the premiere.",
            "At the premiere the conductor was {conductor}.",
            "The baton at the first night was held by {conductor}.",
        ),
        (
            "{S} was revived by {revived_by}.",
            "{revived_by} later revived it.",
            "A revival by {revived_by} restored the cut scenes.",
            "The modern revival is owed to {revived_by}.",
        ),
    ),
    background=(
        "The [overture|second act|drinking song] is [often played on its own|the best known part].",
        "The orchestra [includes|calls for] [a glass harmonica|four harps|a set of cowbells].",
        "[Singers|Stagehands] [dread|enjoy] the [storm scene|balcony scene].",
        "[Critics|Composers] have [compared it to a carnival|called it overlong|praised its choruses].",
        "A piano version was [popular in drawing rooms|printed the same year].",
    ),
    more_title="Performance history of {title}",
    more_leads=(
        "The opera {name} has had a [chequered|long|curious] stage history.",
        "After its first season the opera {name} [vanished from the repertory|was heard everywhere|was shortened].",
        "The opera {name} was [rehearsed in secret|prepared in great haste|twice postponed].",
    ),
    more=frozenset(("conductor", "revived_by", "premiered_in")),
    more_background=(
        "[Parts|Scenes] of the score were [lost in a flood|replaced by other hands].",
        "The [chorus|leading tenor] [went on strike|refused to sing] [at the third performance|on the second night].",
        "[Recordings|Complete recordings] are [rare|few], and [none|only one] is [entirely satisfactory|without cuts].",
        "The [costumes|scenery] of the first production [survive|were auctioned].",
        "[Touring companies|Students] [performed|tried] it [in barns|with two pianos].",
    ),
)

_SONG = Style(
    leads=(
        "{name} is a song by {composer}[|, written in {year}].",
        "{name} is {a year} song by {composer}.",
        "{name} is a song about {subject}.",
        "{name} is a song made famous by {performer}.",
        "{name}, a song composed by {composer}, [tells of|is about] {subject}.",
        "{name} is a [slow|cheerful|mournful|simple] song [about|telling of] {subject}.",
    ),
    groups=(
        (*_made("composed", "composer", "composed"), "{P} composer is {composer}."),
        (
            "{S} dates from {year}.",
            "{S} was written in {year}.",
            "The first printing is dated {year}.",
            "{S} was first heard in {year}.",
        ),
        (
            "{S} was made famous by {performer}.",
            "{performer} was the first to sing it.",
            "{performer} sang it first[|, at a charity concert].",
            "The first singer to perform it was {performer}.",
        ),
        (
            "The words are by {lyricist}.",
            "{lyricist} wrote the words.",
            "Its lyrics are by {lyricist}.",
            "The text is by {lyricist}[|, who received no fee].",
        ),
        (
            "{S} was recorded in {recorded_in}.",
            "The first recording was made in {recorded_in}.",
            "{recorded_in} was the place of its first recording.",
            "A first recording followed in {recorded_in}.",
        ),
        (
            "The words tell of {subject}.",
            "Its subject is {subject}.",
            "{S} tells of {subject}.",
            "The verses deal with {subject}.",
        ),
    ),
    background=(
        "The melody [rises and falls|uses only five notes|resembles a lullaby].",
        "[Street musicians|Choirs|Barrel organs] [took it up|played it everywhere] [within months|that summer].",
        "The refrain is [known to every child|sung by heart|often parodied].",
        "[Several|Two] verses [were added later|are usually left out].",
        "{S} [has been arranged|exists in versions] for [accordion|brass band|zither|male choir].",
        "[Soldiers|Sailors|Students] sang it with other words.",
    ),
)

_PAINTING = Style(
    leads=(
        "{name} is a painting by {painter_of}[|, completed in {year}].",
        "{name} is {a year} painting by {painter_of}.",
        "{name} is a painting that shows {motif}.",
        "{name} is a painting of {motif} by {painter_of}.",
        "{name}, a painting in {museum}, [shows|depicts] {motif}.",
        "Completed in {year}, the painting {name} [shows|depicts] {motif}.",
    ),
    groups=(
        (*_made("painted", "painter_of", "painted"), "The painter was {painter_of}."),
        (
            "{S} was completed in {year}.",
            "The canvas is dated {year}.",
            "{S} dates from {year}.",
            "{S} was first shown in {year}.",
        ),
        (
            "{S} shows {motif}.",
            "The picture depicts {motif}.",
            "{P} subject is {motif}.",
            "In the foreground the viewer sees {motif}.",
        ),
        (
            "{S} hangs in {museum}.",
            "The picture [is owned by|belongs to] {museum}.",
            "Today it is kept in {museum}.",
            "{museum} [owns|acquired] the canvas.",
            "Visitors can see it in {museum}.",
        ),
        (
            "{S} was commissioned by {commissioner}.",
            "{commissioner} [commissioned|ordered] it.",
            "The commission came from {commissioner}.",
            "{S} was painted at the request of {commissioner}.",
        ),
        (
            "{S} was painted in {painted_in}.",
            "Work was done in {painted_in}.",
            "The canvas was painted in {painted_in}[|, in a rented barn].",
            "{painted_in} is where it was painted.",
        ),
        (
            "{S} was restored in {restored}.",
            "A restoration in {restored} [removed yellow varnish|brought out a hidden figure].",
            "In {restored} the canvas was cleaned and restored.",
            "Restorers worked on it in {restored}.",
        ),
        (
            "{S} once belonged to {previous_owner}.",
            "A previous owner was {previous_owner}.",
            "{previous_owner} owned it for a time.",
            "{S} came from the collection of {previous_owner}.",
        ),
    ),
    background=(
        (
            "The [palette|colouring] is [dark, dominated by greys|restrained, with touches of vermilion|"
            "unusually bright|pale and cool]."
        ),
        "X-rays [reveal|have shown] [an earlier portrait|a second horse|a painted-over window].",
        "[Copies|Prints] of it [hung in many parlours|were sold at fairs].",
        "[Critics|Visitors] [admire|debate] the [light|crooked horizon|figure on the left].",
        "The frame is [original|a later addition|carved with acorns].",
        "{S} measures [less than|more than|about] two [feet|metres] across.",
    ),
    more_title="Provenance of {title}",
    more_leads=(
        "The painting {name} has changed hands [several times|more often than most].",
        "The ownership of the painting {name} [is well documented|was long disputed].",
        "Much has been written about the fate of the painting {name}.",
    ),
    more=frozenset(("restored", "previous_owner", "commissioner")),
    more_background=(
        "{S} was [hidden in a cellar|rolled up in a carpet|lent to a school] [during the war|for a decade].",
        "A [forged|second] version [was exposed|surfaced] [at auction|in a provincial sale].",
        "[Dealers|Experts] [quarrelled over|valued] it [for years|more than once].",
        "[Tax records|Letters|Old inventories] [mention|list] it [under another title|without a price].",
        "The [back|stretcher] bears [two wax seals|a shipping label|a child's drawing].",
    ),
)

_TREATISE = Style(
    leads=(
        "{name} is a treatise by {author}[|, published in {year}].",
        "{name} is {a year} treatise by {author}.",
        "{name} is a [learned|short|richly illustrated] treatise [published in {year}|that first appeared in {year}].",
        "{name} is a [learned|short|controversial] scientific treatise.",
    ),
    groups=(
        (*_made("written", "author", "wrote"), "{P} author is {author}."),
        (
            "{S} appeared in {year}.",
            "{S} was published in {year}.",
            "The first edition is dated {year}.",
            "{year} is the date on the title page.",
        ),
        (
            "{S} was published by {publisher}.",
            "{publisher} printed and published it.",
            "The publisher was {publisher}.",
            "{S} came out with {publisher}, its publisher.",
        ),
        (
            "{S} is dedicated to {dedicatee}.",
            "The dedication names {dedicatee}.",
            "The dedicatee is {dedicatee}.",
            "{S} carries a long dedication to {dedicatee}.",
        ),
        (
            "The plates are by {illustrator}.",
            "{S} was illustrated by {illustrator}.",
            "{illustrator} drew the illustrations.",
            "The illustrations are the work of {illustrator}.",
        ),
    ),
    background=(
        "The [tables|figures|measurements] were [reprinted|relied on] for [decades|half a century].",
        (
            "{S} [argues|claims] that [patience matters more than instruments|older tables were wrong|small errors "
            "cancel out]."
        ),
        "[Rivals|Reviewers] [attacked|praised] the [method|preface|conclusions].",
        "A [second|revised] edition [was planned|never appeared|added forty pages].",
        "[Students|Surveyors|Apothecaries] [used|carried] it [as a handbook|for daily work].",
        "Its [index|preface] is [longer than any chapter|a small masterpiece].",
    ),
)


def _organisation(
    what: str, extra: tuple[tuple[str, ...], ...], background: tuple[str, ...], leads: tuple[str, ...]
) -> Style:
    """The phrases that all institutions share, with those of one kind."""
    return Style(
        leads=(
            "{name} is {a noun} [based|with its headquarters] in {town}.",
            "{name} is {a noun} founded by {founder}[| in {founded}].",
            "{name} is {a noun} in {town}, founded in {founded}.",
            "Founded in {founded}, {name} is {a noun} [based in {town}|with its seat in {town}].",
            "{name}, {a noun} in {town}, was [founded|established] by {founder}.",
            "{name} is {a noun} of [long standing|some importance|modest size].",
            *leads,
        ),
        groups=(
            (
                "{S} was founded in {founded}[| with borrowed money| after two failed attempts].",
                "{founder} founded it[| in {founded}].",
                "{P} founder was {founder}.",
                "{S} was established by {founder}[|, who paid the first bills].",
                "{P} foundation dates from {founded}.",
                f"[The {what} was established|Its statutes were signed|It came into being] in {{founded}}.",
                "{S} owes its existence to its founder, {founder}.",
                (
                    f"It was {{founder}} who founded the {what}, [against the advice of friends|with help from a "
                    f"cousin][| in {{founded}}]."
                ),
            ),
            (
                "{P} [headquarters are|seat is|home is] in {town}.",
                f"The {what} is based in {{town}}.",
                "{S} is based in {town}[|, close to the station|, in a former granary].",
                "[Its offices are in {town}|{S} has its seat in {town}].",
                "Its home is {town}[|, where it owns a small building|, though many think it comes from elsewhere].",
            ),
            *extra,
            (
                "{S} was [for many years|long] headed by {head}.",
                f"{{head}} headed the {what} [for a decade|through hard times].",
                f"Under its best known head, {{head}}, the {what} doubled in size.",
                "Its best known head was {head}.",
                "Among those in charge, {head} [stayed longest|is best remembered] as head.",
            ),
            (
                "{S} moved to new premises in {moved}.",
                f"In {{moved}} the {what} moved into a larger building.",
                "New premises were opened in {moved}.",
                "The present building dates from {moved}.",
            ),
            (
                "{S} was [later|eventually] bought by {owner}.",
                f"{{owner}} [acquired|bought] the {what}.",
                "{S} passed into the ownership of {owner}.",
                "Since a sale of shares its owner has been {owner}.",
            ),
        ),
        background=background,
        more_title="History of {title}",
        more_leads=(
            "The history of {name}, {a noun}, [falls into three periods|is one of slow growth|has been written twice].",
            "The early years of {name}, {a noun}, were [hard|prosperous|uneventful].",
            (
                "{name}, {a noun}, [survived two fires and a bankruptcy|began in two rented rooms|grew out of a "
                "reading circle]."
            ),
        ),
        more=frozenset(("head", "moved", "owner", "founded")),
        more_background=(
            (
                f"[Minutes|Account books|Letters] of the {what} [survive|have been printed] [in part|from the first "
                "decades]."
            ),
            (
                f"[A flood|A fire|A dishonest cashier] [nearly ruined|set back] the {what} [in its early days|more "
                "than once]."
            ),
            "The [jubilee|twenty-fifth year] was marked with [a banquet|a printed history|a day's holiday].",
            "[Former members|Old employees] recalled [cold rooms|long hours] and [good company|much laughter].",
            "[War|A long depression] [closed its doors|halved its staff] [for some years|for a time].",
        ),
    )


_PUBLISHER = _organisation(
    "house",
    (),
    (
        "Its list [ranges|ranged] from [cookery|almanacs|law] to [poetry|travel|children's books].",
        "The [colophon|emblem] shows [a snail|two keys|a heron].",
        (
            "[Authors|Printers] [complained of its slow payments|praised its careful proofreading|seldom saw its "
            "director]."
        ),
        "[Cheap editions|School readers] [kept it afloat|made its name].",
        "Its [archive|warehouse] was [damaged by water|moved several times].",
    ),
    ("{name} is {a noun} [specialising in|known for] [novels|school books|maps|almanacs] and [verse|travel writing].",),
)
_STUDIO = _organisation(
    "studio",
    (),
    (
        "Its [stages|workshops] [occupy|filled] [a former brewery|an old tram depot|three greenhouses].",
        "[Comedies|Serials|Newsreels] [made up|formed] the larger part of its output.",
        "{S} [trained|employed] many [camera operators|set painters].",
        "The studio [owned|hired] [its own zoo|a steam yacht|forty horses].",
        "[Sound|Colour] came late to its productions.",
    ),
    ("{name} is {a noun} [known for|specialising in] [comedies|melodramas|newsreels].",),
)
_ORCHESTRA = _organisation(
    "orchestra",
    (),
    (
        (
            "{S} gives [thirty|forty|about sixty] concerts a year, [many|some] of them [out of doors|in schools|in "
            "churches]."
        ),
        "The [strings|horns|woodwinds] are [especially admired|said to be the best part of it].",
        "[Tours|Broadcasts] [made|have made] it known [abroad|far beyond the region].",
        "Its [summer concerts|rehearsals] are open to [children|everyone].",
        "{S} [owns|borrowed] a set of [old kettledrums|natural horns].",
    ),
    ("{name} is {a noun} of [fifty|seventy|ninety] players.",),
)
_MUSEUM = _organisation(
    "museum",
    (),
    (
        "Its rooms are [lit from above|arranged by period|small and crowded].",
        "The [print room|garden|ceramics wing] is [open on request|a favourite of visitors].",
        "[School classes|Copyists] [are admitted free|come daily].",
        "{S} [owns|houses] [some four thousand|several hundred] works, [few of them on show|most of them gifts].",
        "[Thieves|Moths|A burst pipe] [once damaged|caused losses in] the collection.",
    ),
    ("{name} is {a noun} [devoted to|with a collection of] [older painting|drawings and prints|sculpture].",),
)
_UNIVERSITY = _organisation(
    "university",
    (),
    (
        "{S} is [known for|strong in] [law and medicine|the natural sciences|ancient languages|engineering].",
        "Students [wear|wore] [grey gowns|green caps] on feast days.",
        "The [library|botanical garden|anatomy theatre] is [the oldest part|open to the public].",
        (
            "[Lectures|Examinations] were held in [the chapel|private houses|an unheated hall] [for generations|until "
            "the reforms]."
        ),
        "Its [choir|debating society|rowing crew] is [widely known|older than the main building].",
    ),
    ("{name} is {a noun} with [four|five|six] faculties.",),
)
_OBSERVATORY = _organisation(
    "observatory",
    (),
    (
        "Its [dome|meridian room] was [paid for by a lottery|damaged by hail|rebuilt in copper].",
        "[Two comets|Several minor planets|Three new stars] [were|have been] recorded there.",
        "Its [time signal is used by ships|weather reports are printed daily|tables are sold to sailors].",
        "[City lights interfere|Smoke interferes|Fog often interferes] with the work[| more every year].",
        "Its [main telescope|clock] was [built on the spot|bought second-hand].",
    ),
    ("{name} is {a noun} [on a low hill|above the town|at the edge of a forest].",),
)
_CLUB = _organisation(
    "club",
    (
        (
            "Its colours are {colours}.",
            "Members wear {colours}.",
            "The club colours are {colours}.",
            "On race days its {colours} [flags|scarves] are everywhere.",
        ),
        (
            "Its main sport is {discipline}.",
            "The club is [known|best known] for {discipline}.",
            "{S} is devoted [mainly|chiefly] to {discipline}.",
            "Its first love is {discipline}.",
        ),
        (
            "Its coach was {coach}.",
            "For years {coach} was the coach.",
            "{coach} coached its best teams.",
            "{S} was coached by {coach}[|, who took no pay].",
            "Success came under the coach {coach}.",
        ),
    ),
    (
        "The [clubhouse|boathouse|ground] [was built by its members|burned down twice|seats a few hundred].",
        "[Contests|Matches] with [the garrison|neighbouring towns] [could be|were often] [fierce|comic].",
        "[Women|Apprentices] were admitted [from the start|after a close vote].",
        "{S} [publishes|published] a [newsletter|yearbook] [famous for its jokes|read by few].",
    ),
    ("{name} is {a noun} devoted to {discipline}.", "{name} is {a noun} from {town} whose members wear {colours}."),
)
_PARTY = _organisation(
    "party",
    (
        (
            "Its colour is {colours}.",
            "The party colour is {colours}.",
            "Its members wear {colours} ribbons.",
            "Its posters are printed in {colours}, the party colour.",
        ),
    ),
    (
        "{S} [drew|draws] support from [small farmers|shopkeepers|teachers|railway workers].",
        "{S} [favours|favoured] [low tariffs|free schooling|land reform|rule by local councils].",
        "[Splits|Quarrels] [weakened|divided] it [more than once|before every election].",
        "Its [newspaper|youth branch|choir] was [larger than the party itself|short-lived].",
    ),
    ("{name} is {a noun} whose colour is {colours}.",),
)
_COMPANY = _organisation(
    "company",
    (
        (
            "{S} [makes|manufactures|produces] {product}.",
            "The firm is known for its {product}.",
            "Its main product is {product}.",
            "The company became known for {product}.",
            "Its {product} [were sold|are sold] in [every market town|distant ports].",
        ),
    ),
    (
        "[Workers|Apprentices] [lived|were housed] in [company cottages|a hostel beside the works].",
        "Its [trademark|label] is [a running hare|an owl|a red star|a bell].",
        "[Strikes|Price wars|Bad debts] [troubled|marked] the [early|lean] years.",
        "[Sales|Exports] [grew|rose] when [the railway came|duties were lowered|a rival closed].",
        (
            "{S} [employed|gave work to] [some two hundred|more than a thousand] people, [half of them women|many "
            "from the same families]."
        ),
        "A [brass band|savings bank|school] was attached to the [works|factory].",
    ),
    (
        "{name} is {a noun} that [makes|manufactures|sells] {product}.",
        "{name}, based in {town}, is {a noun} [known for|making] {product}.",
    ),
)
_SHIPYARD = _organisation(
    "yard",
    (
        (
            "{S} [builds|built] mainly {product}.",
            "The yard is known for {product}.",
            "Its main product is {product}.",
            "Most of its hulls were {product}.",
        ),
    ),
    (
        "[Launches|Spring launches] [were|became] [public holidays|crowded events].",
        "[Oak|Teak|Larch] came [by river|from its own forests].",
        "The [slipway|rope loft|pattern shop] is [still in use|now a museum].",
        "[Caulkers|Riveters] [earned|demanded] higher wages than elsewhere.",
        "A [fire|storm] [destroyed|damaged] two unfinished hulls.",
    ),
    ("{name} is {a noun} that [builds|specialises in] {product}.",),
)

_SHIP = Style(
    leads=(
        "{name} was {a noun} built by {builder}[|, launched in {launched}].",
        "{name} was {a noun} launched in {launched}.",
        "{name} was {a noun} commanded by {captain}.",
        "Launched in {launched}, {name} was {a noun} [whose home port was|registered at] {home_port}.",
        "{name} was {a noun} [of three decks|with a shallow draught|of unusual length].",
    ),
    groups=(
        (
            "{S} was built by {builder}.",
            "The builder was {builder}.",
            "{builder} built the ship[| on speculation].",
            "The hull came from {builder}, which built the ship.",
        ),
        (
            "{S} was launched in {launched}.",
            "The launch took place in {launched}.",
            "{S} entered the water in {launched}[|, three months late].",
            "In {launched} the ship was launched[| before a large crowd].",
        ),
        (
            "{captain} was its [best known|first] captain.",
            "{S} sailed under {captain}.",
            "Its captain was {captain}.",
            "The ship was commanded by {captain}[|, a strict disciplinarian].",
            "Command was given to {captain}.",
        ),
        (
            "Its home port was {home_port}.",
            "{S} sailed out of {home_port}, its home port.",
            "The ship was registered at {home_port}.",
            "{home_port} was its home port.",
        ),
        (
            "{S} was named after {namesake}.",
            "The ship took its name from {namesake}.",
            "{S} bears the name of {namesake}.",
            "It was {namesake} whose name the ship carried.",
        ),
        (
            "In {lost} it {fate}.",
            "{S} {fate} in {lost}.",
            "Its career ended when it {fate} in {lost}.",
            "The end came in {lost}, when it {fate}.",
            "The year {lost} was its last at sea, for it {fate}.",
        ),
        (
            "Its last owner was {last_owner}.",
            "By then it belonged to {last_owner}.",
            "{last_owner} was the last owner.",
            "{S} had been sold to {last_owner}, its last owner.",
        ),
    ),
    background=(
        "{S} carried [wool|nitrate|timber|passengers and mail] on [its early voyages|most crossings].",
        "The figurehead [showed|was] [a woman with a lamp|a leaping stag|a bearded king].",
        "[Sailors|Passengers] [thought it lucky|complained of its rolling|praised its speed].",
        "A [fever|mutiny|broken mast] [marred|interrupted] the [second|third] voyage.",
        "The crew numbered [between twenty and thirty|about forty|no more than fifteen].",
        "[Models|Drawings] of it [survive|hang in taverns].",
        (
            "[Pilots|Harbour clerks] [remembered|described] it as [a heavy sailer|easy to steer|always short of "
            "paint], and its [cook|carpenter] [served|stayed] on board for [eleven|fourteen] years."
        ),
        (
            "[Twice|Once] it [ran aground|lost an anchor] [in calm weather|within sight of harbour], [to the "
            "amusement of rival crews|though nobody was hurt]."
        ),
        (
            "The [cabins|holds] were [panelled in walnut|lined with tin|painted bright green], [a whim of the first "
            "owner|as the law required]."
        ),
        (
            "[Stowaways|A learned parrot|A fiddler] [appeared|turned up] in [more than one|every] account of life on "
            "board."
        ),
    ),
    more_title="Last voyage of {title}",
    more_leads=(
        (
            "The end of the {noun} {name_bare} [was reported around the world|is known from the log|gave rise to many "
            "stories]."
        ),
        "The last years of the {noun} {name_bare} were [quiet|unlucky|hard].",
        "The {noun} {name_bare} [had been refitted twice|was no longer young] when its last chapter began.",
    ),
    more=frozenset(("fate", "lost", "last_owner")),
    more_background=(
        (
            "[Divers|Salvage crews] [looked for|recovered] [the strongbox|copper fittings|crockery] [in the following "
            "summer|for years], [with little success|to great public interest]."
        ),
        (
            "[A cabin boy|A passenger|The second mate] later [described|told] what had happened in a [book|series of "
            "lectures] that [sold well|contradicts the log]."
        ),
        "[Cargo|Mail] worth [a small fortune|very little] was [saved|listed as missing].",
        "An inquiry [blamed nobody|blamed the weather|heard forty witnesses].",
        "[The bell|A lifeboat|The figurehead] was [recovered|washed ashore] [years later|by fishermen].",
        "[Ballads|Newspaper drawings] [recalled|exaggerated] the events.",
        "The [insurers|underwriters] [paid slowly|refused to pay].",
        (
            "[Former crew members|Relatives] [met|gathered] [every year|for the last time] in [a tavern|a chapel] by "
            "the quay."
        ),
    ),
)


_PLACE = (
    "{S} was held in {held_in}.",
    "{S} took place in {held_in}.",
    "The setting was {held_in}.",
    "{held_in} was the scene.",
    "The place was {held_in}[|, chosen for its good roads].",
)
_SIGNED = (
    "{S} was signed in {held_in}.",
    "The signing took place in {held_in}.",
    "{held_in} was the place of signature.",
    "The ceremony of signing was held in {held_in}[|, in an unheated hall].",
    "The delegates met and signed in {held_in}.",
)
_DEPARTURE = (
    "{S} [set out|departed] from {sailed_from}.",
    "The starting point was {sailed_from}.",
    "{sailed_from} was the port of departure.",
    "Crowds in {sailed_from} watched it depart.",
    "The party left {sailed_from} [in fine weather|a month late].",
)


def _event(
    extra: tuple[tuple[str, ...], ...], leads: tuple[str, ...], background: tuple[str, ...], more: Style | None = None
) -> Style:
    """The phrases that all events share, with those of one kind."""
    style = Style(
        leads=leads,
        groups=extra,
        background=background,
    )
    return (
        style
        if more is None
        else style._replace(
            more_title=more.more_title, more_leads=more.more_leads, more=more.more, more_background=more.more_background
        )
    )


_HOSTED = (
    "The host was {host}.",
    "{S} was [hosted|organised] by {host}.",
    "{host} [hosted the event|acted as host].",
    "The organisation was in the hands of {host}, the host.",
)
_ENTRANTS = (
    "There were {entrants}.",
    "In all, {entrants} were registered.",
    "{S} attracted {entrants}.",
    "The programme listed {entrants}.",
)
_TOURNAMENT = _event(
    (
        _PLACE,
        (
            "{S} was won by {winner}.",
            "The winner was {winner}.",
            "{winner} won[| by a narrow margin| after a protest]. ",
            "Victory went to {winner}.",
            "The title was taken by {winner}.",
            "{winner} took the title.",
        ),
        (
            "The sport was {discipline}.",
            "The contests were in {discipline}.",
            "{S} was a championship in {discipline}.",
            "Only {discipline} was on the programme.",
        ),
        _HOSTED,
        _ENTRANTS,
    ),
    (
        "{name} was {a discipline} championship [held|that took place] in {held_in}.",
        "{name} was a championship won by {winner}.",
        "{name} was {a discipline} championship[| with {entrants}].",
        "Won by {winner}, the {name_bare} was a championship in {discipline}.",
        "{name} was a [well attended|much discussed|rain-soaked] championship.",
    ),
    (
        "[Rain|Wind|Heat] [delayed|spoiled] the [opening|finals].",
        "[Tickets|Beds] were [scarce|sold twice over].",
        "A [judge|timekeeper] [resigned|was replaced] [after a dispute|before the final].",
        "[Local bands|School choirs] [played|sang] at the [closing|opening] ceremony.",
        "[Newspapers|Spectators] [spoke of little else|complained of the dust].",
    ),
)
_FESTIVAL = _event(
    (
        _PLACE,
        (
            "The main prize went to {winner}.",
            "{S} was won by {winner}.",
            "The jury chose {winner} as the winner.",
            "{winner} won the main prize.",
        ),
        (
            "The jury was headed by {jury_president}.",
            "{jury_president} presided over the jury.",
            "The president of the jury was {jury_president}.",
            "As president of the jury, {jury_president} had the last word.",
        ),
        (
            "A retrospective was devoted to {retrospective}.",
            "The retrospective honoured {retrospective}.",
            "There was a retrospective on {retrospective}.",
            "{retrospective} was the subject of a retrospective.",
        ),
        _ENTRANTS,
    ),
    (
        "{name} was a film festival held in {held_in}.",
        "{name} was a film festival with {entrants}.",
        "{name} was a film festival whose jury was headed by {jury_president}.",
        "{name} was a [lively|short|badly organised] film festival.",
    ),
    (
        "[Screenings|Late shows] [were sold out|ran over time].",
        "[Two projectors|The sound system] [failed|caught fire] on the [first|third] evening.",
        "[Students|Critics] [protested against|walked out of] [a newsreel|the opening film].",
        "A [ball|boat trip|brass parade] [closed|opened] the [week|festival].",
        "[Short films|Documentaries] were shown [in a tent|in the town hall].",
    ),
)
_EXHIBITION = _event(
    (
        _PLACE,
        (
            "The first prize went to {winner}.",
            "{winner} won the first prize.",
            "The gold medal was awarded to {winner}.",
            "The winner of the medal was {winner}.",
        ),
        _HOSTED,
        _ENTRANTS,
    ),
    (
        "{name} was an art exhibition held in {held_in}.",
        "{name} was an art exhibition of {entrants}.",
        "{name} was an art exhibition hosted by {host}.",
        "{name} was a [large|controversial|cheerful] art exhibition.",
    ),
    (
        "[Works|Pictures] were hung [frame to frame|in alphabetical order].",
        "[Rejected|Younger] artists [held a show of their own|protested in the street].",
        "The catalogue [ran to ninety pages|was full of errors].",
        "[Attendance|The weather] was [good|poor], and [sales|prices] [rose|were low].",
        "A [cartoonist|poet] [mocked|praised] [the jury|the visitors].",
    ),
)
_BATTLE = _event(
    (
        _PLACE,
        (
            "{S} was fought on {date}.",
            "The fighting [began|took place] on {date}.",
            "The date was {date}.",
            "{S} [began at dawn|was decided] on {date}.",
        ),
        (
            "The victor was {victor}.",
            "Victory went to {victor}.",
            "{victor} won the day.",
            "{S} was won by {victor}[|, against the odds].",
            "{victor} was victorious.",
        ),
        (
            "The losing side was led by {loser}.",
            "{loser} led the losing side.",
            "The defeated commander was {loser}.",
            "{S} ended in defeat for {loser}.",
        ),
        (
            "Losses came to {casualties}.",
            "The toll was {casualties}.",
            "Both sides together counted {casualties}.",
            "{S} cost {casualties}.",
        ),
        (
            "The best known picture of it is by {painter}.",
            "{painter} painted the scene.",
            "{S} was painted by {painter}.",
            "A large canvas by {painter} shows the scene.",
        ),
    ),
    (
        "{name} was a battle fought on {date}.",
        "{name} was a battle [fought|that took place] in {held_in}.",
        "{name} was a battle won by {victor}.",
        "{name}, fought in {held_in} on {date}, was a [decisive|confused|brief] battle.",
        "{name} was a [costly|short|muddled] battle.",
    ),
    (
        "[Fog|Mud|Low water] [hid|slowed] the [cavalry|guns].",
        "[Villagers|Monks] [sheltered|cared for] the wounded.",
        "Accounts [differ|disagree] about [the number of guns|who gave the order to retreat].",
        "A [chapel|stone cross|ploughed field] marks the [place|last stand].",
        "[Bullets|Buttons|Horseshoes] are still [found|sold to visitors].",
    ),
    Style(
        (),
        (),
        (),
        "Aftermath of {title}",
        (
            "The aftermath of the {name_bare}, a battle, [lasted for years|was bitter|changed several careers].",
            "After the {name_bare}, a battle, [both sides claimed success|peace talks began within a month].",
            "The consequences of the {name_bare}, a battle, [were felt for a generation|have been much debated].",
        ),
        frozenset(("casualties", "painter")),
        (
            "[Prisoners|The wounded] were [exchanged|taken home] [in the autumn|under a white flag].",
            "[Pensions|Medals] were [granted late|refused to many].",
            "[Taxes|Bread prices] rose [sharply|for two years].",
            "The [field|road] was [declared|treated as] sacred ground.",
            (
                "[Deserters|Stray horses] [were caught|turned up] [weeks later|as far off as the coast], [to the "
                "embarrassment of the officers|in poor condition]."
            ),
            (
                "[Painters|Journalists|Souvenir hunters] arrived [within days|before the smoke had cleared], and "
                "[several|two] of them [published|sold] [invented details|unreliable maps]."
            ),
            "[Veterans|Widows] [met|gathered] there [each year|on quiet anniversaries].",
        ),
    ),
)
_TREATY = _event(
    (
        _SIGNED,
        (
            "{S} was signed on {date}.",
            "The signatures are dated {date}.",
            "The text was signed on {date}[|, after midnight].",
            "{S} bears the date of {date}.",
        ),
        (
            "{S} was mediated by {mediator}.",
            "The mediator was {mediator}.",
            "{mediator} acted as mediator.",
            "The talks were led by {mediator}, the mediator.",
        ),
        (
            "The parties were {party_one} and {party_two}.",
            "{S} settled a dispute between {party_one} and {party_two}.",
            "{S} was concluded between {party_one} and {party_two}.",
            "{party_one} and {party_two} both signed.",
        ),
    ),
    (
        "{name} was a treaty signed in {held_in}[| on {date}].",
        "{name} was a treaty between {party_one} and {party_two}.",
        "{name} was a treaty mediated by {mediator}.",
        "{name} was a [hard-won|short-lived|modest] treaty.",
    ),
    (
        "{S} [regulated|dealt with] [fishing rights|customs duties|the return of prisoners|a disputed forest].",
        "[Secret clauses|Two articles] [were discovered later|were never applied].",
        "The talks [lasted eleven weeks|broke down twice].",
        "The [original|parchment] is [lost|stained with ink|kept under glass].",
        "[Bells|Cannon] [announced|greeted] the [news|signing].",
    ),
)
_FAIR = _event(
    (
        _PLACE,
        (
            "{S} was organised by {organiser}.",
            "The organiser was {organiser}.",
            "{organiser} organised it.",
            "The plan came from {organiser}, who organised it.",
        ),
        (
            "The gold medal went to {winner}.",
            "{winner} won the gold medal.",
            "The gold medal was awarded to {winner}.",
            "The jury gave its gold medal to {winner}.",
        ),
        _ENTRANTS,
    ),
    (
        "{name} was a trade fair held in {held_in}.",
        "{name} was a trade fair with {entrants}.",
        "{name} was a trade fair organised by {organiser}.",
        "{name} was a [crowded|profitable|muddy] trade fair.",
    ),
    (
        "[Machines|Steam ploughs|Organs] were shown [in a glass hall|in tents].",
        "[Pickpockets|Forged tickets] [caused trouble|were a nuisance].",
        "A [tower|fountain|model village] built for it [still stands|was soon pulled down].",
        "[Special trains|River steamers] [brought|carried] the visitors.",
        "[Accounts|The final figures] showed a [small loss|handsome profit].",
    ),
)
_VOYAGE = _event(
    (
        _DEPARTURE,
        (
            "{S} was led by {leader}.",
            "The leader was {leader}.",
            "{leader} led the party.",
            "Command lay with {leader}, its leader.",
        ),
        (
            "{S} sailed in {vessel}.",
            "The ship used was {vessel}.",
            "The party sailed aboard {vessel}.",
            "{vessel} carried the party.",
        ),
        (
            "The naturalist on board was {naturalist}.",
            "{naturalist} went along as naturalist.",
            "Its naturalist was {naturalist}.",
            "As naturalist the party had {naturalist}.",
        ),
    ),
    (
        "{name} was an expedition led by {leader}.",
        "{name} was an expedition that set out from {sailed_from}.",
        "{name} was an expedition aboard {vessel}.",
        "{name} was a [well equipped|daring|poorly planned] expedition.",
    ),
    (
        "[Ice|Scurvy|Contrary winds] [held it up|cost it a season].",
        "[Charts|Skins|Rock samples] were [brought home|sold to pay the crew].",
        "The [diaries|logs] [contradict one another|are in private hands].",
        "[Two|Three] [islands|bays] were [named|mapped].",
        "[Dogs|Ponies|Pigeons] were [taken along|of little use].",
    ),
)

_OWN: dict[str, Style] = {
    "person": _PERSON,
    "country": _COUNTRY,
    "region": _REGION,
    "town": _TOWN,
    "river": _RIVER,
    "mountain": _MOUNTAIN,
    "novel": _NOVEL,
    "play": _PLAY,
    "film": _FILM,
    "opera": _OPERA,
    "song": _SONG,
    "painting": _PAINTING,
    "treatise": _TREATISE,
    "publisher": _PUBLISHER,
    "studio": _STUDIO,
    "orchestra": _ORCHESTRA,
    "museum": _MUSEUM,
    "university": _UNIVERSITY,
    "observatory": _OBSERVATORY,
    "club": _CLUB,
    "party": _PARTY,
    "company": _COMPANY,
    "shipyard": _SHIPYARD,
    "ship": _SHIP,
    "tournament": _TOURNAMENT,
    "festival": _FESTIVAL,
    "exhibition": _EXHIBITION,
    "battle": _BATTLE,
    "treaty": _TREATY,
    "fair": _FAIR,
    "voyage": _VOYAGE,
}


def _with_shared(kind: str, style: Style) -> Style:
    """A style with the background that its whole class shares."""
    for kinds, shared in _SHARED.items():
        if kind in kinds:
            return style._replace(background=style.background + shared)
    return style


_SHARED = {
    ("novel", "play", "film", "opera", "song", "painting", "treatise"): _ANY_WORK,
    ("tournament", "festival", "exhibition", "fair"): _ANY_GATHERING + _ANY_EVENT,
    ("battle", "treaty", "voyage"): _ANY_EVENT,
    ("country", "region", "town", "river", "mountain"): _ANY_PLACE,
    (
        "publisher",
        "studio",
        "orchestra",
        "museum",
        "university",
        "observatory",
        "club",
        "party",
        "company",
        "shipyard",
    ): _ANY_ORGANISATION,
}

STYLES: dict[str, Style] = {kind: _with_shared(kind, style) for kind, style in _OWN.items()}
