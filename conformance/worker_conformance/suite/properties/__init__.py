"""Properties: what holds in every world, judged over worlds that nobody wrote by hand.

`registry` names them under their permanent IDs; `exploring` judges one of them.
"""
