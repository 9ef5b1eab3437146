"""What takes away: crawls (remove, cancel, purge), files of them, and records (withdraw).

    requests            what is asked, and what came of it
    targets             what a take-down was asked for: captures of the rows
    crawl_references    what refers to a crawl
    capture_references  what refers to captures, and what belongs to them
    companions          what belongs to them in the files of their crawl
    references          revisits that refer to what goes, and the bodies that they have
    choices             which of them becomes an original, and what the others refer to then
    obstacles           which of them cannot be provided for, before any is
    providing           they become full, or refer to another original, in new generations
    repointing, landed_revisits, changed_rows   of one file: ours, those that landed, and their rows
    file_removal        a whole file: hidden, rows, bytes
    file_withdrawal     records of a file: tombstones, older generations
    tombstones          the records that stand for them, cut out of shared members
    crawl_removal       the acts: remove and cancel
    purge_survey, purging   purge
    withdrawing         withdraw

Layer: above `dedupe`, whose restoring and proofs it uses; below `ingest`, which takes back and
completes with it.
"""
