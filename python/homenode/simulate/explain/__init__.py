"""Where the cores of a kept run went, and what would change it: causes, moves with their prices,
remedies, in sentences. Entry point: `explanation.explain`. Knows kept runs and the engine's
price of an instruction; nothing here simulates.
"""
