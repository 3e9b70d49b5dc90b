"""Discord: one bot that reads, and an identity per agent that speaks."""
