//! Are the figures those of their definitions?
