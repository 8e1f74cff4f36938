import Glibc

/// An entry that was looked at and is to be taken, with what it consists of held open: its names may come to mean
/// something else while the daemon makes the job, its descriptors may not.
struct SpoolCandidate: Sendable {
  let entry: SpoolEntry
  let place: SpoolPlace
  /// The entry's own name: the ticket's, or the hot folder's file's.
  let name: FileName
  let ticket: OpenFile?
  let file: OpenFile?
  /// The file's name in the place's directory; nil if it is elsewhere, and stays there.
  let fileName: FileName?

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

  /// What has to be on disk before its job can be: not a file that is copied from elsewhere, nor a ticket alone, of which
  /// the job has everything.
  var handedOver: [OpenFile] {
    file == nil ? [] : [ticket, fileName == nil ? nil : file].compactMap { $0 }
  }

  /// Waits until what is handed over is on disk. Blocks.
  func synchronise() throws {
    for file in handedOver { try file.synchronise(path: place.directory.place(name)) }
  }

  /// Whether one of the others is the same entry, or hands over the same file.
  func isAlso(in others: [SpoolCandidate]) -> Bool {
    others.contains { other in
      if other.name == name, other.place.recipe == place.recipe { return true }
      // Only a ticket names a file that another may name, too.
      guard ticket != nil, fileName != nil, other.fileName != nil, let file, let theirs = other.file else {
        return false
      }
      return file.status.isSameFile(as: theirs.status)
    }
  }
}
