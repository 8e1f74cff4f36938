// A job's file in a shared queue is either on the host where it arrived, which alone may run the job then, or its bytes are in the
// queue's store as well. Its way:
//
//   1  it arrives in `active/` of a host           the job waits for it
//   2  `send` writes its bytes, piece by piece     no job names them yet
//   3  the turn that lets the job run names them   (`takeFile`): from here on any daemon may claim it
//   4  a claimant without the file fetches it      into its own `active/`, whole, or not at all
//   5  the turn that completes the job removes them; of one that failed they stay until it is removed, for it may be retried
//
// A kill before 3 leaves the job where it was: the next start of the host begins with 2 again.

import Foundation
import Glibc
import ManagedObjects
import Synchronization

/// Which files of jobs travel through the queue's store, and how. Safe from any thread; everything blocks.
final class SharedFiles: Sendable {
  /// The bytes of a piece.
  private static let piece = 1 << 20

  let parts: FileParts
  private let environment: JobEnvironment
  /// Files whose turn may be under way: they aren't written again, since others may be reading them.
  private let sent = Mutex<[Int64: SharedFile]>([:])

  init(_ parts: FileParts, _ environment: JobEnvironment) {
    self.parts = parts
    self.environment = environment
  }

  /// Whether a job's file may be sent at all: not if other hosts lack something else that the job needs.
  private func mayTravel(_ job: Job) -> Bool {
    guard job.kind == ImportOperation.kind, job.isAwaitingFile, let share = environment.sharesFile else { return false }
    switch job.origin {
    // The files of a replay are kept on this host, and so are the numbers of the rejects that are retried.
    case .replay, .rejects: return false
    case nil, .spool, .schedule, .upload: return share(job)
    }
  }

  /// Writes the bytes of a job's file to the queue's store, if it may go on elsewhere.
  /// - Parameter activeName: its name in `active/`.
  /// - Returns: what the job is to name; nil for a file that stays on this host.
  func send(_ job: Job, _ activeName: String) throws -> SharedFile? {
    guard let limit = environment.sharedFileLimit, mayTravel(job) else { return nil }
    if let known = sent.withLock({ $0[job.id] }) { return known }
    let path = environment.activeDirectory.appendingPathComponent(activeName).path
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw JobFailure(errno: errno, path) }
    defer { close(descriptor) }
    let before = try Self.status(descriptor, path)
    // The folder of a set stays.
    guard before.st_mode & S_IFMT == Glibc.S_IFREG, Int64(before.st_size) <= limit else { return nil }
    // What an attempt has left that was killed.
    try parts.cut(job.id, FileParts.source, to: 0, isOfRun: false)
    var hash = SHA256()
    var place: Int64 = 0
    var buffer = [UInt8](repeating: 0, count: Int(min(Int64(Self.piece), max(1, Int64(before.st_size)))))
    while place < Int64(before.st_size) {
      let count = pread(descriptor, &buffer, buffer.count, off_t(place))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw JobFailure(errno: errno, path) }
      if count == 0 { break }
      buffer.withUnsafeBytes { hash.update(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
      try parts.write(Data(buffer[..<count]), of: job.id, FileParts.source, at: place, isOfRun: false)
      place += Int64(count)
    }
    let after = try Self.status(descriptor, path)
    let file = SharedFile(size: place, modified: Self.modified(after), digest: hash.finish().hexadecimal)
    // A program still writes to it: the import finds that out.
    guard after.st_size == before.st_size, file.size == Int64(before.st_size), file.modified == Self.modified(before)
    else {
      try parts.cut(job.id, FileParts.source, to: 0, isOfRun: false)
      return nil
    }
    sent.withLock { $0[job.id] = file }
    return file
  }

  /// The jobs have their files, or aren't there any more.
  func forget(_ jobs: [Int64]) {
    sent.withLock { sent in for job in jobs { sent[job] = nil } }
  }

  /// Brings a job's file to this host's `active/`, unless it is there.
  func fetch(_ job: Job) throws {
    guard let file = job.sharedFile, let name = job.activeName, let receive = environment.receiveFile else { return }
    try receive(name, file) { descriptor in
      var hash = SHA256()
      let length = try parts.read(job.id, FileParts.source) { bytes, _ in
        try bytes.withUnsafeBytes { bytes in
          hash.update(bytes)
          try Self.write(bytes, to: descriptor, name)
        }
      }
      guard length == file.size, hash.finish().hexadecimal == file.digest else {
        throw JobFailure(
          code: "damaged_file",
          message: "the queue's store has \(length) bytes of \(name), which aren't the \(file.size) that came to host "
            + "\(job.host ?? ""): submit the file again", isRetryable: true)
      }
    }
  }

  private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, _ name: String) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw JobFailure(errno: errno, name) }
      rest = rest.dropFirst(count)
    }
  }

  private static func status(_ descriptor: Int32, _ path: String) throws -> stat {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw JobFailure(errno: errno, path) }
    return status
  }

  private static func modified(_ status: stat) -> Int64 {
    Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
  }
}
