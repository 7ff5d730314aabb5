"""The configuration files, shipped as package data."""
