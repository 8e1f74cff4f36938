// Files that are sent to the daemon in parts, because their senders have no path that it could open. What is known of one is in
// the names of its folders, so there is nothing that a kill could leave wrong: `USER/NUMBER-SIZE-MODIFIED/NAME`, and the file is
// as long as what has arrived of it.

import Glibc
import Synchronization

/// A file that is being sent, or was sent and not submitted yet.
package struct UploadedFile: Sendable, Hashable {
  /// Its number among its user's, which no other has had.
  package let number: Int64
  /// Its own name, as the sender called it.
  package let name: String
  /// Bytes that it is to have.
  package let size: Int64
  /// Bytes that have arrived.
  package let received: Int64
  /// When the file was changed last, by its sender's clock.
  let modified: Int64
  /// When the last bytes arrived, in nanoseconds since 1970.
  let arrived: Int64
  /// Its folder, which says all but its name.
  var folder: String { "\(number)-\(size)-\(modified)" }

  package var isWhole: Bool { received == size }
}

/// The folder of uploads, only for the daemon. Everything here blocks. Calls for one user are made one at a time; those for
/// several may be made at once.
package struct UploadFolder: Sendable {
  /// The most that a user can have without submitting or removing any.
  package static let mostUploads = 100
  /// Uploads are removed this long after their last byte.
  private static let lifetime: Int64 = 24 * 3600 * 1_000_000_000

  /// Held while one begins, so that no two count on the same room.
  private static let beginning = Mutex(())

  private let path: String

  /// - Parameter path: of the folder. It is created by the first upload.
  package init(_ path: String) { self.path = path }

  /// Begins an upload, or goes on with one of the same file that was broken off.
  /// - Parameter modified: when the file was changed last, by the sender's clock. Another file of the same name and size has
  ///   another time.
  /// - Throws: ``UploadRefusal``, ``SpoolError``.
  package func begin(_ name: String, size: Int64, modified: Int64, for user: UInt32) throws -> UploadedFile {
    try Self.beginning.withLock { _ in try beginAlone(name, size: size, modified: modified, for: user) }
  }

  private func beginAlone(_ name: String, size: Int64, modified: Int64, for user: UInt32) throws -> UploadedFile {
    let fileName = FileName(name)
    if let refusal = fileName.refusal { throw UploadRefusal.badName(refusal.what) }
    // As bytes: a slash or a dot may be part of a character.
    guard let first = name.utf8.first, first != UInt8(ascii: "."), !name.utf8.contains(UInt8(ascii: "/")) else {
      throw UploadRefusal.badName("it has to be one name that doesn't begin with a dot")
    }
    guard size > 0 else { throw UploadRefusal.isEmpty }
    _ = try removeOld()
    let present = try uploads(of: user)
    let begun = present.first {
      $0.name.utf8.elementsEqual(name.utf8) && $0.size == size && $0.modified == modified && !$0.isWhole
    }
    if let begun { return begun }
    guard present.count < Self.mostUploads else { throw UploadRefusal.tooMany(Self.mostUploads) }
    let root = try folder(of: user, isCreated: true)
    guard let root else { throw SpoolError.notADirectory(path: path) }
    // The uploads of all users together may take half of the disk.
    let all = try users().flatMap { try uploads(of: $0) }
    let held = all.reduce(0) { $0 + $1.received }
    let room = try (root.room() / 2 + held / 2) - all.reduce(0) { $0 + $1.size }
    guard size <= room else { throw UploadRefusal.noRoom(bytes: size, room: max(room, 0)) }
    // A number that was another file's before would be taken for that one, by a page that is still open and as the origin of a
    // job. So it is a time in microseconds, and doesn't follow those that are present: after a clock was set back, they are
    // ahead of it, and one behind them may have been imported.
    var number = FileStatus.now() / 1000
    while present.contains(where: { $0.number == number }) { number += 1 }
    let made = try root.directory(FileName("\(number)-\(size)-\(modified)"), creatingWith: 0o700)
    _ = try made.create(fileName, mode: 0o600)
    // The last part makes the bytes durable; the names have to be so by then.
    try made.synchronise()
    return try upload(number, of: user)
  }

  /// A user's uploads, the oldest first.
  package func uploads(of user: UInt32) throws -> [UploadedFile] {
    try places(of: user).map(\.upload).sorted { $0.number < $1.number }
  }

  /// All users' uploads.
  package func everyUpload() throws -> [(user: UInt32, upload: UploadedFile)] {
    try users().flatMap { user in try uploads(of: user).map { (user, $0) } }
  }

  /// One upload.
  /// - Throws: ``UploadRefusal/noSuchUpload(_:)``.
  package func upload(_ number: Int64, of user: UInt32) throws -> UploadedFile {
    try place(of: number, of: user).upload
  }

  /// Adds bytes. The last ones make the file durable.
  /// - Parameter offset: how many bytes have arrived before them.
  /// - Throws: ``UploadRefusal/otherOffset(_:)`` where it is another number.
  package func append(
    _ bytes: UnsafeRawBufferPointer, at offset: Int64, to number: Int64, of user: UInt32
  ) throws -> UploadedFile {
    let place = try place(of: number, of: user)
    guard offset == place.upload.received else { throw UploadRefusal.otherOffset(place.upload.received) }
    guard Int64(bytes.count) <= place.upload.size - offset else { throw UploadRefusal.tooLong(place.upload.size) }
    let file = try place.folder.openToAppend(FileName(place.upload.name))
    let path = place.folder.place(FileName(place.upload.name))
    do {
      try file.write(bytes, at: offset, path: path)
    } catch {
      // What has arrived is a whole number of parts, so the sender can go on.
      guard ftruncate(file.number, off_t(offset)) == 0 else {
        throw SpoolError.system(call: "ftruncate", path: path, code: errno)
      }
      throw error
    }
    if offset + Int64(bytes.count) == place.upload.size { try file.synchronise(path: path) }
    return try upload(number, of: user)
  }

  /// The first bytes of an upload.
  package func beginning(of number: Int64, of user: UInt32, atMost limit: Int) throws -> [UInt8] {
    let place = try place(of: number, of: user)
    let name = FileName(place.upload.name)
    return try Array(place.folder.open(name).read(atMost: limit, path: place.folder.place(name)))
  }

  /// The path of a whole upload, for ``SpoolDirectories/openSubmitted(_:for:allowedFolders:)`` on the daemon's own behalf.
  package func path(of number: Int64, of user: UInt32) throws -> String {
    let place = try place(of: number, of: user)
    guard place.upload.isWhole else { throw UploadRefusal.isIncomplete(place.upload) }
    return place.folder.path + "/" + place.upload.name
  }

  /// Removes an upload.
  package func remove(_ number: Int64, of user: UInt32) throws {
    try remove(place(of: number, of: user))
  }

  private struct Place {
    let upload: UploadedFile
    let root: DirectoryHandle
    let folder: DirectoryHandle
  }

  private func places(of user: UInt32) throws -> [Place] {
    guard let root = try folder(of: user, isCreated: false) else { return [] }
    var found: [Place] = []
    try root.forEach { name, _ in
      if let place = try Self.upload(name, in: root) { found.append(place) }
    }
    return found
  }

  private func place(of number: Int64, of user: UInt32) throws -> Place {
    guard let root = try folder(of: user, isCreated: false) else { throw UploadRefusal.noSuchUpload(number) }
    var found: Place?
    try root.forEach { name, _ in
      if name.text?.hasPrefix("\(number)-") == true { found = try Self.upload(name, in: root) ?? found }
    }
    guard let found else { throw UploadRefusal.noSuchUpload(number) }
    return found
  }

  /// What an entry of a user's folder is; nil for something else, such as what a kill has left without a file.
  private static func upload(_ name: FileName, in root: DirectoryHandle) throws -> Place? {
    let parts = (name.text ?? "").split(separator: "-")
    guard parts.count == 3, let number = Int64(parts[0]), let size = Int64(parts[1]), let modified = Int64(parts[2]),
      let folder = try root.directory(name)
    else { return nil }
    var found: Place?
    try folder.forEach { file, _ in
      guard let text = file.text, let status = try folder.status(of: file), status.kind == .regular else { return }
      found = Place(
        upload: UploadedFile(
          number: number, name: text, size: size, received: status.size, modified: modified, arrived: status.modified),
        root: root, folder: folder)
    }
    return found
  }

  private func remove(_ place: Place) throws {
    try place.folder.remove(FileName(place.upload.name))
    try place.root.removeDirectory(FileName(place.upload.folder))
  }

  /// Removes what nothing was added to for a day, of all users; returns how many.
  package func removeOld() throws -> Int {
    let oldest = FileStatus.now() - Self.lifetime
    var count = 0
    for user in try users() {
      for place in try places(of: user) where place.upload.arrived < oldest {
        try remove(place)
        count += 1
      }
      try removeFolders(of: user, emptySince: oldest)
    }
    return count
  }

  /// Removes the folders that a kill has left without their file, of all users. Only while nothing else uses uploads: one that
  /// begins has such a folder, too.
  package func removeEmptyFolders() throws {
    for user in try users() { try removeFolders(of: user, emptySince: .max) }
  }

  /// - Parameter time: a folder that was changed later stays, as its file may be about to come.
  private func removeFolders(of user: UInt32, emptySince time: Int64) throws {
    guard let root = try folder(of: user, isCreated: false) else { return }
    var empty: [FileName] = []
    try root.forEach { name, _ in
      guard try Self.upload(name, in: root) == nil, let status = try root.status(of: name) else { return }
      if status.kind == .directory, status.modified < time { empty.append(name) }
    }
    for name in empty { try root.removeDirectory(name) }
  }

  /// The users who have uploads, or had some.
  private func users() throws -> [UInt32] {
    let root: DirectoryHandle
    do {
      root = try DirectoryHandle(trustedPath: path)
    } catch SpoolError.system(_, _, ENOENT) {
      return []
    }
    var users: [UInt32] = []
    try root.forEach { name, _ in
      if let user = name.text.flatMap({ UInt32($0) }) { users.append(user) }
    }
    return users
  }

  private func folder(of user: UInt32, isCreated: Bool) throws -> DirectoryHandle? {
    if isCreated {
      if mkdir(path, 0o700) == 0 {
        try DirectoryHandle(trustedPath: path + "/..").synchronise()
      } else if errno != EEXIST {
        throw SpoolError.system(call: "mkdir", path: path, code: errno)
      }
    }
    let root: DirectoryHandle
    do {
      root = try DirectoryHandle(trustedPath: path)
    } catch SpoolError.system(_, _, ENOENT) {
      return nil
    }
    let name = FileName("\(user)")
    return isCreated ? try root.directory(name, creatingWith: 0o700) : try root.directory(name)
  }
}

/// Why something can't be done to an upload.
package enum UploadRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  case noSuchUpload(Int64)
  case badName(String)
  case isEmpty
  case tooMany(Int)
  case noRoom(bytes: Int64, room: Int64)
  /// The next part has to begin at this offset.
  case otherOffset(Int64)
  case tooLong(Int64)
  case isIncomplete(UploadedFile)

  package var description: String {
    switch self {
    case .noSuchUpload(let number): "there is no upload \(number): it was submitted, removed, or is too old"
    case .badName(let what): "the file's name can't be used: \(what)"
    case .isEmpty: "the file is empty"
    case .tooMany(let limit): "there are \(limit) uploads that weren't submitted: submit or remove some"
    case .noRoom(let bytes, let room): "the file has \(bytes) bytes, and there is room for \(room)"
    case .otherOffset(let offset): "\(offset) bytes have arrived, so the next part begins there"
    case .tooLong(let size): "that would be more than the \(size) bytes that the file is to have"
    case .isIncomplete(let upload):
      "\(upload.received) of the \(upload.size) bytes of \(upload.name) have arrived: upload the rest first"
    }
  }
}
