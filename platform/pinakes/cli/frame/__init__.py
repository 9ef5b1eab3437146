"""What verbs share: the command line, options, output, progress, exit codes."""
