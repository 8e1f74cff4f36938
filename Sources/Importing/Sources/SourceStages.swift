// From a file to UTF-8 text: chooses the stages, from the first bytes of each.

/// The stages over a file, built one upon the other.
struct SourceStages {
  /// The topmost stage, at its beginning.
  private(set) var source: any ByteSource
  /// The file's name without the ending of its compression, or the member's name.
  private(set) var innerName: String
  private(set) var compression: SourceCompression?
  /// Whether the name has the ending of a compression, but the file isn't compressed.
  private(set) var isMisnamed = false
  /// The format of which the source is a binary variant; the topmost stage is then the text that it stands for.
  private(set) var variant: (any FileFormat)?
  /// The kind of archive in the topmost stage; nil once a member was opened.
  private(set) var archive: SourceArchiveKind?
  private(set) var archiveKind: SourceArchiveKind?
  private(set) var member: ArchiveMember?
  private(set) var guess = EncodingGuess(sample: [], isWhole: true, options: ReaderOptions())
  private var sample: [UInt8]
  private var isWhole: Bool
  private let options: ReaderOptions
  private let blockSize: Int

  /// The bytes sampled.
  static let sampleSize = 64 << 10

  /// Unpacks the file if it is compressed as a whole. `archive` then tells whether the result is an archive.
  init(descriptor: Int32, name: String, options: ReaderOptions, blockSize: Int) throws(ReaderError) {
    self.options = options
    self.blockSize = max(1, blockSize)
    let file = try PlainSource(descriptor: descriptor)
    sample = try file.readSample(Self.sampleSize)
    isWhole = sample.count < Self.sampleSize
    file.rewind()
    source = file
    innerName = name
    let named = SourceCompression.ofName(name)
    if let named { innerName = named.inner }
    compression = SourceCompression(beginning: sample)
    archive = compression == nil ? SourceArchiveKind(beginning: sample) : nil
    if let compression {
      try unpack(file, compression)
    } else if archive == nil {
      try checkName(named?.kind)
    }
  }

  private mutating func unpack(_ file: PlainSource, _ compression: SourceCompression) throws(ReaderError) {
    try take(compression.unpacking(file, limit: options.expansionLimit, blockSize: blockSize))
    archive = SourceArchiveKind(beginning: sample)
    if archive == .zip { throw .source(.nested(inner: "a zip archive", outer: "a \(compression.rawValue) file")) }
    try checkNotCompressed(inside: "a \(compression.rawValue) file")
  }

  /// Opens the text: the member of an archive, transcoded to UTF-8.
  /// - Parameter chosen: the member, if it is already known; nil: the one that the options choose.
  mutating func openText(_ chosen: ArchiveMember? = nil) throws(ReaderError) {
    if let kind = archive {
      try openMember(of: kind, chosen)
    } else if let member = options.member, !RejectReason.isRejectFile(sample) {
      if sample.isEmpty { throw .emptyFile }
      throw .source(.notAnArchive(member: member))
    }
    for format in FileFormats.standard.candidates(options) {
      if let text = try format.text(of: source, beginning: sample, limit: options.expansionLimit) {
        (source, variant) = (text, format)
        return
      }
    }
    guess = EncodingGuess(sample: sample, isWhole: isWhole, options: options)
    if guess.encoding != .utf8 {
      source = try TranscodedSource(source, guess.encoding, blockSize: blockSize)
    }
  }

  private mutating func openMember(of kind: SourceArchiveKind, _ known: ArchiveMember?) throws(ReaderError) {
    let limit = options.expansionLimit
    let chosen = if let known { known } else { try choose(from: kind) }
    try take(
      ArchiveSource(
        .archive(kind), over: source, member: (chosen.index, chosen.name, chosen.size), limit: limit,
        blockSize: blockSize))
    (archive, archiveKind, member, innerName) = (nil, kind, chosen, chosen.name)
    try checkNotCompressed(inside: "a \(kind.rawValue) archive")
    if SourceArchiveKind(beginning: sample) != nil {
      throw .source(.nested(inner: "an archive", outer: "a \(kind.rawValue) archive"))
    }
  }

  private func choose(from kind: SourceArchiveKind) throws(ReaderError) -> ArchiveMember {
    try SourceArchive(kind, over: source, limit: options.expansionLimit, blockSize: blockSize).choose(options.member)
  }

  private mutating func take(_ next: any ByteSource) throws(ReaderError) {
    let sampled = try PeekedSource(next, sampling: Self.sampleSize)
    (source, sample, isWhole) = (sampled, sampled.sample, sampled.isWhole)
  }

  private func checkNotCompressed(inside outer: String) throws(ReaderError) {
    if let inner = SourceCompression(beginning: sample) {
      throw .source(.nested(inner: "a \(inner.rawValue) file", outer: outer))
    }
  }

  /// A file that isn't compressed though its name says so is read as it is, unless it is too short to tell.
  private mutating func checkName(_ named: SourceCompression?) throws(ReaderError) {
    guard !sample.isEmpty else { return }
    if let named {
      if sample.count < 6, named.signature.starts(with: sample.prefix(named.signature.count)) {
        throw .source(.truncated(what: named.rawValue, offset: Int64(sample.count)))
      }
      isMisnamed = true
    } else if innerName.lowercased().hasSuffix(".zip") {
      if SourceArchiveKind.zipSignatures.contains(where: { $0.starts(with: sample) }) {
        throw .source(.truncated(what: "zip", offset: Int64(sample.count)))
      }
      isMisnamed = true
    }
  }
}
