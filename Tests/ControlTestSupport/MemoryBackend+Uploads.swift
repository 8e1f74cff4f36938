package import ControlAPI
package import ControlServer
import Synchronization

/// Uploads in memory, by their users.
package final class MemoryUploads: Sendable {
  private struct File {
    var upload: Upload
    let modified: Int64
    var bytes: [UInt8] = []
    let user: UInt32
  }

  private let files = Mutex<[Int64: File]>([:])

  package init() {}

  func all(of user: UInt32) -> [Upload] {
    files.withLock { $0.values.filter { $0.user == user }.map(\.upload).sorted { $0.id < $1.id } }
  }

  func begin(_ name: String, size: Int64, modified: Int64, for user: UInt32) -> Upload {
    files.withLock { files in
      let begun = files.values.first {
        $0.user == user && $0.upload.name == name && $0.upload.size == size && $0.modified == modified
      }
      if let begun { return begun.upload }
      let upload = Upload(id: Int64(files.count + 1), name: name, size: size, received: 0)
      files[upload.id] = File(upload: upload, modified: modified, user: user)
      return upload
    }
  }

  func append(_ bytes: [UInt8], at offset: Int64, to id: Int64, of user: UInt32) throws -> Upload {
    try files.withLock { files in
      guard var file = files[id], file.user == user else { throw ControlError.noSuchUpload(id) }
      guard file.upload.received == offset else { throw ControlError.conflict(reason: "another offset") }
      file.bytes += bytes
      file.upload.received = Int64(file.bytes.count)
      files[id] = file
      return file.upload
    }
  }

  func bytes(of id: Int64, of user: UInt32) throws -> [UInt8] {
    try files.withLock { files in
      guard let file = files[id], file.user == user else { throw ControlError.noSuchUpload(id) }
      return file.bytes
    }
  }

  func remove(_ id: Int64, of user: UInt32) throws {
    _ = try bytes(of: id, of: user)
    files.withLock { _ = $0.removeValue(forKey: id) }
  }
}

extension MemoryBackend {
  package func uploads(by peer: Peer) async throws -> [Upload] { uploads.all(of: peer.uid) }

  package func beginUpload(_ name: String, size: Int64, modified: Int64, by peer: Peer) async throws -> Upload {
    guard !name.hasPrefix(".") else { throw ControlError.invalid(field: "file", reason: "the name can't be used") }
    return uploads.begin(name, size: size, modified: modified, for: peer.uid)
  }

  package func append(_ bytes: [UInt8], at offset: Int64, toUpload id: Int64, by peer: Peer) async throws -> Upload {
    try uploads.append(bytes, at: offset, to: id, of: peer.uid)
  }

  package func beginning(ofUpload id: Int64, atMost limit: Int, by peer: Peer) async throws -> [UInt8] {
    Array(try uploads.bytes(of: id, of: peer.uid).prefix(limit))
  }

  package func removeUpload(_ id: Int64, by peer: Peer) async throws { try uploads.remove(id, of: peer.uid) }
}
