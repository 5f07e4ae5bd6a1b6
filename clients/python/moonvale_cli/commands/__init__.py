"""The subcommands, one module each: SUMMARY, DESCRIPTION, EXAMPLES, add_arguments and run. Imported when called."""
