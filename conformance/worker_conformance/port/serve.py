"""Serves an in-process Worker over stdio: `python -m worker_conformance.port.serve module:factory`.

For the checks that need a process, such as a crash in the middle of a call. Never interprets a
message: what the object returns goes out as it is, and is judged on the other side.
"""

import json
import os
import sys
import traceback
from typing import BinaryIO, cast

from worker_conformance.documents.json_types import JsonObject, JsonValue, object_at
from worker_conformance.documents.strict_json import parse
from worker_conformance.port.in_process import InProcessWorker
from worker_conformance.port.isolation import isolated
from worker_conformance.port.locate import import_factory

RAISED = -32000  # JSON-RPC leaves the code to the implementation


def main(arguments: list[str]) -> int:
    """Serve the factory named by the only argument until `shutdown` or the end of the input."""
    answers = _take_stdout()
    serve(import_factory(arguments[0])(), sys.stdin.buffer, answers)
    return 0


def serve(worker: InProcessWorker, requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer each request line with one response line, until `shutdown`."""
    for line in requests:
        request = object_at(parse(line))
        response = _response(worker, request)
        answers.write(json.dumps(response, separators=(",", ":")).encode("utf-8") + b"\n")
        answers.flush()
        if request["method"] == "shutdown":
            return


def _take_stdout() -> BinaryIO:
    """Keep stdout for answers alone: what the Worker prints goes to stderr."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return answers


def _response(worker: InProcessWorker, request: JsonObject) -> JsonObject:
    head: JsonObject = {"jsonrpc": "2.0", "id": request["id"]}
    try:
        return {**head, "result": _result(worker, request)}
    except Exception as error:  # noqa: BLE001 - foreign code may raise anything
        traceback.print_exc()
        code = getattr(error, "code", None)
        known = code if isinstance(code, int) else RAISED
        return {**head, "error": {"code": known, "message": f"{type(error).__name__}: {error}"}}


def _result(worker: InProcessWorker, request: JsonObject) -> JsonValue:
    method, params = request["method"], cast(JsonObject, request.get("params"))
    if method == "initialize":
        return isolated(worker.initialize(params))
    if method == "handle":
        return isolated(worker.handle(params))
    return isolated(worker.shutdown())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
