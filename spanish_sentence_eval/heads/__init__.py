"""What is trained on a task's feature rows, and how its figures are read off."""
