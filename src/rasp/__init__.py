"""RASP, the language of transformers."""
