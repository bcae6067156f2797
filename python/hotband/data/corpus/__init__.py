"""The corpus: figures that others measured on named drives, arrays and volumes, and the data sheets of these drives."""
