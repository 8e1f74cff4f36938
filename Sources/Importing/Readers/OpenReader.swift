/// Opens a source for reading, from its beginning or from where an earlier reader stood.
///
/// The file may be compressed with gzip, bzip2, xz or zstd, be a zip or tar archive, or in another encoding than UTF-8: it
/// is unpacked and decoded as it is read. Where that isn't so, a position costs nothing to go to; otherwise all before it
/// is unpacked again. A SQLite database must be as it is, since it is read here and there.
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
package func openSource(
  fileDescriptor: Int32, name: String, options: ReaderOptions, from position: ReaderPosition?
) throws -> OpenedSource {
  try openSource(
    fileDescriptor: fileDescriptor, name: name, options: options, member: nil, from: position, blockSize: 256 << 10)
}

/// The reader alone.
package func openReader(
  fileDescriptor: Int32, name: String, options: ReaderOptions, from position: ReaderPosition?
) throws -> any RecordReader {
  try openSource(fileDescriptor: fileDescriptor, name: name, options: options, from: position).reader
}

/// The same, reading blocks of this size.
func openReader(
  fileDescriptor: Int32, name: String, options: ReaderOptions, from position: ReaderPosition?, blockSize: Int
) throws -> any RecordReader {
  try openSource(
    fileDescriptor: fileDescriptor, name: name, options: options, from: position, blockSize: blockSize
  ).reader
}

/// The same, reading blocks of this size at every stage.
///
/// - Parameter member: the member to read of an archive that was listed before; nil: the one that the options mean.
func openSource(
  fileDescriptor: Int32, name: String, options: ReaderOptions, member: ArchiveMember? = nil,
  from position: ReaderPosition?, blockSize: Int = 256 << 10
) throws -> OpenedSource {
  try options.validate()
  if options.format == nil || options.format == .sqlite,
    let source = try openDatabase(fileDescriptor, options: options, from: position)
  {
    return source
  }
  var stages = try SourceStages(descriptor: fileDescriptor, name: name, options: options, blockSize: blockSize)
  try stages.openText(member)
  let window = try SourceWindow(source: stages.source, encoding: stages.guess.encoding, blockSize: blockSize)
  _ = try window.fill(until: SourceSample.size)
  let sample = SourceSample(bytes: window.bytes, isWhole: window.atEnd)
  let isDatabase = options.format == nil || options.format == .sqlite
  if isDatabase, sample.bytes.starts(with: SourceSample.sqlite) { throw ReaderError.database(.packed) }
  if !stages.isBinaryPropertyList { try sample.check() }
  var format = options.format ?? (stages.isBinaryPropertyList ? .plist : sample.format(fileName: stages.innerName))
  // The rejects of a SQLite file are written as NDJSON.
  if format == .sqlite, RejectReason.isRejectFile(sample.bytes) { format = .ndjson }
  let reader = try makeReader(format, over: window, options: options, from: position)
  return OpenedSource(
    reader: reader, detection: SourceDetection(stages: stages, format: format, reader: reader, options: options))
}

private func makeReader(
  _ format: SourceFormat, over window: SourceWindow, options: ReaderOptions, from position: ReaderPosition?
) throws -> any RecordReader {
  switch format {
  case .csv, .tsv: return try CSVReader(window: window, options: options, format: format, from: position)
  case .fixedWidth: return try FixedWidthReader(window: window, options: options, from: position)
  case .json: return try JSONReader(window: window, options: options, from: position)
  case .xml: return try XMLReader(window: window, options: options, from: position)
  case .plist: return try PropertyListReader(window: window, options: options, from: position)
  case .ndjson: return try NDJSONReader(window: window, options: options, from: position)
  case .sqlite: throw ReaderError.database(.notADatabase)
  }
}

/// Opens the file if it is a SQLite database as it stands; nil if it isn't.
private func openDatabase(
  _ descriptor: Int32, options: ReaderOptions, from position: ReaderPosition?
) throws(ReaderError) -> OpenedSource? {
  let header = try PlainSource(descriptor: descriptor).readSample(100)
  guard header.starts(with: SourceSample.sqlite) else { return nil }
  let reader = try SQLiteReader(descriptor: descriptor, options: options, from: position)
  // Bytes 18 and 19: https://www.sqlite.org/fileformat.html#file_format_version_numbers
  let isInWALMode = header.count > 19 && header[18] == 2
  let notes = isInWALMode ? ["the database is in WAL mode: what was in its -wal file alone isn't read"] : []
  return OpenedSource(
    reader: reader,
    detection: SourceDetection(
      format: .sqlite, delimiter: nil, looksLikeHeader: nil, encoding: .utf8, compression: nil, archive: nil,
      member: nil, notes: notes))
}
