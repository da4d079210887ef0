"""What several readers share: what a format is, words and numbers, headings, samples over time,
recordings of nmon and njmon.
"""
