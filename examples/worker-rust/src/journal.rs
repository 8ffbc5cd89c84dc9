//! The durable journal: one checksummed line a record, appended, synced, and only then answered for.
//!
//! It holds what took effect (Events, Snapshots) and the few facts of the Worker's own. All other
//! state is computed from it, so a crash at any point loses nothing that was acknowledged.

use crate::canonical::hexadecimal;
use serde_json::Value;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

const FILE_NAME: &str = "journal";
const CHECKSUM_DIGITS: usize = 16;

pub struct Journal {
    file: File,
    unwritten: Vec<u8>,
}

impl Journal {
    /// Opens the journal of a state directory and reads what it holds. A torn end is cut off: it
    /// was never answered for.
    pub fn open(directory: &Path) -> io::Result<(Self, Vec<Value>)> {
        let path = directory.join(FILE_NAME);
        let mut options = OpenOptions::new();
        let mut file = options.read(true).append(true).create(true).open(path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let mut records = Vec::new();
        let mut sound = 0;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let Some(record) = read(line) else { break };
            records.push(record);
            sound += line.len();
        }
        if sound < bytes.len() {
            file.set_len(sound as u64)?;
            file.sync_all()?;
        }
        if bytes.is_empty() {
            File::open(directory)?.sync_all()?;
        }
        let journal = Self {
            file,
            unwritten: Vec::new(),
        };
        Ok((journal, records))
    }

    pub fn append(&mut self, record: &Value) {
        let text = record.to_string();
        let sum = checksum(text.as_bytes());
        self.unwritten
            .extend_from_slice(format!("{sum} {text}\n").as_bytes());
    }

    /// Makes all that was appended durable.
    pub fn commit(&mut self) -> io::Result<()> {
        if self.unwritten.is_empty() {
            return Ok(());
        }
        self.file.write_all(&self.unwritten)?;
        self.unwritten.clear();
        self.file.sync_data()
    }
}

fn checksum(text: &[u8]) -> String {
    let mut digits = hexadecimal(text);
    digits.truncate(CHECKSUM_DIGITS);
    digits
}

fn read(line: &[u8]) -> Option<Value> {
    let line = line.strip_suffix(b"\n")?;
    let (sum, rest) = line.split_at_checked(CHECKSUM_DIGITS)?;
    let text = rest.strip_prefix(b" ")?;
    (checksum(text).as_bytes() == sum).then(|| serde_json::from_slice(text).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::fs;

    #[test]
    fn a_torn_end_is_cut_off_and_the_rest_is_kept() {
        let directory = std::env::temp_dir().join(format!("journal-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join(FILE_NAME);
        let (mut journal, _) = Journal::open(&directory).unwrap();
        let records = [json!({"n": 1}), json!({"n": 2})];
        records.iter().for_each(|record| journal.append(record));
        journal.commit().unwrap();
        let whole = fs::read(&path).unwrap();
        let second = whole.len() / 2;
        for length in second..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            let (_, kept) = Journal::open(&directory).unwrap();
            assert_eq!(kept, records[..1]);
            assert_eq!(fs::read(&path).unwrap().len(), second);
        }
        fs::remove_dir_all(&directory).unwrap();
    }
}
