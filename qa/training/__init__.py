"""`pinakes qa train`: a model fitted to the shipped table and to pairs that people settled.

    table of labelled pairs + settled pairs ─▶ folds by site ─▶ boosted trees ─▶ model

Needs the extra `qa`.  `bench.qa_training` makes the table.
"""
