/// What was found out about a source, as far as its name, its first bytes and the options tell.
package struct SourceDetection: Sendable, Hashable {
  package var format: SourceFormat
  /// CSV: what stands between two fields.
  package var delimiter: String?
  /// CSV: whether the first line looks like column names; nil where that isn't asked. It is a guess, and changes nothing:
  /// `ReaderOptions.header` decides.
  package var looksLikeHeader: Bool?
  package var encoding: TextEncoding
  /// How the source as a whole is compressed.
  package var compression: SourceCompression?
  /// What the source is an archive of, and the member that is read.
  package var archive: SourceArchiveKind?
  package var member: String?
  /// What somebody should know who didn't say it in the options, a sentence each; nothing for a plain file as expected.
  package var notes: [String]
}

extension SourceDetection {
  init(stages: SourceStages, format: SourceFormat, reader: any RecordReader, options: ReaderOptions) {
    self.format = format
    encoding = stages.guess.encoding
    compression = stages.compression
    archive = stages.archiveKind
    member = stages.member?.name
    notes = []
    if let csv = reader as? CSVReader {
      delimiter = csv.delimiterText
      if options.header, options.columns == nil { looksLikeHeader = Self.looksLikeHeader(csv.columns) }
    }
    noteContainer(stages)
    noteEncoding(stages.guess)
    if let delimiter, options.delimiter == nil, delimiter != (format == .tsv ? "\t" : ",") {
      notes.append("the fields are taken to be separated by \(delimiter == "\t" ? "tabs" : "“\(delimiter)”")")
    }
    if looksLikeHeader == false {
      notes.append("the first line was taken for the column names, but looks like a record")
    }
    if options.format == nil { noteUseless(options) }
  }

  /// Tells of options that a file of this format has no use for. Where the options name the format, they were refused.
  private mutating func noteUseless(_ options: ReaderOptions) {
    let isTable = format == .csv || format == .tsv
    let given: [(name: String, isUseless: Bool)] = [
      ("delimiter", options.delimiter != nil && !isTable), ("header", !options.header && !isTable),
      ("fields", options.fixedWidth != nil && format != .fixedWidth),
      ("root", options.root != nil && format != .json && format != .plist),
      ("record", options.record != nil && format != .xml),
      // The rejects of a SQLite file are NDJSON.
      ("table", options.table != nil && format != .ndjson), ("query", options.query != nil && format != .ndjson),
    ]
    let names = given.filter(\.isUseless).map(\.name)
    guard !names.isEmpty else { return }
    notes.append(
      "the file is read as \(format.rawValue), of which the option(s) \(names.joined(separator: ", ")) say nothing")
  }

  private mutating func noteContainer(_ stages: SourceStages) {
    let packed = compression.map { "\($0.rawValue)-compressed " } ?? ""
    if let archive, let member {
      let size = stages.member?.size.map { ", \($0) bytes" } ?? ""
      notes.append(
        "read “\(SourceError.shown(member))”\(size) of the \(packed)\(archive.rawValue) archive as \(format.rawValue)")
    } else if compression != nil {
      notes.append("read the \(packed)file as \(format.rawValue)")
    } else if stages.isMisnamed {
      notes.append("the file's name says that it is compressed, but it isn't; read as it is")
    }
  }

  private mutating func noteEncoding(_ guess: EncodingGuess) {
    let name = guess.encoding.rawValue
    switch guess.reason {
    case .options, .declared, .valid: break
    case .mark: if guess.encoding != .utf8 { notes.append("the encoding is \(name), by its byte order mark") }
    case .zeros: notes.append("the encoding was taken to be \(name), since every other byte of its ASCII text is zero")
    case .fallback: notes.append("the file isn't UTF-8; its encoding was assumed to be \(name), as the options say")
    case .invalid:
      notes.append("not all of the file is UTF-8; if it is in another encoding (windows-1252?), name that as encoding")
    }
  }

  /// Column names are no numbers or dates, and none is missing.
  private static func looksLikeHeader(_ names: [String]) -> Bool {
    names.allSatisfy { name in
      let text = name.utf8
      let digits = text.count { (0x30...0x39).contains($0) }
      let others = text.count { !(0x30...0x39).contains($0) && !"+-.,:/ TZ".utf8.contains($0) }
      return others > 0 || digits == 0
    }
  }
}

/// A source that was opened.
package struct OpenedSource {
  package let reader: any RecordReader
  package let detection: SourceDetection
}
