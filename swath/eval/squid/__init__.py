"""SQuID: 2,000 questions of quantity about satellite images, its ranges and its agreement statistics."""
