//! What the strict rules ask of the points of Ed25519 keys and signatures (MWP-SDV-003, MWP-SDV-005).
//!
//! Signing and the verification equation are the crypto library's. It does not tell whether a point
//! is in its canonical encoding and in the subgroup of prime order, so this module does. It sees
//! public values only and need not run in constant time.

use std::sync::OnceLock;

const LIMB: u32 = 51;
const MASK: u64 = (1 << LIMB) - 1;
/// Four times the prime 2^255 - 19, by limbs: added before a subtraction so that no limb goes below 0.
const FOUR_PRIMES: [u64; 5] = [4 * (MASK - 18), 4 * MASK, 4 * MASK, 4 * MASK, 4 * MASK];
/// The order L of the base point, little-endian.
const ORDER: [u8; 32] = [
    0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
];

/// Whether 32 bytes are a public key: a canonical point of prime order, and not the identity.
pub fn is_public_key(bytes: &[u8]) -> bool {
    Point::decode(bytes).is_some_and(|point| !point.is_identity() && point.has_prime_order())
}

/// Whether 64 bytes can be a signature: R a canonical point with [L]R the identity, S below L.
pub fn is_signature(bytes: &[u8]) -> bool {
    bytes.len() == 64
        && bytes[32..].iter().rev().lt(ORDER.iter().rev())
        && Point::decode(&bytes[..32]).is_some_and(|point| point.has_prime_order())
}

/// An element of the field of 2^255 - 19 in five limbs of 51 bits, each at most a little above.
#[derive(Clone, Copy)]
struct Field([u64; 5]);

impl Field {
    const ZERO: Self = Self([0; 5]);
    const ONE: Self = Self([1, 0, 0, 0, 0]);

    fn small(value: u64) -> Self {
        Self([value, 0, 0, 0, 0])
    }

    /// The element of the lower 255 bits, little-endian.
    fn from_bytes(bytes: &[u8; 32]) -> Self {
        let mut limbs = [0; 5];
        for (bit, limb) in (0..255).step_by(LIMB as usize).zip(&mut limbs) {
            for place in 0..LIMB as usize {
                let position = bit + place;
                let value = u64::from(bytes[position / 8] >> (position % 8) & 1);
                *limb |= value << place;
            }
        }
        Self(limbs)
    }

    /// The canonical encoding.
    fn to_bytes(self) -> [u8; 32] {
        let mut limbs = self.carried().carried().0;
        // Adding 19 overflows 255 bits exactly if the value is not below the prime.
        let mut carry = 19;
        for limb in limbs {
            carry = (limb + carry) >> LIMB;
        }
        limbs[0] += 19 * carry;
        for index in 0..4 {
            limbs[index + 1] += limbs[index] >> LIMB;
            limbs[index] &= MASK;
        }
        limbs[4] &= MASK;
        let mut bytes = [0; 32];
        for position in 0..255 {
            let (limb, place) = (position / LIMB as usize, position % LIMB as usize);
            bytes[position / 8] |= ((limbs[limb] >> place & 1) as u8) << (position % 8);
        }
        bytes
    }

    fn carried(self) -> Self {
        let mut limbs = self.0;
        for index in 0..4 {
            limbs[index + 1] += limbs[index] >> LIMB;
            limbs[index] &= MASK;
        }
        limbs[0] += 19 * (limbs[4] >> LIMB);
        limbs[4] &= MASK;
        Self(limbs)
    }

    fn plus(self, other: Self) -> Self {
        let mut limbs = self.0;
        for (limb, addend) in limbs.iter_mut().zip(other.0) {
            *limb += addend;
        }
        Self(limbs).carried()
    }

    fn minus(self, other: Self) -> Self {
        let mut limbs = self.0;
        for (index, limb) in limbs.iter_mut().enumerate() {
            *limb = *limb + FOUR_PRIMES[index] - other.0[index];
        }
        Self(limbs).carried()
    }

    fn times(self, other: Self) -> Self {
        let mut sums = [0u128; 5];
        for (i, a) in self.0.into_iter().enumerate() {
            for (j, b) in other.0.into_iter().enumerate() {
                let wrapped = if i + j < 5 { 1 } else { 19 };
                sums[(i + j) % 5] += u128::from(a) * u128::from(b) * wrapped;
            }
        }
        let mut limbs = [0; 5];
        let mut carry = 0;
        for (limb, sum) in limbs.iter_mut().zip(sums) {
            let whole = sum + carry;
            *limb = whole as u64 & MASK;
            carry = whole >> LIMB;
        }
        limbs[0] += 19 * carry as u64;
        Self(limbs).carried()
    }

    fn squared(self) -> Self {
        self.times(self)
    }

    /// This element to the power of 2^`twos` - `less`, little enough for the exponents of this module.
    fn power(self, twos: u32, less: u8) -> Self {
        // 2^n - k is n bits of one, minus (k - 1): with k at most 32 only the last 5 bits differ.
        let last = 32 - less;
        let mut result = Self::ONE;
        for bit in (0..twos).rev() {
            result = result.squared();
            if bit >= 5 || last >> bit & 1 == 1 {
                result = result.times(self);
            }
        }
        result
    }

    fn inverted(self) -> Self {
        self.power(255, 21)
    }

    fn is_zero(self) -> bool {
        self.to_bytes() == [0; 32]
    }

    fn equals(self, other: Self) -> bool {
        self.minus(other).is_zero()
    }
}

struct Constants {
    /// d = -121665/121666 of the curve.
    d: Field,
    /// A square root of -1.
    root: Field,
}

fn constants() -> &'static Constants {
    static CONSTANTS: OnceLock<Constants> = OnceLock::new();
    CONSTANTS.get_or_init(|| {
        let quotient = Field::small(121_665).times(Field::small(121_666).inverted());
        Constants {
            d: Field::ZERO.minus(quotient),
            // (p - 1)/4 = 2^253 - 5
            root: Field::small(2).power(253, 5),
        }
    })
}

/// A point of the curve -x² + y² = 1 + dx²y² in extended coordinates.
#[derive(Clone, Copy)]
struct Point {
    x: Field,
    y: Field,
    z: Field,
    t: Field,
}

impl Point {
    const IDENTITY: Self = Self {
        x: Field::ZERO,
        y: Field::ONE,
        z: Field::ONE,
        t: Field::ZERO,
    };

    /// RFC 8032, 5.1.3, and nothing but the canonical encoding.
    fn decode(bytes: &[u8]) -> Option<Self> {
        let encoded: [u8; 32] = bytes.try_into().ok()?;
        let negative = encoded[31] >> 7 == 1;
        let y = Field::from_bytes(&encoded);
        let mut canonical = y.to_bytes();
        canonical[31] |= u8::from(negative) << 7;
        if canonical != encoded {
            return None;
        }
        let square = y.squared();
        let u = square.minus(Field::ONE);
        let v = constants().d.times(square).plus(Field::ONE);
        let cube = v.squared().times(v);
        // x = uv³(uv⁷)^((p-5)/8), and (p - 5)/8 = 2^252 - 3
        let root = u.times(cube.squared().times(v)).power(252, 3);
        let mut x = u.times(cube).times(root);
        let check = v.times(x.squared());
        if !check.equals(u) {
            if !check.plus(u).is_zero() {
                return None;
            }
            x = x.times(constants().root);
        }
        if x.is_zero() && negative {
            return None;
        }
        if (x.to_bytes()[0] & 1 == 1) != negative {
            x = Field::ZERO.minus(x);
        }
        let z = Field::ONE;
        Some(Self {
            x,
            y,
            z,
            t: x.times(y),
        })
    }

    fn plus(self, other: Self) -> Self {
        let a = self.y.minus(self.x).times(other.y.minus(other.x));
        let b = self.y.plus(self.x).times(other.y.plus(other.x));
        let twice_d = constants().d.plus(constants().d);
        let c = self.t.times(twice_d).times(other.t);
        let d = self.z.times(other.z);
        let d = d.plus(d);
        let (e, f, g, h) = (b.minus(a), d.minus(c), d.plus(c), b.plus(a));
        Self {
            x: e.times(f),
            y: g.times(h),
            z: f.times(g),
            t: e.times(h),
        }
    }

    fn is_identity(self) -> bool {
        self.x.is_zero() && self.y.equals(self.z)
    }

    /// Whether [L]P is the identity.
    fn has_prime_order(self) -> bool {
        let mut sum = Self::IDENTITY;
        for bit in (0..253).rev() {
            sum = sum.plus(sum);
            if ORDER[bit / 8] >> (bit % 8) & 1 == 1 {
                sum = sum.plus(self);
            }
        }
        sum.is_identity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ring::signature::{Ed25519KeyPair, KeyPair};

    fn encoded(y: u8) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes[0] = y;
        bytes
    }

    #[test]
    fn keys_and_signatures_of_the_library_are_good() {
        for seed in 0..20 {
            let pair = Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap();
            assert!(is_public_key(pair.public_key().as_ref()));
            assert!(is_signature(pair.sign(b"message").as_ref()));
        }
    }

    #[test]
    fn small_mixed_and_other_spellings_are_refused() {
        let mut order_two = [0xff; 32];
        order_two[0] = 0xec;
        order_two[31] = 0x7f;
        let order_four = encoded(0);
        for bytes in [encoded(1), order_two, order_four] {
            assert!(Point::decode(&bytes).is_some());
            assert!(!is_public_key(&bytes));
        }
        let mut negative_zero = encoded(1);
        negative_zero[31] = 0x80;
        let mut one_above_prime = [0xff; 32];
        one_above_prime[0] = 0xee;
        one_above_prime[31] = 0x7f;
        for bytes in [negative_zero, one_above_prime] {
            assert!(Point::decode(&bytes).is_none());
        }
        let pair = Ed25519KeyPair::from_seed_unchecked(&[1; 32]).unwrap();
        let good = Point::decode(pair.public_key().as_ref()).unwrap();
        let mixed = good.plus(Point::decode(&order_two).unwrap());
        assert!(good.has_prime_order() && !mixed.has_prime_order());
    }

    #[test]
    fn a_scalar_at_the_order_is_refused() {
        let mut signature = [0; 64];
        signature[0] = 1;
        signature[32..].copy_from_slice(&ORDER);
        assert!(!is_signature(&signature));
        signature[32] -= 1;
        assert!(is_signature(&signature), "the identity is permitted for R");
    }
}
