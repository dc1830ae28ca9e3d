"""The prompts of steps that need a model; a recipe can set its own."""

PREDICT = """\
Fill the gap of each statement with a name, a number or a few words. Write only what fills the gap.

Statement: The capital of Norway is [BLANK].
Gap: Oslo

Statement: [BLANK] wrote the novel Emma.
Gap: Jane Austen

Statement: Queen Victoria became queen of the United Kingdom in [BLANK].
Gap: 1837

Statement: <cloze>
Gap:"""
"""Slot: <cloze>, with the gap as `Writing.blank` has it."""

DECONTEXTUALISE = """\
Rewrite the sentence so that it can be understood without its article: replace pronouns and short \
names with full ones, and say what the article leaves to context. Change nothing else.

Article: Lindgrove elected Marta Oyelaran as its mayor. She received 54 percent of the vote.
Sentence: She received 54 percent of the vote.
Rewritten: Marta Oyelaran received 54 percent of the vote for mayor of Lindgrove.

Article: The ferry Nordlys ran aground near Brekvik. The ship's 212 passengers were brought ashore.
Sentence: The ship's 212 passengers were brought ashore.
Rewritten: The ferry Nordlys's 212 passengers were brought ashore near Brekvik.

Article: <article>
Sentence: <sentence>
Rewritten:"""
"""Slots: <article> and <sentence>."""

THERE = """\
Translate into German.

English: The town elected a new mayor on Sunday.
German: Die Stadt wählte am Sonntag eine neue Bürgermeisterin.

English: <text>
German:"""
"""Slot: <text>."""

BACK = """\
Translate into English.

German: Die Stadt wählte am Sonntag eine neue Bürgermeisterin.
English: On Sunday, the town elected a new mayor.

German: <text>
English:"""
"""Slot: <text>."""
