"""Files of a store in another compression, as new generations.

    forms   what is to be written: the form, its ending, the dictionary
    stored  the act, collection by collection, file by file; what it would save
    tasks   the port by which files are written elsewhere

Layer: above `ingest`, whose leases and claims it uses.
"""
