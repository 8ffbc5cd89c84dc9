//! Strict JSON, and short ways to its members.

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

/// The largest whole number that every JSON reader holds exactly.
const SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

/// Exactly one JSON value in UTF-8: no duplicate member, no byte-order mark, nothing behind it
/// (MWP-SDV-015, first stage). Numbers beyond a double and broken surrogates are refused with it.
pub fn parse_strictly(bytes: &[u8]) -> Option<Value> {
    serde_json::from_slice::<Strict>(bytes)
        .ok()
        .map(|strict| strict.0)
}

struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Strict)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("a number beyond a double"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(Strict(entry)) = entries.next_element()? {
            array.push(entry);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((name, Strict(value))) = members.next_entry::<String, Strict>()? {
            if object.insert(name, value).is_some() {
                return Err(de::Error::custom("a duplicate member"));
            }
        }
        Ok(Value::Object(object))
    }
}

/// The text of a member, or the empty text.
pub fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

/// The text of a member, owned.
pub fn owned(value: &Value, name: &str) -> String {
    text(value, name).to_owned()
}

/// The entries of a member, or none.
pub fn entries<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

/// The texts of a member that is a list.
pub fn texts(value: &Value, name: &str) -> Vec<String> {
    let texts = entries(value, name).iter().filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}

/// A whole number from 0, in whichever lawful spelling (`4`, `4.0`, `4e0`) it came.
pub fn whole(value: &Value) -> Option<u64> {
    let number = value.as_f64()?;
    (number.fract() == 0.0 && (0.0..=SAFE_INTEGER).contains(&number)).then_some(number as u64)
}

/// A whole number member, or 0.
pub fn count(value: &Value, name: &str) -> u64 {
    whole(&value[name]).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_strict_value_is_read() {
        let refused: [&[u8]; 8] = [
            b"{\"a\":1,\"a\":2}",
            b"{\"a\":1,\"\\u0061\":2}",
            b"\xef\xbb\xbf{}",
            b"{} {}",
            b"{\"a\":\"\xff\"}",
            b"[1e999]",
            b"[\"\\ud800\"]",
            b"[NaN]",
        ];
        for bytes in refused {
            assert_eq!(parse_strictly(bytes), None);
        }
        assert!(parse_strictly(b" {\"a\": [1, 2.5, null, \"\\u00e9\"]} ").is_some());
    }

    #[test]
    fn whole_numbers_have_many_spellings() {
        for text in ["4", "4.0", "4e0", "40e-1"] {
            let value = parse_strictly(text.as_bytes()).unwrap();
            assert_eq!(whole(&value), Some(4));
        }
        for text in ["4.5", "-4", "9007199254740993"] {
            let value = parse_strictly(text.as_bytes()).unwrap();
            assert_eq!(whole(&value), None, "{text}");
        }
    }
}
