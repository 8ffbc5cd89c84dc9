from well_behaved import misbehave, send

misbehave("handle", lambda _: send('{"jsonrpc": "2.0", "id": ' + "9" * 10_000 + "}\n"))
