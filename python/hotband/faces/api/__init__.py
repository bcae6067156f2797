"""The Python API: `public` is what `import hotband as hb` offers, a file a group."""
