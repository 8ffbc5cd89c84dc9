"""Ed25519 as the protocol narrows it: strict encodings around the equation of RFC 8032.

`cryptography` signs and evaluates the equation. What libraries leave open is checked here: that a
public key and a signature's `R` are canonical encodings of points of the prime-order subgroup and
that `S` is below the group order (MWP-SDV-003, MWP-SDV-005). Never decides whose key it is.

Cost. Decoding a point and multiplying it by the group order takes milliseconds in Python. For a
public key that is paid once. For `R` it is paid only for signatures that fail, by this argument:
let `A` have passed `public_key_fault`, and let the library accept. The library evaluates
`R' = [S]B - [k]A` and compares the canonical encoding of `R'` with the bytes received. `B` and `A`
lie in the prime-order subgroup, hence so does `R'`, and the bytes received are its canonical
encoding. So an accepted signature under a checked key has a lawful `R`, and only a refused one is
looked at, to tell a bad encoding (stage 3) from a false equation (stage 6). A test feeds the
library a signature that only the cofactored equation accepts, so that a library which stops
comparing encodings is noticed.
"""

from functools import lru_cache

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

SIGNATURE_BYTES = 64
PUBLIC_KEY_BYTES = 32
FIELD_PRIME = 2**255 - 19
GROUP_ORDER = 2**252 + 27742317777372353535851937790883648493

_D = -121665 * pow(121666, -1, FIELD_PRIME) % FIELD_PRIME
_ROOT_OF_MINUS_ONE = pow(2, (FIELD_PRIME - 1) // 4, FIELD_PRIME)
_SIGN_BIT = 1 << 255

# Extended coordinates X, Y, Z, T with x = X/Z, y = Y/Z, xy = T/Z.
Point = tuple[int, int, int, int]
IDENTITY: Point = (0, 1, 1, 0)


def decode_point(encoding: bytes) -> Point | None:
    """Return the point that 32 bytes encode canonically (RFC 8032, 5.1.3), else None."""
    number = int.from_bytes(encoding, "little")
    y = number & (_SIGN_BIT - 1)
    if len(encoding) != PUBLIC_KEY_BYTES or y >= FIELD_PRIME:
        return None
    x = _x_of(y)
    if x is None:
        return None
    negative = number >= _SIGN_BIT
    if x == 0 and negative:  # the encoding of a negative zero
        return None
    if x & 1 != negative:
        x = FIELD_PRIME - x
    return x, y, 1, x * y % FIELD_PRIME


def encode_point(point: Point) -> bytes:
    """Return the canonical encoding of `point`."""
    inverse = pow(point[2], -1, FIELD_PRIME)
    x, y = point[0] * inverse % FIELD_PRIME, point[1] * inverse % FIELD_PRIME
    return (y | (x & 1) << 255).to_bytes(PUBLIC_KEY_BYTES, "little")


def add(left: Point, right: Point) -> Point:
    """Return the sum of two points (RFC 8032, 5.1.4)."""
    a = (left[1] - left[0]) * (right[1] - right[0]) % FIELD_PRIME
    b = (left[1] + left[0]) * (right[1] + right[0]) % FIELD_PRIME
    c = 2 * left[3] * right[3] * _D % FIELD_PRIME
    d = 2 * left[2] * right[2] % FIELD_PRIME
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % FIELD_PRIME, g * h % FIELD_PRIME, f * g % FIELD_PRIME, e * h % FIELD_PRIME


def multiply(scalar: int, point: Point) -> Point:
    """Return `scalar` times `point`; not in constant time, so never for a secret scalar."""
    product = IDENTITY
    for bit in bin(scalar)[2:]:
        product = add(product, product)
        if bit == "1":
            product = add(product, point)
    return product


def is_identity(point: Point) -> bool:
    """Tell whether `point` is the neutral element."""
    return point[0] % FIELD_PRIME == 0 and (point[1] - point[2]) % FIELD_PRIME == 0


@lru_cache(maxsize=4096)
def public_key_fault(encoding: bytes) -> str | None:
    """Say what is wrong with a public key's bytes, or None (MWP-SDV-005)."""
    if len(encoding) != PUBLIC_KEY_BYTES:
        return "a public key has 32 bytes"
    point = decode_point(encoding)
    if point is None:
        return "no canonical encoding of a point on the curve"
    if is_identity(point):
        return "the public key is the identity point"
    if not is_identity(multiply(GROUP_ORDER, point)):
        return "the public key is outside the prime-order subgroup"
    return None


def signature_length_fault(signature: bytes) -> str | None:
    """Say whether `signature` is not 64 bytes or its `S` not below the order (MWP-SDV-003)."""
    if len(signature) != SIGNATURE_BYTES:
        return "a signature has 64 bytes"
    if int.from_bytes(signature[PUBLIC_KEY_BYTES:], "little") >= GROUP_ORDER:
        return "S is not below the group order"
    return None


@lru_cache(maxsize=4096)
def commitment_fault(encoding: bytes) -> str | None:
    """Say what is wrong with the bytes of a signature's `R`, or None (MWP-SDV-003)."""
    point = decode_point(encoding)
    if point is None:
        return "R is no canonical encoding of a point on the curve"
    if not is_identity(multiply(GROUP_ORDER, point)):  # the identity itself is permitted
        return "R is outside the prime-order subgroup"
    return None


# One document is verified by everyone who is shown it, and again in a course that is compared.
@lru_cache(maxsize=1024)
def holds(public_key: bytes, signature: bytes, message: bytes) -> bool:
    """Tell whether the equation holds (MWP-SDV-006); `public_key` has passed its check."""
    try:
        _loaded(public_key).verify(signature, message)
    except InvalidSignature:
        return False
    return True


@lru_cache(maxsize=4096)
def _loaded(public_key: bytes) -> Ed25519PublicKey:
    return Ed25519PublicKey.from_public_bytes(public_key)


def _x_of(y: int) -> int | None:
    numerator = (y * y - 1) % FIELD_PRIME
    denominator = (_D * y * y + 1) % FIELD_PRIME
    square = numerator * pow(denominator, -1, FIELD_PRIME) % FIELD_PRIME
    root = pow(square, (FIELD_PRIME + 3) // 8, FIELD_PRIME)
    if root * root % FIELD_PRIME != square:
        root = root * _ROOT_OF_MINUS_ONE % FIELD_PRIME
    return root if root * root % FIELD_PRIME == square else None
