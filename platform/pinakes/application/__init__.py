"""What Pinakes does with a store: a function for each act, with its plan, progress and result.

Layer: above `profile`, which opens the stores; verbs, pages and jobs call it.  `store` is what
`import pinakes` exports of it.  Nothing here prints: what is done is reported to a function.
"""
