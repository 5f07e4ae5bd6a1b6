"""What is measured beside Moonvale, each in an interpreter of its own. Nothing here needs Moonvale."""
