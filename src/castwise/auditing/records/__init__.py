"""What an audit sees and says, as records: everything else in auditing/ makes or reads these."""
