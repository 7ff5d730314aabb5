"""The command line: one dispatcher and one module a command."""
