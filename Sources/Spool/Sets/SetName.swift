// The folders in which the files of a set are gathered, beside where the files lay, and what a kill leaves of them:
//
//   .NAME.gathering   the files are being renamed into it: after a kill they go back, and everything starts over
//   .NAME.set         it has all of them, durably: an entry, which becomes one job and is taken by one rename
//   .NAME.taken       it was copied to another file system: what is left of it is removed
//
// They belong to the daemon, and only it may write to them, so what is in them is what was examined.

import Glibc

/// The names of the folders in which sets are gathered.
enum SetName {
  /// What has become of a folder.
  enum Stage: String, CaseIterable {
    case gathering, set, taken
  }

  /// The name of a ticket in the folder of its set.
  static let ticket = FileName(".ticket")

  static func folder(_ name: FileName, _ stage: Stage) -> FileName {
    FileName(
      terminated: [CChar(bitPattern: UInt8(ascii: "."))] + name.terminated.dropLast() + ".\(stage.rawValue)".utf8CString
    )
  }

  /// The set and the stage of a folder with this name; nil if the name isn't one of these.
  static func parts(of folder: FileName) -> (name: FileName, stage: Stage)? {
    let bytes = Array(folder.bytes)
    guard bytes.first == UInt8(ascii: ".") else { return nil }
    for stage in Stage.allCases {
      let ending = Array(".\(stage.rawValue)".utf8)
      guard bytes.count > ending.count + 1, bytes.suffix(ending.count).elementsEqual(ending) else { continue }
      let name = bytes.dropFirst().dropLast(ending.count)
      return (FileName(terminated: name.map { CChar(bitPattern: $0) } + [0]), stage)
    }
    return nil
  }
}

extension DirectoryHandle {
  /// Whether it is a folder that only the daemon can have made and filled.
  func isOwn() throws -> Bool {
    let status = try status()
    return status.owner == geteuid() && status.permissions & 0o022 == 0
  }

  /// Removes a folder of files, which may be gone already. What else is in it, it keeps, and throws.
  func removeFolder(_ name: FileName) throws {
    guard let folder = try directory(name) else { return }
    var names: [FileName] = []
    try folder.forEach { name, _ in names.append(name) }
    for name in names { try folder.remove(name) }
    guard unlinkat(descriptor.number, name.terminated, AT_REMOVEDIR) == 0 || errno == ENOENT else {
      throw SpoolError.system(call: "rmdir", path: place(name), code: errno)
    }
  }

  /// How many files are in a folder, and the space they take.
  func use(ofFolder name: FileName) throws -> SpoolUse {
    var use = SpoolUse()
    guard let folder = try directory(name) else { return use }
    try folder.forEach { name, _ in
      guard let status = try folder.status(of: name), status.kind == .regular else { return }
      use.files += 1
      use.bytes += status.allocated
    }
    return use
  }
}
