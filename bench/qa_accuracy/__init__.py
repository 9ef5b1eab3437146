"""How right the models of rendering QA are, on sites and faults the training never saw."""
