"""The Python API: `public` is what `import hotband as hb` offers; each group of functions has a file."""
