"""Time-evolving facts from Wikidata: readers, timelines, period and snapshot differences."""
