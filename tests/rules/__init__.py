"""The rules, tested as the rulings state them: every test names its rulings on its `def` line."""
