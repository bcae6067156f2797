"""Result folders of commands, and reading them."""
