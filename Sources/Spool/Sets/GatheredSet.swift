import Foundation
import Glibc

/// A set whose files are all in a folder of the daemon's, which is held open.
struct GatheredSet: Sendable {
  /// The folder.
  let folder: DirectoryHandle
  /// The folder's name in its place.
  let folderName: FileName
  /// The names of its files, without a ticket's.
  let files: [String]
  /// The ticket that named them, if one did.
  let ticket: Ticket?
  let mark: FileMark
  /// Of one of its files: they have one owner.
  let owner: FileStatus
  let size: Int64
  let modified: Int64

  /// Opens the folder of a complete set.
  /// - Throws: ``SpoolRefusal`` for a folder that can't be one's; nil if it is gone, or isn't the daemon's.
  init?(_ folderName: FileName, in place: SpoolPlace) throws {
    guard let folder = try place.directory.directory(folderName), try folder.isOwn(),
      let mark = try FileMark(of: folderName, in: place.directory)
    else { return nil }
    self.folder = folder
    self.folderName = folderName
    self.mark = mark
    var names: [String] = []
    var (owner, size, modified): (FileStatus?, Int64, Int64) = (nil, 0, .min)
    var ticket: Ticket?
    try folder.forEach { name, _ in
      guard let status = try folder.status(of: name), status.kind == .regular else { return }
      owner = owner ?? status
      if name == SetName.ticket {
        owner = status
        do throws(TicketError) {
          ticket = try Ticket(parsing: Self.bytes(of: name, in: folder))
        } catch {
          throw SpoolRefusal.ticket(error)
        }
        return
      }
      names.append(name.shown)
      size += status.size
      modified = max(modified, status.modified)
    }
    guard let owner, !names.isEmpty else { throw SpoolRefusal.setIsEmpty }
    (self.owner, self.size, self.modified) = (owner, size, modified)
    (files, self.ticket) = (names.sorted(), ticket)
  }

  private static func bytes(of name: FileName, in folder: DirectoryHandle) throws(TicketError) -> [UInt8] {
    do {
      return try folder.open(name).read(atMost: Ticket.longest + 1, path: folder.place(name))
    } catch {
      throw .notText
    }
  }
}

extension SpoolCandidate {
  /// A set that was gathered.
  init(_ set: GatheredSet, in place: SpoolPlace) {
    let stem = SetName.parts(of: set.folderName)?.name ?? set.folderName
    let name = stem.isTicket ? String(stem.shown.dropLast(".job".count)) : stem.shown
    let path = place.relativeName(set.folderName)
    entry = SpoolEntry(
      // With a slash, which no ticket's has.
      identity: "\(set.mark):\(path)/",
      kind: set.ticket.map { .ticket($0) } ?? .hotFolder(recipe: place.recipe ?? ""),
      ticketName: set.ticket == nil ? nil : stem.shown, originalName: name, hasFile: true, size: set.size,
      modified: SpoolEntry.date(set.modified), ownerUID: set.owner.owner, ownerGID: set.owner.group, files: set.files)
    self.place = place
    self.name = set.folderName
    ticket = nil
    file = nil
    fileName = set.folderName
    self.set = set
  }
}
