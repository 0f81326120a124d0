"""The explorer: a page that looks up what every dialect answers, and the data it looks it up in."""
