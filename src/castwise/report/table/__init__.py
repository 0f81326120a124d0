"""What an op gives for every dtype with every dtype, and the formats that is written in."""
