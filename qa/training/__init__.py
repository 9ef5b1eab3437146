"""How the models of `judging` are made: packaged sites, faults put into them, folds by site.

    packages ─▶ archived pages ─▶ variants ─▶ looks ─▶ pairs ─▶ table of features ─▶ model

Needs the extra `qa`, a browser, apt and npm for the sites; `train` alone needs none of the last.
"""
