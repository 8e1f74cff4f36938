// Whether an entry of `incoming/` is taken, left or refused. Rule 8 is kept here: the type is looked at before
// anything is opened, the entry is opened without following or waiting, and everything that decides is then read from
// the descriptor, so that a name which is turned into something else meanwhile changes nothing.

import CLinux
import Glibc

/// A place where entries are handed over: `incoming/` itself, or a recipe's hot folder in it.
struct SpoolPlace: Sendable {
  let directory: DirectoryHandle
  /// Nil for `incoming/` itself.
  let recipe: String?

  /// An entry's name from `incoming/` on.
  func relativeName(_ name: FileName) -> String {
    recipe.map { $0 + "/" + name.shown } ?? name.shown
  }
}

/// What brought an entry to attention.
enum SpoolTrigger: Sendable {
  /// It was renamed into place, or closed after writing: its writer has finished.
  case finished
  /// It was created: somebody may be writing it, or it was linked into place.
  case created
  /// It was there.
  case found
}

/// Says of an entry what to do with it. Blocks.
struct EntryExaminer: Sendable {
  enum Verdict: Sendable {
    /// It is none of the intake's business.
    case ignore
    /// Not yet: an event will tell, or another look in this many nanoseconds.
    case wait(for: Int64?, source: String?)
    case refuse(SpoolRefusal)
    case take(SpoolCandidate)
  }

  /// Byte for byte: of two names that look alike one is another folder.
  let recipes: Set<FileName>
  let allowedFolders: [String]
  /// What may not be imported though its folder is allowed.
  let own: OwnPlaces
  let partialNames: PartialNames
  /// The daemon's own user.
  let user: UInt32
  /// How long an entry must have been unchanged where it can't be known that nobody is writing it. Nanoseconds.
  let settle: Int64
  /// How long an entry must have been unchanged in any case. Nanoseconds.
  let quiet: Int64
  /// How long a ticket waits for its source. Nanoseconds.
  let sourceGrace: Int64

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
    // Whoever makes a directory is likely to go on filling it.
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

  /// Opens a regular file of a submitter and finds out whether it can be taken now.
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
      // Whoever delivers by link and unlink has two names for a moment.
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

  /// Whether somebody may still write to it, and then when to look again; nil if nobody does.
  func isBeingWritten(_ file: OpenFile, trigger: SpoolTrigger, now: Int64) -> Verdict? {
    if quiet > 0 {
      let age = now - file.status.changed
      if age >= 0, age < quiet { return .wait(for: quiet - age, source: nil) }
    }
    switch lade_is_open_for_writing(file.descriptor.number) {
    case 1:
      return .wait(for: nil, source: nil)
    case 0:
      // Between its creation and its opening a file is nobody's, and empty.
      return trigger == .created && file.status.size == 0 ? .wait(for: nil, source: nil) : nil
    default:
      // It can't be known. What was renamed or closed is finished; what was found is, when it has settled.
      if trigger == .finished { return nil }
      let age = now - file.status.modified
      return age >= 0 && age < settle ? .wait(for: settle - age, source: nil) : nil
    }
  }
}
