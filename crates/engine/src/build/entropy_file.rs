//! Reading what `hotband entropy --json` wrote: the data of a workload as it was found in files.

use std::path::Path;

use hotband_machine::{SpecError, read_typed_text};
use hotband_workloads::{AppSpec, DataSpec, Workload};
use serde::Serialize;
use serde_json::Value;

/// Longest file that is read: files that the command writes are a hundred times shorter.
const LONGEST: u64 = 16 << 20;
/// Chunks whose histogram is the shape of the data: the mapping unit of most drives.
const CHUNK: u64 = 4096;
const COMPRESSOR: &str = "deflate";

/// Read the VALUE of `--set data=VALUE`: a number, a table, or a file of `hotband entropy --json`.
///
/// # Errors
/// None of them; a file that cannot be read or is something else.
pub(crate) fn data_of(value: &str) -> Result<DataSpec, SpecError> {
    let is_file = value.contains('/') || Path::new(value).extension().is_some_and(|end| end == "json");
    if is_file && !value.trim_start().starts_with('{') { of_file(value) } else { DataSpec::of_text(value) }
}

fn of_file(path: &str) -> Result<DataSpec, SpecError> {
    let unreadable = |error: std::io::Error| SpecError::new(path, "", "", format!("the file cannot be read: {error}"));
    let text = read_typed_text(Path::new(path), LONGEST).map_err(unreadable)?;
    let json = serde_json::from_str(&text)
        .map_err(|error| SpecError::new(path, "", "", format!("not valid JSON: {error}; {WRITTEN_BY}")))?;
    of_json(path, &json)
}

const WRITTEN_BY: &str = "expected a file that `hotband entropy --json` wrote";

/// The mean of whole archives, and the shape of the histogram of 4 KiB chunks scaled to it.
fn of_json(path: &str, json: &Value) -> Result<DataSpec, SpecError> {
    let wrong = |key: &str, value: &Value, accepted: &str| {
        let shown = match value {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            Value::Array(_) => "an array".to_owned(),
            Value::Object(_) => "an object".to_owned(),
            other => other.to_string(),
        };
        SpecError::new(path, key, shown, accepted)
    };
    for (key, known) in [("schema", Value::from("hotband-entropy")), ("schema_version", Value::from(1))] {
        if json[key] != known {
            return Err(wrong(key, &json[key], &format!("expected {known}: {WRITTEN_BY}")));
        }
    }
    let entropy = &json["archive"][COMPRESSOR]["entropy"];
    let mean = entropy.as_f64().filter(|mean| *mean >= 0.0);
    let mean = mean.ok_or_else(|| wrong("archive.deflate.entropy", entropy, "expected a share of the size"))?;
    let of_chunk = |chunk: &&Value| chunk["size"] == CHUNK && chunk["compressor"] == COMPRESSOR;
    let chunk = json["chunks"].as_array().into_iter().flatten().find(of_chunk);
    let accepted = "expected chunks of 4096 B compressed with deflate, with a histogram of counts";
    let chunk = chunk.ok_or_else(|| wrong("chunks", &json["chunks"], accepted))?;
    let bins = chunk["histogram"].as_array();
    let weights: Option<Vec<f64>> = bins.and_then(|bins| bins.iter().map(Value::as_f64).collect());
    let fits = |weights: &Vec<f64>| weights.iter().all(|weight| *weight >= 0.0) && weights.iter().sum::<f64>() > 0.0;
    let weights = weights.filter(fits).ok_or_else(|| wrong("chunks.histogram", &chunk["histogram"], accepted))?;
    // What does not compress grows by a header or two in an archive.
    Ok(DataSpec::Histogram { weights, mean: Some(mean.min(1.0)) })
}

/// The data of a stream in a record, as it was used: what `--set data` takes, whatever it was read from.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct DataRecord {
    stream: String,
    mean: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    low: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    high: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    histogram: Option<Vec<f64>>,
}

impl DataRecord {
    pub fn new(stream: &str, data: &DataSpec) -> Self {
        let (low, high, histogram) = match data {
            DataSpec::Constant(_) => (None, None, None),
            DataSpec::Uniform { low, high, .. } => (Some(*low), Some(*high), None),
            DataSpec::Histogram { weights, .. } => (None, None, Some(weights.clone())),
        };
        Self { stream: stream.to_owned(), mean: data.mean(), low, high, histogram }
    }
}

/// Return the record of the data of the streams that write.
pub fn data_records(workload: &Workload) -> Vec<DataRecord> {
    let writers = workload.streams.iter().enumerate().filter(|(_, stream)| stream.read_pct < 100.0);
    let streams = writers.filter_map(|(n, stream)| Some(DataRecord::new(&stream.name, workload.data_of(n)?)));
    let of_app = workload.data_of_app().into_iter().flat_map(|data| {
        let streams = workload.app.iter().flat_map(AppSpec::streams);
        streams.map(|stream| DataRecord::new(&stream.name, data))
    });
    streams.chain(of_app).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn good() -> Value {
        json!({
            "schema": "hotband-entropy", "schema_version": 1,
            "archive": {"deflate": {"entropy": 0.3, "interval": [0.29, 0.31]}},
            "chunks": [
                {"size": 4096, "compressor": "lz4", "mean": 0.6, "histogram": [0, 9]},
                {"size": 8192, "compressor": "deflate", "mean": 0.6, "histogram": [0, 9]},
                {"size": 4096, "compressor": "deflate", "mean": 0.5, "histogram": [5, 0, 5]},
            ],
        })
    }

    #[test]
    fn the_archive_gives_the_mean_and_the_chunks_the_shape() {
        let wanted = DataSpec::Histogram { weights: vec![5.0, 0.0, 5.0], mean: Some(0.3) };
        assert_eq!(of_json("e.json", &good()), Ok(wanted));
    }

    #[test]
    fn what_is_no_regular_file_is_refused() {
        let error = data_of("/dev/zero").expect_err("a device").to_string();
        assert!(error.contains("is a device, not a regular file: expected a text of at most 16 MiB"), "{error}");
    }

    #[test]
    fn another_document_is_refused_with_its_key() {
        let cases = [
            ("/schema", json!("hotband-record"), "schema"),
            ("/schema_version", json!(2), "schema_version"),
            ("/archive/deflate/entropy", json!("much"), "archive.deflate.entropy"),
            ("/archive", json!({}), "archive.deflate.entropy"),
            ("/chunks", json!([]), "chunks"),
            ("/chunks/2/histogram", json!([0, 0]), "chunks.histogram"),
            ("/chunks/2/histogram/0", json!(-1), "chunks.histogram"),
        ];
        for (pointer, value, key) in cases {
            let mut json = good();
            *json.pointer_mut(pointer).expect("it is there") = value;
            let error = of_json("e.json", &json).expect_err(pointer);
            assert_eq!((error.file.as_str(), error.key.as_str()), ("e.json", key));
        }
        assert_eq!(of_json("e.json", &json!([1])).expect_err("an array").key, "schema");
    }
}
