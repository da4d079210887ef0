"""What several formats share: headings, columns, samples over time, what was recorded of a
partition.
"""
