import Jobs
import ManagedObjects

/// An operation of the program's own, of kind `move`: everybody who lives elsewhere moves to one place.
///
/// It may be killed at any moment and run again: who has moved is no longer among those who are fetched.
final class MoveOperation: JobOperation, @unchecked Sendable {
  // Sendable: it adds nothing to its superclass.

  struct Options: Codable {
    var to: String
  }

  override class func check(_ submission: JobSubmission, in model: ManagedObjectModel) throws {
    let options = try submission.decodeOptions(as: Options.self)
    guard !options.to.isEmpty else {
      throw JobFailure(code: "bad_options", message: "to: it must not be empty", isRetryable: false)
    }
  }

  override func perform() throws -> JobOutcome {
    let options = try job.decodeOptions(as: Options.self)
    // The operation has a thread of its own here, and with it a context of its own.
    let context = try context()
    var request = Person.fetchRequest()
    request.predicate = try FetchPredicate(format: "home == nil OR home != %@", options.to)
    request.fetchLimit = 100
    var progress = JobProgress()
    while true {
      if isCancelled { return .cancelled(progress) }
      if isDraining { return .interrupted(progress) }
      let people = try context.fetch(request)
      if people.isEmpty { return .completed(progress, note: "\(progress.updated) moved to \(options.to)") }
      for person in people { person.home = options.to }
      try context.save()
      context.reset()
      progress.updated += Int64(people.count)
      report(progress)
    }
  }
}
