/// What an import is of one that has several: of a feed, which is one import a member.
struct FeedPart {
  /// The member that is read; nil for a file that is no archive.
  var member: ArchiveMember?
  /// What the other parts have done so far, which limits count too.
  var others = ImportCounts()
  /// Whether it stops when all is read, before what can only be done at the end. Another run does that.
  var holdsEnd = false

  /// How the names of the parts' jobs begin.
  static func prefix(of job: String) -> String { job + "#" }
}

/// Why a member of a feed couldn't be imported.
package struct MemberFailure: Error, CustomStringConvertible {
  /// The member's name, fit to be shown.
  package let member: String
  /// A ``MappingError`` or `ReaderError`.
  package let reason: any Error

  package var description: String { "\(member): \(reason)" }
}
