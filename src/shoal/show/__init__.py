"""What people look at: terminal tables, and lists of what there is. Nothing here computes a number."""
