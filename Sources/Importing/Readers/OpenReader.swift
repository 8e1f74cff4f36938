/// Opens a source for reading, from its beginning or from where an earlier reader stood.
///
/// The same file with the same options and a position that a batch gave as its `end` yields exactly the records after
/// that batch. A file with a header line and nothing else opens, and its first `read` returns false.
///
/// - Parameters:
///   - fileDescriptor: an open regular file. It stays the caller's, who closes it after the reader's last use; it is
///     read by `pread`, so its own offset doesn't matter.
///   - name: the file's name, of which the ending may tell the format.
///   - position: the `end` of the last batch that is done with; nil for the beginning.
/// - Throws: `ReaderError`.
package func openReader(
  fileDescriptor: Int32, name: String, options: ReaderOptions, from position: ReaderPosition?
) throws -> any RecordReader {
  try openReader(
    fileDescriptor: fileDescriptor, name: name, options: options, from: position, blockSize: 256 << 10)
}

/// The same, reading blocks of this size.
func openReader(
  fileDescriptor: Int32, name: String, options: ReaderOptions, from position: ReaderPosition?, blockSize: Int
) throws -> any RecordReader {
  try options.validate()
  let window = try SourceWindow(descriptor: fileDescriptor, blockSize: blockSize)
  _ = try window.fill(until: SourceSample.size)
  let sample = SourceSample(bytes: window.bytes, isWhole: window.atEnd)
  try sample.check()
  let format = options.format ?? sample.format(fileName: name)
  switch format {
  case .csv, .tsv: return try CSVReader(window: window, options: options, format: format, from: position)
  case .fixedWidth: return try FixedWidthReader(window: window, options: options, from: position)
  case .json: return try JSONReader(window: window, options: options, from: position)
  case .xml: return try XMLReader(window: window, options: options, from: position)
  case .ndjson: return try NDJSONReader(window: window, options: options, from: position)
  }
}
