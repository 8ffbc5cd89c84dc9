"""Soaking: campaigns of generated worlds, spread over many processes and kept in a store.

`campaign` says which world a number is, `world` plays one, `outcome` is what comes back, `tally`
sums up, `store` keeps it, `cluster` spreads numbers over Dask, `merging` makes a result of it.
"""
