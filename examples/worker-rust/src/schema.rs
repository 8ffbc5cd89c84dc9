//! The protocol's JSON Schemas, as far as their keywords go (MWP-FND-003, MWP-FND-009).

use crate::instant::Instant;
use regex::Regex;
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

const PREFIX: &str = "urn:missionweaveprotocol-worker-conformance:schema:protocol:";

macro_rules! sources {
    ($($name:literal),*) => {
        [$(include_str!(concat!("../../../schemas/protocol/", $name, ".schema.json"))),*]
    };
}

/// The schemas of what a Worker reads.
const SOURCES: [&str; 14] = sources![
    "agent-card",
    "approval",
    "artifact",
    "command",
    "common",
    "error",
    "event",
    "evidence",
    "group-snapshot",
    "membership",
    "presence-record",
    "websocket-frame",
    "work-contract",
    "work-item"
];

/// Whether a document fits the schema of that name, formats included.
pub fn fits(name: &str, document: &Value) -> bool {
    let schemas = schemas();
    schemas
        .resolve(&format!("{PREFIX}{name}"), "")
        .is_some_and(|(schema, root)| schemas.admits(schema, root, document))
}

struct Schemas {
    documents: HashMap<String, Value>,
    patterns: HashMap<String, Regex>,
}

fn schemas() -> &'static Schemas {
    static SCHEMAS: OnceLock<Schemas> = OnceLock::new();
    SCHEMAS.get_or_init(|| {
        let mut schemas = Schemas {
            documents: HashMap::new(),
            patterns: HashMap::new(),
        };
        for source in SOURCES {
            let schema: Value = serde_json::from_str(source).expect("a schema is JSON");
            compile_patterns(&schema, &mut schemas.patterns);
            let id = schema["$id"].as_str().expect("a schema has its $id");
            schemas.documents.insert(id.to_owned(), schema);
        }
        schemas
    })
}

fn compile_patterns(schema: &Value, patterns: &mut HashMap<String, Regex>) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::String(pattern)) = members.get("pattern") {
                let compiled = Regex::new(&absolute(pattern)).expect("a pattern is sound");
                patterns.insert(pattern.clone(), compiled);
            }
            members
                .values()
                .for_each(|value| compile_patterns(value, patterns));
        }
        Value::Array(entries) => entries
            .iter()
            .for_each(|value| compile_patterns(value, patterns)),
        _ => {}
    }
}

/// A pattern whose `$` is the end of the text and no line feed before it.
fn absolute(pattern: &str) -> String {
    match pattern.strip_suffix('$') {
        Some(body) => format!("{body}\\z"),
        None => pattern.to_owned(),
    }
}

impl Schemas {
    /// What a reference names, and the document that it stands in.
    fn resolve<'a>(&'a self, reference: &str, root: &str) -> Option<(&'a Value, &'a str)> {
        let (id, pointer) = reference.split_once('#').unwrap_or((reference, ""));
        let id = if id.is_empty() { root } else { id };
        let (id, document) = self.documents.get_key_value(id)?;
        Some((document.pointer(pointer)?, id))
    }

    fn admits(&self, schema: &Value, root: &str, value: &Value) -> bool {
        let Value::Object(keywords) = schema else {
            return schema.as_bool().unwrap_or(false);
        };
        keywords
            .iter()
            .all(|(keyword, rule)| self.keeps(keyword, rule, keywords, root, value))
    }

    fn keeps(
        &self,
        keyword: &str,
        rule: &Value,
        keywords: &Map<String, Value>,
        root: &str,
        value: &Value,
    ) -> bool {
        let admits = |schema: &Value| self.admits(schema, root, value);
        let each = |rule: &Value, admitted: &dyn Fn(&Value) -> bool| {
            rule.as_array()
                .is_some_and(|rules| rules.iter().all(admitted))
        };
        match keyword {
            "$ref" => self
                .resolve(rule.as_str().unwrap_or_default(), root)
                .is_some_and(|(schema, root)| self.admits(schema, root, value)),
            "allOf" => each(rule, &admits),
            "anyOf" => rule
                .as_array()
                .is_some_and(|rules| rules.iter().any(admits)),
            "not" => !admits(rule),
            "if" => {
                let branch = if admits(rule) { "then" } else { "else" };
                keywords.get(branch).is_none_or(admits)
            }
            "const" => equal(rule, value),
            "enum" => rule
                .as_array()
                .is_some_and(|rules| rules.iter().any(|one| equal(one, value))),
            "type" => has_type(rule.as_str().unwrap_or_default(), value),
            _ => match value {
                Value::Object(members) => {
                    self.keeps_members(keyword, rule, keywords, root, members)
                }
                Value::Array(entries) => self.keeps_entries(keyword, rule, root, entries),
                Value::String(text) => self.keeps_text(keyword, rule, text),
                Value::Number(number) => keeps_number(keyword, rule, number.as_f64()),
                _ => true,
            },
        }
    }

    fn keeps_members(
        &self,
        keyword: &str,
        rule: &Value,
        keywords: &Map<String, Value>,
        root: &str,
        members: &Map<String, Value>,
    ) -> bool {
        match keyword {
            "required" => rule.as_array().is_some_and(|names| {
                let mut names = names.iter().filter_map(Value::as_str);
                names.all(|name| members.contains_key(name))
            }),
            "properties" => rule.as_object().is_some_and(|properties| {
                let mut present = properties
                    .iter()
                    .filter_map(|(name, schema)| Some((schema, members.get(name)?)));
                present.all(|(schema, value)| self.admits(schema, root, value))
            }),
            "additionalProperties" => {
                let named = keywords.get("properties").and_then(Value::as_object);
                let mut others = members
                    .iter()
                    .filter(|(name, _)| !named.is_some_and(|named| named.contains_key(*name)));
                others.all(|(_, value)| self.admits(rule, root, value))
            }
            "propertyNames" => members
                .keys()
                .all(|name| self.admits(rule, root, &Value::String(name.clone()))),
            _ => true,
        }
    }

    fn keeps_entries(&self, keyword: &str, rule: &Value, root: &str, entries: &[Value]) -> bool {
        match keyword {
            "items" => entries.iter().all(|entry| self.admits(rule, root, entry)),
            "minItems" => entries.len() as u64 >= rule.as_u64().unwrap_or(0),
            "uniqueItems" => {
                let mut seen = HashSet::new();
                entries
                    .iter()
                    .all(|entry| seen.insert(crate::canonical::canonical(entry)))
            }
            _ => true,
        }
    }

    fn keeps_text(&self, keyword: &str, rule: &Value, text: &str) -> bool {
        let length = || text.chars().count() as u64;
        match keyword {
            "minLength" => length() >= rule.as_u64().unwrap_or(0),
            "maxLength" => length() <= rule.as_u64().unwrap_or(u64::MAX),
            "pattern" => self
                .patterns
                .get(rule.as_str().unwrap_or_default())
                .is_some_and(|pattern| pattern.is_match(text)),
            "format" => match rule.as_str() {
                Some("date-time") => Instant::parse(text).is_some(),
                Some("uri") => is_uri(text),
                _ => true,
            },
            _ => true,
        }
    }
}

fn keeps_number(keyword: &str, rule: &Value, number: Option<f64>) -> bool {
    let (Some(number), Some(bound)) = (number, rule.as_f64()) else {
        return true;
    };
    match keyword {
        "minimum" => number >= bound,
        "maximum" => number <= bound,
        _ => true,
    }
}

/// Numbers are equal by value, in whichever spelling.
fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        _ => one == other,
    }
}

fn has_type(name: &str, value: &Value) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => value.is_null(),
    }
}

/// An absolute RFC 3986 URI: a scheme, then lawful characters and whole percent-encodings.
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let scheme_ok = scheme.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || "+.-".contains(letter));
    let bytes = rest.as_bytes();
    let lawful = |(position, byte): (usize, &u8)| match byte {
        b'%' => bytes
            .get(position + 1..position + 3)
            .is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)),
        _ => byte.is_ascii_alphanumeric() || b"._~:/?#[]@!$&'()*+,;=-".contains(byte),
    };
    scheme_ok && bytes.iter().enumerate().all(lawful)
}
