import CLinux
import Glibc

extension EntryExaminer {
  /// Reads a ticket and looks for its source.
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
    switch try source(of: ticket, ticketStatus: file.status, in: place.directory) {
    case .stop(let verdict): return verdict
    case .opened(let source): return .take(SpoolCandidate(ticket, file, name: name, source: source, in: place))
    case .none: return .take(SpoolCandidate(ticket, file, name: name, source: nil, in: place))
    }
  }

  /// Opens what a ticket names as its source, or nil if it names nothing.
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
          what: "by its name it isn't finished", advice: "Rename it when it is, and name that in the ticket.")
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
      // Of a file beside the ticket an event tells; elsewhere nobody does.
      guard case .beside(let name) = source else { return .stop(.wait(for: time ?? settle, source: nil)) }
      return .stop(.wait(for: time, source: name))
    case .refuse(.sourceOutsideAllowedFolders): return opening
    case .refuse(let refusal): return .stop(.refuse(.source(name: source.fileName, refusal)))
    case .take: return opening
    }
  }

  /// Files that are uploaded together come in any order, so that a ticket may wait a while for its source.
  private func missing(
    _ source: Ticket.Source, ticketStatus: FileStatus?, in incoming: DirectoryHandle
  ) -> Verdict {
    let age = ticketStatus.map { FileStatus.now() - $0.changed } ?? .max
    if age >= 0, age < sourceGrace { return .wait(for: sourceGrace - age, source: source.fileName) }
    return .refuse(.sourceMissing(name: source.fileName))
  }

  /// Opens a file under one of the allowed folders. Those are the administrator's, links in their paths included;
  /// from there on no link is followed and nothing leads out again. Who owns the file doesn't matter: that the folder
  /// is allowed says that its files may be imported.
  private func openAllowed(_ path: String) throws -> Opening {
    let isAllowed: (String) -> Bool = { path.utf8.starts(with: ($0 == "/" ? $0 : $0 + "/").utf8) }
    guard let folder = allowedFolders.first(where: isAllowed) else {
      return .stop(.refuse(.sourceOutsideAllowedFolders(path: path, allowed: allowedFolders.sorted())))
    }
    let rest = String(decoding: path.utf8.dropFirst(folder.utf8.count).drop { $0 == UInt8(ascii: "/") }, as: UTF8.self)
    let file: OpenFile
    do {
      let place = try AllowedFolder.place(rest, beneath: DirectoryHandle(trustedPath: folder))
      // Before it is opened, for that alone may do something to a device.
      let kind = try DirectoryHandle.status(of: place, path: path).kind
      if let refusal = EntryExaminer.refusal(of: kind) { return .stop(.refuse(refusal)) }
      if lade_is_pseudo_file_system(place.number) == 1 { return .stop(.refuse(.kernelFile)) }
      if try own.contain(place, path: path) { return .stop(.refuse(.own)) }
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
