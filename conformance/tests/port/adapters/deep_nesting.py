from well_behaved import misbehave, send

misbehave("handle", lambda _: send("[" * 100_000 + "]" * 100_000 + "\n"))
