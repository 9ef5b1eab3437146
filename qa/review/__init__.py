"""People judge what a run found: who said what of a pair, what is settled, what it comes to.

The pure parts: `judgement`, `assignment`, `settled`, `agreement`, `estimate`, `seen`,
`filters`, `summary`.  `judgement_rows` reads and writes the store; `board` holds a run for
those who review it; `site` answers their browsers.
"""
