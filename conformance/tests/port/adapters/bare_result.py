from well_behaved import misbehave, send

misbehave("handle", lambda _: send('{"effects": []}\n'))
