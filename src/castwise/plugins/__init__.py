"""castwise inside other tools: pytest audits a package under test, IPython a cell."""
