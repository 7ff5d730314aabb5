"""The controlled English-French corpus, shipped as package data."""
