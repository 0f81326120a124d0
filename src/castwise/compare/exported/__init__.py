"""An exported model beside the function it was made of: `castwise check-export`."""
