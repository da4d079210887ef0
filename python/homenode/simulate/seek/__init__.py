"""Looking for a figure by several runs of one scenario: the most users who are answered in time, a
benchmark's score.

Entry points: `users.find_users`, `warehouses.find_score`, `look.look_for` (whichever a scenario
asks for); `search` is the way to the users, without any run.
"""
