//! RFC 8785 canonical JSON, content hashes, and base64url (MWP-FND-006, MWP-FND-007, MWP-EVT-012).

use ring::digest;
use serde_json::Value;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The canonical bytes of a value.
pub fn canonical(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

/// The canonical bytes of a document without its top-level `signature` (MWP-SDV-002).
pub fn signing_bytes(document: &Value) -> String {
    let mut bare = document.clone();
    if let Some(members) = bare.as_object_mut() {
        members.remove("signature");
    }
    canonical(&bare)
}

/// `sha256:` and the hash of the canonical bytes.
pub fn content_hash(value: &Value) -> String {
    format!("sha256:{}", hexadecimal(canonical(value).as_bytes()))
}

/// The SHA-256 of some bytes in lower-case hexadecimal.
pub fn hexadecimal(bytes: &[u8]) -> String {
    let hash = digest::digest(&digest::SHA256, bytes);
    hash.as_ref().iter().map(|b| format!("{b:02x}")).collect()
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Object(members) => {
            let mut names: Vec<&String> = members.keys().collect();
            names.sort_by(|a, b| a.encode_utf16().cmp(b.encode_utf16()));
            out.push('{');
            for (position, name) in names.into_iter().enumerate() {
                if position > 0 {
                    out.push(',');
                }
                out.push_str(&Value::String(name.clone()).to_string());
                out.push(':');
                write(&members[name], out);
            }
            out.push('}');
        }
        Value::Array(entries) => {
            out.push('[');
            for (position, entry) in entries.iter().enumerate() {
                if position > 0 {
                    out.push(',');
                }
                write(entry, out);
            }
            out.push(']');
        }
        Value::Number(number) => out.push_str(&spelled(number.as_f64().unwrap_or_default())),
        other => out.push_str(&other.to_string()),
    }
}

/// A double as ECMAScript spells it: the shortest digits that read back as the same number.
fn spelled(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let shortest = format!("{:e}", number.abs());
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let digits = mantissa.replace('.', "");
    let point = exponent.parse::<i32>().unwrap_or(0) + 1;
    let length = digits.len() as i32;
    let unsigned = if (length..=21).contains(&point) {
        format!("{digits}{}", "0".repeat((point - length) as usize))
    } else if (1..=21).contains(&point) {
        let (whole, fraction) = digits.split_at(point as usize);
        format!("{whole}.{fraction}")
    } else if (-5..=0).contains(&point) {
        format!("0.{}{digits}", "0".repeat(-point as usize))
    } else {
        let (first, rest) = digits.split_at(1);
        let dot = if rest.is_empty() { "" } else { "." };
        format!("{first}{dot}{rest}e{:+}", point - 1)
    };
    if number < 0.0 {
        format!("-{unsigned}")
    } else {
        unsigned
    }
}

/// Bytes in base64url without padding.
pub fn base64url(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let padded = [chunk, &[0; 2]].concat();
        let bits = u32::from_be_bytes([0, padded[0], padded[1], padded[2]]);
        for position in 0..=chunk.len() {
            let index = (bits >> (18 - 6 * position)) & 63;
            out.push(char::from(ALPHABET[index as usize]));
        }
    }
    out
}

/// The bytes that a text spells in base64url, if it is their canonical spelling (MWP-FND-007).
pub fn from_base64url(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    for chunk in text.as_bytes().chunks(4) {
        let mut bits = 0u32;
        for byte in chunk {
            let index = ALPHABET.iter().position(|letter| letter == byte)?;
            bits = bits << 6 | index as u32;
        }
        bits <<= 6 * (4 - chunk.len());
        out.extend_from_slice(&bits.to_be_bytes()[1..chunk.len()]);
    }
    (base64url(&out) == text).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_are_spelled_as_ecmascript_does() {
        let pairs = [
            (1e21, "1e+21"),
            (1e20, "100000000000000000000"),
            (0.000001, "0.000001"),
            (1e-7, "1e-7"),
            (-1.5, "-1.5"),
            (4.0, "4"),
            (123456.789, "123456.789"),
            (1.2345e-10, "1.2345e-10"),
        ];
        for (number, text) in pairs {
            assert_eq!(spelled(number), text);
        }
    }

    #[test]
    fn members_are_sorted_by_utf16() {
        let value = json!({"\u{fb33}": 1, "\u{1f600}": 2, "a": "\u{0007}"});
        let text = "{\"a\":\"\\u0007\",\"\u{1f600}\":2,\"\u{fb33}\":1}";
        assert_eq!(canonical(&value), text);
    }

    #[test]
    fn base64url_is_canonical() {
        for length in 0..9 {
            let bytes: Vec<u8> = (0..length).map(|n| n * 37 + 250).collect();
            assert_eq!(from_base64url(&base64url(&bytes)), Some(bytes));
        }
        for text in ["A", "AB", "AA==", "A+", "AAB"] {
            assert_eq!(from_base64url(text), None, "{text}");
        }
    }
}
