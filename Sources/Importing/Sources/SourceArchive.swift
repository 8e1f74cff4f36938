/// A file in a zip or tar archive.
package struct ArchiveMember: Sendable, Hashable {
  /// Its name in the archive, with folders. Text to compare and to show, never a path to open.
  package var name: String
  /// Its length in bytes as stated in the archive, which needn't be true.
  package var size: Int64?
  /// Whether a password is needed to read it.
  package var isEncrypted: Bool
  /// Its index among all entries of the archive, including folders.
  var index: Int
}

/// A zip or tar archive, compressed or not, whose members are listed and can be read one at a time.
package struct SourceArchive: Sendable {
  package let kind: SourceArchiveKind
  /// The files in it, in the archive's order, without folders, links, and files that systems add for themselves.
  package let members: [ArchiveMember]

  /// An archive with more members, or with longer names, isn't listed.
  static let memberLimit = 50_000
  private static let nameLimit = 4 << 20

  /// The archive in a file; nil if it is none.
  ///
  /// - Parameters:
  ///   - fileDescriptor: an open regular file, which the caller keeps.
  ///   - name: the file's name.
  ///   - options: for its limits.
  /// - Throws: ``ReaderError`` when the archive is damaged, encrypted as a whole, or has too many members. A tar is read
  ///   to its end for that, since it has no directory.
  package init?(fileDescriptor: Int32, name: String, options: ReaderOptions = ReaderOptions()) throws {
    let stages = try SourceStages(descriptor: fileDescriptor, name: name, options: options, blockSize: 256 << 10)
    guard let kind = stages.archive else { return nil }
    self = try SourceArchive(kind, over: stages.source, limit: options.expansionLimit, blockSize: 256 << 10)
  }

  /// Lists the archive in the source. Reads the rest of the source too, to make sure that it is complete.
  /// - Parameter withSystemFiles: whether files that systems add are listed, too; parts of a workbook may look like them.
  init(
    _ kind: SourceArchiveKind, over source: any ByteSource, limit: ExpansionLimit, blockSize: Int,
    withSystemFiles: Bool = false
  ) throws(ReaderError) {
    try source.rewind()
    let handle = try ArchiveHandle(.archive(kind), over: source, blockSize: blockSize)
    var found: [ArchiveMember] = []
    var index = 0
    var nameBytes = 0
    while let entry = try handle.nextEntry() {
      nameBytes += entry.name.utf8.count
      guard index < Self.memberLimit, nameBytes <= Self.nameLimit else {
        throw .source(.tooManyMembers(limit: Self.memberLimit))
      }
      if entry.isFile, withSystemFiles || !Self.isSystemFile(entry.name) {
        found.append(
          ArchiveMember(name: entry.name, size: entry.size, isEncrypted: entry.isEncrypted, index: index))
      }
      index += 1
    }
    if !(source is PlainSource) { _ = try source.seek(to: .max) }
    self.kind = kind
    members = found
  }

  /// Files that macOS, Windows and editors add.
  private static func isSystemFile(_ name: String) -> Bool {
    let parts = name.split(separator: "/")
    guard let last = parts.last else { return true }
    return parts.first == "__MACOSX" || last.hasPrefix(".") || last == "Thumbs.db" || last == "desktop.ini"
  }

  /// The member to read: by its exact name, by a pattern with `*` and `?`, or the only one. Without a
  /// name, a single file with an ending of a known format is preferred to others, such as a licence.
  func choose(_ wanted: String?) throws(ReaderError) -> ArchiveMember {
    if kind == .zip, members.contains(where: { $0.name == "[Content_Types].xml" || $0.name == "mimetype" }) {
      throw .binaryFile(offset: 0, looksLike: "an Office document")
    }
    var candidates = members
    if let wanted {
      candidates = members.filter { $0.name == wanted }
      if candidates.isEmpty {
        let pattern = MemberPattern(wanted)
        candidates = members.filter { pattern.matches($0.name) }
      }
      if candidates.isEmpty { throw .source(.memberNotFound(member: wanted, found: names(members))) }
    } else if candidates.count > 1 {
      let known = candidates.filter { FileFormats.standard.hasKnownEnding($0.name) }
      if known.count == 1 { candidates = known }
    }
    guard let only = candidates.first else { throw .source(.noMember) }
    guard candidates.count == 1 else { throw .source(.severalMembers(found: names(candidates))) }
    if only.isEncrypted { throw .source(.encrypted(member: only.name)) }
    return only
  }

  private func names(_ members: [ArchiveMember]) -> [String] { members.prefix(20).map(\.name) }
}

/// A pattern for names: `*` is any text, `?` any one character, including slashes. Matching takes at most the product
/// of the lengths, even for hostile patterns.
struct MemberPattern {
  private let parts: [Unicode.Scalar]

  init(_ text: String) { parts = Array(text.unicodeScalars) }

  func matches(_ name: String) -> Bool {
    let text = Array(name.unicodeScalars)
    var part = 0
    var place = 0
    var star: (part: Int, place: Int)?
    while place < text.count {
      if part < parts.count, parts[part] == "*" {
        star = (part, place)
        part += 1
      } else if part < parts.count, parts[part] == "?" || parts[part] == text[place] {
        part += 1
        place += 1
      } else if let last = star {
        // The last star matches one character more.
        star = (last.part, last.place + 1)
        part = last.part + 1
        place = last.place + 1
      } else {
        return false
      }
    }
    return parts[part...].allSatisfy { $0 == "*" }
  }
}
