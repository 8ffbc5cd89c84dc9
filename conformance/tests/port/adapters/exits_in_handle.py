import os

from well_behaved import misbehave

misbehave("handle", lambda _: os._exit(7))
