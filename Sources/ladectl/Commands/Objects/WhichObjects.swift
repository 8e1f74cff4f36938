import ArgumentParser
import ControlAPI

/// Selects the objects that a job changes.
struct WhichObjects: ParsableArguments {
  @Argument(help: "The entity.", completion: .entities)
  var entity: String

  @Option(name: .customLong("where"), help: ArgumentHelp("Select objects by a predicate.", valueName: "predicate"))
  var predicate: String?

  @Flag(help: "All objects of the entity, instead of --where.")
  var all = false

  @Flag(help: "Exclude objects of subentities.")
  var noSubentities = false

  @Option(help: ArgumentHelp("The store, if several have the entity.", valueName: "name"), completion: .stores)
  var store: String?

  @Flag(help: "Don't ask for confirmation.")
  var yes = false

  func validate() throws {
    guard all == (predicate == nil) else {
      throw ValidationError(
        all ? "Give either --where or --all." : "Which objects? Give --where, or --all if every one is meant.")
    }
  }

  /// The options under the names of the job kinds.
  var options: [String: OptionValue?] {
    [
      "where": predicate.map { .string($0) }, "all": all ? .bool(true) : nil,
      "subentities": noSubentities ? .bool(false) : nil,
    ]
  }

  /// Submits a job of a kind after confirmation.
  func submit(
    _ kind: String, _ options: [String: OptionValue], _ submission: SubmissionOptions, verb: String, _ session: Session
  ) async throws {
    let store = try await session.client.storeName(store, having: entity)
    if !yes {
      let query = ObjectQuery(entity: entity, store: store, predicate: predicate)
      let count = try await session.client.count(query).count
      let question = "\(verb) \(Quantity.count(count, "object")) of \(entity.printable)?"
      guard try session.mayGoOn(question, yes: false) else { return }
    }
    let work = JobSubmission(kind: kind, store: store, entity: entity, options: options)
    try await Submitter(session: session).run([submission.applied(to: work)], wait: submission.wait)
  }
}
