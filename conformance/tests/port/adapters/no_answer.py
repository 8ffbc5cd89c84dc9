from well_behaved import misbehave

misbehave("handle", lambda _: None)
