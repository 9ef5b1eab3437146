"""Makes the training material of rendering QA: captures of packaged sites with injected faults.

    packages ─▶ archived pages ─▶ variants ─▶ looks ─▶ pairs ─▶ table of features ─▶ model

Needs the extra `qa`, Chromium, Firefox, apt and npm.  `pinakes.qa.training` fits models to the
table; `bench.qa_accuracy` measures them on other sites.
"""
