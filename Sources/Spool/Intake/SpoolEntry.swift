package import Foundation
import Glibc

/// Something in `incoming/` that becomes one job.
package struct SpoolEntry: Sendable, Equatable {
  /// How it was handed over.
  package enum Kind: Sendable, Equatable {
    /// By a `.job` file in `incoming/`.
    case ticket(Ticket)
    /// As a file in the recipe's hot folder.
    case hotFolder(recipe: String)
  }

  /// The same each time the entry is seen until it is taken, across restarts of the daemon and the machine; never the identity
  /// of another entry. One identity is one job: store it in the transaction that makes the job.
  ///
  /// It consists of a ``FileMark`` and the name relative to `incoming/`.
  package let identity: String
  /// A ticket with its contents, or a hot folder's recipe.
  package let kind: Kind
  /// The ticket's name, if it is a ticket's.
  package let ticketName: String?
  /// The data file's name, or the ticket's if it has no source.
  package let originalName: String
  /// Whether there is a data file. A job of a kind that needs none has only its ticket.
  package let hasFile: Bool
  /// The data file's size in bytes when it was examined; 0 if there is none.
  package let size: Int64
  /// When the data file (or the ticket, if it has none) was last written.
  package let modified: Date
  /// The user who handed the entry over: the owner of the ticket or the file.
  package let ownerUID: UInt32
  /// That file's group.
  package let ownerGID: UInt32
  /// The names of the files, if it is a set of several; nil if it is one.
  package var files: [String]?
  /// Where it is, if other daemons see it there, too.
  package var place: SharedEntryPlace?

  /// The name in `active/` once it is taken, which `SpoolDirectories.finish` expects.
  package func activeName(job: Int64) -> String {
    hasFile
      ? SpoolDirectories.activeName(job: job, originalName: originalName) : SpoolDirectories.ticketName(job: job)
  }
}

extension SpoolEntry {
  static func identity(name: String, file: OpenFile) -> String {
    "\(FileMark(file)):\(name)"
  }

  /// The name of the ticket with this identity in `incoming/`; nil if it isn't there, or the identity isn't a ticket's.
  static func ticketName(identity: String, in incoming: DirectoryHandle) throws -> FileName? {
    // The mark has four parts, and no name of an entry contains a slash but that of a hot folder's file.
    let parts = identity.split(separator: ":", maxSplits: 4, omittingEmptySubsequences: false)
    guard parts.count == 5, !parts[4].contains("/") else { return nil }
    let name = FileName(String(parts[4]))
    guard name.isTicket, let mark = try FileMark(of: name, in: incoming) else { return nil }
    return "\(mark):\(parts[4])" == identity ? name : nil
  }

  static func date(_ nanoseconds: Int64) -> Date {
    Date(timeIntervalSince1970: Double(nanoseconds) / 1e9)
  }
}

/// An entry that was examined and is to be taken, with its files held open: while the daemon makes the job, the names may come
/// to mean something else, but the descriptors can't.
struct SpoolCandidate: Sendable {
  var entry: SpoolEntry
  let place: SpoolPlace
  /// The entry's own name: the ticket's, or the hot folder's file's.
  let name: FileName
  let ticket: OpenFile?
  let file: OpenFile?
  /// The file's name in the place's directory; nil if it is elsewhere and stays there.
  let fileName: FileName?
  /// The files of a set, which are in a folder.
  var set: GatheredSet?

  /// A file in a hot folder.
  init(hotFile: OpenFile, name: FileName, recipe: String, in place: SpoolPlace) {
    let status = hotFile.status
    entry = SpoolEntry(
      identity: SpoolEntry.identity(name: "\(recipe)/\(name.shown)", file: hotFile),
      kind: .hotFolder(recipe: recipe), ticketName: nil, originalName: name.shown, hasFile: true, size: status.size,
      modified: SpoolEntry.date(status.modified), ownerUID: status.owner, ownerGID: status.group)
    self.place = place
    self.name = name
    ticket = nil
    file = hotFile
    fileName = name
  }

  /// A ticket with the source it names.
  init(_ ticket: Ticket, _ file: OpenFile, name: FileName, source: OpenFile?, in place: SpoolPlace) {
    if source != nil, case .beside(let sourceName) = ticket.source {
      fileName = FileName(sourceName)
    } else {
      fileName = nil
    }
    entry = SpoolEntry(
      identity: SpoolEntry.identity(name: name.shown, file: file), kind: .ticket(ticket),
      ticketName: name.shown, originalName: source == nil ? name.shown : ticket.source?.fileName ?? name.shown,
      hasFile: source != nil, size: source?.status.size ?? 0,
      modified: SpoolEntry.date((source ?? file).status.modified), ownerUID: file.status.owner,
      ownerGID: file.status.group)
    self.place = place
    self.name = name
    self.ticket = file
    self.file = source
  }

  /// The same in a folder that other daemons take entries from, too.
  var isShared: Bool {
    get { entry.place != nil }
    set { entry.place = newValue ? (ticket ?? file).map { SharedEntryPlace(name, in: place.directory, $0) } : nil }
  }

  /// The files that must be on disk before the job can be: not a file that is copied from elsewhere, nor a ticket alone, whose
  /// contents the job has.
  var handedOver: [OpenFile] {
    file == nil ? [] : [ticket, fileName == nil ? nil : file].compactMap { $0 }
  }

  /// Flushes what is handed over to disk. Blocks.
  func synchronise() throws {
    for file in handedOver { try file.synchronise(path: place.directory.place(name)) }
  }

  /// Whether one of the others is the same entry, or hands over the same file.
  func isAlso(in others: [SpoolCandidate]) -> Bool {
    others.contains { other in
      if other.name == name, other.place.recipe == place.recipe { return true }
      // Only tickets name a file, and two may name the same one.
      guard ticket != nil, fileName != nil, other.fileName != nil, let file, let theirs = other.file else {
        return false
      }
      return file.status.isSameFile(as: theirs.status)
    }
  }
}

/// Where an entry is that the daemons of several hosts see.
package struct SharedEntryPlace: Sendable, Equatable {
  private let directory: DirectoryHandle
  private let name: FileName
  private let mark: FileMark

  init(_ name: FileName, in directory: DirectoryHandle, _ file: OpenFile) {
    (self.directory, self.name) = (directory, name)
    mark = FileMark(file)
  }

  /// Whether the entry is still there. It is opened, for a network's file system asks its server only then. Blocks.
  /// Throws `SpoolError`.
  package func hasEntry() throws -> Bool {
    do {
      return try FileMark(directory.open(name)) == mark
    } catch let error as SpoolError where error.code == ENOENT {
      return false
    }
  }

  package static func == (one: Self, other: Self) -> Bool {
    one.directory === other.directory && one.name == other.name && one.mark == other.mark
  }
}
