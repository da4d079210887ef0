"""What results look like: tables for the terminal, pictures for a page."""
