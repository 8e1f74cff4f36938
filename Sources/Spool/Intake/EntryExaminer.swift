// Decides whether an entry of `incoming/` is taken, left or refused. Rule 8 (ARCHITECTURE.md) is kept here: the type is
// checked before anything is opened; the entry is opened without following links or waiting; and everything that decides is
// then read from the descriptor, so that a name that comes to mean something else in between changes nothing.

import CLinux
import Glibc

/// Why an entry is examined.
enum SpoolTrigger: Sendable {
  /// An event: it was renamed into place, or closed after writing. Its writer has finished.
  case finished
  /// An event: it was created. Somebody may be writing it, or it was linked into place.
  case created
  /// A scan found it.
  case found
}

/// A file that a ticket names.
struct SetMember: Sendable {
  let name: FileName
  let file: OpenFile
}

/// Decides what to do with an entry. Blocks.
struct EntryExaminer: Sendable {
  enum Verdict: Sendable {
    /// Not an entry: an unfinished file, a hot folder, or gone.
    case ignore
    /// Not yet: wait for an event, or for this many nanoseconds.
    case wait(for: Int64?, source: String?)
    case refuse(SpoolRefusal)
    case take(SpoolCandidate)
    /// A ticket with the files that it names, which are put together before they are taken.
    case gather([SetMember], ticket: OpenFile)
  }

  /// Compared byte for byte: two names that look alike are different folders.
  let recipes: Set<FileName>
  let allowedFolders: [String]
  /// What may not be imported even if its folder is allowed.
  let protected: ProtectedPaths
  let partialNames: PartialNames
  /// The daemon's own user.
  let user: UInt32
  /// How long an entry must have been unchanged if the kernel can't tell whether it is being written. Nanoseconds.
  let settle: Int64
  /// How long an entry must have been unchanged in any case. Nanoseconds.
  let quiet: Int64
  /// How long a ticket waits for its source. Nanoseconds.
  let sourceGrace: Int64
  /// Whether programs on other hosts may write entries, which this kernel knows nothing of.
  let isShared: Bool

  func examine(_ name: FileName, in place: SpoolPlace, trigger: SpoolTrigger) throws -> Verdict {
    if partialNames.match(name) { return .ignore }
    guard let status = try place.directory.status(of: name) else { return .ignore }
    if status.kind == .directory { return directory(name, in: place, status) }
    if place.recipe == nil, status.kind == .regular, !name.isTicket, name.refusal == nil { return .ignore }
    if let refusal = name.refusal ?? EntryExaminer.refusal(of: status.kind) { return .refuse(refusal) }
    switch try open(name, in: place.directory, trigger: trigger, spoolGroup: try place.directory.status().group) {
    case .stop(let verdict): return verdict
    case .opened(let file):
      guard file.status.isSameFile(as: status) else { return .wait(for: nil, source: nil) }
      if let recipe = place.recipe {
        return .take(SpoolCandidate(hotFile: file, name: name, recipe: recipe, in: place))
      }
      return try ticket(file, name: name, in: place)
    }
  }

  private func directory(_ name: FileName, in place: SpoolPlace, _ status: FileStatus) -> Verdict {
    if place.recipe == nil, recipes.contains(name) { return .ignore }
    // A program that creates a directory is likely to be still filling it.
    let age = FileStatus.now() - status.changed
    if age >= 0, age < settle { return .wait(for: settle - age, source: nil) }
    if place.recipe != nil { return .refuse(.directory) }
    return .refuse(name.refusal ?? .unknownFolder(name: name.shown, known: recipes.map(\.shown).sorted()))
  }

  static func refusal(of kind: FileStatus.Kind) -> SpoolRefusal? {
    switch kind {
    case .regular: nil
    case .symbolicLink: .symbolicLink
    case .fifo: .fifo
    case .socket: .socket
    case .characterDevice, .blockDevice: .device
    case .directory: .directory
    }
  }

  enum Opening {
    case opened(OpenFile)
    case stop(Verdict)
  }

  /// Opens a submitter's regular file and determines whether it can be taken now.
  func open(
    _ name: FileName, in directory: DirectoryHandle, trigger: SpoolTrigger, spoolGroup: UInt32
  ) throws -> Opening {
    let file: OpenFile
    do {
      file = try directory.open(name)
    } catch let error as SpoolError {
      switch error.code {
      case ENOENT: return .stop(.ignore)
      case ELOOP: return .stop(.refuse(.symbolicLink))
      case EWOULDBLOCK: return .stop(.wait(for: settle, source: nil))
      case EACCES, EPERM: return .stop(.refuse(.unreadable(code: error.code ?? EACCES)))
      case ENXIO, ENODEV: return .stop(.refuse(.device))
      default: throw error
      }
    }
    if let refusal = EntryExaminer.refusal(of: file.status.kind) { return .stop(.refuse(refusal)) }
    let now = FileStatus.now()
    if file.status.links > 1 {
      // A file that is delivered by link and unlink has two names for a moment.
      let age = now - file.status.changed
      return .stop(
        age >= 0 && age < settle
          ? .wait(for: settle - age, source: nil) : .refuse(.hardLink(links: file.status.links)))
    }
    if file.status.owner != 0, file.status.owner != user, file.status.group != spoolGroup {
      return .stop(
        .refuse(.foreignOwner(owner: file.status.owner, group: file.status.group, spoolGroup: spoolGroup)))
    }
    return isBeingWritten(file, trigger: trigger, now: now).map { .stop($0) } ?? .opened(file)
  }

  /// If a program may still be writing the file, when to examine it again; nil otherwise.
  func isBeingWritten(_ file: OpenFile, trigger: SpoolTrigger, now: Int64) -> Verdict? {
    if quiet > 0 {
      let age = now - file.status.changed
      if age >= 0, age < quiet { return .wait(for: quiet - age, source: nil) }
    }
    if isShared {
      // By the file server's clock, which is to agree with this one: a time in the future is one that has just passed there.
      let age = now - file.status.changed
      return age < settle ? .wait(for: min(settle, settle - age), source: nil) : nil
    }
    switch lade_is_open_for_writing(file.descriptor.number) {
    case 1:
      return .wait(for: nil, source: nil)
    case 0:
      // Between its creation and its opening for writing a file is empty and has no writer.
      return trigger == .created && file.status.size == 0 ? .wait(for: nil, source: nil) : nil
    default:
      // The kernel can't tell. A file that was renamed or closed is finished; one that was found is, when it has settled.
      if trigger == .finished { return nil }
      let age = now - file.status.modified
      return age >= 0 && age < settle ? .wait(for: settle - age, source: nil) : nil
    }
  }

  // MARK: Tickets

  /// Reads a ticket and opens its source.
  func ticket(_ file: OpenFile, name: FileName, in place: SpoolPlace) throws -> Verdict {
    guard file.status.size <= Ticket.longest else {
      return .refuse(.ticket(.tooLarge(bytes: file.status.size, limit: Ticket.longest)))
    }
    let ticket: Ticket
    do {
      let path = place.directory.place(name)
      ticket = try Ticket(parsing: try file.read(atMost: Ticket.longest + 1, path: path))
    } catch let error as TicketError {
      return .refuse(.ticket(error))
    }
    if !ticket.files.isEmpty { return try files(of: ticket, file, in: place.directory) }
    switch try source(of: ticket, ticketStatus: file.status, in: place.directory) {
    case .stop(let verdict): return verdict
    case .opened(let source): return .take(SpoolCandidate(ticket, file, name: name, source: source, in: place))
    case .none: return .take(SpoolCandidate(ticket, file, name: name, source: nil, in: place))
    }
  }

  /// Opens the source that a ticket names; nil if it names none.
  func source(of ticket: Ticket, ticketStatus: FileStatus?, in incoming: DirectoryHandle) throws -> Opening? {
    let opening: Opening
    switch ticket.source {
    case nil:
      return nil
    case .beside(let name):
      if FileName(name).isTicket {
        let refusal = SpoolRefusal.unacceptable(
          what: "it is a ticket itself", advice: "Name the data file as `source`.")
        return .stop(.refuse(.source(name: name, refusal)))
      }
      if partialNames.match(FileName(name)) {
        let refusal = SpoolRefusal.unacceptable(
          what: "its name marks it as unfinished",
          advice: "Rename it when it is finished, and use that name in the ticket.")
        return .stop(.refuse(.source(name: name, refusal)))
      }
      opening = try open(
        FileName(name), in: incoming, trigger: .found, spoolGroup: try incoming.status().group)
    case .absolute(let path):
      opening = try openAllowed(path)
    }
    guard case .stop(let verdict) = opening, let source = ticket.source else { return opening }
    switch verdict {
    case .ignore: return .stop(missing(source, ticketStatus: ticketStatus, in: incoming))
    case .wait(let time, _):
      // Events report a file beside the ticket; elsewhere nothing does.
      guard case .beside(let name) = source else { return .stop(.wait(for: time ?? settle, source: nil)) }
      return .stop(.wait(for: time, source: name))
    case .refuse(.sourceOutsideAllowedFolders): return opening
    case .refuse(let refusal): return .stop(.refuse(.source(name: source.fileName, refusal)))
    case .take, .gather: return opening
    }
  }

  /// Opens the files of a set that a ticket names, which are all beside it and belong to its owner.
  private func files(of ticket: Ticket, _ file: OpenFile, in incoming: DirectoryHandle) throws -> Verdict {
    var members: [SetMember] = []
    for name in ticket.files {
      var one = ticket
      one.source = .beside(name)
      switch try source(of: one, ticketStatus: file.status, in: incoming) {
      case .opened(let member): members.append(SetMember(name: FileName(name), file: member))
      case .stop(let verdict): return verdict
      case nil: break
      }
    }
    let owners = Set(members.map(\.file.status.owner)).union([file.status.owner])
    if owners.count > 1 { return .refuse(.setOfOwners(owners.sorted())) }
    return .gather(members, ticket: file)
  }

  /// Files that are uploaded together arrive in any order, so a ticket waits a while for its source.
  private func missing(
    _ source: Ticket.Source, ticketStatus: FileStatus?, in incoming: DirectoryHandle
  ) -> Verdict {
    let age = ticketStatus.map { FileStatus.now() - $0.changed } ?? .max
    if age >= 0, age < sourceGrace { return .wait(for: sourceGrace - age, source: source.fileName) }
    return .refuse(.sourceMissing(name: source.fileName))
  }

  /// Opens a file under one of the allowed folders. The folders' own paths are the administrator's, links included. Below them
  /// no link is followed, and nothing leads out again. The file's owner doesn't matter: allowing a folder allows the import of
  /// its files.
  private func openAllowed(_ path: String) throws -> Opening {
    let isAllowed: (String) -> Bool = { path.utf8.starts(with: ($0 == "/" ? $0 : $0 + "/").utf8) }
    guard let folder = allowedFolders.first(where: isAllowed) else {
      return .stop(.refuse(.sourceOutsideAllowedFolders(path: path, allowed: allowedFolders.sorted())))
    }
    let rest = String(decoding: path.utf8.dropFirst(folder.utf8.count).drop { $0 == UInt8(ascii: "/") }, as: UTF8.self)
    let file: OpenFile
    do {
      let place = try AllowedFolder.place(rest, beneath: DirectoryHandle(trustedPath: folder))
      // Before it is opened: opening alone may affect a device.
      let kind = try DirectoryHandle.status(of: place, path: path).kind
      if let refusal = EntryExaminer.refusal(of: kind) { return .stop(.refuse(refusal)) }
      if lade_is_pseudo_file_system(place.number) == 1 { return .stop(.refuse(.kernelFile)) }
      if try protected.contain(place, path: path) { return .stop(.refuse(.own)) }
      let descriptor = try AllowedFolder.open(place, path: path)
      file = OpenFile(descriptor: descriptor, status: try DirectoryHandle.status(of: descriptor, path: path))
    } catch let error as SpoolError {
      switch error.code {
      case ENOENT: return .stop(.ignore)
      case ELOOP, ENOTDIR, EXDEV: return .stop(.refuse(.symbolicLink))
      case EACCES, EPERM: return .stop(.refuse(.unreadable(code: error.code ?? EACCES)))
      case ENXIO, ENODEV: return .stop(.refuse(.device))
      default: throw error
      }
    }
    if file.status.links > 1 { return .stop(.refuse(.hardLink(links: file.status.links))) }
    return isBeingWritten(file, trigger: .found, now: FileStatus.now()).map { .stop($0) } ?? .opened(file)
  }
}
