"""What an audit sees and reports, as records that the rest of auditing/ creates or reads."""
