"""A small synchronous grammar of English and French with word alignments."""
