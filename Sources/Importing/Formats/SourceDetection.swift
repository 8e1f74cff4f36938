/// What a source turned out to be, from its name, its first bytes and the options.
struct SourceDetection: Sendable, Hashable {
  var format: FileFormatName
  /// CSV: what stands between two fields.
  var delimiter: String?
  /// CSV: whether the first line looks like column names; nil where there is none. A guess without effect:
  /// `ReaderOptions.header` decides.
  var looksLikeHeader: Bool?
  var encoding: TextEncoding
  /// How the source as a whole is compressed.
  var compression: SourceCompression?
  /// What the source is an archive of, and the member that is read.
  var archive: SourceArchiveKind?
  var member: String?
  /// Assumptions that the options didn't state, one sentence each; empty for a plain file as expected.
  var notes: [String]
}

extension SourceDetection {
  /// The detection of a file that is read as it is.
  init(format: any FileFormat, reader: any RecordReader, options: ReaderOptions) {
    let findings = reader.findings
    self.format = format.name
    encoding = .utf8
    (delimiter, looksLikeHeader) = (findings.delimiter, findings.looksLikeHeader)
    notes = findings.notes
    if options.format == nil { noteUseless(options, for: format) }
  }

  /// The detection of a text.
  init(
    stages: SourceStages, format: any FileFormat, reader: any RecordReader, options: ReaderOptions,
    isRejectFile: @autoclosure () -> Bool
  ) {
    let findings = reader.findings
    self.format = format.name
    encoding = stages.guess.encoding
    compression = stages.compression
    archive = stages.archiveKind
    member = stages.member?.name
    (delimiter, looksLikeHeader) = (findings.delimiter, findings.looksLikeHeader)
    notes = []
    noteContainer(stages)
    noteEncoding(stages.guess)
    notes += findings.notes
    if options.format == nil { noteUseless(options, for: format, unless: isRejectFile) }
  }

  /// Reports options that say nothing about a file of this format. Where the options name the format, they were refused.
  /// A reject file may be in another format than its source, whose options these are.
  private mutating func noteUseless(
    _ options: ReaderOptions, for format: any FileFormat, unless isRejectFile: () -> Bool = { false }
  ) {
    let keys = FileFormats.standard.uselessOptions(of: options, for: format)
    guard !keys.isEmpty, !isRejectFile() else { return }
    notes.append(
      "the file is read as \(format.name.rawValue), of which the option(s) \(keys.joined(separator: ", ")) say nothing")
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
}
