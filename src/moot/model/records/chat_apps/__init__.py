"""What bridges to chat apps keep."""
