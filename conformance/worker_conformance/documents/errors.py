"""The errors of this package: what is wrong with a document, why, and what to do about it.

A document that a Worker sent and that is merely invalid is no error here but a value (a tuple of
problems, a `Refused`). These are raised where there is no document to speak of.
"""

from attrs import frozen


@frozen
class DocumentError(Exception):
    """One thing wrong with one document: a stable `code`, the `cause` found, and a `hint`."""

    code: str
    cause: str
    hint: str

    def __str__(self) -> str:
        """Return all three in one line."""
        return f"{self.code}: {self.cause} ({self.hint})"


@frozen
class StrictJsonError(DocumentError):
    """The bytes are not exactly one JSON value with unique member names in UTF-8."""


@frozen
class DataModelError(DocumentError):
    """A value has no RFC 8785 form: a number outside binary64 or an unpaired surrogate."""


@frozen
class TimestampError(DocumentError):
    """A text is no timestamp of the protocol's timestamp profile."""


@frozen
class SchemaError(DocumentError):
    """A schema is missing, unreadable, or refers to one that is."""


@frozen
class SigningKeyError(DocumentError):
    """A signing key cannot be made from what was given."""
