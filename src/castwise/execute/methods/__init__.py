"""The methods of a tensor: names of several frameworks for castwise's ops and functions."""
