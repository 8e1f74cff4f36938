/// Why a source can't be unpacked: a fault of the compression or the archive.
package enum SourceError: Error, Sendable, Hashable {
  /// The file ends in the middle of the compressed data or archive.
  case truncated(what: String, offset: Int64)
  /// The data is malformed, or doesn't match its own checksum.
  case corrupt(what: String, offset: Int64, reason: String)
  /// Something that isn't compressed data follows it.
  case trailingData(what: String, offset: Int64)
  /// It unpacks to more bytes per byte of the file than allowed.
  case unpacksTooMuch(ratio: Int, unpacked: Int64, fileBytes: Int64)
  /// It unpacks to more bytes than allowed.
  case unpacksTooFar(limit: Int64)
  /// Unpacking takes more memory than allowed, as the compressed data states itself.
  case needsMemory(what: String, bytes: UInt64, limit: UInt64)
  /// A member of a zip is compressed with an unsupported method.
  case unsupportedMethod(member: String, method: String)
  /// The member, or with an empty name the archive, needs a password.
  case encrypted(member: String)
  /// Several members may be meant (the first twenty).
  case severalMembers(found: [String])
  /// No member has this name or matches this pattern; the existing ones (the first twenty).
  case memberNotFound(member: String, found: [String])
  /// The archive has no files.
  case noMember
  /// The options name a member, but the source isn't an archive.
  case notAnArchive(member: String)
  /// The archive has more members than this, or too long a directory.
  case tooManyMembers(limit: Int)
  /// The compressed file or archive contains another one.
  case nested(inner: String, outer: String)
}

extension SourceError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .truncated(let what, let offset):
      "the \(what) data is cut off at byte \(offset) of the file; send or copy it again"
    case .corrupt(let what, let offset, let reason):
      "the \(what) data is damaged near byte \(offset) of the file (\(reason)); send or copy it again"
    case .trailingData(let what, let offset):
      "the \(what) data ends at byte \(offset) of the file, but other bytes follow: it is damaged there, "
        + "or something was appended to it"
    case .unpacksTooMuch(let ratio, let unpacked, let fileBytes):
      "\(fileBytes) bytes of the file unpacked to \(unpacked), more than \(ratio) for each; if that is intended, "
        + "raise maximum_expansion in its recipe"
    case .unpacksTooFar(let limit):
      "the file unpacks to more than \(limit) bytes; if that is intended, raise maximum_unpacked_bytes in its recipe"
    case .needsMemory(let what, let bytes, let limit):
      "unpacking the \(what) data takes \(bytes >> 20) MiB of memory, but at most \(limit >> 20) are allowed; "
        + "compress it with a smaller dictionary, such as xz -6"
    case .unsupportedMethod(let member, let method):
      "“\(Self.shown(member))” is compressed by \(method), which isn't supported in a zip; "
        + "create the archive with deflate, bzip2 or zstd"
    case .encrypted(let member):
      member.isEmpty
        ? "the archive is encrypted; unlock it first" : "“\(Self.shown(member))” is encrypted; unlock the archive first"
    case .severalMembers(let found):
      "the archive has several files (\(Self.list(found))); name one as member"
    case .memberNotFound(let member, let found):
      "the archive has no “\(Self.shown(member))” (\(Self.list(found)))"
    case .noMember:
      "the archive contains no files"
    case .notAnArchive(let member):
      "the options name the member “\(Self.shown(member))”, but the file isn't a zip or tar archive"
    case .tooManyMembers(let limit):
      "the archive has more than \(limit) members, or too long names; split it"
    case .nested(let inner, let outer):
      "there is \(inner) inside \(outer); unpack the outer one first"
    }
  }

  private static func list(_ names: [String]) -> String {
    names.isEmpty ? "it has no files" : "files: " + names.map { "“\(shown($0))”" }.joined(separator: ", ")
  }

  /// A name from an archive or a ticket, fit for display: short, and without control sequences.
  static func shown(_ name: String) -> String {
    let scalars = name.unicodeScalars.prefix(200).map { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: Unicode.Scalar(0xFFFD) ?? "?"
      default: scalar
      }
    }
    return String(String.UnicodeScalarView(scalars)) + (name.unicodeScalars.count > 200 ? "…" : "")
  }
}
