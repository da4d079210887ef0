"""How results are told: tables for the terminal, sentences, pictures for a page.

Entry points: one module a subject, which takes a result and gives tables (`runs`, `explanations`,
`studies`, `hosts`, ...). Nothing is computed here but layout: a figure comes from the room that
owns it. Knows `model`, `simulate`, `hosts`, `tools`, `records`, `evidence`, `judge` and `planner`.
"""
