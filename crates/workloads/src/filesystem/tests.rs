//! Properties of the file system as a whole.
