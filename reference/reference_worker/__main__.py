"""The Worker Port on standard input and output.

Responsible for newline-delimited JSON-RPC 2.0: one request a line in, one answer a line out. Never
writes anything else to standard output, and never interprets a stimulus.
"""

from __future__ import annotations

import argparse
import json
import sys
import traceback
from collections.abc import Callable
from typing import BinaryIO

from reference_worker.documents import Document
from reference_worker.port import WorkerPort, factory

LINE_BYTES_MAX = 16 * 1024 * 1024  # the Port's limit; a Snapshot of 100,000 Event IDs fits

HELP = """\
Runs the reference Worker behind the Worker Port: newline-delimited JSON-RPC 2.0 on stdin and
stdout. It is meant to be driven by the conformance suite:

    worker-conformance run --worker "stdio:python -m reference_worker"

By hand, type one request on each line and read one answer on each line:

    {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"portVersion":"1",
     "protocolVersion":"0.1","suite":{"name":"by hand","version":"0"}}}
    {"jsonrpc":"2.0","id":2,"method":"handle","params":{"type":"start", ...}}
    {"jsonrpc":"2.0","id":3,"method":"handle","params":{"type":"tick","now":"2026-07-15T00:00:00Z"}}
    {"jsonrpc":"2.0","id":4,"method":"shutdown"}

(each on one line). `start` names a state directory; the Worker keeps its journal there, in the
SQLite file worker.sqlite3, and goes on from it when it is started again, after any crash. The clock
is the `now` of each stimulus; the Worker has no other. Diagnostics go to stderr.
"""


def main() -> int:
    """Serve until `shutdown` or the end of input."""
    parser = argparse.ArgumentParser(
        prog="python -m reference_worker",
        description=HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.parse_args()
    return serve(factory(), sys.stdin.buffer, sys.stdout.buffer)


def serve(port: WorkerPort, requests: BinaryIO, answers: BinaryIO) -> int:
    """Answer requests, one at a time and in order."""
    methods: dict[str, Callable[[Document], Document]] = {
        "initialize": port.initialize,
        "handle": port.handle,
        "shutdown": lambda _: port.shutdown(),
    }
    while line := requests.readline(LINE_BYTES_MAX + 1):
        if not line.strip():
            continue
        answer, method = _answer(methods, line)
        answers.write(json.dumps(answer, separators=(",", ":")).encode() + b"\n")
        answers.flush()
        if method == "shutdown":
            return 0
    port.shutdown()
    return 0


def _answer(
    methods: dict[str, Callable[[Document], Document]], line: bytes
) -> tuple[Document, str | None]:
    if len(line) > LINE_BYTES_MAX:
        return _error(None, -32600, "line too long"), None
    try:
        request = json.loads(line)
        identifier, method = request["id"], request["method"]
    except (ValueError, KeyError, TypeError) as problem:
        return _error(None, -32700, f"not a JSON-RPC request: {problem}"), None
    if method not in methods:
        return _error(identifier, -32601, f"unknown method {method!r}"), None
    try:
        result = methods[method](request.get("params") or {})
    except Exception as problem:  # noqa: BLE001 - every failure is an answer, and named on stderr
        traceback.print_exc(file=sys.stderr)
        return _error(identifier, getattr(problem, "code", -32603), str(problem)), None
    return {"jsonrpc": "2.0", "id": identifier, "result": result}, method


def _error(identifier: object, code: object, message: str) -> Document:
    number = code if isinstance(code, int) else -32603
    return {"jsonrpc": "2.0", "id": identifier, "error": {"code": number, "message": message}}


if __name__ == "__main__":
    sys.exit(main())
