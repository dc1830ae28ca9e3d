"""The platform my-platform for factdrift."""
