"""Judges a pair by a trained model, and hints at the kind of a single page.

Models are JSON: numbers and names, without any code.
"""
