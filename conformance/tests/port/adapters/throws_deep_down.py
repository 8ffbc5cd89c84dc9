"""Tells its error as Node does, above a long stack, and exits."""

import json
import sys

from well_behaved import DECLARATION

for line in sys.stdin:
    call = json.loads(line)
    if call["method"] == "handle":
        print("TypeError: there is no member 'deadline'", file=sys.stderr)
        print(
            "\n".join(f"    at frame{n} (worker.js:{n})\n" for n in range(1, 41)), file=sys.stderr
        )
        sys.exit(1)
    answer = {"initialize": DECLARATION}.get(call["method"], {})
    print(json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": answer}), flush=True)
    if call["method"] == "shutdown":
        break
