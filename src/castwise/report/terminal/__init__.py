"""What every report on a terminal shares: colours, folded lines, bars, and where it goes."""
