"""What the scripts for teaching share."""
