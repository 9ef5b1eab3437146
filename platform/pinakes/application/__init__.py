"""What Pinakes does with a store: a function for each act, with its plan and result.

Layer: above `profile`, which opens the stores; verbs, pages and jobs call it.  Nothing here prints.
"""
