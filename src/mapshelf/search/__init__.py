"""What a search text asks for, and where in a map it is found."""
