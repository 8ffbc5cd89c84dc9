"""JSON-RPC 2.0 as the Port uses it: one request line out, one response line in.

Pure functions over bytes. Says precisely what is wrong with a line that is no proper response, and
never looks into the result beyond its being an object.
"""

import json
from collections.abc import Mapping

from attrs import frozen

from worker_conformance.documents.errors import DocumentError
from worker_conformance.documents.json_types import JsonObject, JsonValue
from worker_conformance.documents.strict_json import parse
from worker_conformance.errors import AdapterError, SuiteError
from worker_conformance.port import messages
from worker_conformance.port.channel import MAX_LINE_BYTES


@frozen
class RpcError:
    """A JSON-RPC error: the Worker answered, and said no."""

    code: int
    message: str


def request_line(request_id: int, method: str, params: JsonObject | None) -> bytes:
    """Return the line that asks for `method`, with its line feed.

    Raises `SuiteError` where `params` are no JSON or longer than the Port allows.
    """
    request: JsonObject = {"jsonrpc": "2.0", "id": request_id, "method": method}
    if params is not None:
        request["params"] = params
    try:
        text = json.dumps(request, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        line = text.encode("utf-8") + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise SuiteError(
            "invalid-message", f"a request '{method}' is no JSON: {error}", "see what built it"
        ) from None
    if len(line) > MAX_LINE_BYTES:
        raise SuiteError(
            "invalid-message",
            f"a request '{method}' has {len(line)} bytes, the Port allows {MAX_LINE_BYTES}",
            "spread the frames over several stimuli",
        )
    return line


def read_response(line: bytes, request_id: int, called: str, where: str) -> JsonObject | RpcError:
    """Return the result or the error in `line`, the answer to request `request_id`.

    `called` names the request and `where` the line, both for the message of an `AdapterError`.
    """
    value = _parsed(line, called, where)
    found = messages.problems("response", value)
    if found or not isinstance(value, dict):
        raise AdapterError(
            "not-json-rpc",
            f"the answer to {called} is JSON, but no JSON-RPC 2.0 response:\n"
            + "\n".join(messages.shorten(str(one)) for one in found[: messages.SHOWN_PROBLEMS_MAX]),
            f"{where} is {messages.excerpt(line)}; a response has 'jsonrpc', the request's 'id', "
            "and either 'result' or 'error'",
            where,
        )
    if value["id"] != request_id and not (value["id"] is None and "error" in value):
        raise AdapterError(
            "wrong-id",
            f"the answer to {called} carries the id {value['id']}, the request {request_id}",
            f"{where} is {messages.excerpt(line)}; answer each request once, with its own id",
            where,
        )
    return _content(value)


def _content(response: JsonObject) -> JsonObject | RpcError:
    result, error = response.get("result"), response.get("error")
    if isinstance(error, dict):
        code = error["code"]
        assert isinstance(code, int | float)  # noqa: S101 - the schema has just said so
        return RpcError(int(code), str(error["message"]))
    assert isinstance(result, dict)  # noqa: S101 - the schema has just said so
    return result


_CODES: Mapping[str, str] = {
    "invalid-utf8": "invalid-utf8",
    "byte-order-mark": "byte-order-mark",
    "too-deep": "too-deep",
}
"""Errors of the parser with a name of their own; the others are `not-json`."""


def _parsed(line: bytes, called: str, where: str) -> JsonValue:
    try:
        return parse(line)
    except DocumentError as error:
        raise AdapterError(
            _CODES.get(error.code, "not-json"),
            f"the answer to {called} is no JSON: {error.cause}",
            f"{where} is {messages.excerpt(line)}; stdout carries JSON-RPC answers and nothing "
            "else, one on each line in UTF-8; logs belong on stderr",
            where,
        ) from None
