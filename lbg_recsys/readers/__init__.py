"""Readers of the user's own files: ratings, pairs, titles, documents."""
