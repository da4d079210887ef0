"""A kept run in the formats that other programs read."""
