"""The corpus: figures that others measured on named drives, arrays and volumes."""
