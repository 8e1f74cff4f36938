import ControlAPI
import ControlServer
import Glibc
import Jobs
import Spool

extension DaemonBackend {
  func uploads(by peer: Peer) async throws -> [Upload] {
    try await onFolder(of: peer) { try $0.uploads(of: peer.uid).map { Upload($0) } }
  }

  func beginUpload(_ name: String, size: Int64, modified: Int64, by peer: Peer) async throws -> Upload {
    try permissions.check(JobSubmission(), by: peer)
    return try await onFolder(of: peer) { Upload(try $0.begin(name, size: size, modified: modified, for: peer.uid)) }
  }

  func append(_ bytes: [UInt8], at offset: Int64, toUpload id: Int64, by peer: Peer) async throws -> Upload {
    try await onFolder(of: peer) { folder in
      try bytes.withUnsafeBytes { Upload(try folder.append($0, at: offset, to: id, of: peer.uid)) }
    }
  }

  func beginning(ofUpload id: Int64, atMost limit: Int, by peer: Peer) async throws -> [UInt8] {
    try await onFolder(of: peer) { try $0.beginning(of: id, of: peer.uid, atMost: limit) }
  }

  func removeUpload(_ id: Int64, by peer: Peer) async throws {
    try await onFolder(of: peer) { try $0.remove(id, of: peer.uid) }
  }

  /// Opens the file that a peer submits: at a path, or one that it has uploaded.
  func opened(_ source: String, by peer: Peer) async throws -> SubmittedFile {
    let folders = configuration.allowedFolders
    guard let id = Upload.id(ofSource: source) else {
      return try await directories.onQueue { [directories] in
        try directories.openSubmitted(source, for: peer.uid, allowedFolders: folders)
      }
    }
    let path = try await onFolder(of: peer) { try $0.path(of: id, of: peer.uid) }
    // It is the daemon's own file: whose upload it is was decided above.
    return try await directories.onQueue { [directories] in
      try directories.openSubmitted(path, for: geteuid(), allowedFolders: [])
    }
  }

  /// What a submission's job is made from: nil unless it is an upload of the peer's, which is to be imported.
  func origin(of submission: JobSubmission, by peer: Peer) -> JobOrigin? {
    guard submission.kind == ImportOperation.kind, submission.files.isEmpty,
      submission.options["dry_run"] != .bool(true)
    else { return nil }
    return submission.source.flatMap { Upload.id(ofSource: $0) }.map { .upload(user: peer.uid, number: $0) }
  }

  /// The job that an upload was made into before. What is left of the upload is removed.
  func job(madeFrom origin: JobOrigin?) async throws -> Job? {
    guard let origin, let job = try await queue.job(madeFrom: origin) else { return nil }
    await uploads.remove(importedBy: job)
    return job
  }

  private func onFolder<T: Sendable>(
    of peer: Peer, _ body: @escaping @Sendable (UploadFolder) throws -> T
  ) async throws -> T {
    do {
      return try await uploads.on(peer.uid, body)
    } catch UploadRefusal.noSuchUpload(let id) {
      throw ControlError.noSuchUpload(id)
    } catch UploadRefusal.otherOffset(let offset) {
      throw ControlError.conflict(reason: UploadRefusal.otherOffset(offset).description)
    } catch let refusal as UploadRefusal {
      throw ControlError.invalid(field: "file", reason: refusal.description)
    } catch SpoolError.system(_, _, ENOSPC) {
      throw ControlError.unavailable(
        reason: "The disk of the daemon's state is full.", hint: "Go on when there is room: what has arrived is kept.")
    }
  }
}

extension Upload {
  fileprivate init(_ file: UploadedFile) {
    self.init(id: file.number, name: file.name, size: file.size, received: file.received)
  }
}
