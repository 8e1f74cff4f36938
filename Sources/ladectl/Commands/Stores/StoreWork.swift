import ArgumentParser
import ControlAPI

/// The options of every maintenance verb.
struct StoreWorkOptions: ParsableArguments {
  @Argument(help: "The store; may be omitted if there is only one.", completion: .stores)
  var store: String?

  @OptionGroup var other: OtherOptions
  @OptionGroup var submission: SubmissionOptions
}

/// Options of a job kind by name.
struct OtherOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "An option of this job kind that has no flag of its own. Repeat it for a list of values.",
      valueName: "name=value"),
    transform: { try NamedOption(parsing: $0) })
  var option: [NamedOption] = []

  /// These together with the dedicated options, which are nil if absent.
  /// - Throws: `ValidationError` for an option given both ways.
  func merged(with own: [String: OptionValue?]) throws -> [String: OptionValue] {
    try NamedOption.values(option).merging(own.compactMapValues(\.self)) { _, _ in
      throw ValidationError("An option is given twice: by --option, and by an option of its own.")
    }
  }
}

/// A verb that submits a job on a store. `ladectl submit --kind` is equivalent.
protocol StoreWork: ControlCommand {
  /// The kind of job.
  static var kind: String { get }
  var work: StoreWorkOptions { get }
  /// The dedicated options; nil if absent.
  var options: [String: OptionValue?] { get }
}

extension StoreWork {
  var options: [String: OptionValue?] { [:] }

  func validate() throws {
    _ = try work.other.merged(with: options)
  }

  func run(_ session: Session) async throws {
    let store = try await session.client.storeName(work.store, having: nil)
    let submission = JobSubmission(kind: Self.kind, store: store, options: try work.other.merged(with: options))
    try await Submitter(session: session).run(
      [work.submission.applied(to: submission)], wait: work.submission.wait)
  }
}

extension ControlClient {
  /// The default store: the only one, or the only one with the entity.
  /// - Throws: ``LocalFailure/severalStores(_:)``.
  func storeName(_ name: String?, having entity: String?) async throws -> String? {
    if let name { return name }
    let stores = try await status().stores.filter { store in entity.map(store.entities.contains) ?? true }
    // If no store has the entity, the daemon's error lists the entities.
    guard stores.count < 2 else { throw LocalFailure.severalStores(stores.map(\.name)) }
    return stores.first?.name
  }
}
