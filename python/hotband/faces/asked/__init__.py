"""What follows from a question (`hotband.base.question`): its command, its Python function, its form."""
