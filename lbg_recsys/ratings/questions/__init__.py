"""What can be asked of any rating model: lists, similar items and users, topics, explanations, new users."""
