// A retry reads a file of the rejects of an ended job, made by `RejectExtract`, as any import reads its file. Beside it are
// their numbers, in the same order. A reject whose record becomes an object, or is left out by the filter, is resolved: the
// save of its batch also makes an object of `lade_resolved`, whose uniqueness constraint is on job and number. So a kill
// leaves either both or neither, and of two retries that have the same reject one can't be saved.

package import Foundation
import Glibc
package import ManagedObjects

/// What makes an import a retry of the rejects of another job.
package struct RejectRetry: Sendable {
  /// Names the job whose rejects they are, as ``ImportRequest/job`` names the import.
  package var rejected: String
  /// The number of the job that retries them.
  package var job: Int64
  /// The file with the numbers of the records; for a feed, a folder with one for each member.
  package var numbers: URL
  /// Whether the rejected records came from the entities of a Core Data store.
  package var isOfCoreData: Bool

  package init(rejected: String, job: Int64, numbers: URL, isOfCoreData: Bool = false) {
    self.rejected = rejected
    self.job = job
    self.numbers = numbers
    self.isOfCoreData = isOfCoreData
  }

  /// The retry of one member of a feed. The name of its numbers is the folder that it is in.
  func part(of member: String) -> RejectRetry {
    var part = self
    part.numbers = numbers.appendingPathComponent(member.split(separator: "/").first.map(String.init) ?? member)
    return part
  }

  /// The name of the file, or folder, with the numbers of a job's records.
  package static func numbersName(job: Int64) -> String { "\(job).numbers" }
}

/// The numbers of the records of a retry, eight bytes each, in the order of its source.
final class RejectNumbers {
  private static let width = 8
  private let path: String
  private let descriptor: Int32

  init(_ url: URL) throws {
    path = url.path
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { throw MappingError.file(path, "open", code: errno) }
  }

  deinit { close(descriptor) }

  /// The numbers of some records.
  /// - Parameter first: the place of the first, from 0.
  func numbers(from first: Int64, count: Int) throws -> [Int64] {
    var bytes = [UInt8](repeating: 0, count: count * Self.width)
    var done = 0
    while done < bytes.count {
      let read = bytes.withUnsafeMutableBytes {
        pread(
          descriptor, $0.baseAddress.map { $0 + done }, $0.count - done, off_t(first) * off_t(Self.width) + off_t(done))
      }
      if read < 0, errno == EINTR { continue }
      guard read >= 0 else { throw MappingError.file(path, "read", code: errno) }
      guard read > 0 else {
        throw MappingError.fileFailed(
          path: path, operation: "read", reason: "it has fewer numbers than there are records")
      }
      done += read
    }
    return bytes.withUnsafeBytes { buffer in
      (0..<count).map { Int64(littleEndian: buffer.loadUnaligned(fromByteOffset: $0 * Self.width, as: Int64.self)) }
    }
  }

  /// The bytes of a number in the file.
  static func bytes(of number: Int64) -> [UInt8] { withUnsafeBytes(of: number.littleEndian) { Array($0) } }
}

/// Notes, with the rows of each batch, which rejects they resolve.
final class RejectResolution {
  private let retry: RejectRetry
  private let numbers: RejectNumbers

  init(_ retry: RejectRetry) throws {
    self.retry = retry
    numbers = try RejectNumbers(retry.numbers)
  }

  /// The rejections of a batch with the rejects' numbers in place of lines: they are the places where these records are found.
  func numbered(_ rejections: [Rejection], of batch: ConvertedBatch) throws -> [Rejection] {
    guard !rejections.isEmpty else { return rejections }
    let numbers = try numbers(of: batch)
    return rejections.map { $0.with(line: numbers[$0.record]) }
  }

  /// Saves the context's changes, and that the records of the batch are resolved.
  /// - Parameter others: the records that aren't.
  /// - Throws: ``MappingError/rejectResolved(number:by:)`` if one was resolved before, or the store's error.
  func save(_ batch: ConvertedBatch, without others: Set<Int>, in context: ManagedObjectContext) throws {
    let resolved = try numbers(of: batch).enumerated().filter { !others.contains($0.offset) }.map(\.element)
    // Of a retry that was undone.
    let reopened = try reopened(resolved, in: context)
    var objects: [ManagedObject] = []
    do {
      for number in resolved {
        if let object = reopened[number] {
          try object.setValue(.int(retry.job), forKey: "by")
          continue
        }
        let object = try context.insert(ImportModel.resolvedEntity)
        objects.append(object)
        try object.setValue(.string(retry.rejected), forKey: "job")
        try object.setValue(.int(number), forKey: "number")
        try object.setValue(.int(retry.job), forKey: "by")
      }
      try context.saveValidated()
    } catch {
      // The batch may be saved again without one of the records.
      for object in objects { context.delete(object) }
      for object in reopened.values { context.refresh(object, mergeChanges: false) }
      throw error
    }
  }

  /// The objects of rejects that a retry had resolved and that are open again, since it was undone.
  /// - Throws: ``MappingError/rejectResolved(number:by:)`` if one is resolved.
  private func reopened(_ numbers: [Int64], in context: ManagedObjectContext) throws -> [Int64: ManagedObject] {
    guard let first = numbers.min(), let last = numbers.max() else { return [:] }
    let known = try ResolvedRejects(of: retry.rejected, in: context).objects(first...last)
    if known.isEmpty { return [:] }
    var reopened: [Int64: ManagedObject] = [:]
    for number in numbers {
      guard let object = known[number] else { continue }
      let job = object.number("by")
      if job >= 0 { throw MappingError.rejectResolved(number: number, by: job) }
      reopened[number] = object
    }
    return reopened
  }

  /// The number of each record of a batch.
  private func numbers(of batch: ConvertedBatch) throws -> [Int64] {
    if batch.isDeferred {
      return try batch.rows.map { try numbers.numbers(from: batch.number(of: $0), count: 1)[0] }
    }
    let count = batch.source.count
    return try numbers.numbers(from: batch.source.end.record - Int64(count), count: count)
  }
}

/// The rejects of a job that retries have resolved, as the data store has them.
package struct ResolvedRejects {
  private static let page = 1_000
  private let job: String
  private let context: ManagedObjectContext

  /// - Parameter job: the job whose rejects they are, as ``RejectRetry/rejected`` names it.
  package init(of job: String, in context: ManagedObjectContext) {
    self.job = job
    self.context = context
  }

  /// How many there are.
  package func count() throws -> Int64 {
    Int64(
      try context.count(
        for: FetchRequest<ManagedObject>(
          entityName: ImportModel.resolvedEntity,
          predicate: .equal("job", .string(job)) && .comparison(.path("by"), .greaterOrEqual, .constant(.int(0))))))
  }

  /// The job that resolved each of the rejects with these numbers, without those that are open.
  package func resolvers(_ numbers: ClosedRange<Int64>) throws -> [Int64: Int64] {
    try objects(numbers).mapValues { $0.number("by") }.filter { $0.value >= 0 }
  }

  /// What is kept of the rejects with these numbers. `by` is negative where the retry was undone.
  fileprivate func objects(_ numbers: ClosedRange<Int64>) throws -> [Int64: ManagedObject] {
    let request = FetchRequest<ManagedObject>(
      entityName: ImportModel.resolvedEntity,
      predicate: .equal("job", .string(job))
        && .between("number", .int(numbers.lowerBound), .int(numbers.upperBound)),
      includesPendingChanges: false)
    return Dictionary(try context.fetch(request).map { ($0.number("number"), $0) }) { first, _ in first }
  }

  /// How many of a job's rejects each retry has resolved. Memory is that of a page, and of the jobs.
  package func counts(of rejects: Int64) throws -> [Int64: Int64] {
    var counts: [Int64: Int64] = [:]
    var first: Int64 = 1
    while first <= rejects {
      for job in try resolvers(first...min(first + Int64(Self.page) - 1, rejects)).values {
        counts[job, default: 0] += 1
      }
      context.reset()
      first += Int64(Self.page)
    }
    return counts
  }

  /// Forgets them, once the job has been removed and its number can't mean anything any more.
  package func removeAll() throws {
    while true {
      let some = try context.fetch(
        FetchRequest<ManagedObject>(
          entityName: ImportModel.resolvedEntity, predicate: .equal("job", .string(job)), fetchLimit: Self.page))
      if some.isEmpty { return }
      for object in some { context.delete(object) }
      try context.save()
      context.reset()
    }
  }
}
