/// A source that was opened.
struct OpenedSource {
  let reader: any RecordReader
  let detection: SourceDetection
  /// Whether all columns are known from the beginning and no cell has nested values.
  let isTabular: Bool
  /// What leaves the last line out; nil where that is a record as every other.
  var trailer: TrailerSource?
}

/// Opens a source for reading, from its beginning or from where an earlier reader stood.
///
/// The file may be compressed with gzip, bzip2, xz or zstd, be a zip or tar archive, or be in another encoding than UTF-8: it
/// is unpacked and decoded as it is read. To resume at a position is free in a plain UTF-8 file; otherwise everything before it
/// is unpacked again. Formats that read the file itself, such as SQLite, can't be packed.
///
/// The same file with the same options and a position that a batch gave as its `end` yields exactly the records after
/// that batch. A file with a header line and nothing else opens, and its first `read` returns false.
///
/// - Parameters:
///   - fileDescriptor: an open regular file. The caller keeps it and closes it after the reader's last use; it is
///     read by `pread`, so its own offset doesn't matter.
///   - name: the file's name, whose ending may settle the format.
///   - member: the member to read of an archive that was listed before; nil: the one that the options choose.
///   - log: a descriptor of the write-ahead log of a SQLite file; nil: there is none.
///   - isMoved: whether the file isn't where its program wrote it, so that such a log may be missing.
///   - hasTrailer: whether the last line isn't a record, but holds their number. Ignored where there are no lines.
///   - position: the `end` of the last batch that is done with; nil for the beginning.
///   - blockSize: the size of the blocks that each stage reads.
/// - Throws: `ReaderError`.
func openSource(
  fileDescriptor: Int32, name: String, options: ReaderOptions, member: ArchiveMember? = nil,
  log: Int32? = nil, isMoved: Bool = false, hasTrailer: Bool = false, from position: ReaderPosition?,
  blockSize: Int = 256 << 10
) throws -> OpenedSource {
  try options.validate()
  let formats = FileFormats.standard
  let candidates = formats.candidates(options)
  let beginning = try PlainSource(descriptor: fileDescriptor).readSample(SourceSample.signatureSize)
  try OfficeFile.refuse(descriptor: fileDescriptor, beginning: beginning)
  for case (let format, .file(let access)) in candidates.map({ ($0, $0.access) })
  where member == nil && format.signatures.contains(where: beginning.starts(with:)) {
    if options.format == nil, !access.isOfFormat(fileDescriptor, beginning, options) { continue }
    let reader = try access.open(fileDescriptor, log, options, position)
    var detection = SourceDetection(format: format, reader: reader, options: options)
    if isMoved, log == nil, SQLiteLog.mayBelong(to: beginning) { detection.notes.append(SQLiteLog.absence) }
    return OpenedSource(
      reader: reader, detection: detection, isTabular: reader.findings.isTabular ?? format.isTabular)
  }
  var stages = try SourceStages(descriptor: fileDescriptor, name: name, options: options, blockSize: blockSize)
  try stages.openText(member)
  let trailer = hasTrailer ? TrailerSource(stages.source, blockSize: blockSize) : nil
  let window = try SourceWindow(source: trailer ?? stages.source, encoding: stages.guess.encoding, blockSize: blockSize)
  _ = try window.fill(until: SourceSample.size)
  let sample = SourceSample(bytes: window.bytes, isWhole: window.atEnd)
  for case (let format, .file(let access)) in candidates.map({ ($0, $0.access) })
  where format.signatures.contains(where: sample.bytes.starts(with:)) && sample.isBinary {
    throw access.packed
  }
  if stages.variant == nil { try sample.check() }
  var format =
    if let named = options.format { try formats.require(named) } else if let variant = stages.variant { variant } else {
      try formats.format(of: sample, fileName: stages.innerName)
    }
  // A reject file may be in another format than its source.
  if format.rejectFormat != format.name, RejectReason.isRejectFile(sample.bytes) {
    format = try formats.require(format.rejectFormat)
  }
  let reader: any RecordReader
  switch format.access {
  case .text(let open): reader = try open(window, options, position)
  case .file(let access): throw access.foreign
  }
  return OpenedSource(
    reader: reader,
    detection: SourceDetection(
      stages: stages, format: format, reader: reader, options: options,
      isRejectFile: RejectReason.isRejectFile(sample.bytes)),
    isTabular: format.isTabular, trailer: trailer)
}

/// The reader alone.
func openReader(
  fileDescriptor: Int32, name: String, options: ReaderOptions, from position: ReaderPosition?,
  blockSize: Int = 256 << 10
) throws -> any RecordReader {
  try openSource(
    fileDescriptor: fileDescriptor, name: name, options: options, from: position, blockSize: blockSize
  ).reader
}
