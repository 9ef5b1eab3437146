"""Review of a run by people: judgements of pairs, what is settled, estimates for the crawl.

The pure parts: `judgement`, `reviewed_pair`, `visible_pair`, `estimate`, `summary`.
`judgement_rows` reads and writes the store; `board` holds a run that is
under review; `site` answers the reviewers' browsers.
"""
