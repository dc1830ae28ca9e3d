"""The backend my-backend for factdrift."""
