"""The filter my-filter for factdrift."""
