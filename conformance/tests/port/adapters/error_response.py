import json

from well_behaved import misbehave, send

ERROR = {"code": -32603, "message": "the journal is locked"}
misbehave(
    "handle",
    lambda request: send(
        json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": ERROR}) + "\n"
    ),
)
