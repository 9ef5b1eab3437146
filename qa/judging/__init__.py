"""What a pair is judged to be: by a trained model, and, of one page alone, what kind it is.

Models are JSON: numbers and names, read by this package, without any code in them.
"""
