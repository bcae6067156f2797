"""Faces of a question (`hotband.base.question`): its command, its Python function, its form."""
