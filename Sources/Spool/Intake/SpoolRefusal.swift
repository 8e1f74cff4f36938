import LadeTypes

/// Why an entry of `incoming/` is refused. It goes to `corrupt/`, with this text in a `.reason` file beside it.
package enum SpoolRefusal: Error, Sendable, Equatable, CustomStringConvertible {
  /// A symbolic link, wherever it leads.
  case symbolicLink
  /// A file with more than one name.
  case hardLink(links: UInt64)
  /// A named pipe.
  case fifo
  /// A Unix socket.
  case socket
  /// A block or character device.
  case device
  /// A directory in a hot folder: only files are taken.
  case directory
  /// A directory in `incoming/` (with its contents) that has no recipe's name.
  case unknownFolder(name: String, known: [String])
  /// The name isn't text.
  case nameNotUTF8
  /// The name could affect a terminal or a log.
  case controlCharacters
  /// The name is too long for a number and a suffix to be added.
  case nameTooLong(bytes: Int, limit: Int)
  /// It belongs neither to root, nor to the daemon, nor to the spool's group.
  case foreignOwner(owner: UInt32, group: UInt32, spoolGroup: UInt32)
  /// The daemon isn't allowed to read it.
  case unreadable(code: Int32)
  /// The ticket is invalid.
  case ticket(TicketError)
  /// The ticket's source didn't arrive within the grace period.
  case sourceMissing(name: String)
  /// The ticket's source is refused for a reason of its own.
  indirect case source(name: String, SpoolRefusal)
  /// The ticket's source is an absolute path outside the allowed folders.
  case sourceOutsideAllowedFolders(path: String, allowed: [String])
  /// The hot folder takes sets of files, and this is none of such a set.
  case notOfSet(patterns: [String])
  /// The files of a set belong to several users.
  case setOfOwners([UInt32])
  /// A set isn't complete, and has waited for long enough.
  case lateSet(missing: [String], after: Duration)
  /// The folder of a set has no files.
  case setIsEmpty
  /// A ticket in a folder of several hosts names several files.
  case setInSharedFolder
  /// The ticket's source is one of the daemon's own files: in its spool, its state or its stores.
  case own
  /// The ticket's source is in a pseudo file system such as /proc: the kernel generates it as it is read.
  case kernelFile
  /// The delegate refuses it in `accept`: no such store, no such entity, and the like.
  case unacceptable(what: String, advice: String)

  /// A short word for scripts. It never changes.
  package var code: String {
    switch self {
    case .symbolicLink: "symbolic-link"
    case .hardLink: "hard-link"
    case .fifo: "fifo"
    case .socket: "socket"
    case .device: "device"
    case .directory: "directory"
    case .unknownFolder: "unknown-folder"
    case .nameNotUTF8: "name-not-utf8"
    case .controlCharacters: "name-control-characters"
    case .nameTooLong: "name-too-long"
    case .foreignOwner: "foreign-owner"
    case .unreadable: "unreadable"
    case .ticket: "ticket"
    case .sourceMissing: "source-missing"
    case .source(_, let refusal): "source-" + refusal.code
    case .sourceOutsideAllowedFolders: "source-outside"
    case .notOfSet: "not-of-set"
    case .setOfOwners: "set-owners"
    case .lateSet: "set-late"
    case .setIsEmpty: "set-empty"
    case .setInSharedFolder: "set-shared"
    case .own: "daemons-own"
    case .kernelFile: "kernel-file"
    case .unacceptable: "unacceptable"
    }
  }

  /// What happened, and what to do.
  package var description: String {
    let sentence = what.hasSuffix(".") ? what : what + "."
    return advice.isEmpty ? sentence : sentence + " " + advice
  }

  /// What happened: a sentence without its full stop.
  package var what: String {
    switch self {
    case .symbolicLink: "it is a symbolic link, and links are never followed"
    case .hardLink(let links): "the file has \(links) names (hard links), so another user may own or change it"
    case .fifo: "it is a FIFO, not a file"
    case .socket: "it is a socket, not a file"
    case .device: "it is a device, not a file"
    case .directory: "it is a directory, and a hot folder takes files only"
    case .unknownFolder(let name, let known):
      "there is no recipe “\(name)”; "
        + (known.isEmpty ? "none is configured" : "there are: \(known.joined(separator: ", "))")
    case .nameNotUTF8: "the name is not UTF-8"
    case .controlCharacters: "the name holds control characters"
    case .nameTooLong(let bytes, let limit): "the name has \(bytes) bytes, and the limit is \(limit)"
    case .foreignOwner(let owner, let group, let spoolGroup):
      "the file belongs to user \(owner) and group \(group), "
        + "neither to root, to the daemon nor to the spool's group (\(spoolGroup))"
    case .unreadable(let code): "the daemon can't read it (errno \(code))"
    case .ticket(let error): error.description
    case .sourceMissing(let name): "its source “\(name)” is not there"
    case .source(let name, let refusal): "its source “\(name)” is refused: \(refusal.what)"
    case .sourceOutsideAllowedFolders(let path, let allowed):
      "its source “\(path)” is under none of the allowed folders"
        + (allowed.isEmpty ? "; there are none" : " (\(allowed.joined(separator: ", ")))")
    case .notOfSet(let patterns):
      "the hot folder takes sets of files, and none of a set is called so (\(patterns.joined(separator: ", ")))"
    case .setOfOwners(let owners):
      "the files of the set belong to several users (\(owners.map { "\($0)" }.joined(separator: ", ")))"
    case .lateSet(let missing, let time):
      "the set isn't complete after \(time.text): it lacks \(missing.joined(separator: ", "))"
    case .setIsEmpty: "the set has no files"
    case .setInSharedFolder: "it names several files, and from a folder of several hosts only single files are taken"
    case .own: "it is one of the daemon's own files"
    case .kernelFile: "it is in a pseudo file system, whose files the kernel generates as they are read"
    case .unacceptable(let what, _): what
    }
  }

  /// What to do: whole sentences, or nothing if `what` says it.
  package var advice: String {
    switch self {
    case .symbolicLink: "Copy the file itself into tmp/ and rename it into incoming/."
    case .hardLink: "Copy the file into tmp/ and rename the copy into incoming/, or remove its other names first."
    case .fifo, .socket, .device: "Write its output to a file in tmp/ and rename that into incoming/."
    case .directory: "Put the files themselves into the hot folder."
    case .unknownFolder: "Use a folder of a recipe's name, or add the recipe to the configuration and reload."
    case .nameNotUTF8, .controlCharacters, .nameTooLong: "Rename the file and submit it again."
    case .foreignOwner: "Write it in tmp/, whose files belong to the spool's group, or chgrp it, and submit it again."
    case .unreadable: "Let the spool's group read it (chmod g+r) and submit it again."
    case .ticket: ""
    case .sourceMissing: "Put the file into place first, then the ticket."
    case .source(_, let refusal): refusal.advice + " Then submit the ticket again."
    case .sourceOutsideAllowedFolders:
      "Put the file beside the ticket, or add its folder to allowed_folders in the configuration."
    case .notOfSet: "Rename it, or change the patterns of the recipe's set."
    case .setOfOwners: "Hand over all files of a set as one user."
    case .lateSet: "Hand over all of its files again."
    case .setIsEmpty: "Hand over its files again."
    case .setInSharedFolder: "Hand over an archive of them, or all of them in the spool of one host."
    case .own: "Name a file that isn't in the daemon's spool, state or stores."
    case .kernelFile: "Copy its contents to a file, and name that."
    case .unacceptable(_, let advice): advice
    }
  }
}
