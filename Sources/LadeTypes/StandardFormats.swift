/// The file formats that every daemon reads. Programs may add others, so this is what is offered, not what is possible.
package enum StandardFormats {
  package static let names = [
    "core-data", "csv", "fixed_width", "json", "ndjson", "ods", "parquet", "plist", "sqlite", "tsv", "xlsx", "xml",
  ]
}
