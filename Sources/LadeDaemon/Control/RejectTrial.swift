import ControlAPI
import Foundation
import Importing
import ManagedObjects

/// A retry of rejects in a transaction that is taken back, to see which would be rejected again. Bounded in time.
struct RejectTrial: Sendable {
  /// The scratch folder's name under the daemon's state.
  static let folderName = "reject-trial"
  static let longest = Duration.seconds(5)
  private static let shown = 1_000
  private static let tookTooLong =
    "it takes longer than \(longest.components.seconds) s to check; retry them with --dry-run"

  let plan: RejectRetryPlan
  let corrections: [RejectExtract.Correction]?
  let credentials: MaskCredentials
  /// A scratch folder. Only one trial uses it at a time.
  let folder: URL

  /// Blocks.
  /// - Parameter limit: of ``longest``.
  /// - Throws: what has to do with the daemon, or with the request; what has to do with the import is its failure.
  func run(_ limit: TrialLimit) throws -> RejectCheck {
    let isOver: @Sendable () -> Bool = { limit.isOver }
    return try RejectScratch(folder).use { scratch in
      let source = scratch.appendingPathComponent(plan.submission.source ?? "rejects")
      let numbers = scratch.appendingPathComponent("numbers")
      let parts = scratch.appendingPathComponent("parts")
      try FileManager.default.createDirectory(at: parts, withIntermediateDirectories: false)
      do {
        try plan.extract(
          corrections, to: source, numbers: numbers, scratch: parts, isDurable: false, shouldStop: isOver)
      } catch is RejectExtract.Stopped {
        return RejectCheck(resolved: 0, rejects: [], failure: Self.tookTooLong)
      }
      var options = plan.options
      options.isDryRun = true
      let rejects = scratch.appendingPathComponent(
        plan.rejects.lastPathComponent.hasSuffix(".rejects")
          ? "again.rejects" : "again." + plan.rejects.lastPathComponent)
      var request = ImportRequest(
        job: "trial/\(UUID().uuidString)", source: source, name: source.lastPathComponent,
        entity: plan.rejected.entity ?? "", options: options, rejects: rejects)
      request.credentials = credentials
      request.retry = RejectRetry(
        rejected: plan.checkpoint, job: 0, numbers: numbers, isOfCoreData: plan.isOfCoreData)
      request.shouldStopWithinRecord = isOver
      return try check(request, shouldStop: isOver)
    }
  }

  private func check(_ request: ImportRequest, shouldStop: () -> Bool) throws -> RejectCheck {
    let importer = Importer(coordinator: plan.coordinator, request: request, largeLoad: .max)
    let context = ManagedObjectContext(.confinement, coordinator: plan.coordinator, name: "trial")
    var counts = ImportCounts()
    var failure: String?
    do {
      let end = try importer.run(in: context, shouldStop: shouldStop) {
        if $0.counts.records > 0 { counts = $0.counts }
      }
      if case .finished(let progress, _, _) = end {
        counts = progress.counts
      } else {
        failure = Self.tookTooLong
      }
    } catch MappingError.nothingImported {
      // Each of them is reported.
    } catch let error as MappingError {
      failure = error.description
    } catch let error as MaskingError {
      failure = error.description
    } catch let error as ReaderError {
      failure = error.description
    } catch let error as MemberFailure {
      failure = error.description
    } catch let error as ManagedObjectError {
      failure = "\(error)"
    } catch is Interrupted {
      failure = Self.tookTooLong
    }
    var again: [Reject] = []
    if counts.rejected > 0, FileManager.default.fileExists(atPath: request.rejects.path) {
      let entity = plan.coordinator.model.entitiesByName[request.entity]
      try RejectedRecords(request.rejects, options: request.options, entity: entity).forEach { records in
        again += records.prefix(Self.shown - again.count).map { record in
          // In a retry, the line is the number of the reject.
          var reject = Reject(record)
          reject.number = record.line
          return reject
        }
        return again.count < Self.shown
      }
    }
    return RejectCheck(
      resolved: failure == nil ? max(0, counts.records - counts.rejected) : 0, rejects: again, failure: failure)
  }
}

/// A folder that is empty when it is used, and gone afterwards.
struct RejectScratch {
  private let folder: URL

  init(_ folder: URL) { self.folder = folder }

  func use<Value>(_ body: (URL) throws -> Value) throws -> Value {
    // What a kill left.
    if FileManager.default.fileExists(atPath: folder.path) { try FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let result = Result { try body(folder) }
    do {
      try FileManager.default.removeItem(at: folder)
    } catch {
      // The next use removes it first, and says so if it can't.
    }
    return try result.get()
  }
}

extension Reject {
  /// The bytes of a record that are shown.
  private static let longest = 64 << 10

  init(_ record: RejectedRecord) {
    let shown = record.record.prefix(Self.longest)
    let isText = String(validating: record.record, as: UTF8.self) != nil
    self.init(
      number: record.number, file: record.file, line: record.line, column: record.column, code: record.code,
      message: record.message, record: String(decoding: shown, as: UTF8.self), recordBytes: record.record.count,
      cell: isText ? record.cell.map { .init(offset: $0.lowerBound, length: $0.count) } : nil,
      isReadable: record.isWhole)
  }
}
