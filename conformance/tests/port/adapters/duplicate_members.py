from well_behaved import misbehave, send

misbehave("handle", lambda _: send('{"jsonrpc": "2.0", "id": 2, "id": 2, "result": {}}\n'))
